// Tests: ReplicaStoreTests.swift, LongQueueTests.swift
import Foundation
import GRDB
import GraphModel
import GraphStore

/// The queue of a file, for the plans over the mirror. It reads the edits that are planned, and no others.
final class UnsentQueue: UnsentEditSource {
  private let file: UnsentFile
  private let form: IntentForm
  /// The user's account; nil without one.
  private let account: Principal?
  let identity: String

  init(_ file: UnsentFile, form: IntentForm, account: Principal?) {
    (self.file, self.form, self.account) = (file, form, account)
    let place = FileIdentity(path: file.path)
    identity = "\(place.map { "\($0.device) \($0.inode)" }.orEmpty) \(Self.boot)"
  }

  /// The run of the system since it was started: the plans are not synced, so those of an earlier run may be damaged.
  private static let boot: String = {
    #if os(Linux)
      let path = "/proc/sys/kernel/random/boot_id"
      if let text = try? String(contentsOfFile: path, encoding: .utf8) {
        return text.trimmingCharacters(in: .whitespacesAndNewlines)
      }
    #endif
    // Unknown, so that only this process uses its plans.
    return UUID().uuidString
  }()

  func newestChange() throws -> Int64 { try file.read { try UnsentFile.newestChange($0) } }

  func changes(after change: Int64) throws -> [(change: Int64, number: Int64)]? { try file.changes(after: change) }

  func numbers(after number: Int64, limit: Int) throws -> [Int64] {
    try file.read { database in
      let statement = try database.cachedStatement(
        sql: "SELECT number FROM intent WHERE number > ? AND state <> 'parked' ORDER BY number LIMIT ?")
      return try Int64.fetchAll(statement, arguments: [number, limit])
    }
  }

  func edit(_ number: Int64) throws -> UnsentEdit? {
    try file.read { database in
      guard let entry = try UnsentFile.entry(number, database, form), !entry.isParked, let intent = entry.intent,
        try !isUndone(number, database)
      else { return nil }
      return intent.edit(usedNumbers: entry.used, of: account)
    }
  }

  /// Whether an intent behind it undoes it: then both are shown as if they were not there.
  private func isUndone(_ number: Int64, _ database: Database) throws -> Bool {
    let statement = try database.cachedStatement(
      sql: """
        SELECT 1 FROM named JOIN intent ON intent.number = named.number WHERE object = ? AND state <> 'parked' LIMIT 1
        """)
    return try Int.fetchOne(statement, arguments: ["undo:\(number)"]) != nil
  }
}

extension String? {
  fileprivate var orEmpty: String { if let self { self } else { "" } }
}
