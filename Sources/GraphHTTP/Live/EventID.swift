// Tests: LiveFeedTests.swift
import GraphModel
import GraphWire

/// The `id` of an event: the token of the state that the client then has, and a hash of what the stream shows. A client
/// that reconnects sends it as `Last-Event-ID`.
struct EventID: Hashable, CustomStringConvertible {
  let token: Token
  /// Covers the query, the model and the principal with its role: a stream with another hash shows something else.
  let hash: UInt64

  init(_ token: Token, hash: UInt64) { (self.token, self.hash) = (token, hash) }

  /// Nil for a text that is not an id of this form.
  init?(_ text: String) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 4, let store = UniqueID(String(parts[0])), let revision = Revision(parts[1]), revision >= 0,
      let fingerprint = Self.number(parts[2]), let hash = Self.number(parts[3])
    else { return nil }
    self.init(Token(store: store, revision: revision, fingerprint: fingerprint), hash: hash)
  }

  var description: String {
    "\(token.store).\(token.revision).\(Self.text(token.fingerprint)).\(Self.text(hash))"
  }

  private static func text(_ number: UInt64) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }

  private static func number(_ text: Substring) -> UInt64? {
    text.utf8.count == 16 && text.first != "+" ? UInt64(text, radix: 16) : nil
  }

  /// The hash of what a session of a principal sees of a query.
  static func hash(of query: Subscribe, _ welcome: Welcome) -> UInt64 {
    let text = "\(welcome.model)\0\(query.entity)\0\(query.predicate)\0\(welcome.principal)\0\(welcome.role)"
    return SHA256.hash(Array(text.utf8)).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
  }
}
