/// The numbers that both sides must know; docs/protocol.md explains each.
public enum ProtocolLimits {
  /// The version that this program speaks.
  public static let version: UInt32 = 1
  /// A frame's message has at most this many bytes, unless the server was told otherwise.
  public static let maximumFrameSize = 16 << 20
  /// A chunk is closed when it holds this many bytes.
  public static let chunkSize = 64 << 10
  /// A row has at most this many bytes, as an object has.
  public static let maximumRowSize = 15 << 20
  /// Frames' lengths are four bytes, most significant first.
  public static let headerSize = 4
  /// The longest author, in bytes.
  public static let maximumAuthorSize = 256
  /// The largest presence, in bytes.
  public static let maximumPresenceSize = 4096
  /// Requests of one session that wait for an answer; past it the server stops reading.
  public static let maximumOutstandingRequests = 256
  /// Messages of rows that may wait for their answers.
  public static let maximumUnansweredRows = 4
  /// Live queries of one session.
  public static let maximumQueries = 16_384
  /// Rows of a window.
  public static let maximumWindow = 1_000
}
