import Foundation
import GRDB
import GraphTesting
import Testing

@testable import GraphStore

/// SQLite's log of a file stays short, although each program makes one commit only.
@Suite struct ShortLogTests {
  /// Opens a file, makes commits, and leaves it as a program that is killed does.
  private func run(_ path: String, commits: Int, isShort: Bool = true) throws {
    var configuration = Configuration()
    configuration.prepareDatabase { database in
      try MirrorStore.useWriteAheadLog(database)
      if isShort { ShortLog.keep(database, busySeconds: 5) }
    }
    let queue = try DatabaseQueue(path: path, configuration: configuration)
    try queue.inDatabase { database in
      try database.execute(sql: "CREATE TABLE IF NOT EXISTS page (bytes BLOB)")
      for _ in 0..<commits { try database.execute(sql: "INSERT INTO page VALUES (randomblob(3000))") }
    }
    // A copy of the files is what a killed program would leave: closing the last connection empties the log.
    for suffix in ["", "-wal"] {
      try? FileManager.default.removeItem(atPath: path + ".kept" + suffix)
      try FileManager.default.copyItem(atPath: path + suffix, toPath: path + ".kept" + suffix)
    }
    try queue.close()
    for suffix in ["", "-wal"] {
      try? FileManager.default.removeItem(atPath: path + suffix)
      try FileManager.default.moveItem(atPath: path + ".kept" + suffix, toPath: path + suffix)
    }
  }

  private func logSize(_ path: String) throws -> Int {
    let values = try URL(fileURLWithPath: path + "-wal").resourceValues(forKeys: [.fileSizeKey])
    return try #require(values.fileSize)
  }

  @Test(arguments: [true, false])
  func logOfManyProgramsIsBounded(isShort: Bool) throws {
    let folder = try TemporaryDirectory()
    let path = folder.path + "/file"
    var longest = 0
    for _ in 0..<100 {
      try run(path, commits: 2, isShort: isShort)
      longest = max(longest, try logSize(path))
    }
    let limit = (Int(ShortLog.pages) + 20) * 4_120
    #expect((longest <= limit) == isShort, "\(longest) bytes")
    let queue = try DatabaseQueue(path: path)
    #expect(try queue.inDatabase { try Int.fetchOne($0, sql: "SELECT count(*) FROM page") } == 200)
    try queue.close()
  }

  /// A program that reads an earlier state keeps the log; the commit is made at once, and a later one empties it.
  @Test func readerDoesNotDelayACommit() throws {
    let folder = try TemporaryDirectory()
    let path = folder.path + "/file"
    try run(path, commits: Int(ShortLog.pages), isShort: false)
    let reader = try DatabaseQueue(path: path)
    var configuration = Configuration()
    configuration.prepareDatabase { ShortLog.keep($0, busySeconds: 60) }
    let writer = try DatabaseQueue(path: path, configuration: configuration)
    func insert() throws { try writer.inDatabase { try $0.execute(sql: "INSERT INTO page VALUES (zeroblob(10))") } }
    try reader.inDatabase { database in
      try database.inTransaction(.deferred) {
        let count = try Int.fetchOne(database, sql: "SELECT count(*) FROM page")
        // With the connection's own limit this would take a minute.
        try insert()
        #expect(try Int.fetchOne(database, sql: "SELECT count(*) FROM page") == count)
        return .commit
      }
    }
    #expect(try logSize(path) > 0)
    try insert()
    #expect(try logSize(path) == 0)
    #expect(try writer.inDatabase { try Int.fetchOne($0, sql: "PRAGMA busy_timeout") } == 60_000)
    try writer.close()
    try reader.close()
  }
}
