import GRDB
import GRDBSQLite
import GraphModel

/// What may be held in memory of the graph as it was: one image of each object that was touched since.
struct PastLimits: Sendable {
  let objects: Int
  let bytes: Int

  /// What is too much of it, as a sentence begins; nil when nothing is.
  func excess(objects: Int, bytes: Int) -> String? {
    if objects > self.objects { return "more than \(self.objects) objects have changed" }
    return bytes > self.bytes ? "objects of more than \(self.bytes) bytes have changed" : nil
  }
}

/// A connection of its own for reading the graph as it was at a revision. What it has put together for one revision it
/// keeps, so that the next fetch of that revision costs as much as one of the present; a commit in between adds what it
/// touched.
///
/// `@unchecked Sendable`: `shown` is read and written inside the queue only.
final class PastReader: @unchecked Sendable {
  private let queue: DatabaseQueue
  private let layout: StoreLayout
  private let limits: PastLimits
  private let damage: DamageReporter
  private var shown: Shown?

  /// What the TEMP tables hold.
  private struct Shown {
    let revision: Revision
    /// The present over which it was made.
    let head: Revision
    let fingerprint: UInt64
    /// Every object that was touched between the two, as it was at `revision`.
    let images: [ObjectID: ObjectImage?]
    let scope: PastScope
  }

  init(_ queue: DatabaseQueue, layout: StoreLayout, limits: PastLimits, damage: DamageReporter) {
    self.damage = damage
    self.queue = queue
    self.layout = layout
    self.limits = limits
  }

  /// Runs `body` in a read transaction in which names mean the graph at `revision`.
  func read<Result>(
    at revision: Revision, _ body: (ObjectReader, HistoryReader, PastScope) throws -> Result
  ) throws -> Result {
    var result: Swift.Result<Result, any Error>?
    do {
      try queue.inDatabase { database in
        try database.inTransaction(.deferred) {
          let connection = Connection(database)
          let scope = try show(revision, connection)
          let objects = ObjectReader(connection, layout: layout)
          result = Swift.Result { try body(objects, HistoryReader(objects: objects), scope) }
          // The TEMP tables stay, whatever became of the read.
          return .commit
        }
      }
    } catch {
      queue.inDatabase { _ in shown = nil }
      throw error
    }
    guard let result else { throw Refusal(.unavailable, "the past was not read") }
    return try result.get()
  }

  private func show(_ revision: Revision, _ connection: Connection) throws -> PastScope {
    // While the views are hidden: what is read here are the rows of the present.
    let objects = ObjectReader(connection, layout: layout, damage: damage)
    let history = HistoryReader(objects: objects)
    let head = try history.head()
    try history.check(revision, head: head.revision)
    if let shown, shown.revision == revision, shown.head == head.revision, shown.fingerprint == head.fingerprint {
      return shown.scope
    }
    var images = [ObjectID: ObjectImage?]()
    var since = revision
    if let shown, shown.revision == revision, try history.fingerprint(of: shown.head) == shown.fingerprint {
      (images, since) = (shown.images, shown.head)
    }
    shown = nil
    let tables = PastTables(connection: connection, layout: layout)
    try tables.hide()
    for (id, image) in try history.images(at: since, limits: limits) where images.index(forKey: id) == nil {
      images[id] = .some(image)
    }
    let bytes = images.values.reduce(0) { $0 + ($1?.approximateSize ?? 0) }
    if let excess = limits.excess(objects: images.count, bytes: bytes) {
      throw HistoryReader.tooMuchSince(revision, excess)
    }
    let scope = try tables.show(images, objects: objects)
    shown = Shown(
      revision: revision, head: head.revision, fingerprint: head.fingerprint, images: images, scope: scope)
    return scope
  }
}
