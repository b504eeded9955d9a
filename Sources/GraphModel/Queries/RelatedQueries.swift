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
  private struct Query {
    let query: LiveQuery
    let family: [EntityNumber]
    let evaluator: PredicateEvaluator
  }

  /// Queries by the properties that they read, of whatever object; each group's by what tells whether they can matter.
  private typealias Groups = [Set<PropertyNumber>: QueryShelves<SubjectReader>]

  /// A way that starts at objects of an entity; the object whose property changed stands behind its last hop.
  private struct Trigger: Hashable {
    let root: EntityNumber
    let hops: [PropertyNumber]
  }

  /// Queries for objects that did not change themselves.
  private struct Turning {
    /// By the properties that decide which values a subject has: under each subject, with what reads these.
    var subjects = [Set<PropertyNumber>: [QuerySubject: (reader: SubjectReader, queries: TurnShelf)]]()
    /// Those of which that can't be said, filed as for objects that changed.
    var others = Groups()

    var isEmpty: Bool { subjects.isEmpty && others.isEmpty }
  }

  /// How often a trigger is read.
  private struct Uses {
    /// By comparisons whose values are filed under the trigger's path, for objects that did not change themselves. A change
    /// between two values that are not there leaves each of them as it was.
    var filed = 0
    /// By anything else: any change may matter.
    var others = 0

    var isEmpty: Bool { filed + others <= 0 }
  }

  /// So many objects of one entity are judged for one commit because of others; past it their queries are read anew.
  public static let maximumRoots = 1_000
  /// So many objects are named and looked at for one commit, and so many more for each object that it changes; past it the
  /// queries of those that are left are read anew: a path over two to-manys can lead from each of them to all.
  static let maximumLooks = 20_000
  static let maximumLooksPerChange = 50
  /// And for each query of which only its predicate can tell: to read it anew costs more.
  static let maximumLooksPerQuery = 50
  /// So many objects are looked at on one way back.
  static let maximumVisits = 10_000

  private let model: Model
  private var queries = [UInt64: Query]()
  private var triggers = [PropertyNumber: [Trigger: Uses]]()
  /// Of each concrete entity.
  private var shelves = [EntityNumber: Groups]()
  /// The same for objects that others lead to.
  private var turning = [EntityNumber: Turning]()
  /// How many queries are filed nowhere.
  private var general = 0
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
    guard queries[number] == nil, let family = model.entity(query.entity)?.family else { return }
    queries[number] = Query(
      query: query, family: family, evaluator: PredicateEvaluator(query.predicate, model: model))
    file(query, number, inserting: true)
  }

  /// Takes a query out; nothing for a number that is not here.
  public mutating func remove(_ number: UInt64) {
    guard let query = queries.removeValue(forKey: number)?.query else { return }
    file(query, number, inserting: false)
  }

  private mutating func file(_ query: LiveQuery, _ number: UInt64, inserting: Bool) {
    let places = QueryPlace.all(of: query.predicate, model: model)
    let turns = QueryTurns(of: query.predicate, model: model)
    let filed = (turns?.subjects ?? (places ?? []).map(\.subject)).compactMap(\.path)
    for (property, trigger, isFiled) in triggers(of: query, filed: filed) {
      var uses = triggers[property]?[trigger] ?? Uses()
      if isFiled { uses.filed += inserting ? 1 : -1 } else { uses.others += inserting ? 1 : -1 }
      triggers[property, default: [:]][trigger] = uses.isEmpty ? nil : uses
      if triggers[property]?.isEmpty == true { triggers[property] = nil }
    }
    if places == nil { general += inserting ? 1 : -1 }
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

  // MARK: - One commit

  /// What the changes do to every query.
  /// - Parameter source: the graph after them.
  public func effects(of changes: [ObjectChange], in source: any ImageSource) -> RelatedEffects {
    guard !queries.isEmpty else { return RelatedEffects(knownThrough: lastNumber) }
    let looks =
      Self.maximumLooks + Self.maximumLooksPerChange * changes.count + Self.maximumLooksPerQuery * general
    return effects(of: changes, in: KeptSource(source, changes, model: model, atMost: looks))
  }

  func effects(of changes: [ObjectChange], in after: KeptSource) -> RelatedEffects {
    var result = RelatedEffects(knownThrough: lastNumber)
    let before = GraphBefore(changes, after: after, changed: after.changed)
    var roots = [ObjectID]()
    var seen = Set<ObjectID>()
    for change in changes where shelves[change.id.entity] != nil && seen.insert(change.id).inserted {
      roots.append(change.id)
    }
    let (reached, tooMany, changed) = reachedRoots(changes, before, after)
    for id in reached.sorted() where seen.insert(id).inserted { roots.append(id) }
    var effects = [UInt64: [LiveQueryChange]]()
    // The concrete entities of those that were not judged.
    var left = Set<EntityNumber>()
    for id in roots {
      defer { if after.isExhausted { left.insert(id.entity) } }
      if after.isExhausted { continue }
      let (old, new) = (before.image(of: id), after.image(of: id))
      let wasThere = old.map { Judgement(image: $0, source: before) }
      let isThere = new.map { Judgement(image: $0, source: after) }
      let (open, settled) =
        before.change(of: id).map { candidates($0, wasThere, isThere, by: changed) }
        ?? (turned(id.entity, wasThere, isThere, by: changed), [])
      for (numbers, isSettled) in [(open, false), (settled, true)] {
        for number in numbers {
          guard let query = queries[number] else { continue }
          let isIn = new.map { query.evaluator.matches($0, in: after) } ?? false
          let wasIn = isSettled ? isIn : old.map { query.evaluator.matches($0, in: before) } ?? false
          switch (wasIn, isIn, old, new) {
          case (false, true, _, let new?): effects[number, default: []].append(.inserted(new))
          case (true, false, let old?, _):
            // What is told of an object that stays is told as it is now.
            effects[number, default: []].append(.removed(new ?? old, deleted: new == nil))
          case (true, true, let old?, let new?):
            guard let change = before.change(of: id) else { continue }
            effects[number, default: []].append(.updated(new, edits: change.edits, previous: old.revision))
          default: break
          }
        }
      }
    }
    if !tooMany.isEmpty || !left.isEmpty {
      for (number, query) in queries
      where tooMany.contains(query.query.entity) || query.family.contains(where: left.contains) {
        result.unknown.append(number)
      }
      result.unknown.sort()
      for number in result.unknown { effects[number] = nil }
    }
    result.effects = effects.sorted { $0.key < $1.key }.map { .init(query: $0.key, changes: $0.value) }
    return result
  }

  /// The queries that an object which changed itself could belong to: those to which it could come or which it could
  /// leave, and those of which everything that they read is as it was.
  /// - Parameter changed: the properties that have changed somewhere and are read from elsewhere.
  private func candidates(
    _ change: ObjectChange, _ before: Judgement?, _ after: Judgement?, by changed: Set<PropertyNumber>
  ) -> (open: [UInt64], settled: [UInt64]) {
    guard let groups = shelves[change.id.entity] else { return ([], []) }
    guard let old = change.before, let new = change.after, let entity = model.entity(change.id.entity) else {
      return (groups.values.flatMap { $0.candidates(before, after) }.sorted(), [])
    }
    var changed = changed
    var slots = [Int]()
    new.findChangedSlots(since: old, into: &slots)
    for slot in slots { changed.insert(entity.storedProperties[slot].number) }
    var (open, settled) = ([UInt64](), [UInt64]())
    for (reads, queries) in groups {
      if reads.isDisjoint(with: changed) {
        settled += queries.candidates(nil, after)
      } else {
        open += queries.candidates(before, after)
      }
    }
    return (open.sorted(), settled.sorted())
  }

  /// The queries of an entity to which an object that did not change itself could come, or which it could leave.
  /// - Parameter changed: the properties that have changed somewhere.
  private func turned(
    _ entity: EntityNumber, _ before: Judgement?, _ after: Judgement?, by changed: Set<PropertyNumber>
  ) -> [UInt64] {
    guard let turning = turning[entity] else { return [] }
    var numbers = Set<UInt64>()
    for (reads, queries) in turning.others where !reads.isDisjoint(with: changed) {
      numbers.formUnion(queries.candidates(before, after))
    }
    for (reads, subjects) in turning.subjects where !reads.isDisjoint(with: changed) {
      for (reader, queries) in subjects.values {
        let (old, new) = (before.map { reader.values($0) } ?? [], after.map { reader.values($0) } ?? [])
        queries.forEach(from: old, to: new) { number in
          numbers.insert(number)
          return true
        }
      }
    }
    return numbers.sorted()
  }

  /// Where ways start that lead past what changed, before or after; entities of which that are too many; and the triggers
  /// that changed.
  private func reachedRoots(
    _ changes: [ObjectChange], _ before: GraphBefore, _ after: KeptSource
  ) -> (Set<ObjectID>, tooMany: Set<EntityNumber>, changed: Set<PropertyNumber>) {
    var reached = [EntityNumber: Set<ObjectID>]()
    var tooMany = Set<EntityNumber>()
    var changed = Set<PropertyNumber>()
    for change in changes {
      guard let entity = model.entity(change.id.entity) else { continue }
      for property in entity.storedProperties {
        guard let ways = triggers[property.number], change.before?[property] != change.after?[property] else {
          continue
        }
        changed.insert(property.number)
        for (way, uses) in ways where !tooMany.contains(way.root) {
          if uses.others == 0, !isAwaited(change, property, behind: way) { continue }
          var starts = reached[way.root] ?? []
          let isComplete =
            follow(way.hops, back: change.id, change.before, before, into: &starts)
            && follow(way.hops, back: change.id, change.after, after, into: &starts)
          if !isComplete || starts.count > Self.maximumRoots { tooMany.insert(way.root) }
          reached[way.root] = starts
        }
      }
    }
    var all = Set<ObjectID>()
    for (root, ids) in reached where !tooMany.contains(root) {
      guard let family = model.entity(root)?.family else { continue }
      all.formUnion(ids.filter { family.contains($0.entity) })
    }
    return (all, tooMany, changed)
  }

  /// Whether a query is filed under the value that a property at the end of a way had, or has, so that it could turn.
  private func isAwaited(_ change: ObjectChange, _ property: Property, behind way: Trigger) -> Bool {
    let subject = QuerySubject.path(GraphPredicate.Path(hops: way.hops, end: .property(property.number)))
    let reads = subject.reads(in: model)
    let (old, new) = (change.before.map { [$0[property]] } ?? [], change.after.map { [$0[property]] } ?? [])
    return model.entity(way.root)?.family.contains { entity in
      guard let turning = turning[entity] else { return false }
      var isFound = false
      turning.subjects[reads]?[subject]?.queries.forEach(from: old, to: new) { _ in
        isFound = true
        return false
      }
      return isFound
        || turning.others.values.contains { others in
          others.subjects[subject].map { others in (old + new).contains { others.queries.isHolding($0) } } ?? false
        }
    } ?? false
  }

  /// Follows a way from its last object to where it starts; false when that becomes too much.
  private func follow(
    _ hops: [PropertyNumber], back id: ObjectID, _ image: ObjectImage?, _ source: any ImageSource,
    into starts: inout Set<ObjectID>
  ) -> Bool {
    guard image != nil else { return true }
    var ids: Set<ObjectID> = [id]
    for hop in hops.reversed() {
      guard let property = model.property(hop), let relationship = property.relationship else { return true }
      var next = Set<ObjectID>()
      for id in ids {
        if relationship.storage == .inverse {
          guard let inverse = model.property(relationship.inverse), let image = source.image(of: id) else { continue }
          next.formUnion(image[inverse].objectIDs)
        } else {
          next.formUnion(source.referrers(to: id, through: property))
        }
        if next.count > Self.maximumVisits { return false }
      }
      ids = next
    }
    starts.formUnion(ids)
    return true
  }
}

extension QueryShelves<SubjectReader> {
  /// The queries that an object, as it was and as it is, could belong to: each once, in no order.
  fileprivate func candidates(_ before: Judgement?, _ after: Judgement?) -> [UInt64] {
    var numbers = [UInt64]()
    for (reader, queries) in subjects.values {
      let old = before.map { reader.values($0) } ?? []
      for value in old { queries.holding(value, into: &numbers) }
      guard let new = after.map({ reader.values($0) }), new != old else { continue }
      for value in new { queries.holding(value, into: &numbers) }
    }
    return Array(numbers.isEmpty ? general : general.union(numbers))
  }
}
