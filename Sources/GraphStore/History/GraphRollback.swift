// Tests: PastOptionTests.swift, PastCostTests.swift, PastDamageTests.swift
import GraphModel

/// The walk of the complete graph back to a revision, commit by commit.
///
/// It begins with the present and rolls back each object that a commit touched; all other objects are as they are
/// now. `ObjectTimeTravelReader` goes back along single objects instead, and `PastTables` shows a result of this walk
/// to SQL.
struct GraphRollback {
  private let history: HistoryReader
  private let revision: Revision
  private let omitsDamage: Bool
  /// The touched objects as they were before the changes rolled back so far; nil for one that did not exist.
  private(set) var images = [ObjectID: ObjectImage?]()
  /// The number of commits walked over, and of their changes.
  private(set) var commits = 0
  private(set) var changes = 0
  /// The size of the images in bytes.
  private(set) var bytes = 0
  private var mapped: MigratedValues
  private var counts: PastCounts
  private var unreadable: UnreadableObjects

  /// The result of a walk.
  struct State {
    /// Every object touched since, as it was then; nil if it did not exist.
    var images: [ObjectID: ObjectImage?]
    /// The objects whose state is unknown. Their images are as the damaged rows and the readable commits have them.
    var unreadable: [ObjectID: PastDamage]
  }

  /// Checks the size of the walk; called with the commit reached, or nil if all commits have been walked over.
  typealias Check = (GraphRollback, Revision?) throws -> Void

  /// Returns every object touched after a revision, as it was then; nil if it did not exist. Table names must resolve
  /// to the present on the connection.
  static func images(
    at revision: Revision, _ history: HistoryReader, check: Check
  ) throws -> [ObjectID: ObjectImage?] {
    try state(at: revision, history, omitsDamage: false, check: check).images
  }

  /// Like `images`, with the objects whose state is unknown.
  /// - Parameter omitsDamage: whether damaged objects and commits are passed over. Otherwise they are refused.
  static func state(
    at revision: Revision, _ history: HistoryReader, omitsDamage: Bool, check: Check
  ) throws -> State {
    var walk = GraphRollback(history, to: revision, omitsDamage: omitsDamage)
    try history.forEachCommitNewestFirst(after: revision, omitsDamage: omitsDamage) { try walk.rollBack($0, check) }
    try walk.unreadable.finish(walk.images, history)
    if !omitsDamage || !walk.counts.isEmpty { try walk.refuseUnreadable() }
    try walk.addOwners(check)
    let images = walk.unreadable.images(over: walk.migratedImages)
    return State(images: images, unreadable: walk.unreadable.causes)
  }

  private init(_ history: HistoryReader, to revision: Revision, omitsDamage: Bool) {
    (self.history, self.revision, self.omitsDamage) = (history, revision, omitsDamage)
    mapped = MigratedValues(history.objects.layout)
    counts = PastCounts(history.objects.layout, at: revision)
    unreadable = UnreadableObjects(at: revision, layout: history.objects.layout)
  }

  private mutating func rollBack(_ commit: HistoryReader.Commit, _ check: Check) throws {
    changes += commit.changes.count
    commits += 1
    unreadable.pass(commit.revision)
    try check(self, commit.revision)
    let model = history.objects.model
    // Objects of removed entities are not part of any state.
    for change in commit.changes.reversed() where model.entity(change.id.entity) != nil {
      let known = images[change.id]
      let read = try known ?? readPresent(change)
      let after = try unreadable.pass(change, of: commit.revision, after: read, history)
      let before = change.before(after, model: model)
      images[change.id] = .some(before)
      mapped.pass(change.id, after, at: commit.revision)
      counts.pass(before, after, at: commit.revision)
      bytes += before.memorySize
      if let known { bytes -= known.memorySize }
      assert(bytes >= 0)
      // A single commit may touch a million objects.
      try check(self, commit.revision)
    }
  }

  /// The object after its newest change, as far as the walk needs it.
  private mutating func readPresent(_ change: HistoryChange) throws -> ObjectImage? {
    guard change.kind == .updated || change.kind == .inserted && !mapped.isEmpty else { return nil }
    if let image = try history.objects.unlessDamaged(omitsDamage, { try history.objects.readImage(of: change.id) }) {
      return image
    }
    unreadable.add(change.id, .row)
    do {
      return try history.objects.withoutVerification { try history.objects.readImage(of: change.id) }
    } catch let failure as StoreFailure where failure.code == .corrupt {
      return nil
    }
  }

  /// Counts of before the migrations that added them are computed from all references that changed since.
  private func refuseUnreadable() throws {
    if !unreadable.causes.isEmpty { throw PastDamage.notice(unreadable.causes).refusal }
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
