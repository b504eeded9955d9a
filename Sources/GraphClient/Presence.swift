// Tests: GraphClientTests.swift

/// The presence of another session: forwarded by the server, and never stored.
public struct Presence: Hashable, Sendable {
  /// The session's number at the server; it changes with a reconnect.
  public var session: UInt64
  /// The author of the session.
  public var author: String
  /// The presence in the format of the application; nil when the session has ended.
  public var state: [UInt8]?

  /// The presence of a session.
  public init(session: UInt64, author: String, state: [UInt8]?) {
    self.session = session
    self.author = author
    self.state = state
  }
}
