// Tests: OpeningTests.swift, CommitTests.swift

/// The text of a statement that is created once and used often. A connection finds the prepared statement by this
/// object's identity, without hashing the text.
package final class SQL: Sendable {
  let text: String

  init(_ text: String) { self.text = text }
}
