// Tests: OfflineClientTests.swift
import GraphClient
import GraphEmbedded
import GraphModel
import GraphReplicaStore
import GraphServer
import GraphStore
import Logging
import Synchronization

/// A copy that is open, with its server in this process.
struct ServedCopy: Sendable {
  private let server: EmbeddedServer
  private let store: ReplicaStore
  private let unsentAfter: Revision
  /// The version of the file of unsent edits when the copy was opened.
  private let version: Int64
  /// The mirror that the copy reads.
  private let mirror: FileIdentity?

  /// The threads that read the copy, for the clients of one program.
  private static let readers = 2

  /// Opens the copy of a replica's folder.
  /// - Parameter file: the file of unsent edits if it is open already; the copy closes it.
  /// - Throws: `StoreFailure` if there is none, or none of this version of the model.
  init(folder: String, model: Model, file: UnsentFile? = nil, log: Logger) async throws {
    var generator = SystemRandomNumberGenerator()
    // Before it is opened: if it is replaced now, the copy counts as outdated.
    mirror = FileIdentity(path: folder + "/" + ReplicaStore.mirrorName)
    let store = try ReplicaStore(folder: folder, model: model, file: file) { generator.next() }
    (self.store, unsentAfter, version) = (store, store.unsentAfter, try store.unsentVersion)
    var configuration = GraphServer.Configuration(addresses: [], name: "replica")
    configuration.readerThreads = Self.readers
    server = try await EmbeddedServer.serve(store, configuration, log: log)
  }

  /// Whether the copy does not show what its files have: another connection has written to the file of unsent edits
  /// since then, or has loaded the mirror again. The open mirror is then the earlier one, which receives nothing.
  var isOutdated: Bool {
    get throws {
      // For a moment there is none.
      let present = FileIdentity(path: store.directory + "/" + ReplicaStore.mirrorName)
      return try store.unsentVersion != version || (present != nil && present != mirror)
    }
  }

  /// The number of the newest edit that was made here.
  func newestEdit() throws -> Int64 { try store.newestEdit }

  /// Makes a connection.
  func connect() async throws -> ServerChoice { .socket(try await server.connect(), unsentAfter: unsentAfter) }

  /// Finishes accepted requests and closes the copy.
  func stop() async { await server.stop() }
}

/// The clients of a replica in this process, each counted; the last one that is closed ends it.
final class ReplicaClients: Sendable {
  /// The clients that are not closed, by number; guarded by its mutex, because clients belong to any actor.
  private let clients = Mutex<(open: Set<Int>, last: Int)>(([], 0))
  private let choose: @Sendable (HeldGraph?) async throws -> ServerChoice
  private let lastDidClose: @Sendable () async -> Void

  /// - Parameters:
  ///   - choose: chooses where the next connection of a client goes.
  ///   - lastDidClose: called when no client is left; a further call waits for the first one.
  init(
    choose: @escaping @Sendable (HeldGraph?) async throws -> ServerChoice,
    lastDidClose: @escaping @Sendable () async -> Void
  ) {
    (self.choose, self.lastDidClose) = (choose, lastDidClose)
  }

  /// The server for the options of a client, which is counted when it is made.
  var server: LocalServer {
    LocalServer(choose: choose, clientDidClose: {}, forNewClient: { self.newClient() })
  }

  /// The server for a client that is there.
  func newClient() -> LocalServer {
    let number = clients.withLock { clients in
      clients.last += 1
      clients.open.insert(clients.last)
      return clients.last
    }
    return LocalServer(
      choose: choose, clientDidClose: { await self.end(number) }, forNewClient: { self.newClient() })
  }

  private func end(_ number: Int) async {
    let isLast = clients.withLock { clients in
      clients.open.remove(number)
      return clients.open.isEmpty
    }
    if isLast { await lastDidClose() }
  }
}
