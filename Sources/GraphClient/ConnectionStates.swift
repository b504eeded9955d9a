// Tests: ClientLifetimeTests.swift
import GraphWire
import Synchronization

/// The states of a connection and its end, for readers on any thread. The client records them.
///
/// The mutex guards all of it. Streams are notified after it has been released, in the order of the states, because
/// only the client's actor records.
package final class ConnectionStates: Sendable {
  private struct Content {
    var current = GraphClient.State.connecting
    var ending: Refusal?
    var closing: Task<Void, Never>?
    var streams = [Int: AsyncStream<GraphClient.State>.Continuation]()
    var lastStream = 0
  }

  private let content = Mutex(Content())

  /// The states that wait for a slow consumer. It misses older ones, never the newest.
  private static let maximumWaiting = 16

  /// The number of streams that are read.
  var streamCount: Int { content.withLock { $0.streams.count } }

  /// The reason why the client was closed by the server; nil while it was not.
  package var ending: Refusal? { content.withLock { $0.ending } }

  /// The closing of the socket and of a server of this process; nil if it is open, or another caller waits for it.
  var closing: Task<Void, Never>? {
    get { content.withLock { $0.closing } }
    set { content.withLock { $0.closing = newValue } }
  }

  /// Sends a new state to the streams. The last one is `closed`, which ends them.
  func record(_ state: GraphClient.State, ending: Refusal?) {
    let streams = content.withLock { content in
      content.current = state
      content.ending = ending
      defer { if state == .closed { content.streams = [:] } }
      return content.streams.values
    }
    for stream in streams {
      stream.yield(state)
      if state == .closed { stream.finish() }
    }
  }

  /// Ends the streams of a client that was released.
  func end() { if content.withLock({ $0.current }) != .closed { record(.closed, ending: nil) } }

  /// A stream that begins with the current state.
  package func makeStream() -> AsyncStream<GraphClient.State> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: GraphClient.State.self, bufferingPolicy: .bufferingNewest(Self.maximumWaiting))
    let number = content.withLock { content -> Int? in
      // It has no consumer yet, so this resumes nothing.
      continuation.yield(content.current)
      if content.current == .closed { return nil }
      content.lastStream += 1
      content.streams[content.lastStream] = continuation
      return content.lastStream
    }
    guard let number else {
      continuation.finish()
      return stream
    }
    continuation.onTermination = { [weak self] _ in self?.remove(number) }
    return stream
  }

  private func remove(_ number: Int) { content.withLock { $0.streams[number] = nil } }
}

/// The parts of a client that code on other actors may use: its states, and a way to close it.
package struct ClientLink: Sendable {
  package let states: ConnectionStates
  let mailbox: Mailbox<GraphClient>

  /// Closes the client after writing all sent messages. Returns when it is closed; at once if it was released.
  package func close() async {
    closeLater()
    for await _ in states.makeStream() {}
    await states.closing?.value
  }

  /// Closes the client in a later turn of its actor, when the calling task is cancelled. Returns then.
  func closeAtCancellation() async {
    try? await CancellableWait().wait()
    closeLater()
  }

  /// Closes the client in a later turn of its actor.
  package func closeLater() {
    mailbox.post { client in
      if client.state == .closed { return }
      client.observers.states.closing = Task { [transport = client.transport, server = client.options.localServer] in
        await transport?.closeGracefully()
        await server?.clientDidClose()
      }
      _ = client.detach()
    }
  }
}
