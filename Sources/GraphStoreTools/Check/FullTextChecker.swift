// Tests: CheckTests.swift, SearchTests.swift
import GRDB
import GRDBSQLite
import GraphModel
import GraphStore

/// A checksum of the expected content of each full-text index: the sum of a hash of every pair of term and row.
///
/// Two sets of pairs can thus be compared without holding either in memory.
struct TermChecksums {
  private var sums = [String: UInt64]()

  mutating func add(_ value: Value, row: Int64, to index: String) {
    if case .string(let text) = value {
      for word in Self.words(of: text) { sums[index, default: 0] &+= Self.hash(word, row) }
    }
  }

  func sum(of index: String) -> UInt64 { sums[index, default: 0] }

  static func words(of text: String) -> Set<[UInt8]> {
    Set(text.indexTerms.map { Array($0.utf8.prefix(WordSplitter.maximumTermSize)) })
  }

  static func hash(_ word: [UInt8], _ row: Int64) -> UInt64 {
    Checksum.of(word, seed: Checksum.seed ^ UInt64(bitPattern: row) &* 0xBF58_476D_1CE4_E5B9)
  }
}

/// The check of the full-text indexes against the objects' texts as of their watermark.
struct FullTextChecker {
  private let store: CheckedStore
  private let connection: Connection
  /// The newest objects' texts as the full-text indexes should have them.
  private var indexed = IndexedImages()

  init(_ store: CheckedStore) { (self.store, connection) = (store, store.connection) }

  mutating func checkWatermark() throws {
    let history = HistoryReader(objects: store.objects)
    let (watermark, head) = (try FullTextIndexer.watermark(connection), try history.head().revision)
    guard 0...head ~= watermark else {
      return store.report(.words, .init(table: "_words"), "says \(watermark), but the newest commit is \(head)")
    }
    // Without an index the watermark never moves, and the texts of all history would be read.
    guard store.layout.orderedTables.contains(where: { !$0.fullTextTables.isEmpty }) else { return }
    if let floor = try HistoryFloor.read(connection), watermark < floor.revision {
      store.report(.words, .init(table: "_words"), "says \(watermark), but history goes back to \(floor.revision) only")
    }
    indexed = try IndexedImages(history, watermark: watermark)
  }

  /// Adds an object's texts to the words that the table's indexes should have.
  func add(_ image: ObjectImage, row: Int64, of table: EntityTable, to words: inout TermChecksums) {
    // The indexes lack an object that was inserted after their watermark.
    if let known = indexed.known(image) {
      for index in table.fullTextTables {
        words.add(store.model.value(of: index.property, in: known), row: row, to: index.name)
      }
    }
  }

  /// Checks every pair of term and row in the index, then searches for every term, as a query does.
  func check(_ index: EntityTable.FullTextTable, in table: EntityTable, _ expected: TermChecksums) throws {
    let (pairs, terms) = ("temp.\(quoted("\(index.name).pairs"))", "temp.\(quoted("\(index.name).terms"))")
    let name = "main, \(quoted(index.name))"
    try store.database.execute(sql: "CREATE VIRTUAL TABLE \(pairs) USING fts5vocab(\(name), instance)")
    try store.database.execute(sql: "CREATE VIRTUAL TABLE \(terms) USING fts5vocab(\(name), row)")
    let found = try connection.statement("SELECT term, doc FROM \(pairs)")
    var sum: UInt64 = 0
    while try connection.step(found) { sum &+= TermChecksums.hash(found.blob(0), found.integer(1)) }
    guard sum == expected.sum(of: index.name) else { return try findMissingWords(of: index, in: table) }
    let every = try connection.statement("SELECT term, doc FROM \(terms)")
    while try connection.step(every) {
      let search = try connection.statement(
        "SELECT count(*) FROM \(quoted(index.name)) WHERE \(quoted(index.name)) MATCH ?")
      search.bind(1, Self.query(for: every.blob(0)))
      let count = try connection.step(search) ? search.integer(0) : 0
      sqlite3_reset(search.statement)
      if count != every.integer(1) {
        store.report(
          .words, .init(table: index.name), "finds \(count) of \(every.integer(1)) texts by one of their words")
      }
    }
  }

  /// The query as bytes, because a truncated term may end within a character.
  private static func query(for word: [UInt8]) -> [UInt8] { [0x22] + word + [0x22] }

  private func findMissingWords(of index: EntityTable.FullTextTable, in table: EntityTable) throws {
    let before = store.findings.count(of: .words)
    let rows = try connection.statement(table.select + " ORDER BY t._row DESC")
    while try connection.step(rows) {
      guard let image = try? store.objects.image(rows, in: table), let known = indexed.known(image),
        case .string(let text) = store.model.value(of: index.property, in: known)
      else { continue }
      let row = rows.integer(0)
      let isFound = try TermChecksums.words(of: text).allSatisfy { word in
        let search = try connection.statement(
          "SELECT 1 FROM \(quoted(index.name)) WHERE \(quoted(index.name)) MATCH ? AND rowid = ?")
        search.bind(1, Self.query(for: word))
        search.bind(2, row)
        defer { sqlite3_reset(search.statement) }
        return try connection.step(search)
      }
      if !isFound {
        store.report(
          .words, .init(table: table.name, row: row, object: image.id),
          "is not found by all words of its \(index.property.name)")
      }
      // Stops at the limit for listed findings, because the rest of a broken index could take hours.
      if store.findings.count(of: .words) - before > StoreFinding.maximumPerKind { return }
    }
    if store.findings.count(of: .words) == before {
      store.report(.words, .init(table: index.name), "finds texts by words that they do not contain")
    }
  }
}
