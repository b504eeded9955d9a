/// The live queries that read other objects than their own, and a commit's effects on them. The store uses it while it
/// commits; it is pure.
///
/// An object joins or leaves such a result because it changed itself, or because an object on one of the paths did. For
/// the latter, each property that a path reads on the way is a *trigger*: when it changes, the path is followed back to
/// its roots. Roots and changed objects are evaluated before and after the commit. Queries are indexed by the values of
/// their most selective equality or range, over paths as well, so that ten thousand queries that a commit does not
/// affect cost one lookup. An unchanged object can only join or leave a result if the outcome of a comparison changes;
/// for such objects a second index holds the queries by transitions. If the index covers all uses of a trigger's
/// values, a path is only followed back for an indexed value. A commit that changes neither triggers nor the queries'
/// entities reads nothing.
///
/// Queries without keys are grouped by the properties that they read. If a commit changes none of these, no object
/// joins or leaves a result of the group: unchanged objects are not evaluated, and changed ones once. They can't be
/// skipped, because every change of an object in the result is reported.
public struct PathQueryMatcher {
  /// Whether commit records contain the objects to which the changed ones refer.
  public var recordsReferences = false

  struct Query {
    let query: LiveQuery
    let evaluator: PredicateEvaluator
    /// The keys for objects that changed themselves; nil if only the predicate decides.
    let keys: [IndexKey]?
    /// The transitions for other objects.
    let transitions: MembershipTransitions?

    /// The indexed expressions of all keys.
    var expressions: Set<IndexedExpression> {
      var all = Set<IndexedExpression>()
      if let keys { all.formUnion(keys.map(\.expression)) }
      if let transitions { all.formUnion(transitions.transitions.map(\.expression)) }
      return all
    }
  }

  /// Queries by the set of properties that they read, of any object; each group has an index.
  typealias Groups = [Set<PropertyNumber>: EntityQueryIndex<IndexedExpressionReader>]

  typealias Trigger = PathTrigger

  /// The index for objects that did not change themselves.
  struct UnchangedObjectIndex {
    /// By the properties that an expression's values depend on: the queries by expression, with the reader of its
    /// values.
    var expressions = [
      Set<PropertyNumber>: [IndexedExpression: (reader: IndexedExpressionReader, queries: TransitionIndex)]
    ]()
    /// Queries without transitions, indexed as for changed objects.
    var unindexed = Groups()

    var isEmpty: Bool { expressions.isEmpty && unindexed.isEmpty }
  }

  /// The queries that read a trigger.
  struct TriggerQueries {
    /// Queries that read it only in indexed comparisons. A change between two values that are not in the index leaves
    /// an unchanged object's membership as it was.
    var indexed = Set<UInt64>()
    /// Queries that read it otherwise: any change may affect them.
    var unindexed = Set<UInt64>()

    var isEmpty: Bool { indexed.isEmpty && unindexed.isEmpty }
  }

  let model: Model
  var queries = [UInt64: Query]()
  var triggers = [PropertyNumber: [Trigger: TriggerQueries]]()
  /// The index of each concrete entity, for changed objects.
  var changedObjectIndexes = [EntityNumber: Groups]()
  /// The index of each concrete entity, for other objects.
  var unchangedObjectIndexes = [EntityNumber: UnchangedObjectIndex]()
  /// The matchers of readers who do not see everything, by what they see.
  private(set) var classes = [Visibility: PathQueryMatcher]()
  private var classNumbers = [UInt64: Visibility]()
  /// The highest number ever inserted.
  public private(set) var lastNumber: UInt64 = 0

  /// Creates an empty index.
  public init(model: Model) { self.model = model }

  /// Whether there are no queries.
  public var isEmpty: Bool { queries.isEmpty && classes.isEmpty }

  // MARK: - Insertion and removal

  /// Adds a query under `number`, which the caller chooses in rising order.
  /// - Parameter visibility: the objects that its readers see; nil for all.
  public mutating func insert(_ query: LiveQuery, number: UInt64, seenBy visibility: Visibility? = nil) {
    lastNumber = max(lastNumber, number)
    if let visibility {
      classNumbers[number] = visibility
      let empty = PathQueryMatcher(model: model)
      return classes[visibility, default: empty].insert(query, number: number)
    }
    guard queries[number] == nil, model.entity(query.entity) != nil else { return }
    let entry = Query(
      query: query, evaluator: PredicateEvaluator(query.predicate, model: model),
      keys: IndexKey.all(of: query.predicate, model: model),
      transitions: MembershipTransitions(of: query.predicate, model: model))
    queries[number] = entry
    updateIndexes(for: entry, number, inserting: true)
  }

