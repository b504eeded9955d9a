// Tests: WebSocketTests.swift
import GraphHub
import GraphModel
import GraphWire
import NIOCore

/// The session of a connection that another part of the process serves, with another protocol than the server's own
/// addresses. All methods are called on the hub's loop.
package struct ConnectedSession {
  private let runner: HubRunner
  private let id: SessionID

  fileprivate init(_ runner: HubRunner, _ id: SessionID) { (self.runner, self.id) = (runner, id) }

  /// Handles a message of the client. The caller flushes after the last message that has arrived.
  package func receive(_ message: ToServer) { runner.receive(message, from: id) }

  /// Records how many bytes of an incomplete message have arrived; 0 if there is none.
  package func receivePart(_ bytes: Int) { runner.receivePart(bytes, from: id) }

  /// Ends the session, because its client sent malformed bytes.
  package func end(malformed reason: String) { runner.process(.malformed(reason, from: id)) }

  /// Flushes all connections that have frames.
  package func flush() { runner.flush() }

  /// Records, within `flush` of the connection, that these bytes of frames were written.
  package func drained(_ bytes: Int) { runner.drained(id, bytes: bytes) }

  /// Records, outside of `flush`, that these bytes of frames were written.
  package func drainedLater(_ bytes: Int) { runner.process(.drained(id, bytes: bytes)) }

  /// Records that the connection has closed. Nothing is called after it.
  package func closed() { runner.closed(id) }
}

extension HubSessions {
  /// Opens the session of a connection, on the hub's loop; nil if the server has no room for it.
  package func connect(_ connection: any HubConnection, of peer: Peer = .network) -> ConnectedSession? {
    runner.loop.preconditionInEventLoop()
    return runner.open(connection, of: peer).map { ConnectedSession(runner, $0) }
  }
}
