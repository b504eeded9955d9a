/// Queries of readers who do not see everything: each visibility class has a matcher of its own, which reads the graph
/// that the class sees. A commit is reduced for a class only if it touches one of the queries' triggers or entities.
///
/// A reference that appears or disappears because its target has become visible or invisible is no change of the
/// referring object. The reader of the effects, which knows the targets of all changes, reloads the queries that such
/// references concern.
extension PathQueryMatcher {
  /// The classes for which a commit is evaluated. Queries of further ones are fetched again, so that the time of a
  /// commit does not depend on the number of classes.
  public static let maximumClasses = 16

  /// Adds the effects on the queries of all classes.
  /// - Parameters:
  ///   - source: the complete graph after the changes.
  ///   - total: the steps that all classes share.
  func addClasses(
    to effects: inout PathQueryEffects, of changes: [ObjectChange], in source: any ImageSource, total: Int
  ) {
    var touched = classes.map { (visibility: $0.key, matcher: $0.value) }
    touched.removeAll { !$0.matcher.isTouched(by: changes, seenBy: $0.visibility) }
    if touched.count > Self.maximumClasses {
      // The oldest ones, so that equal commits have equal effects.
      touched.sort { $0.matcher.lastNumber < $1.matcher.lastNumber }
    }
    let evaluated = touched.prefix(Self.maximumClasses)
    for (visibility, matcher) in evaluated {
      let found = matcher.effects(of: changes, seenBy: visibility, in: source, total: total / evaluated.count)
      effects.effects += found.effects
      effects.unknown += found.unknown
    }
    for (_, matcher) in touched.dropFirst(Self.maximumClasses) { effects.unknown += matcher.queries.keys }
    effects.effects.sort { $0.query < $1.query }
    effects.unknown.sort()
  }

  /// Whether one of the changes is of an object that could be in a result, or of a property on a path. All properties
  /// of an object change that becomes visible or invisible.
  private func isTouched(by changes: [ObjectChange], seenBy visibility: Visibility) -> Bool {
    changes.contains { change in
      if changedObjectIndexes[change.id.entity] != nil { return true }
      guard let entity = model.entity(change.id.entity) else { return false }
      let read = entity.storedProperties.filter { triggers[$0.number] != nil }
      if read.isEmpty { return false }
      return read.contains { change.before?[$0] != change.after?[$0] }
        || change.before.map { visibility.sees($0) } != change.after.map { visibility.sees($0) }
    }
  }

  private func effects(
    of changes: [ObjectChange], seenBy visibility: Visibility, in source: any ImageSource, total: Int
  ) -> PathQueryEffects {
    let budget = EvaluationBudget(total: total, share: max(Self.minimumShare, total / max(1, queries.count)))
    let byID = Dictionary(changes.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    let visible = VisibleImageSource(source, visibility, budget: budget)
    let reduced = changes.compactMap { change in
      visibility.reduced(change) { id, isBefore in
        guard let other = byID[id] else { return visible.sees(id) }
        return (isBefore ? other.before : other.after).map { visibility.sees($0) } == true
      }
    }
    return effects(of: reduced, in: CachingImageSource(visible, reduced, model: model, budget: budget))
  }
}

/// The part of a graph that a class sees. A class, because it caches which objects are visible.
private final class VisibleImageSource: ImageSource {
  private let source: any ImageSource
  private let visibility: Visibility
  private let budget: EvaluationBudget
  private var known = [ObjectID: Bool]()

  init(_ source: any ImageSource, _ visibility: Visibility, budget: EvaluationBudget) {
    (self.source, self.visibility, self.budget) = (source, visibility, budget)
  }

  func image(of id: ObjectID) -> ObjectImage? {
    guard let image = source.image(of: id), visibility.sees(image) else { return nil }
    return visibility.reduced(image) { sees($0) }
  }

  func referrers(to id: ObjectID, through property: Property) -> [ObjectID] {
    source.referrers(to: id, through: property).filter { sees($0) }
  }

  /// Whether the class sees an object that exists. The answer does not count once the budget is exhausted.
  func sees(_ id: ObjectID) -> Bool {
    if let known = known[id] { return known }
    if budget.isExhausted { return false }
    if let isSeen = visibility.seesUnread(id) { return isSeen }
    budget.charge(1)
    budget.chargeStoreQuery()
    let isSeen = source.image(of: id).map { visibility.sees($0) } == true
    known[id] = isSeen
    return isSeen
  }
}
