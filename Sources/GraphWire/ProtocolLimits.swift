/// The limits that both sides must know; docs/protocol.md explains each.
public enum ProtocolLimits {
  /// The protocol version of this program.
  public static let version: UInt32 = 1
  /// The size in bytes of a frame's message, unless the server is configured otherwise.
  public static let maximumFrameSize = 16 << 20
  /// The size in bytes at which a chunk is closed.
  public static let chunkSize = 64 << 10
  /// The size in bytes of a row, the same as that of an object.
  public static let maximumRowSize = 15 << 20
  /// The size in bytes of a frame's length, which is stored most significant byte first.
  public static let headerSize = 4
  /// The size in bytes of an author.
  public static let maximumAuthorSize = 256
  /// The size in bytes of a credential.
  public static let maximumCredentialSize = 1024
  /// The size in bytes of a presence.
  public static let maximumPresenceSize = 4096
  /// The number of unanswered requests of one session, at which the server stops reading.
  public static let maximumOutstandingRequests = 256
  /// The number of messages of rows that may wait for their answers.
  public static let maximumUnansweredRows = 4
  /// The number of live queries of one session.
  public static let maximumQueries = 16_384
  /// The number of rows of a window.
  public static let maximumWindow = 1_000
}
