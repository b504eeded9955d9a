import GraphModel

/// A request to history other than the log.
public enum ChangesRequest: Hashable, Sendable {
  /// Commits after a token; answered by one message, `followed`.
  case follow(FollowRequest)
  /// The differences of two states; answered by chunks, `differences`.
  case differences(DifferenceRequest)
}

extension ToServer.Body {
  /// The newest commits after `after` and up to `through`; 0 is the head.
  public static func log(after: Revision, limit: UInt64, through: Revision) -> Self {
    .log(LogRequest(after: after, limit: limit, through: through))
  }
}
