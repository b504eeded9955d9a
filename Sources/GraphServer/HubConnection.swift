import NIOCore

/// The way of a session's frames to its client. `HubRunner` calls it on the hub's loop.
package protocol HubConnection: AnyObject {
  /// The network address of the client; nil for a client of this machine without one.
  var address: String? { get }

  /// Queues a frame; `flush` passes it on.
  /// - Returns: true if the connection had nothing queued before and must be flushed.
  func write(_ buffer: ByteBuffer) -> Bool

  /// Passes on a frame that the hub does not count in the session's backlog, after the queued ones.
  func writeUncounted(_ buffer: ByteBuffer)

  /// Passes on the queued frames, and reports their bytes to the hub when the client has them.
  func flush()

  /// Stops or resumes the client's further messages.
  func setReading(_ isReading: Bool)

  /// Passes on the queued frames, and ends the connection.
  func close()
}
