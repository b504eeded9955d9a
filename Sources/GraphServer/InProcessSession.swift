// Tests: RequestTests.swift, LiveStreamTests.swift
import GraphHub
import GraphModel
import GraphWire
import NIOCore

/// A session of the hub without a socket, for a part of the server that speaks another protocol to its clients.
///
/// It sends messages of the wire and receives the hub's decoded frames. An HTTP request therefore has the order, the
/// limits and the rights of a session, and the same path to the store. All methods are called on the hub's loop, and
/// the receiver is called there, never while the hub handles an event.
package final class InProcessSession: HubConnection {
  /// An input of the receiver.
  package enum Event {
    /// A message from the server. The receiver passes `bytes` to `acknowledge` when it no longer holds the message; the
    /// hub sends nothing further to a session that holds too much.
    case message(ToClient, bytes: Int)
    /// The server requests a pause of messages, or their continuation. It still handles messages that are sent in a
    /// pause.
    case reading(Bool)
    /// The session has ended; no event follows.
    case closed
  }

  package let address: String?
  private let runner: HubRunner
  private let receiver: (Event) -> Void
  private var session: SessionID?
  private var decoder = FrameDecoder()
  private var pending = [(frame: ByteBuffer, isCounted: Bool)]()
  private var isDirty = false
  /// Whether the receiver is called at the moment, within a flush of the runner.
  private var isDelivering = false
  private var isClosing = false

  private init(_ runner: HubRunner, _ address: String?, _ receiver: @escaping (Event) -> Void) {
    (self.runner, self.address, self.receiver) = (runner, address, receiver)
  }

  /// Opens a session of a peer; nil if the server has no room for it.
  static func open(
    _ runner: HubRunner, of peer: Peer, address: String?, _ receiver: @escaping (Event) -> Void
  ) -> InProcessSession? {
    let session = InProcessSession(runner, address, receiver)
    guard let id = runner.open(session, of: peer) else { return nil }
    session.session = id
    return session
  }

  // MARK: - The client's side

  /// Sends a message to the hub. A session that has ended ignores it.
  package func send(_ message: ToServer) {
    runner.loop.assertInEventLoop()
    if let session, !isClosing {
      runner.receive(message, from: session)
      if !isDelivering { runner.flush() }
    }
  }

  /// Reports that the receiver no longer holds messages of this size.
  package func acknowledge(_ bytes: Int) {
    runner.loop.assertInEventLoop()
    if let session, bytes > 0 {
      if isDelivering {
        runner.drained(session, bytes: bytes)
      } else {
        runner.process(.drained(session, bytes: bytes))
      }
    }
  }

  /// Ends the session. The receiver is not called again.
  package func end() {
    runner.loop.assertInEventLoop()
    isClosing = true
    pending = []
    if let session {
      self.session = nil
      runner.closed(session)
    }
  }

  // MARK: - The hub's side

  package func write(_ buffer: ByteBuffer) -> Bool {
    pending.append((buffer, true))
    defer { isDirty = true }
    return !isDirty
  }

  package func writeUncounted(_ buffer: ByteBuffer) {
    pending.append((buffer, false))
    flush()
  }

  package func flush() {
    isDirty = false
    let frames = pending
    pending.removeAll(keepingCapacity: true)
    isDelivering = true
    defer { isDelivering = false }
    for (frame, isCounted) in frames {
      decoder.append(frame.readableBytesView)
      var bytes = isCounted ? frame.readableBytes : 0
      while session != nil, let message = nextMessage() {
        receiver(.message(message, bytes: bytes))
        bytes = 0
      }
      assert(session == nil || decoder.isAtBoundary, "the hub sends complete frames")
    }
  }

  private func nextMessage() -> ToClient? {
    do {
      guard let bytes = try decoder.next() else { return nil }
      var reader = BinaryReader(bytes)
      return try ToClient(from: &reader)
    } catch {
      preconditionFailure("the server can read its own messages: \(error)")
    }
  }

  package func setReading(_ isReading: Bool) {
    // Deferred, because the hub's actions are still being performed.
    runner.loop.assumeIsolated().execute { [self] in
      if session != nil { receiver(.reading(isReading)) }
    }
  }

  package func close() {
    isClosing = true
    // Deferred, because the hub's actions are still being performed.
    runner.loop.assumeIsolated().execute { [self] in
      flush()
      // The receiver may have ended the session on its last message.
      if let session {
        self.session = nil
        runner.closed(session)
        receiver(.closed)
      }
    }
  }
}

/// Opens sessions of a running server for parts of the same process.
package struct HubSessions: Sendable {
  let runner: HubRunner

  init(_ runner: HubRunner) { self.runner = runner }

  /// The hub's loop, on which sessions are opened and used.
  package var loop: any EventLoop { runner.loop }

  /// The model of the served graph.
  package var model: Model { runner.reads.store.model }

  /// The limits of the server.
  package var limits: HubLimits { runner.limits }

  /// Opens a session, on the hub's loop; nil if the server has no room for it.
  /// - Parameters:
  ///   - peer: the client; one of the network unless it is a part of the server itself.
  ///   - address: the client's network address, by which failed logins are counted.
  ///   - receiver: called on the loop.
  package func open(
    of peer: Peer = .network, address: String?, _ receiver: @escaping (InProcessSession.Event) -> Void
  ) -> InProcessSession? {
    runner.loop.preconditionInEventLoop()
    return InProcessSession.open(runner, of: peer, address: address, receiver)
  }
}
