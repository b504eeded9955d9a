import GRDB
import GRDBSQLite
import GraphModel
import GraphStore

/// Objects during a walk back through history, as they were before the oldest commit read so far.
///
/// An object that did not exist is nil. Memory holds a limited number of objects, a temporary database file the others.
struct RollbackImageCache {
  /// The connection to the temporary database.
  private let connection: Connection
  /// The maximum number in memory before they are moved to the file.
  private let limit: Int
  private var inMemory = [ObjectID: ObjectImage?]()
  private var isSpilled = false

  /// - Parameter database: an empty database for exclusive use.
  init(_ database: Database, limit: Int) {
    connection = Connection(database)
    self.limit = max(1, limit)
  }

  /// Calls `body` with the images of the given objects, the only ones that it may access.
  mutating func with<Result>(
    _ ids: some Sequence<ObjectID>, _ body: (inout [ObjectID: ObjectImage?]) throws -> Result
  ) throws -> Result {
    if isSpilled {
      for id in ids where inMemory[id] == nil {
        if let known = try find(id) { inMemory[id] = .some(known) }
      }
    }
    let result = try body(&inMemory)
    assert(limit > 0)
    if inMemory.count > limit { try spill() }
    return result
  }

  /// Whether a commit has touched the object.
  func contains(_ id: ObjectID) throws -> Bool {
    if inMemory[id] != nil { return true }
    return isSpilled ? try find(id) != nil : false
  }

  /// Calls `body` for the objects that existed before the oldest commit, in the order of their ids.
  mutating func forEachExisting(_ body: (ObjectImage) -> Void) throws {
    if isSpilled { try spill() }
    for image in inMemory.values.compactMap({ $0 }).sorted(by: { $0.id < $1.id }) { body(image) }
    if isSpilled {
      try inTemporaryFile {
        let row = try connection.statement("SELECT image FROM past WHERE image IS NOT NULL ORDER BY id")
        while try connection.step(row) { body(try ObjectImage(binary: row.blob(0))) }
      }
    }
  }

  private func find(_ id: ObjectID) throws -> ObjectImage?? {
    try inTemporaryFile {
      let row = try connection.statement("SELECT image FROM past WHERE id = ?")
      row.bind(1, id.key)
      defer { sqlite3_reset(row.statement) }
      guard try connection.step(row) else { return nil }
      return .some(row.isNull(0) ? nil : try ObjectImage(binary: row.blob(0)))
    }
  }

  private mutating func spill() throws {
    try inTemporaryFile {
      if !isSpilled {
        try connection.database.execute(sql: "CREATE TABLE past (id BLOB PRIMARY KEY, image BLOB) WITHOUT ROWID")
      }
      try connection.database.inTransaction {
        let row = try connection.statement("INSERT OR REPLACE INTO past (id, image) VALUES (?, ?)")
        // In the order of the table's key.
        for (id, image) in inMemory.sorted(by: { $0.key < $1.key }) {
          row.bind(1, id.key)
          if let image { row.bind(2, image.binary) } else { row.bindNull(2) }
          try connection.run(row)
        }
        return .commit
      }
    }
    isSpilled = true
    inMemory.removeAll(keepingCapacity: true)
  }

  /// Wraps errors of the temporary file, because they do not concern the store that is checked.
  private func inTemporaryFile<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as DatabaseError {
      throw TemporaryFileFailure(isFull: error.resultCode == .SQLITE_FULL, cause: error.text)
    } catch let failure as StoreFailure {
      throw TemporaryFileFailure(isFull: failure.code == .full, cause: failure.cause)
    }
  }
}

/// The error of a check whose temporary file can't be written or read.
struct TemporaryFileFailure: Error {
  let isFull: Bool
  let cause: String

  /// The failure for the operator of the machine.
  var failure: StoreFailure {
    StoreFailure(
      isFull ? .full : .inputOutput,
      "the check could not write its temporary file and has no result", cause: cause,
      advice: "Free some space in the folder for temporary files, or set SQLITE_TMPDIR to another folder.")
  }
}
