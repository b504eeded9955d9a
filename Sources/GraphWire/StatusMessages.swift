import GraphModel

/// The status of a server.
public struct ServerStatus: Hashable, Sendable {
  /// The server's name and version, for people.
  public var server = ""
  /// The data directory.
  public var location = ""
  /// The size of the store and its log, in bytes.
  public var size: UInt64 = 0
  /// The newest committed state.
  public var head = Token(store: .zero, revision: 0, fingerprint: 0)
  /// The number of sessions, without the one that asks.
  public var sessions: UInt64 = 0
  /// The number of live queries of those sessions.
  public var registrations: UInt64 = 0
  /// The sequences and their next numbers.
  public var counters = [Counter]()
  /// The id of the server's process.
  public var process: UInt64 = 0
  /// The oldest state that history still has; 0 if it was not pruned.
  public var oldest: Revision = 0
  /// The reason why commits are refused, for people. Empty while they are accepted.
  public var failure = ""
  /// The size of the commit log on disk, in bytes; 0 if each commit is synced in the store itself.
  public var commitLogSize: UInt64 = 0
  /// The addresses that other machines reach without encryption or without accounts, as sentences for people.
  public var exposures = [String]()
  /// The URL of the web board; empty if the server has none.
  public var web = ""

  /// A sequence attribute and its next number.
  public struct Counter: Hashable, Sendable {
    /// The sequence attribute.
    public var property: PropertyNumber
    /// The number that the next object of its entity gets.
    public var next: Int64

    /// A sequence and its next number.
    public init(property: PropertyNumber, next: Int64) {
      self.property = property
      self.next = next
    }
  }

  /// An empty status.
  public init() {}
}

/// A code with which a browser logs in, once and soon.
public struct BrowserCode: Hashable, Sendable {
  /// The code, which is a secret; empty if the server has no accounts, so that no code is needed.
  public var code: String
  /// The URL of the web board.
  public var url: String
  /// The time for which the code is valid, in milliseconds.
  public var milliseconds: UInt64

  /// A code for the board at a URL.
  public init(code: String, url: String, milliseconds: UInt64) {
    (self.code, self.url, self.milliseconds) = (code, url, milliseconds)
  }
}
