// Tests: PrincipalTests.swift
import GRDBSQLite
import GraphModel
import Synchronization

/// The shown names of principals whose ids are not their names.
///
/// All rows of the store, and all bytes that a fingerprint covers, have ids. Each call that returns commits, conflicts
/// or origins replaces the ids in its answer by names. The table `_name` has a row for each such principal; it is
/// created with the first one. The writer adds rows, and replaces them after a rename.
package final class ShownNames: Sendable {
  /// By id; guarded by its mutex, because readers' threads look names up while the writer adds some. The keys are
  /// `Value`s because these compare strings by bytes.
  private let names = Mutex([Value: String]())

  package static let creation = "CREATE TABLE IF NOT EXISTS _name (author INTEGER PRIMARY KEY, name TEXT NOT NULL)"

  init() {}

  /// Replaces the names by those in the table.
  func load(_ connection: Connection) throws {
    var loaded = [Value: String]()
    if try connection.hasTable("_name") {
      let row = try connection.statement(
        "SELECT a.name, n.name FROM _name AS n JOIN _author AS a ON a.number = n.author")
      defer { sqlite3_reset(row.statement) }
      while try connection.step(row) { loaded[.string(row.text(0))] = row.text(1) }
    }
    names.withLock { $0 = loaded }
  }

  /// Records the name of a principal in the open transaction. After a rollback the writer loads the names again.
  func record(_ name: String, of id: String, number: Int64, _ connection: Connection) throws {
    try connection.run(Self.creation)
    let row = try connection.statement("INSERT OR REPLACE INTO _name (author, name) VALUES (?, ?)")
    row.bind(1, number)
    row.bind(2, name)
    try connection.run(row)
    names.withLock { $0[.string(id)] = name }
  }

  /// Replaces the names of principals by their ids, in the open transaction.
  func forget(_ principals: [String], _ connection: Connection) throws {
    for id in principals {
      let row = try connection.statement(
        "UPDATE _name SET name = ?1 WHERE author = (SELECT number FROM _author WHERE name = ?1)")
      row.bind(1, id)
      try connection.run(row)
      names.withLock { names in
        if names[.string(id)] != nil { names[.string(id)] = id }
      }
    }
  }

  /// The shown name of a principal.
  func name(of id: String) -> String { names.withLock { $0.isEmpty ? id : $0[.string(id)] ?? id } }

  /// The ids of the principals with a name, ascending. An id is no name if the principal has another one.
  func ids(named name: String) -> [String] {
    let named = names.withLock { names -> [String]? in
      if names.isEmpty { return nil }
      let others = names.compactMap { id, shown -> String? in
        guard case .string(let id) = id, UTF8Comparison.equal(shown, name) else { return nil }
        return id
      }
      return others.sorted() + (names[.string(name)] == nil ? [name] : [])
    }
    return named ?? [name]
  }

  /// Whether a user of an account is among the principals.
  var haveAccounts: Bool {
    names.withLock { names in
      names.keys.contains { id in
        if case .string(let id) = id { id.hasPrefix(Principal.accountPrefix) } else { false }
      }
    }
  }

  private var isEmpty: Bool { names.withLock { $0.isEmpty } }

  // MARK: - Answers

  func shown(_ record: CommitRecord) -> CommitRecord {
    if isEmpty { return record }
    var record = record
    record.author = name(of: record.author)
    return record
  }

  func shown(_ result: WriteResult) -> WriteResult {
    if isEmpty { return result }
    return WriteResult(outcome: shown(result.outcome), record: result.record.map { shown($0) })
  }

  func shown(_ outcome: Outcome) -> Outcome {
    switch outcome {
    case .committed(var committed):
      committed.conflicts = committed.conflicts.map { shown($0) }
      return .committed(committed)
    case .refused(var refusal):
      refusal.conflicts = refusal.conflicts.map { shown($0) }
      return .refused(refusal)
    }
  }

  private func shown(_ conflict: Conflict) -> Conflict {
    var conflict = conflict
    conflict.author = name(of: conflict.author)
    return conflict
  }

  func shown(_ origin: ValueOrigin) -> ValueOrigin {
    if isEmpty { return origin }
    var origin = origin
    origin.author = name(of: origin.author)
    for index in origin.overwrittenValues.indices {
      origin.overwrittenValues[index].author = name(of: origin.overwrittenValues[index].author)
    }
    return origin
  }
}
