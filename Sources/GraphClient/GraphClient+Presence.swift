import GraphReplica

/// What another session shows of itself: forwarded by the server, and never stored.
public struct Presence: Hashable, Sendable {
  /// The session's number at the server; another one after a reconnect.
  public var session: UInt64
  /// Who it is.
  public var author: String
  /// What it shows, in the words of whoever shows it; nil when the session has left.
  public var state: [UInt8]?

  /// What a session shows.
  public init(session: UInt64, author: String, state: [UInt8]?) {
    self.session = session
    self.author = author
    self.state = state
  }
}

extension GraphClient {
  /// Shows something of this session to all others that show something themselves; at most 4,096 bytes. Dropped when there
  /// is no connection: show it again when there is one, and to a session that is new.
  public func showPresence(_ state: [UInt8]) { handle(.presence(state)) }
}
