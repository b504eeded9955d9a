/// The live queries that read more than an object's own image, and what a commit does to each: the committing side's half of
/// matching, pure.
///
/// An object comes to such a query, or leaves it, because it changed itself or because something at the other end of one
/// of its paths did. For the second, each property that a path reads on its way is a *trigger*: when it changes, the way is
/// followed back to the objects where it starts. Those and the changed ones are judged as they were before and as they are
/// after. Which queries to ask is known by values: a query is filed under its most selective equality or range, over paths
/// too, so that ten thousand of them that a commit does not touch cost one look. An object that did not change itself can
/// only come or leave, for which a comparison has to turn: for it queries are filed once more, under what turns them. And
/// where a trigger's values are all that is asked of it, a way is followed only for a value that somebody waits for. A
/// commit that changes none of the triggers and none of the entities reads nothing.
///
/// Queries that only their predicates can tell of are grouped by the properties that these read. Where a commit changes none of
/// them, no object comes to a query of the group and none leaves: whoever did not change itself is not judged, and whoever
/// did is judged once. Not at all would be too little: of an object that belongs every change is told.
public struct RelatedQueries {
  struct Query {
    let query: LiveQuery
    let evaluator: PredicateEvaluator
    /// Its places in the index of objects that changed themselves; nil where only its predicate decides.
    let places: [QueryPlace]?
    /// The same for objects that others lead to.
    let turns: QueryTurns?

    /// Under what it is filed.
    var subjects: Set<QuerySubject> { Set((places ?? []).map(\.subject) + (turns?.turns ?? []).map(\.subject)) }
  }

  /// Queries by the properties that they read, of whatever object; each group's by what tells whether they can matter.
  typealias Groups = [Set<PropertyNumber>: QueryShelves<SubjectReader>]

  /// A way that starts at objects of an entity; the object whose property changed stands behind its last hop.
  struct Trigger: Hashable {
    let root: EntityNumber
    let hops: [PropertyNumber]
  }

  /// Queries for objects that did not change themselves.
  struct Turning {
    /// By the properties that decide which values a subject has: under each subject, with what reads these.
    var subjects = [Set<PropertyNumber>: [QuerySubject: (reader: SubjectReader, queries: TurnShelf)]]()
    /// Those of which that can't be said, filed as for objects that changed.
    var others = Groups()

    var isEmpty: Bool { subjects.isEmpty && others.isEmpty }
  }

  /// The queries that read a trigger.
  struct Uses {
    /// By comparisons whose values are filed under the trigger's path, for objects that did not change themselves. A change
    /// between two values that are not there leaves each of them as it was.
    var filed = Set<UInt64>()
    /// By anything else: any change may matter.
    var others = Set<UInt64>()

    var isEmpty: Bool { filed.isEmpty && others.isEmpty }
  }

  let model: Model
  var queries = [UInt64: Query]()
  var triggers = [PropertyNumber: [Trigger: Uses]]()
  /// Of each concrete entity.
  var shelves = [EntityNumber: Groups]()
  /// The same for objects that others lead to.
  var turning = [EntityNumber: Turning]()
  /// The highest number that was ever inserted.
  public private(set) var lastNumber: UInt64 = 0

  /// None.
  public init(model: Model) { self.model = model }

  /// Whether there is nothing to look after.
  public var isEmpty: Bool { queries.isEmpty }

  // MARK: - Filing

  /// Files a query under `number`, which is its owner's choice and rises.
  public mutating func insert(_ query: LiveQuery, number: UInt64) {
    lastNumber = max(lastNumber, number)
    guard queries[number] == nil, model.entity(query.entity) != nil else { return }
    let filed = Query(
      query: query, evaluator: PredicateEvaluator(query.predicate, model: model),
      places: QueryPlace.all(of: query.predicate, model: model), turns: QueryTurns(of: query.predicate, model: model))
    queries[number] = filed
    file(filed, number, inserting: true)
  }

  /// Takes a query out; nothing for a number that is not here.
  public mutating func remove(_ number: UInt64) {
    guard let query = queries.removeValue(forKey: number) else { return }
    file(query, number, inserting: false)
  }

