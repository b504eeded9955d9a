// Tests: PastOptionTests.swift, PastCostTests.swift, PastDamageTests.swift
import GRDB
import GraphModel

/// The memory limits of a past state, which holds one image of each object touched since.
struct PastLimits: Sendable {
  let objects: Int
  let bytes: Int

  /// The exceeded limit, as the beginning of a sentence; nil for none.
  func excess(objects: Int, bytes: Int) -> String? {
    if objects > self.objects { return "more than \(self.objects) objects have changed" }
    return bytes > self.bytes ? "objects of more than \(self.bytes) bytes have changed" : nil
  }

  func excess(of walk: GraphRollback) -> String? {
    let most = HistoryReader.maximumSkippedChanges
    if walk.changes + walk.commits > most { return "objects have changed more than \(most) times" }
    return excess(objects: walk.images.count, bytes: walk.bytes)
  }
}

/// A connection for reads of the graph at a past revision.
///
/// It keeps the tables of one revision, so that the next fetch at that revision costs as much as one of the present;
/// a commit in between adds the objects that it touched. Objects whose state is unknown are in the tables, and a fetch
/// omits them (`UnreadableObjects`).
///
/// `@unchecked Sendable`: `shown` and the statements are accessed inside the queue only.
final class PastReader: @unchecked Sendable {
  private let queue: DatabaseQueue
  private let layout: StoreLayout
  private let limits: PastLimits
  private let damage: DamageReporter
  private let statements = StatementCache()
  private var shown: MaterializedState?

  /// The state in the TEMP tables.
  private struct MaterializedState {
    let revision: Revision
    /// The present revision on which it is based.
    let head: Revision
    let fingerprint: UInt64
    /// Every object touched between the two revisions, as it was at `revision`.
    let images: [ObjectID: ObjectImage?]
    /// The objects whose state at `revision` is unknown.
    let unreadable: [ObjectID: PastDamage]
    let scope: ShadowedTables
    /// The class that the views are for; nil for the whole graph.
    let visibility: Visibility?
  }

  init(_ queue: DatabaseQueue, layout: StoreLayout, limits: PastLimits, damage: DamageReporter) {
    self.damage = damage
    self.queue = queue
    self.layout = layout
    self.limits = limits
  }

  /// Runs `body` in a read transaction in which table names resolve to the graph at `revision`.
  /// - Parameter visibility: the class to whose objects the graph is reduced; nil for the whole graph.
  func read<Result>(
    at revision: Revision, seenBy visibility: Visibility? = nil,
    _ body: (ObjectReader, HistoryReader, ShadowedTables) throws -> Result
  ) throws -> Result {
    var result: Swift.Result<Result, any Error>?
    do {
      try queue.inDatabase { database in
        try database.inTransaction(.deferred) {
          let connection = Connection(database, statements: statements)
          let scope = try show(revision, seenBy: visibility, connection)
          let objects = ObjectReader(connection, layout: layout, damage: damage, visibility: visibility)
          result = Swift.Result { try body(objects, HistoryReader(objects: objects), scope) }
          // The TEMP tables stay valid even if the read failed.
          return .commit
        }
      }
    } catch {
      queue.inDatabase { _ in shown = nil }
      throw error
    }
    return try invariant(result, "a read of the past has a result or an error").get()
  }

  private func show(
    _ revision: Revision, seenBy visibility: Visibility?, _ connection: Connection
  ) throws -> ShadowedTables {
    // Rows are read only while the views are hidden, so they are those of the present.
    let objects = ObjectReader(connection, layout: layout, damage: damage)
    let history = HistoryReader(objects: objects)
    let head = try history.head()
    try history.check(revision, head: head.revision)
    if let shown, shown.revision == revision, shown.head == head.revision, shown.fingerprint == head.fingerprint,
      shown.visibility == visibility
    {
      return shown.scope
    }
    var images = [ObjectID: ObjectImage?]()
    var unreadable = [ObjectID: PastDamage]()
    var since = revision
    if let shown, shown.revision == revision, try history.fingerprint(of: shown.head) == shown.fingerprint {
      (images, unreadable, since) = (shown.images, shown.unreadable, shown.head)
    }
    shown = nil
    let tables = PastTables(connection: connection, layout: layout)
    try tables.hide()
    let touched = try GraphRollback.state(at: since, history, omitsDamage: true) { walk, readable in
      if let excess = limits.excess(of: walk) { throw HistoryReader.limitRefusal(since, excess, readable: readable) }
    }
    for (id, cause) in touched.unreadable where images.index(forKey: id) == nil { unreadable[id] = cause }
    guard unreadable.count <= DamageNotice.maximumItems else { throw PastDamage.notice(unreadable).refusal }
    for (id, image) in touched.images where images.index(forKey: id) == nil { images[id] = .some(image) }
    let bytes = images.values.reduce(0) { $0 + $1.memorySize }
    if let excess = limits.excess(objects: images.count, bytes: bytes) {
      throw HistoryReader.limitRefusal(revision, excess)
    }
    let scope = try tables.show(images, unreadable: unreadable, seenBy: visibility, objects: objects)
    shown = MaterializedState(
      revision: revision, head: head.revision, fingerprint: head.fingerprint, images: images, unreadable: unreadable,
      scope: scope, visibility: visibility)
    return scope
  }
}
