import NIOCore

/// The limits of the HTTP interface; docs/limits.md lists them.
package enum HTTPLimits {
  /// The maximum size of a request's body, in bytes.
  static let maximumBodySize = 16 << 20
  /// The maximum number of bytes of all bodies that have not arrived completely. Beyond it, bodies end with status 503,
  /// those of the user with the most bytes first.
  package static let unfinishedBodies = 64 << 20
  /// The size up to which a body is accepted even when `unfinishedBodies` is reached, and without a login, in bytes.
  static let guaranteedBody = 64 << 10
  /// The maximum size of the header fields of a request, in bytes: of each field, and of all together.
  static let maximumHeaderSize = 16 << 10
  /// The maximum number of header fields of a request.
  static let maximumHeaderCount = 100
  /// The maximum size of the request target, in bytes.
  static let maximumTargetSize = 8 << 10
  /// The number of objects of a page, unless the request names another number.
  static let defaultPage: Int64 = 1_000
  /// The maximum number of objects of a page.
  static let maximumPage: Int64 = 10_000
  /// The approximate maximum size of an answer that is not streamed, in bytes. The request for a larger one is refused.
  static let maximumAnswerSize = 32 << 20
  /// The approximate size of an object up to which its answer is written on the event loop, in bytes.
  static let sizeWrittenOnLoop = 64 << 10
  /// The maximum number of objects that `include` adds to an answer.
  static let maximumIncluded = 10_000
  /// The maximum number of changes of a transaction.
  static let maximumChanges = 10_000
  /// The maximum size of an Idempotency-Key, in bytes.
  static let maximumKeySize = 255
  /// The maximum number of sessions that are kept between requests.
  static let idleSessions = 64
  /// The maximum number of open connections; further ones get status 503. Half of the descriptor limit, with the
  /// refused connections, applies if it is lower.
  package static let maximumConnections = 4_096
  /// The maximum number of connections above it that get an answer before they are closed. An eighth of the
  /// connections that the descriptor limit allows applies if it is lower.
  static let refusedConnections = 256
  /// The maximum number of queries of a stream.
  static let maximumStreamQueries = 16
  /// The maximum number of open connections to `/metrics`. A collector needs one.
  static let maximumMetricsConnections = 64
  /// The time in which the headers of a connection's next request must be complete; also the time for which an idle
  /// connection stays open.
  static let headerTime = TimeAmount.seconds(30)
  /// The time in which a request's body must be complete.
  static let bodyTime = TimeAmount.seconds(60)
  /// The time in which a client must read a part of an answer.
  static let writeTime = TimeAmount.seconds(60)
  /// The time for which a client may continue to send after the last answer of its connection.
  static let closeTime = TimeAmount.seconds(5)
  /// The time between two heartbeats of a stream.
  static let heartbeat = TimeAmount.seconds(15)
  /// The longest time, in seconds, for which a client can ask a stream to last.
  static let maximumTimeout: Int64 = 86_400
  /// The time in which requests may finish when the server stops.
  static let stopTime = TimeAmount.seconds(5)
}
