// Tests: OfflineClientTests.swift
import GraphClient
import GraphEmbedded
import Synchronization

/// The server of an open replica, which ends with its last client.
final class ServedReplica: Sendable {
  private let server: EmbeddedServer
  /// The clients that are not closed, by number; guarded by its mutex, because clients belong to any actor.
  private let clients = Mutex<(open: Set<Int>, last: Int)>(([], 0))

  init(_ server: EmbeddedServer) { self.server = server }

  /// The server for the options of a client, which is counted when it is made.
  var local: LocalServer {
    LocalServer(connect: { try await self.server.connect() }, clientDidClose: {}, forNewClient: { self.newClient() })
  }

  private func newClient() -> LocalServer {
    let number = clients.withLock { clients in
      clients.last += 1
      clients.open.insert(clients.last)
      return clients.last
    }
    return LocalServer(
      connect: { try await self.server.connect() }, clientDidClose: { await self.end(number) },
      forNewClient: { self.newClient() })
  }

  private func end(_ number: Int) async {
    let isLast = clients.withLock { clients in
      clients.open.remove(number)
      return clients.open.isEmpty
    }
    // A further call for the same client waits for the same end.
    if isLast { await server.stop() }
  }
}
