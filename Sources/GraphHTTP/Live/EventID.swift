// Tests: LiveFeedTests.swift
import GraphModel
import GraphWire

/// The `id` of an event: the token of the client's state after the event, and a hash of the stream's queries and
/// rights. A client that reconnects sends it as `Last-Event-ID`.
struct EventID: Hashable, CustomStringConvertible {
  let token: Token
  /// A hash of the queries, the model, the principal and its role. The events of a stream with another hash can't be
  /// resumed.
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

  /// The state from which a stream resumes, by the `Last-Event-ID` of its request.
  /// - Returns: no state for a new client; no state and a reason for an id from which this stream can't resume.
  static func start(_ text: String?, store: UniqueID, hash: UInt64) -> (since: Token?, reason: String?) {
    guard let text, !text.isEmpty else { return (nil, nil) }
    guard let id = EventID(text) else { return (nil, "Last-Event-ID is not the id of an event of this server") }
    if id.token.store != store { return (nil, "the event is of another store") }
    if id.hash != hash { return (nil, "the event is of another query, another model or other rights") }
    return (id.token, nil)
  }

  private static func text(_ number: UInt64) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }

  private static func number(_ text: Substring) -> UInt64? {
    text.utf8.count == 16 && text.first != "+" ? UInt64(text, radix: 16) : nil
  }

  /// The hash of some queries and of the rights of a session.
  static func hash(of queries: [Subscribe], _ welcome: Welcome) -> UInt64 {
    let texts = queries.map { "\($0.entity)\0\($0.predicate)" }.joined(separator: "\0")
    let text = "\(welcome.model)\0\(texts)\0\(welcome.principal)\0\(welcome.role)"
    return SHA256.hash(Array(text.utf8)).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
  }
}