  /// Removes a query; an unknown number is ignored.
  public mutating func remove(_ number: UInt64) {
    if let visibility = classNumbers.removeValue(forKey: number) {
      return classes.modifyIfPresent(visibility, removingIf: \.isEmpty) { $0.remove(number) }
    }
    guard let query = queries.removeValue(forKey: number) else { return }
    updateIndexes(for: query, number, inserting: false)
  }

  private mutating func updateIndexes(for entry: Query, _ number: UInt64, inserting: Bool) {
    let (query, keys, transitions) = (entry.query, entry.keys, entry.transitions)
    let paths = (transitions?.expressions ?? keys.map { $0.map(\.expression) } ?? []).compactMap(\.path)
    for (property, trigger, isIndexed) in triggers(of: query, indexed: paths) {
      let users = isIndexed ? \TriggerQueries.indexed : \TriggerQueries.unindexed
      if inserting {
        triggers[property, default: [:]][trigger, default: TriggerQueries()][keyPath: users].insert(number)
      } else {
        // A query that reads a trigger twice is removed by the first of the two.
        triggers.modifyIfPresent(property, removingIf: \.isEmpty) { queries in
          queries.modifyIfPresent(trigger, removingIf: \.isEmpty) { $0[keyPath: users].remove(number) }
        }
      }
    }
    let reads = query.predicate.reads(in: model)
    for entity in model.family(of: query.entity) where model.entity(entity)?.isAbstract == false {
      Self.updateIndex(
        number, in: &changedObjectIndexes[entity, default: [:]], reads, keys, model, inserting: inserting)
      if changedObjectIndexes[entity]?.isEmpty == true { changedObjectIndexes[entity] = nil }
      Self.updateIndex(
        number, in: &unchangedObjectIndexes[entity, default: UnchangedObjectIndex()], transitions, reads, keys, model,
        inserting: inserting
      )
      if unchangedObjectIndexes[entity]?.isEmpty == true { unchangedObjectIndexes[entity] = nil }
    }
  }

  /// Static for exclusive access to the tables during the mutation.
  private static func updateIndex(
    _ number: UInt64, in groups: inout Groups, _ reads: Set<PropertyNumber>, _ keys: [IndexKey]?, _ model: Model,
    inserting: Bool
  ) {
    if inserting {
      groups[reads, default: EntityQueryIndex()].insert(number, under: keys) { IndexedExpressionReader($0, model) }
    } else {
      groups.modifyIfPresent(reads, removingIf: \.isEmpty) { $0.remove(number, under: keys) }
    }
  }

  private static func updateIndex(
    _ number: UInt64, in index: inout UnchangedObjectIndex, _ transitions: MembershipTransitions?,
    _ reads: Set<PropertyNumber>,
    _ keys: [IndexKey]?, _ model: Model, inserting: Bool
  ) {
    guard let transitions else {
      return updateIndex(number, in: &index.unindexed, reads, keys, model, inserting: inserting)
    }
    for transition in transitions.transitions {
      let expression = transition.expression
      let reads = expression.reads(in: model)
      if inserting {
        index.expressions[reads, default: [:]][
          expression, default: (IndexedExpressionReader(expression, model), TransitionIndex())
        ].queries
          .insert(number, under: transition)
      } else {
        index.expressions.modifyIfPresent(reads, removingIf: \.isEmpty) { indexes in
          indexes.modifyIfPresent(expression, removingIf: { $0.queries.isEmpty }) {
            $0.queries.remove(number, under: transition)
          }
        }
      }
    }
  }

  /// The properties that a query's paths read, with the paths back to the roots, and whether the index covers every
  /// such read.
  /// - Parameter indexed: the paths of its keys, with multiplicity.
  private func triggers(
    of query: LiveQuery, indexed: [GraphPredicate.Path]
  ) -> [(PropertyNumber, Trigger, isIndexed: Bool)] {
    var found = [(PropertyNumber, Trigger, isIndexed: Bool)]()
    let paths = query.predicate.dependencies()
    for path in paths {
      for (index, hop) in path.hops.enumerated() {
        guard let relationship = model.property(hop)?.relationship else { break }
        // One of the two ends stores the reference; a change there changes the path.
        if relationship.storage == .inverse {
          found.append((relationship.inverse, Trigger(root: query.entity, hops: Array(path.hops[...index])), false))
        } else if index > 0 {
          found.append((hop, Trigger(root: query.entity, hops: Array(path.hops[..<index])), false))
        }
      }
      if case .property(let number) = path.end, !path.hops.isEmpty, model.property(number)?.slot != nil {
        let isIndexed = indexed.count { $0 == path } == paths.count { $0 == path }
        found.append((number, Trigger(root: query.entity, hops: path.hops), isIndexed))
      }
    }
    return found
  }
}
