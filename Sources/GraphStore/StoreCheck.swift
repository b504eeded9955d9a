import GRDB
import GRDBSQLite
import GraphModel

/// `stickiesd check`: everything that a store can prove of itself.
public enum StoreCheck {
  /// Something that is not as it must be.
  public struct Finding: Hashable, Sendable, CustomStringConvertible {
    /// `integrity`, `foreign key`, `model`, `checksum`, `rule`, `edges`, `words`, `history` or `fingerprint`.
    public let kind: String
    public let text: String

    public init(kind: String, text: String) {
      self.kind = kind
      self.text = text
    }

    public var description: String { "\(kind): \(text)" }
  }

  /// No more than this many are listed for one kind; the rest is counted.
  static let maximumFindings = 100

  /// Opens the store in `directory`, which no daemon may be using, and verifies it. Nothing is changed.
  /// - Throws: `StoreFailure` when it can't be opened at all.
  public static func run(directory: String, model: Model) throws -> [Finding] {
    let path = directory + "/" + StoreFiles.name
    guard case .store = try StoreFiles.kind(of: path) else {
      throw StoreFailure(.notAStore, "there is no store in \(directory)", advice: "Give --data the daemon's directory.")
    }
    let lock = try StoreLock(directory: directory)
    defer { withExtendedLifetime(lock) {} }
    var configuration = Configuration()
    configuration.foreignKeysEnabled = false
    configuration.readonly = false
    do {
      let queue = try DatabaseQueue(path: path, configuration: configuration)
      return try queue.inDatabase { database in
        var checker = Checker(database, layout: StoreLayout(model: model))
        try checker.run()
        return checker.findings
      }
    } catch let error as DatabaseError {
      return [Finding(kind: "integrity", text: error.message ?? "the file can't be read")]
    } catch let failure as StoreFailure where failure.code == .corrupt {
      return [Finding(kind: "integrity", text: failure.description)]
    } catch let failure as MalformedMessage {
      return [Finding(kind: "history", text: failure.reason)]
    }
  }
}

private struct Checker {
  let database: Database
  let layout: StoreLayout
  let objects: ObjectReader
  let history: HistoryReader
  var findings = [StoreCheck.Finding]()
  private var counts = [String: Int]()

  init(_ database: Database, layout: StoreLayout) {
    self.database = database
    self.layout = layout
    objects = ObjectReader(Connection(database), layout: layout)
    history = HistoryReader(objects: objects)
  }

  private var connection: Connection { objects.connection }

  private mutating func report(_ kind: String, _ text: String) {
    counts[kind, default: 0] += 1
    if counts[kind, default: 0] <= StoreCheck.maximumFindings { findings.append(.init(kind: kind, text: text)) }
  }

  mutating func run() throws {
    try checkDatabase()
    // Past this point rows are decoded: pointless in a file whose pages are torn.
    guard findings.isEmpty else { return }
    try checkModel()
    guard findings.isEmpty else { return }
    for table in layout.orderedTables { try checkRows(of: table) }
    try checkHistory()
    for (kind, count) in counts.sorted(by: { $0.key < $1.key }) where count > StoreCheck.maximumFindings {
      findings.append(.init(kind: kind, text: "and \(count - StoreCheck.maximumFindings) more"))
    }
  }

  // MARK: SQLite's own

  private mutating func checkDatabase() throws {
    for line in try String.fetchAll(database, sql: "PRAGMA integrity_check(100)") where line != "ok" {
      report("integrity", line)
    }
    for row in try GRDB.Row.fetchAll(database, sql: "PRAGMA foreign_key_check") {
      report("foreign key", "\(row["table"] as String? ?? "?") row \(row["rowid"] as Int64? ?? 0) refers to nothing")
    }
    for table in layout.orderedTables {
      for words in table.wordTables {
        do {
          try database.execute(
            sql: "INSERT INTO \(quoted(words.name)) (\(quoted(words.name))) VALUES ('integrity-check')")
        } catch {
          report("words", "the full-text index \(words.name) is damaged")
        }
      }
    }
  }

  private mutating func checkModel() throws {
    let row = try connection.statement("SELECT hash FROM _model ORDER BY number DESC LIMIT 1")
    let hash = try connection.step(row) ? row.blob(0) : []
    sqlite3_reset(row.statement)
    if hash != layout.model.hash.bytes { report("model", "the store was made with another model than the one given") }
  }

  // MARK: Objects

  private mutating func checkRows(of table: EntityTable) throws {
    let sums = try connection.statement("SELECT _sum FROM \(quoted(table.name)) WHERE _row = ?")
    let plain = try connection.statement(table.select + " ORDER BY t._row")
    var edges = [String: Int]()
    while try connection.step(plain) {
      let number = plain.integer(0)
      let image: ObjectImage
      do {
        image = try objects.image(plain, in: table)
      } catch let failure as StoreFailure {
        report("rule", failure.sentence)
        continue
      }
      sqlite3_reset(sums.statement)
      sums.bind(1, number)
      guard try connection.step(sums) else { continue }
      let stored = UInt64(bitPattern: sums.integer(0))
      sqlite3_reset(sums.statement)
      let name = "\(table.name) \(image.id)"
      if stored != Checksum.of(image.binary) { report("checksum", "\(name) has changed outside a commit") }
      checkRules(image, name)
      try checkEdges(image, number, table, name, &edges)
      try checkWords(image, number, table, name)
    }
    sqlite3_reset(plain.statement)
    for edge in table.edges {
      let count = try connection.statement("SELECT count(*) FROM \(quoted(edge.name))")
      let total = try connection.step(count) ? Int(count.integer(0)) : 0
      sqlite3_reset(count.statement)
      if total != edges[edge.name] ?? 0 {
        report("edges", "\(edge.name) has \(total) rows, the objects have \(edges[edge.name] ?? 0) members")
      }
    }
  }

