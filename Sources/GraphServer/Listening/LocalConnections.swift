import Foundation
import GraphModel
import NIOCore
import NIOPosix
import Synchronization

/// The connections of a server with clients of its own process, which need no address.
package final class LocalConnections: Sendable {
  private let runner: HubRunner
  /// Guards the loop of `runner`: after `stop` it may end, and must not get a connection.
  private let isOpen = Mutex(true)

  init(runner: HubRunner) { self.runner = runner }

  /// Serves a connection until one of its ends closes.
  /// - Parameter descriptor: a connected stream socket; the server closes it, also if this throws.
  /// - Throws: `Refusal(.unavailable)` if the server is shutting down, or the error of the system.
  package func adopt(_ descriptor: CInt) async throws {
    let adopted = isOpen.withLock { isOpen in
      // The loop opens the session before it handles the shutdown, which closes the connection.
      isOpen ? bootstrap.withConnectedSocket(descriptor) : nil
    }
    guard let adopted else {
      close(descriptor)
      throw Refusal(.unavailable, "the graph is closed; open it again")
    }
    _ = try await adopted.get()
  }

  private var bootstrap: ClientBootstrap {
    ClientBootstrap(group: runner.loop)
      .channelOption(.maxMessagesPerRead, value: Listener.messagesPerRead)
      .channelOption(.recvAllocator, value: Listener.receiveAllocator)
      .channelInitializer { [runner] channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(
            ConnectionHandler(runner: runner, maximumFrameSize: runner.limits.maximumFrameSize))
        }
      }
  }

  /// Refuses further connections.
  func stop() { isOpen.withLock { $0 = false } }
}
