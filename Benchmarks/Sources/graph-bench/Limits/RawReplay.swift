import CSQLite
import Foundation
import GraphModel

/// The limit of `apply`: writes the rows that a store has written from its entries, through the C functions into a copy
/// of the earlier store, in the same order and in transactions of the same size.
///
/// A commit inserts notes, all columns and indexes, or updates the columns of a moved note; and it inserts its history
/// row and the marks of keyframes. The store updates the full-text index behind the commits, at the end of each
/// transaction in which enough changes have gathered; the limit writes the same texts at the same ends. All values, and
/// the terms of the texts, are known beforehand; nothing is decoded, read or checked.
final class RawReplay {
  /// The entries that `SQLiteStore.apply` puts into one transaction.
  private static let transactionEntries = 512

  private struct Note {
    let values: [OpaquePointer]
    let terms: UnsafeMutablePointer<CChar>
  }

  /// The columns of a moved note that its commit changes.
  struct Move {
    let revision: Int64
    let sum: Int64
    let x: Double
    let updated: Int64
    let row: Int64

    /// - Parameter statement: a row with these columns, in this order.
    init(_ statement: Statement) {
      (revision, sum, x) = (statement.integer(0), statement.integer(1), statement.double(2))
      (updated, row) = (statement.integer(3), statement.integer(4))
    }
  }

  private struct Commit {
    let revision: Int64
    let values: [OpaquePointer]
    var notes = [Note]()
    var moves = [Move]()
    /// The ids of the objects that the commit holds completely, with its revision.
    var keyframes = [[OpaquePointer]]()
  }

  private let database: RawDatabase
  private let after: RawDatabase
  private var commits = [Commit]()
  /// The revision up to which the store's full-text index is complete.
  private let indexedRevision: Int64
  private let note: Statement
  private let move: Statement
  private let keyframe: Statement
  private let history: Statement
  private let terms: Statement
  private let watermark: Statement
  private let begin: Statement
  private let commit: Statement

  /// - Parameters:
  ///   - before: a copy of the store before the entries.
  ///   - after: the store after them, closed.
  ///   - moves: the moves of the commits, which overwrite each other.
  init(before: String, after: String, moves: [Move]) throws {
    database = try RawDatabase(before)
    self.after = try RawDatabase(after)
    let head = try database.integer("SELECT max(revision) FROM _commit")
    indexedRevision = try self.after.integer("SELECT revision FROM _words")
    let notes = try Self.names(of: "Note", self.after).filter { $0 != "_row" }
    let columns = try Self.names(of: "_commit", self.after)
    note = try Self.insert(into: "Note", notes, database)
    move = try Statement(database, "UPDATE Note SET _revision = ?, _sum = ?, x = ?, updated = ? WHERE _row = ?")
    keyframe = try Self.insert(into: "_whole", ["id", "revision"], database)
    history = try Self.insert(into: "_commit", columns, database)
    terms = try Statement(database, "INSERT INTO \"Note.text.words\" (rowid, words) VALUES (?, ?)")
    watermark = try Statement(database, "UPDATE _words SET revision = ?")
    begin = try Statement(database, "BEGIN IMMEDIATE")
    commit = try Statement(database, "COMMIT")
    try loadCommits(columns, after: head)
    if moves.isEmpty { try loadNotes(notes, after: head) }
    for move in moves { commits[try place(of: move.revision)].moves.append(move) }
    try loadKeyframes(after: head)
  }

  /// Returns the index of the commit with a revision.
  private func place(of revision: Int64) throws -> Int {
    let place = commits.first.map { Int(revision - $0.revision) } ?? -1
    guard commits.indices.contains(place) else {
      throw BenchmarkError(description: "a row of the limit belongs to no commit")
    }
    return place
  }

  private static func names(of table: String, _ database: RawDatabase) throws -> [String] {
    try Statement(database, "SELECT * FROM \(table) LIMIT 1").columnNames
  }

  private static func list(_ names: [String]) -> String { names.map { "\"\($0)\"" }.joined(separator: ", ") }

