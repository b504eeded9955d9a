// Tests: ClientLifetimeTests.swift
import GraphWire
import Synchronization

/// The states of a connection and its end, for readers on any thread. The client's actor records them.
package final class ConnectionStates: Sendable {
  private struct Ending {
    var reason: Refusal?
    var closing: Task<Void, Never>?
  }

  /// Guarded by its mutex.
  private let content = Mutex(Ending())
  private let states = LiveState(GraphClient.State.connecting, maximumWaiting: ConnectionStates.maximumWaiting)

  /// The states that wait for a slow consumer. It misses older ones, never the newest.
  private static let maximumWaiting = 16

  /// The number of streams that are read.
  var streamCount: Int { states.readerCount }

  /// The reason why the client was closed by the server; nil while it was not.
  package var ending: Refusal? { content.withLock { $0.reason } }

  /// The task of `GraphClient.end`, which closes the socket and a server of this process; nil while the client is open.
  var closing: Task<Void, Never>? {
    get { content.withLock { $0.closing } }
    set { content.withLock { $0.closing = newValue } }
  }

  /// Sends a new state to the streams. The last one is `closed`, which ends them.
  func record(_ state: GraphClient.State, ending: Refusal?) {
    // First, because a reader of the last state looks at the reason.
    content.withLock { $0.reason = ending }
    states.set(state)
    if state == .closed { states.end() }
  }

  /// Ends the streams of a client that was released.
  func end() { if states.current != .closed { record(.closed, ending: nil) } }

  /// A stream that begins with the current state.
  package func makeStream() -> AsyncStream<GraphClient.State> { states.makeStream() }
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

  /// Connects the client again, to where its local server chooses, when its commits are answered.
  package func changeServer() { mailbox.post { $0.changeServer() } }

  /// Closes the client in a later turn of its actor, when the calling task is cancelled. Returns then.
  func closeAtCancellation() async {
    try? await CancellableWait().wait()
    closeLater()
  }

  /// Closes the client in a later turn of its actor.
  package func closeLater() {
    mailbox.post { $0.endByOwner() }
  }
}
