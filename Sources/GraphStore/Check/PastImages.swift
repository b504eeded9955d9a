import GRDB
import GRDBSQLite
import GraphModel

/// Objects on the way back through history: each as it was before the oldest commit that was seen, nil where it was not
/// there. So many are held; the others lie in a database of their own, a temporary file, so that a check's memory does not grow
/// with the store.
struct PastImages {
  /// Of the temporary database.
  private let connection: Connection
  /// How many are held before they are put away.
  private let limit: Int
  private var held = [ObjectID: ObjectImage?]()
  private var isPutAway = false

  /// - Parameter database: an empty one that nobody else uses.
  init(_ database: Database, limit: Int) {
    connection = Connection(database)
    self.limit = max(1, limit)
  }

  /// Lets `body` go over objects of which these are all that it touches.
  mutating func with<Result>(
    _ ids: some Sequence<ObjectID>, _ body: (inout [ObjectID: ObjectImage?]) throws -> Result
  ) throws -> Result {
    if isPutAway {
      for id in ids where held[id] == nil {
        if let known = try find(id) { held[id] = .some(known) }
      }
    }
    let result = try body(&held)
    if held.count > limit { try putAway() }
    return result
  }

  /// Whether a commit has touched it.
  func contains(_ id: ObjectID) throws -> Bool {
    if held[id] != nil { return true }
    return isPutAway ? try find(id) != nil : false
  }

  /// Those that were there before the oldest commit, in the order of their ids.
  mutating func forEachThere(_ body: (ObjectImage) -> Void) throws {
    if isPutAway { try putAway() }
    for image in held.values.compactMap({ $0 }).sorted(by: { $0.id < $1.id }) { body(image) }
    guard isPutAway else { return }
    let row = try connection.statement("SELECT image FROM past WHERE image IS NOT NULL ORDER BY id")
    while try connection.step(row) { body(try ObjectImage(binary: row.blob(0))) }
  }

  private func find(_ id: ObjectID) throws -> ObjectImage?? {
    let row = try connection.statement("SELECT image FROM past WHERE id = ?")
    row.bind(1, id.key)
    defer { sqlite3_reset(row.statement) }
    guard try connection.step(row) else { return nil }
    return .some(row.isNull(0) ? nil : try ObjectImage(binary: row.blob(0)))
  }

  private mutating func putAway() throws {
    if !isPutAway {
      try connection.database.execute(sql: "CREATE TABLE past (id BLOB PRIMARY KEY, image BLOB) WITHOUT ROWID")
      isPutAway = true
    }
    try connection.database.inTransaction {
      let row = try connection.statement("INSERT OR REPLACE INTO past (id, image) VALUES (?, ?)")
      // In the order of the table.
      for (id, image) in held.sorted(by: { $0.key < $1.key }) {
        row.bind(1, id.key)
        if let image { row.bind(2, image.binary) } else { row.bindNull(2) }
        try connection.run(row)
      }
      return .commit
    }
    held.removeAll(keepingCapacity: true)
  }
}