  private mutating func checkRules(_ image: ObjectImage, _ name: String) {
    guard let entity = layout.model.entity(image.id.entity) else { return }
    if entity.isAbstract { report("rule", "\(name) belongs to an abstract entity") }
    for property in entity.storedProperties {
      let value = image[property]
      if value.isNull, !property.isOptional { report("rule", "\(name).\(property.name) has no value") }
      if let attribute = property.attribute, attribute.checked(value) != value {
        report("rule", "\(name).\(property.name) holds no \(attribute.typeDescription)")
      }
    }
  }

  private mutating func checkEdges(
    _ image: ObjectImage, _ row: Int64, _ table: EntityTable, _ name: String, _ counts: inout [String: Int]
  ) throws {
    for edge in table.edges {
      for member in image[edge.property].objectIDs {
        counts[edge.name, default: 0] += 1
        guard let found = try objects.find(member) else {
          report("edges", "\(name).\(edge.property.name) names \(member), which is not there")
          continue
        }
        let statement = try connection.statement("SELECT 1 FROM \(quoted(edge.name)) WHERE member = ? AND owner = ?")
        statement.bind(1, found.row)
        statement.bind(2, row)
        if try !connection.step(statement) { report("edges", "\(name).\(edge.property.name) lacks an edge") }
        sqlite3_reset(statement.statement)
      }
    }
  }

  private mutating func checkWords(_ image: ObjectImage, _ row: Int64, _ table: EntityTable, _ name: String) throws {
    // What is newer, the index need not know yet.
    guard image.revision <= (try WordFeed.watermark(connection)) else { return }
    for words in table.wordTables {
      guard let word = image[words.property].stringValue?.words.max(by: { $0.utf8.count < $1.utf8.count }) else {
        continue
      }
      let statement = try connection.statement(
        "SELECT 1 FROM \(quoted(words.name)) WHERE \(quoted(words.name)) MATCH ? AND rowid = ?")
      statement.bind(1, "\"\(word)\"")
      statement.bind(2, row)
      if try !connection.step(statement) { report("words", "\(name) is not found by its words") }
      sqlite3_reset(statement.statement)
    }
  }

  // MARK: History

  /// Takes the present back commit by commit: every image on the way must have the checksum that its commit recorded,
  /// and the very first commit must leave nothing.
  private mutating func checkHistory() throws {
    var present = [ObjectID: ObjectImage?]()
    var expected: Revision?
    var chained = [(revision: Revision, print: UInt64)]()
    let rows = try connection.statement("SELECT count(*), min(revision), max(revision) FROM _commit")
    if try connection.step(rows), rows.integer(0) > 0, rows.integer(2) - rows.integer(1) + 1 != rows.integer(0) {
      report("history", "revisions are missing between \(rows.integer(1)) and \(rows.integer(2))")
    }
    sqlite3_reset(rows.statement)
    var problems = [(String, String)]()
    let (history, model) = (history, layout.model)
    try history.forEachCommitNewestFirst(after: 0) { commit in
      if let expected, commit.revision != expected {
        problems.append(("history", "revision \(expected) is missing"))
      }
      expected = commit.revision - 1
      for (recorded, change) in zip(commit.changes, try history.takeBack(commit, in: &present)) {
        let image = change.after ?? change.before
        if image.map({ Checksum.of($0.binary) }) != recorded.sum {
          problems.append(
            (
              "history",
              "revision \(commit.revision) does not lead to \(model.entity(change.id.entity)?.name ?? "object") \(change.id) as it is"
            ))
        }
        if change.kind != .inserted, change.before == nil {
          problems.append(("history", "revision \(commit.revision) changes an object that it does not find"))
        }
      }
      chained.append((commit.revision, commit.fingerprint))
    }
    for (kind, text) in problems { report(kind, text) }
    for (id, image) in present where image != nil {
      report("history", "\(id) exists before its first commit")
    }
    try checkChain()
    try checkPresentAgainstHistory(present)
  }

  private mutating func checkChain() throws {
    let row = try connection.statement(
      """
      SELECT revision, time, a.name, r.id, sequence, fingerprint, undoes, undo, changes FROM _commit
      LEFT JOIN _author AS a ON a.number = author LEFT JOIN _replica AS r ON r.number = replica ORDER BY revision
      """)
    var previous: UInt64 = 0
    while try connection.step(row) {
      let undo = row.blob(7)
      let print = StoreWriter.chain(
        previous, revision: row.integer(0), time: row.integer(1), author: row.text(2),
        transaction: TransactionID(replica: row.id(3), sequence: UInt64(bitPattern: row.integer(4))),
        undoes: row.isNull(6) ? nil : row.integer(6), undo: undo, changes: row.blob(8))
      let stored = UInt64(bitPattern: row.integer(5))
      if stored != print { report("fingerprint", "revision \(row.integer(0)) is not as it was committed") }
      previous = stored
    }
    sqlite3_reset(row.statement)
  }

  /// Every object that is there must have been made by some commit.
  private mutating func checkPresentAgainstHistory(_ touched: [ObjectID: ObjectImage?]) throws {
    for table in layout.orderedTables {
      let row = try connection.statement("SELECT _id, _entity, _revision FROM \(quoted(table.name)) ORDER BY _row")
      while try connection.step(row) {
        let id = ObjectID(key: row.id(0), entity: EntityNumber(truncatingIfNeeded: row.integer(1)))
        if touched[id] == nil { report("history", "\(table.name) \(id) was made by no commit") }
      }
      sqlite3_reset(row.statement)
    }
  }
}
