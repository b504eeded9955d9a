/// The damaged objects and commits that an answer omits. Everything else in the answer is complete.
///
/// An object is damaged if its row has changed outside a commit, a commit if its row in history has. An answer about
/// the past also omits the objects that a damaged commit has changed since, and names both.
public struct DamageNotice: Hashable, Sendable {
  /// The objects; in an answer with commits their changes are listed without values.
  public var objects: [ObjectID]
  /// The revisions of the commits.
  public var commits: [Revision]

  /// The maximum number of objects and commits that an answer omits. With more, the request is refused.
  public static let maximumItems = 1_000

  /// Creates a notice; an empty one says that nothing is missing.
  public init(objects: [ObjectID] = [], commits: [Revision] = []) {
    self.objects = objects
    self.commits = commits
  }

  /// Whether nothing is missing.
  public var isEmpty: Bool { objects.isEmpty && commits.isEmpty }

  /// The number of objects and commits.
  public var count: Int { objects.count + commits.count }

  /// Adds the items of another notice, each once.
  public mutating func formUnion(_ other: DamageNotice) {
    let (objects, commits) = (Set(self.objects), Set(self.commits))
    self.objects += other.objects.filter { !objects.contains($0) }
    self.commits += other.commits.filter { !commits.contains($0) }
  }

  /// The advice for a person, without a period.
  public static let advice = "run stickiesd check, and restore a backup from before the damage"

  /// The refusal for a reader that needs the complete answer.
  public var refusal: Refusal {
    let names = objects.map { "the object \($0.key)" } + commits.map { "the commit of revision \($0)" }
    let listed = names.prefix(10).joined(separator: ", ") + (names.count > 10 ? " and \(names.count - 10) more" : "")
    return Refusal(
      .unavailable, "\(listed) \(names.count == 1 ? "is" : "are") damaged; \(Self.advice). Everything else is served")
  }
}