  private static func insert(into table: String, _ names: [String], _ database: RawDatabase) throws -> Statement {
    let values = names.map { _ in "?" }.joined(separator: ", ")
    return try Statement(database, "INSERT INTO \(table) (\(list(names))) VALUES (\(values))")
  }

  private func loadCommits(_ names: [String], after head: Int64) throws {
    let rows = try Statement(
      after, "SELECT \(Self.list(names)), revision FROM _commit WHERE revision > \(head) ORDER BY revision")
    while try rows.step() {
      commits.append(
        Commit(revision: rows.integer(Int32(names.count)), values: Self.values(rows, count: names.count)))
    }
    guard let first = commits.first, first.revision == head + 1 else {
      throw BenchmarkError(description: "the limit needs the store of one commit before")
    }
  }

  private func loadNotes(_ names: [String], after head: Int64) throws {
    let rows = try Statement(
      after, "SELECT \(Self.list(names)), _revision, text FROM Note WHERE _revision > \(head) ORDER BY _row")
    while try rows.step() {
      let place = try place(of: rows.integer(Int32(names.count)))
      guard let terms = strdup(rows.text(Int32(names.count + 1)).wordList) else {
        throw BenchmarkError(description: "there is no memory for a text")
      }
      commits[place].notes.append(Note(values: Self.values(rows, count: names.count), terms: terms))
    }
  }

  private func loadKeyframes(after head: Int64) throws {
    let rows = try Statement(after, "SELECT id, revision FROM _whole WHERE revision > \(head)")
    while try rows.step() {
      commits[try place(of: rows.integer(1))].keyframes.append(Self.values(rows, count: 2))
    }
  }

  private static func values(_ row: Statement, count: Int) -> [OpaquePointer] {
    (0..<Int32(count)).compactMap { sqlite3_value_dup(sqlite3_column_value(row.pointer, $0)) }
  }

  func run() throws {
    for start in stride(from: 0, to: commits.count, by: Self.transactionEntries) {
      try runTransaction(commits[start..<min(start + Self.transactionEntries, commits.count)])
    }
  }

  private func runTransaction(_ part: ArraySlice<Commit>) throws {
    var pending = [(row: Int64, terms: UnsafeMutablePointer<CChar>)]()
    try begin.run()
    for commit in part {
      for new in commit.notes {
        try run(note, new.values)
        pending.append((sqlite3_last_insert_rowid(database.handle), new.terms))
      }
      for change in commit.moves { try run(change) }
      try run(history, commit.values)
      for mark in commit.keyframes { try run(keyframe, mark) }
    }
    if let last = part.last, last.revision <= indexedRevision {
      for text in pending {
        terms.bind(1, text.row)
        sqlite3_bind_text(terms.pointer, 2, text.terms, -1, nil)
        try terms.run()
      }
      watermark.bind(1, last.revision)
      try watermark.run()
    }
    try commit.run()
  }

  private func run(_ change: Move) throws {
    move.bind(1, change.revision)
    move.bind(2, change.sum)
    sqlite3_bind_double(move.pointer, 3, change.x)
    move.bind(4, change.updated)
    move.bind(5, change.row)
    try move.run()
  }

  private func run(_ statement: Statement, _ values: [OpaquePointer]) throws {
    for (index, value) in values.enumerated() { sqlite3_bind_value(statement.pointer, Int32(index + 1), value) }
    try statement.run()
  }

  /// Checks that both stores have the same rows.
  func verify() throws {
    for query in [
      "SELECT count(*) FROM _commit", "SELECT count(*) FROM Note", "SELECT sum(_sum % 65537) FROM Note",
      "SELECT sum(fingerprint % 65537) FROM _commit", "SELECT revision FROM _words", "SELECT count(*) FROM _whole",
      "SELECT count(*) FROM \"Note.text.words\" WHERE \"Note.text.words\" MATCH 'milk'",
    ] where try database.integer(query) != after.integer(query) {
      throw BenchmarkError(description: "the limit wrote other rows than the store: \(query)")
    }
  }

  deinit {
    for commit in commits {
      let values = commit.notes.flatMap(\.values) + commit.keyframes.flatMap { $0 }
      for value in commit.values + values { sqlite3_value_free(value) }
      for note in commit.notes { free(note.terms) }
    }
  }
}
