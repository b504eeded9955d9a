// Tests: PastOptionTests.swift, PastCostTests.swift
import GraphModel

/// The revisions whose states can be read.
extension HistoryReader {
  /// The oldest readable revision: the graph before the oldest commit in history.
  func oldest() throws -> Revision {
    if let first = try connection.integer("SELECT min(revision) FROM _commit") { first - 1 } else { 0 }
  }

  /// - Throws: `Refusal` for a revision that never existed, does not exist yet, or was pruned.
  func check(_ revision: Revision, head: Revision) throws {
    guard revision >= 0 else {
      throw Refusal(.malformed, "there is no revision \(revision): revisions start at 0, the empty graph")
    }
    guard revision <= head else {
      throw Refusal(.notFound, "there is no revision \(revision) yet: the newest is \(head)")
    }
    try refusePruned(revision)
    try checkModel(at: revision)
  }

  /// Like `check(_:head:)`, with the present head.
  func check(_ revision: Revision) throws { try check(revision, head: head().revision) }

  /// Checks that every migration since the revision can convert all values to the present model.
  private func checkModel(at revision: Revision) throws {
    if let unreadable = objects.layout.unreadable, revision < unreadable.before {
      throw Refusal(
        .limit,
        "revision \(revision) was made before the model changed with revision \(unreadable.before), and can't be converted "
          + "to the new model: \(unreadable.obstacle). The log shows the changes of that time; the graph can be read as of "
          + "\(unreadable.before) and later")
    }
  }

  /// Checks that no migration since the revision changed objects without commits.
  ///
  /// States before such a migration can be read, but not the changes that lead from them to the present.
  func checkMigrations(since revision: Revision) throws {
    if let mapped = objects.layout.mapped, revision < mapped.since {
      throw Refusal(
        .limit,
        "revision \(revision) was made before the model changed with revision \(mapped.since), which \(mapped.what) "
          + "without commits: start again with the present state")
    }
  }

  /// The failure for a commit between others that a damaged history lacks.
  func missingCommit(_ revision: Revision) -> StoreFailure {
    StoreFailure(.corrupt, "history lacks the commit of revision \(revision)", advice: "Run stickiesd check.")
  }

  /// Returns a past object with its derived attributes computed, as far as the object alone determines them.
  func computed(_ image: ObjectImage?, at revision: Revision) -> ObjectImage? {
    let properties = objects.layout.computed(behind: revision)
    guard !properties.isEmpty, var image else { return image }
    for property in properties {
      guard objects.model.entity(image.id.entity)?.property(property.number) != nil else { continue }
      // A scope depends on other objects, which had other scopes then.
      image[property] = property.isHidden ? .null : objects.model.derivedValue(of: property, in: image)
    }
    return image
  }

  /// - Parameters:
  ///   - excess: the exceeded limit, as the beginning of a sentence.
  ///   - readable: the oldest revision whose state can be read; nil if unknown.
  static func limitRefusal(_ revision: Revision, _ excess: String, readable: Revision? = nil) -> Refusal {
    let later = if let readable { "revision \(readable) or a later one" } else { "a later revision" }
    // The advice comes first, because a terminal may truncate the rest.
    return Refusal(
      .limit,
      "ask for \(later): \(excess) since revision \(revision); single objects can be read as of any revision by their "
        + "ids, and a backup from that time has the whole graph")
  }
}
