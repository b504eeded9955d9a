// Tests: OpeningTests.swift, CommitTests.swift
import Foundation
import GRDB
import GraphModel

/// Single values that a database always has.
extension Database {
  /// The number of rows of a table, or of any other FROM clause.
  package func count(_ rows: String) throws -> Int {
    try invariant(Int.fetchOne(self, sql: "SELECT count(*) FROM \(rows)"), "a count has a value")
  }

  /// The value of an integer pragma such as `page_size`.
  package func integerPragma(_ name: String) throws -> Int {
    try invariant(Int.fetchOne(self, sql: "PRAGMA \(name)"), "the pragma \(name) has a value")
  }

  /// The id of the store; nil if its row is missing or damaged, which `stickiesd check` reports.
  package func storeID() throws -> UniqueID? {
    try Data.fetchOne(self, sql: "SELECT id FROM _store").flatMap { UniqueID(bytes: Array($0)) }
  }
}

extension ModelHash {
  /// The hash in a row of `_model`, for a message.
  package static func text(ofStored bytes: Data?) -> String {
    if let bytes, let hash = ModelHash(bytes: Array(bytes)) { hash.description } else { "unreadable" }
  }
}

extension DatabaseError {
  /// SQLite's message; empty if it gave none.
  package var text: String {
    if let message { message } else { "" }
  }

  /// SQLite's message as the rest of a sentence.
  package var reason: String {
    if let message { message } else { "no reason was given" }
  }
}

package enum PragmaText {
  /// The value of a pragma for a message.
  package static func of<Value>(_ value: Value?) -> String {
    if let value { "\(value)" } else { "unknown" }
  }
}
