/// The reason why a WebSocket is closed, for its close frame (RFC 6455, section 7.4).
struct WebSocketFailure: Error, Equatable {
  /// The codes that this server sends.
  enum Code: UInt16 {
    case normal = 1_000
    case protocolError = 1_002
    /// A text frame: all messages are binary.
    case unsupportedData = 1_003
    /// A message that is not one of the graph's protocol.
    case invalidData = 1_007
    /// Credentials in a place where this server does not accept them.
    case policyViolation = 1_008
    case messageTooBig = 1_009
  }

  var code: Code
  /// A sentence for a person. A close frame has space for 123 bytes of it.
  var reason: String

  init(_ code: Code, _ reason: String) { (self.code, self.reason) = (code, reason) }
}
