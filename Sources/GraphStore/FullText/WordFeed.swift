import GRDBSQLite
import GraphModel

/// Feeds the full-text indexes behind the commits: an index that is written with every commit costs a small one more
/// than everything else in it, and several hundred texts at once cost little more than one.
///
/// `_words` tells the revision up to which the indexes are right, the *watermark*. A search asks them about rows that
/// are no newer and looks into the newer ones itself (`RecentTexts`), so its answer is exact. What is newer has a
/// bound: the feed runs inside the transaction that reaches it. A delete takes its words out at once, so that nothing
/// stands in an index for a row that is gone. After a crash what waits is found again in history.
final class WordFeed {
  private struct Place: Hashable {
    let property: PropertyNumber
    let row: Int64
  }

  private struct Waiting {
    let table: EntityTable.WordTable
    /// The text that the index knows; nil when it knows none for this row.
    let indexed: String?
    var present: String?
  }

  private let connection: Connection
  /// Changes that may wait.
  private let limit: Int
  private let isNeeded: Bool
  private(set) var watermark: Revision = 0
  private var waiting = [Place: Waiting]()
  private var changes = 0
  private var bytes = 0
  /// Something was fed that the watermark does not cover yet.
  private var isInBatch = false

  /// Objects that changed, texts or not, have at most this many bytes: a search reads them all.
  private static let maximumBytes = 4 << 20

  init(_ connection: Connection, layout: StoreLayout, limit: Int) {
    self.connection = connection
    self.limit = limit
    isNeeded = layout.orderedTables.contains { !$0.wordTables.isEmpty }
  }

  // MARK: - What happens to texts

  func inserted(_ text: String?, row: Int64, _ table: EntityTable.WordTable) {
    guard let text, !text.isEmpty else { return }
    put(nil, text, Place(property: table.property.number, row: row), table)
  }

  func updated(from old: String?, to new: String?, row: Int64, _ table: EntityTable.WordTable) {
    let place = Place(property: table.property.number, row: row)
    put(waiting[place].map { $0.indexed } ?? old, new, place, table)
  }

  /// A text whose object is deleted.
  struct Leaving {
    let text: String?
    let row: Int64
    let table: EntityTable.WordTable
  }

  /// Takes the words out of the indexes at once. In the order of the rows: SQLite's index writes out what it has
  /// gathered whenever a row comes before the last one, which for 10,000 texts costs more than all the rest of the
  /// delete.
  func deleted(_ texts: [Leaving]) throws {
    let inOrder = texts.sorted { ($0.table.property.number, $0.row) < ($1.table.property.number, $1.row) }
    for leaving in inOrder {
      let entry = waiting.removeValue(forKey: Place(property: leaving.table.property.number, row: leaving.row))
      if let known = entry.map({ $0.indexed }) ?? leaving.text { try run(leaving.table.remove, leaving.row, known) }
    }
  }

  private func put(_ indexed: String?, _ present: String?, _ place: Place, _ table: EntityTable.WordTable) {
    waiting[place] = Waiting(table: table, indexed: indexed, present: present)
  }

  // MARK: - Feeding

  /// Call for each commit, once its rows are written.
  /// - Parameter size: the bytes of all images that it changed.
  func committed(changes count: Int, size: Int) {
    changes += max(1, count)
    bytes += size
  }

  /// Call before COMMIT: feeds when enough waits.
  /// - Parameter head: the revision that the transaction leads to.
  func feedIfDue(head: Revision) throws {
    guard isNeeded, isDue else { return }
    try feed()
    let mark = try connection.statement(Self.setWatermark)
    mark.bind(1, head)
    try connection.run(mark)
    reset(to: head)
  }

  /// Before history loses what it had up to a revision: the indexes must know all of it.
  func feedAll(upTo floor: Revision, head: Revision) throws {
    guard isNeeded, watermark < floor else { return }
    changes = max(changes, limit, 1)
    try feedIfDue(head: head)
  }

  private var isDue: Bool { changes >= limit || bytes >= Self.maximumBytes }

  /// In the middle of a batch: feeds when enough waits. The watermark stays until the batch's end, which must feed what
  /// is left: `feedIfDue` would leave it.
  func feedInBatch() throws {
    guard isNeeded, isDue else { return }
    try feed()
    let wasBefore = watermark
    reset(to: wasBefore)
    isInBatch = true
  }

  /// At the end of a batch: the indexes are right up to it.
  func endBatch(head: Revision) throws {
    guard isNeeded, isInBatch else { return }
    changes = max(changes, limit)
    try feedIfDue(head: head)
  }

  private func feed() throws {
    for (place, entry) in waiting.sorted(by: { ($0.key.property, $0.key.row) < ($1.key.property, $1.key.row) }) {
      if let known = entry.indexed { try run(entry.table.remove, place.row, known) }
      if let text = entry.present { try run(entry.table.insert, place.row, text) }
    }
  }

  private static let setWatermark = SQL("UPDATE _words SET revision = ?")

  private func run(_ sql: SQL, _ row: Int64, _ text: String) throws {
    guard !text.isEmpty else { return }
    let statement = try connection.statement(sql)
    statement.bind(1, row)
    statement.bind(2, text.wordList)
    try connection.run(statement)
  }

  private func reset(to revision: Revision) {
    watermark = revision
    // One huge commit does not leave its memory behind.
    waiting.removeAll(keepingCapacity: waiting.capacity <= 8 * limit)
    (changes, bytes) = (0, 0)
    isInBatch = false
  }

  // MARK: - Opening

  static func watermark(_ connection: Connection) throws -> Revision {
    let row = try connection.statement("SELECT revision FROM _words")
    defer { sqlite3_reset(row.statement) }
    return try connection.step(row) ? row.integer(0) : 0
  }

  /// What waits according to the store: the commits since the watermark, played again.
  func reload(_ history: HistoryReader) throws {
    reset(to: try Self.watermark(connection))
    guard isNeeded else { return }
    let indexed = try IndexedTexts(history, watermark: watermark)
    (changes, bytes) = (indexed.changes, indexed.bytes)
    for (id, before) in indexed.images {
      guard let found = try history.objects.find(id), let image = try history.objects.readImage(of: id),
        let table = history.objects.layout.table(of: id.entity)
      else { continue }
      for words in table.shape(of: image.id.entity)?.words ?? [] {
        let (old, new) = (before?[words.property].stringValue, image[words.property].stringValue)
        if old != new { put(old, new, Place(property: words.property.number, row: found.row), words) }
      }
    }
  }
}
