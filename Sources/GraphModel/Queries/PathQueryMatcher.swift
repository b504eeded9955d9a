/// The live queries that read other objects than their own, and a commit's effects on them. It is the committing
/// side's half of matching, and pure.
///
/// An object joins or leaves such a result because it changed itself, or because an object on one of the paths did.
/// For the latter, each property that a path reads on its way is a *trigger*: when it changes, the way is followed
/// back to its roots. Roots and changed objects are evaluated before and after the commit. Queries are indexed by the
/// values of their most selective equality or range, over paths as well, so that ten thousand queries that a commit
/// does not affect cost one lookup. An unchanged object can only join or leave a result if a comparison turns; for
/// such objects a second index holds the queries by transitions. If the index covers all uses of a trigger's values,
/// a way is only followed for an indexed value. A commit that changes neither triggers nor the queries' entities
/// reads nothing.
///
/// Queries without keys are grouped by the properties that they read. If a commit changes none of these, no object
/// joins or leaves a result of the group: unchanged objects are not evaluated, and changed ones once. They can't be
/// skipped, because every change of an object in the result is reported.
public struct PathQueryMatcher {
  struct Query {
    let query: LiveQuery
    let evaluator: PredicateEvaluator
    /// The keys for objects that changed themselves; nil if only the predicate decides.
    let places: [IndexKey]?
    /// The transitions for other objects.
    let turns: MembershipTransitions?

    /// The subjects of all keys.
    var subjects: Set<IndexedExpression> { Set((places ?? []).map(\.subject) + (turns?.turns ?? []).map(\.subject)) }
  }

  /// Queries by the set of properties that they read, of any object; each group has an index.
  typealias Groups = [Set<PropertyNumber>: EntityQueryIndex<IndexedExpressionReader>]

  /// A path from the objects of an entity, its roots, to the object with the changed property, after the last hop.
  struct Trigger: Hashable {
    let root: EntityNumber
    let hops: [PropertyNumber]
  }

  /// The index for objects that did not change themselves.
  struct UnchangedObjectIndex {
    /// By the properties that a subject's values depend on: the queries by subject, with the reader of its values.
    var subjects = [
      Set<PropertyNumber>: [IndexedExpression: (reader: IndexedExpressionReader, queries: TransitionIndex)]
    ]()
    /// Queries without transitions, indexed as for changed objects.
    var others = Groups()

    var isEmpty: Bool { subjects.isEmpty && others.isEmpty }
  }

  /// The queries that read a trigger.
  struct TriggerQueries {
    /// Queries that read it only in indexed comparisons. A change between two values that are not in the index leaves
    /// an unchanged object's membership as it was.
    var filed = Set<UInt64>()
    /// Queries that read it otherwise: any change may affect them.
    var others = Set<UInt64>()

    var isEmpty: Bool { filed.isEmpty && others.isEmpty }
  }

  let model: Model
  var queries = [UInt64: Query]()
  var triggers = [PropertyNumber: [Trigger: TriggerQueries]]()
  /// The index of each concrete entity, for changed objects.
  var shelves = [EntityNumber: Groups]()
  /// The index of each concrete entity, for other objects.
  var turning = [EntityNumber: UnchangedObjectIndex]()
  /// The highest number ever inserted.
  public private(set) var lastNumber: UInt64 = 0

  /// Creates an empty index.
  public init(model: Model) { self.model = model }

  /// Whether there are no queries.
  public var isEmpty: Bool { queries.isEmpty }

  // MARK: - Filing

  /// Adds a query under `number`, which the caller chooses in rising order.
  public mutating func insert(_ query: LiveQuery, number: UInt64) {
    lastNumber = max(lastNumber, number)
    guard queries[number] == nil, model.entity(query.entity) != nil else { return }
    let filed = Query(
      query: query, evaluator: PredicateEvaluator(query.predicate, model: model),
      places: IndexKey.all(of: query.predicate, model: model),
      turns: MembershipTransitions(of: query.predicate, model: model))
    queries[number] = filed
    file(filed, number, inserting: true)
  }

  /// Removes a query; an unknown number is ignored.
  public mutating func remove(_ number: UInt64) {
    guard let query = queries.removeValue(forKey: number) else { return }
    file(query, number, inserting: false)
  }

  private mutating func file(_ filed: Query, _ number: UInt64, inserting: Bool) {
    let (query, places, turns) = (filed.query, filed.places, filed.turns)
    let paths = (turns?.subjects ?? (places ?? []).map(\.subject)).compactMap(\.path)
    for (property, trigger, isFiled) in triggers(of: query, filed: paths) {
      let uses = isFiled ? \TriggerQueries.filed : \TriggerQueries.others
      if inserting {
        triggers[property, default: [:]][trigger, default: TriggerQueries()][keyPath: uses].insert(number)
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
      Self.file(
        number, in: &turning[entity, default: UnchangedObjectIndex()], turns, reads, places, model, inserting: inserting
      )
      if turning[entity]?.isEmpty == true { turning[entity] = nil }
    }
  }

  /// Static for exclusive access to the tables during the mutation.
  private static func file(
    _ number: UInt64, in groups: inout Groups, _ reads: Set<PropertyNumber>, _ places: [IndexKey]?, _ model: Model,
    inserting: Bool
  ) {
    if inserting {
      groups[reads, default: EntityQueryIndex()].insert(number, at: places) { IndexedExpressionReader($0, model) }
    } else {
      groups[reads]?.remove(number, at: places)
      if groups[reads]?.isEmpty == true { groups[reads] = nil }
    }
  }

  private static func file(
    _ number: UInt64, in turning: inout UnchangedObjectIndex, _ turns: MembershipTransitions?,
    _ reads: Set<PropertyNumber>,
    _ places: [IndexKey]?, _ model: Model, inserting: Bool
  ) {
    guard let turns else {
      return file(number, in: &turning.others, reads, places, model, inserting: inserting)
    }
    for turn in turns.turns {
      let subject = turn.subject
      let reads = subject.reads(in: model)
      if inserting {
        turning.subjects[reads, default: [:]][
          subject, default: (IndexedExpressionReader(subject, model), TransitionIndex())
        ].queries
          .insert(number, at: turn)
      } else {
        turning.subjects[reads]?[subject]?.queries.remove(number, at: turn)
        if turning.subjects[reads]?[subject]?.queries.isEmpty == true { turning.subjects[reads]?[subject] = nil }
        if turning.subjects[reads]?.isEmpty == true { turning.subjects[reads] = nil }
      }
    }
  }

  /// The properties that a query's paths read, with the ways back, and whether every such read is covered by the
  /// index.
  /// - Parameter filed: the paths of its keys, with multiplicity.
  private func triggers(
    of query: LiveQuery, filed: [GraphPredicate.Path]
  ) -> [(PropertyNumber, Trigger, isFiled: Bool)] {
    var found = [(PropertyNumber, Trigger, isFiled: Bool)]()
    let paths = query.predicate.dependencies()
    for path in paths {
      for (index, hop) in path.hops.enumerated() {
        guard let relationship = model.property(hop)?.relationship else { break }
        // One of the two ends stores the reference; a change there changes the way.
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
