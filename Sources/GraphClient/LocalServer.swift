// Tests: EmbeddedGraphTests.swift, ReplicaConnectorTests.swift
import GraphModel
import GraphReplica

/// Where a client connects to.
package enum ServerChoice: Sendable {
  /// A server of this process, by the descriptor of a connected stream socket, which the client closes.
  ///
  /// For a replica: objects above the revision have unsent edits.
  case socket(CInt, unsentAfter: Revision? = nil)
  /// The server at an address. It has assigned ids to objects that a replica had made, by their earlier ids.
  case address(ServerAddress, ids: [ObjectID: ObjectID] = [:])
}

/// The graph that a client holds, for the choice of its next server.
package struct HeldGraph: Sendable {
  /// Whether the outcome of a commit is unknown: it must be asked for at the server that has it.
  package let hasUnansweredCommits: Bool
  private let state: HeldState

  init(hasUnansweredCommits: Bool, state: HeldState) {
    (self.hasUnansweredCommits, self.state) = (hasUnansweredCommits, state)
  }

  /// Whether a copy of a state has everything that the client has shown.
  package func isIn(_ token: Token) -> Bool { state.isIn(token) }
}

/// A server of this process, as one client sees it, to which the client connects instead of an address. The server of a
/// replica chooses for each connection between itself and the address.
package struct LocalServer: Sendable {
  /// Chooses where the next connection goes.
  package var choose: @Sendable (_ held: HeldGraph?) async throws -> ServerChoice
  /// Called when the client is closed for good, after its connection. It returns when the server no longer counts the
  /// client.
  package var clientDidClose: @Sendable () async -> Void
  /// The same server for another client, which is counted apart.
  package var forNewClient: @Sendable () -> LocalServer

  /// A server of this process.
  /// - Parameter connect: makes a connection, and returns the descriptor of the client's end, which the caller closes.
  package init(
    connect: @escaping @Sendable () async throws -> CInt, clientDidClose: @escaping @Sendable () async -> Void,
    forNewClient: @escaping @Sendable () -> LocalServer
  ) {
    self.init(
      choose: { _ in .socket(try await connect()) }, clientDidClose: clientDidClose, forNewClient: forNewClient)
  }

  /// A server that chooses for each connection.
  package init(
    choose: @escaping @Sendable (HeldGraph?) async throws -> ServerChoice,
    clientDidClose: @escaping @Sendable () async -> Void,
    forNewClient: @escaping @Sendable () -> LocalServer
  ) {
    (self.choose, self.clientDidClose, self.forNewClient) = (choose, clientDidClose, forNewClient)
  }
}

/// An object of a library above that belongs to a client, such as the watcher of its replica.
package protocol ClientCompanion: AnyObject {
  /// Called when the client is closed, before its connection.
  /// - Parameter leavesServer: whether its owner closes a client that was connected.
  /// - Returns: work that follows when the connection and the local server are closed; nil for none.
  func clientDidClose(leavesServer: Bool) -> (@Sendable () async -> Void)?
  /// Whether edits were queued since the client was made. An undo may instead take an edit out of the queue.
  var hasQueuedEdits: Bool { get }
}

/// The state of a client that also works without its server.
struct OfflineState {
  /// The revision above which objects have unsent edits; nil with a server.
  var unsentAfter: Revision?
  /// The ids that the server has assigned to objects of a replica, by their earlier ids.
  var assignedIDs = [ObjectID: ObjectID]()
  /// Whether the client connects again when its commits are answered.
  var changesServer = false
  var companion: (any ClientCompanion)?
}

extension GraphClient.Options {
  /// These options for one client: another client with the same options has a server of its own to close.
  func forNewClient() -> Self {
    var options = self
    options.localServer = localServer?.forNewClient()
    return options
  }

  /// Where a client of an address connects to.
  /// - Parameter held: what the client holds; nil before the first connection.
  func choice(of address: ServerAddress, holding held: HeldGraph? = nil) async throws -> ServerChoice {
    if let localServer { try await localServer.choose(held) } else { .address(address) }
  }
}
