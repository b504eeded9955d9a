// Tests: PastOptionTests.swift, PastCostTests.swift
import GraphModel

/// The walk of the complete graph back to a revision, commit by commit.
///
/// It begins with the present and rolls back each object that a commit touched; all other objects are as they are
/// now. `ObjectTimeTravelReader` goes back along single objects instead, and `PastTables` shows a result of this walk
/// to SQL.
struct GraphRollback {
  private let history: HistoryReader
  private let revision: Revision
  /// The touched objects as they were before the changes rolled back so far; nil for one that did not exist.
  private(set) var images = [ObjectID: ObjectImage?]()
  /// The number of commits walked over, and of their changes.
  private(set) var commits = 0
  private(set) var changes = 0
  /// The size of the images in bytes.
  private(set) var bytes = 0
  private var mapped: MigratedValues
  private var counts: PastCounts

  /// Checks the size of the walk; called with the commit reached, or nil if all commits have been walked over.
  typealias Check = (GraphRollback, Revision?) throws -> Void

  /// Returns every object touched after a revision, as it was then; nil if it did not exist. Table names must resolve
  /// to the present on the connection.
  static func images(
    at revision: Revision, _ history: HistoryReader, check: Check
  ) throws -> [ObjectID: ObjectImage?] {
    var walk = GraphRollback(history, to: revision)
    try history.forEachCommitNewestFirst(after: revision) { try walk.rollBack($0, check) }
    try walk.addOwners(check)
    return walk.migratedImages
  }

  private init(_ history: HistoryReader, to revision: Revision) {
    (self.history, self.revision) = (history, revision)
    mapped = MigratedValues(history.objects.layout)
    counts = PastCounts(history.objects.layout, at: revision)
  }

  private mutating func rollBack(_ commit: HistoryReader.Commit, _ check: Check) throws {
    changes += commit.changes.count
    commits += 1
    try check(self, commit.revision)
    let model = history.objects.model
    // Objects of removed entities are not part of any state.
    for change in commit.changes.reversed() where model.entity(change.id.entity) != nil {
      let known = images[change.id]
      let (before, after) = try history.rollBack(change, in: &images, readsInserted: !mapped.isEmpty)
      mapped.pass(change.id, after, at: commit.revision)
      counts.pass(before, after, at: commit.revision)
      bytes += before.memorySize
      if let known { bytes -= known.memorySize }
      assert(bytes >= 0)
      // A single commit may touch a million objects.
      try check(self, commit.revision)
    }
  }

  /// Adds the objects whose count was different, which may not have been touched themselves.
  private mutating func addOwners(_ check: Check) throws {
    for id in counts.owners where images.index(forKey: id) == nil {
      let image = try history.objects.readImage(of: id)
      images[id] = image.map { .some($0) }
      bytes += image.memorySize
      try check(self, nil)
    }
  }

  private var migratedImages: [ObjectID: ObjectImage?] {
    guard !mapped.isEmpty || !history.objects.layout.computed(behind: revision).isEmpty else { return images }
    return images.mapValues { history.computed(mapped.migrated($0, at: revision, counts), at: revision) }
  }
}
