// Tests: SearchTests.swift
import GraphModel

/// Updates the full-text indexes some time after the commits.
///
/// Updating an index with every commit would more than double the cost of a small one, while several hundred texts at
/// once cost little more than one. `_words` contains the revision up to which the indexes are complete, the
/// *watermark*. A search uses the indexes for rows that are not newer, and examines the newer ones itself
/// (`UnindexedRows`), so its answer is exact. The number of newer ones is bounded: the transaction that reaches the
/// bound updates the indexes. A delete removes its words at once, so no index contains a deleted row. After a crash,
/// the pending updates are recomputed from history.
package final class FullTextIndexer {
  private struct RowKey: Hashable {
    let property: PropertyNumber
    let row: Int64
  }

  private struct PendingText {
    let table: EntityTable.FullTextTable
    /// The text in the index; nil if the index has none for this row.
    let indexed: String?
    var present: String?
  }

  private let connection: Connection
  /// The number of changes that may be pending.
  private let limit: Int
  private let isNeeded: Bool
  private(set) var watermark: Revision = 0
  private var waiting = [RowKey: PendingText]()
  private var changes = 0
  private var bytes = 0
  /// Whether updates were written that the watermark does not cover yet.
  private var isInBatch = false

  /// The maximum size of the pending objects, with or without texts, because a search reads them all.
  private static let maximumBytes = 4 << 20

  package init(_ connection: Connection, layout: StoreLayout, limit: Int) {
    self.connection = connection
    self.limit = limit
    isNeeded = layout.orderedTables.contains { !$0.fullTextTables.isEmpty }
  }

  // MARK: - Changes of texts

  func inserted(_ text: String?, row: Int64, _ table: EntityTable.FullTextTable) {
    if let text, !text.isEmpty { put(nil, text, RowKey(property: table.property.number, row: row), table) }
  }

  func updated(from old: String?, to new: String?, row: Int64, _ table: EntityTable.FullTextTable) {
    let place = RowKey(property: table.property.number, row: row)
    put(waiting[place].map { $0.indexed } ?? old, new, place, table)
  }

  /// The text of a deleted object.
  struct DeletedText {
    let text: String?
    let row: Int64
    let table: EntityTable.FullTextTable
  }

  /// Removes the words of deleted objects from the indexes at once.
  ///
  /// In row order: FTS5 flushes its buffer whenever a rowid is lower than the preceding one, which for 10,000 texts
  /// costs more than the rest of the delete.
  func deleted(_ texts: [DeletedText]) throws {
    let inOrder = texts.sorted { ($0.table.property.number, $0.row) < ($1.table.property.number, $1.row) }
    for leaving in inOrder {
      let entry = waiting.removeValue(forKey: RowKey(property: leaving.table.property.number, row: leaving.row))
      if let known = entry.map({ $0.indexed }) ?? leaving.text { try run(leaving.table.remove, leaving.row, known) }
    }
  }

  private func put(_ indexed: String?, _ present: String?, _ place: RowKey, _ table: EntityTable.FullTextTable) {
    waiting[place] = PendingText(table: table, indexed: indexed, present: present)
  }

  // MARK: - Updating the indexes

  /// Counts a commit; call it for each commit after its rows are written.
  /// - Parameter size: the size in bytes of all changed images.
  func recordCommit(changes count: Int, size: Int) {
    assert(count >= 0 && size >= 0)
    changes += max(1, count)
    bytes += size
  }

  /// Updates the indexes if enough is pending; call it before COMMIT.
  /// - Parameter head: the revision of the transaction.
  package func updateIfDue(head: Revision) throws {
    guard isNeeded, isDue else { return }
    try updateIndexes()
    let mark = try connection.statement(Self.setWatermark)
    mark.bind(1, head)
    try connection.run(mark)
    reset(to: head)
  }

  /// Updates the indexes up to a revision. Pruning calls it before it removes the history up to that revision.
  func update(upTo floor: Revision, head: Revision) throws {
    try invariant(floor < head, "the newest commit is never pruned")
    // The indexes already cover the commits that are pruned.
    guard isNeeded, watermark < floor else { return }
    changes = max(changes, limit, 1)
    try updateIfDue(head: head)
  }

  private var isDue: Bool { changes >= limit || bytes >= Self.maximumBytes }

  /// Updates the indexes in the middle of a batch if enough is pending. The watermark stays until `endBatch`, which
  /// must be called then: `updateIfDue` alone would leave the rest pending.
  func updateInBatch() throws {
    guard isNeeded, isDue else { return }
    try updateIndexes()
    let wasBefore = watermark
    reset(to: wasBefore)
    isInBatch = true
  }

  /// Completes the indexes at the end of a batch.
  func endBatch(head: Revision) throws {
    // If no slice has reached the bound, the batch stays pending, like a commit.
    guard isNeeded, isInBatch else { return }
    changes = max(changes, limit)
    try updateIfDue(head: head)
  }

  private func updateIndexes() throws {
    for (place, entry) in waiting.sorted(by: { ($0.key.property, $0.key.row) < ($1.key.property, $1.key.row) }) {
      if let known = entry.indexed { try run(entry.table.remove, place.row, known) }
      if let text = entry.present { try run(entry.table.insert, place.row, text) }
    }
  }

  private static let setWatermark = SQL("UPDATE _words SET revision = ?")

  private func run(_ sql: SQL, _ row: Int64, _ text: String) throws {
    // The indexes have no rows for empty texts.
    if text.isEmpty { return }
    let statement = try connection.statement(sql)
    statement.bind(1, row)
    statement.bind(2, text.wordList)
    try connection.run(statement)
  }

  private func reset(to revision: Revision) {
    watermark = revision
    // Releases the memory that one huge commit needed.
    waiting.removeAll(keepingCapacity: waiting.capacity <= 8 * limit)
    (changes, bytes) = (0, 0)
    isInBatch = false
  }

  // MARK: - Opening

  package static func watermark(_ connection: Connection) throws -> Revision {
    // Without its row the indexes count as empty; `check` reports it.
    if let revision = try connection.integer("SELECT revision FROM _words") { revision } else { 0 }
  }

  /// Recomputes the pending updates from the commits since the watermark.
  /// - Throws: `MalformedMessage` if a commit or an object can't be read; the indexes must then be rebuilt.
  package func reload(_ history: HistoryReader) throws {
    do {
      try reloadChanges(history)
    } catch let failure as StoreFailure {
      guard let id = history.objects.withUnknownEntity else { throw failure }
      throw MalformedMessage("the object \(id.key) can't be read: \(failure.sentence)")
    }
  }

  private func reloadChanges(_ history: HistoryReader) throws {
    reset(to: try Self.watermark(connection))
    guard isNeeded else { return }
    let indexed = try IndexedImages(history, watermark: watermark)
    (changes, bytes) = (indexed.changes, indexed.bytes)
    for (id, before) in indexed.images {
      guard let found = try history.objects.find(id), let image = try history.objects.readImage(of: id),
        let table = history.objects.layout.table(of: id.entity)
      else { continue }
      let shape = try invariant(table.shape(of: image.id.entity), "an object that was read has columns in its table")
      for words in shape.fullTextTables {
        // Values are compared by bytes, because canonically equivalent texts may have different words.
        let (old, new) = (before.value(of: words.property), image[words.property])
        if old != new {
          put(old.stringValue, new.stringValue, RowKey(property: words.property.number, row: found.row), words)
        }
      }
    }
  }
}