  private mutating func file(_ filed: Query, _ number: UInt64, inserting: Bool) {
    let (query, places, turns) = (filed.query, filed.places, filed.turns)
    let paths = (turns?.subjects ?? (places ?? []).map(\.subject)).compactMap(\.path)
    for (property, trigger, isFiled) in triggers(of: query, filed: paths) {
      let uses = isFiled ? \Uses.filed : \Uses.others
      if inserting {
        triggers[property, default: [:]][trigger, default: Uses()][keyPath: uses].insert(number)
      } else {
        triggers[property]?[trigger]?[keyPath: uses].remove(number)
        if triggers[property]?[trigger]?.isEmpty == true { triggers[property]?[trigger] = nil }
        if triggers[property]?.isEmpty == true { triggers[property] = nil }
      }
    }
    let reads = query.predicate.reads(in: model)
    for entity in model.entity(query.entity)?.family ?? [] where model.entity(entity)?.isAbstract == false {
      Self.file(number, in: &shelves[entity, default: [:]], reads, places, model, inserting: inserting)
      if shelves[entity]?.isEmpty == true { shelves[entity] = nil }
      Self.file(number, in: &turning[entity, default: Turning()], turns, reads, places, model, inserting: inserting)
      if turning[entity]?.isEmpty == true { turning[entity] = nil }
    }
  }

  /// Static, so that nothing else holds the tables while they change.
  private static func file(
    _ number: UInt64, in groups: inout Groups, _ reads: Set<PropertyNumber>, _ places: [QueryPlace]?, _ model: Model,
    inserting: Bool
  ) {
    if inserting {
      groups[reads, default: QueryShelves()].insert(number, at: places) { SubjectReader($0, model) }
    } else {
      groups[reads]?.remove(number, at: places)
      if groups[reads]?.isEmpty == true { groups[reads] = nil }
    }
  }

  private static func file(
    _ number: UInt64, in turning: inout Turning, _ turns: QueryTurns?, _ reads: Set<PropertyNumber>,
    _ places: [QueryPlace]?, _ model: Model, inserting: Bool
  ) {
    guard let turns else {
      return file(number, in: &turning.others, reads, places, model, inserting: inserting)
    }
    for turn in turns.turns {
      let subject = turn.subject
      let reads = subject.reads(in: model)
      if inserting {
        turning.subjects[reads, default: [:]][subject, default: (SubjectReader(subject, model), TurnShelf())].queries
          .insert(number, at: turn)
      } else {
        turning.subjects[reads]?[subject]?.queries.remove(number, at: turn)
        if turning.subjects[reads]?[subject]?.queries.isEmpty == true { turning.subjects[reads]?[subject] = nil }
        if turning.subjects[reads]?.isEmpty == true { turning.subjects[reads] = nil }
      }
    }
  }

  /// What a query's paths read on their way, and the ways back; whether it is filed under what is read there and reads
  /// it nowhere else.
  /// - Parameter filed: the paths of its places, as often as there are places.
  private func triggers(
    of query: LiveQuery, filed: [GraphPredicate.Path]
  ) -> [(PropertyNumber, Trigger, isFiled: Bool)] {
    var found = [(PropertyNumber, Trigger, isFiled: Bool)]()
    let paths = query.predicate.dependencies()
    for path in paths {
      for (index, hop) in path.hops.enumerated() {
        guard let relationship = model.property(hop)?.relationship else { break }
        // The reference stands at one end or the other: there a change of it changes where the way leads.
        if relationship.storage == .inverse {
          found.append((relationship.inverse, Trigger(root: query.entity, hops: Array(path.hops[...index])), false))
        } else if index > 0 {
          found.append((hop, Trigger(root: query.entity, hops: Array(path.hops[..<index])), false))
        }
      }
      if case .property(let number) = path.end, !path.hops.isEmpty, model.property(number)?.slot != nil {
        let isFiled = filed.count { $0 == path } == paths.count { $0 == path }
        found.append((number, Trigger(root: query.entity, hops: path.hops), isFiled))
      }
    }
    return found
  }
}
