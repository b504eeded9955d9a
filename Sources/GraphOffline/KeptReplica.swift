// Tests: LiveConflictsTests.swift, ReplicaConnectorTests.swift
import GraphClient
import GraphModel
import GraphReplica
import Logging

/// The replica of a client: its live state, and what moves the client between copy and server.
final class KeptReplica: ClientCompanion {
  let replica: OfflineReplica
  let model: Model
  /// Nil for a client that stays with the copy or with the server.
  let connector: ReplicaConnector?
  /// Made on first use: a program that does not show the state pays nothing.
  private(set) lazy var watcher = UnsentWatcher(replica.folder, model: model)
  private var observation: ObservationToken?
  /// Reads the number of the newest edit.
  private let readNewestEdit: () throws -> Int64
  /// The number of the newest edit when the client was made; nil without a replica.
  private let newestEdit: Int64?
  /// For a client that stays with the server: brings the copy up to date when the client has left the server.
  private let updateCopy: (@Sendable () async -> Void)?

  /// Keeps a replica whose client stays with the copy or with the server.
  /// - Parameters:
  ///   - newestEdit: reads the number of the newest edit from an open copy; nil without one.
  ///   - updateCopy: brings the copy up to date when the client has left the server; nil for a client of the copy.
  init(
    _ replica: OfflineReplica, model: Model, newestEdit: (() throws -> Int64)? = nil,
    updateCopy: (@Sendable () async -> Void)? = nil
  ) {
    (self.replica, self.model, self.updateCopy) = (replica, model, updateCopy)
    connector = nil
    readNewestEdit = newestEdit ?? { try replica.newestEdit() }
    self.newestEdit = try? readNewestEdit()
  }

  /// Keeps a replica whose client moves between the copy and the server.
  /// - Parameter address: the server that the client is connected to; nil for none.
  init(
    _ replica: OfflineReplica, model: Model, log: Logger, address: ServerAddress?,
    refreshPause: Duration = ReplicaConnector.usualRefreshPause, connect: @escaping ReplicaConnector.Connect
  ) {
    (self.replica, self.model) = (replica, model)
    updateCopy = nil
    let watcher = UnsentWatcher(replica.folder, model: model)
    connector = ReplicaConnector(
      replica, model: model, watcher: watcher, log: log, address: address, refreshPause: refreshPause,
      connect: connect)
    readNewestEdit = { try replica.newestEdit() }
    newestEdit = try? replica.newestEdit()
    self.watcher = watcher
  }

  /// Begins to move a client by the connector.
  func follow(_ client: GraphClient, by connector: ReplicaConnector) {
    let link = client.link
    Task { await connector.add(link) }
    observation = client.context.observe { _ in connector.graphDidChange() }
  }

  /// The clients of the connector.
  static func clients(of connector: ReplicaConnector) -> ReplicaClients {
    ReplicaClients(choose: { try await connector.choose($0) }, lastDidClose: { await connector.end() })
  }

  var hasQueuedEdits: Bool {
    guard let newest = try? readNewestEdit() else { return false }
    return newestEdit.map { newest > $0 } != false
  }

  func clientDidClose(leavesServer: Bool) -> (@Sendable () async -> Void)? {
    observation = nil
    watcher.end()
    return leavesServer ? updateCopy : nil
  }
}

extension OfflineReplica {
  /// Opens the replica for a client that moves to the server when it answers.
  /// - Parameter connect: makes a connection to the server.
  /// - Throws: `StoreFailure` if there is no copy, or none of this version of the model.
  package func openMoving(
    model: Model, classes: [ManagedObject.Type] = [], options: GraphClient.Options,
    actor: isolated any Actor = #isolation,
    connect: @escaping @Sendable (UniqueID?, isolated any Actor) async throws -> GraphClient
  ) async throws -> GraphClient {
    guard let current = folder.current else { throw Self.none }
    let kept = KeptReplica(self, model: model, log: options.logger, address: nil, connect: connect)
    guard let connector = kept.connector else { preconditionFailure("a client that moves has a connector") }
    // Opened here, so that its failure is not that of a connection.
    try await connector.open()
    var options = options
    options.localServer = KeptReplica.clients(of: connector).server
    do {
      let client = try await GraphClient.connect(
        to: .unix(path: current), model: model, classes: classes, options: options)
      client.companion = kept
      kept.follow(client, by: connector)
      return client
    } catch {
      await connector.end()
      throw error
    }
  }

  /// Keeps this replica, or the one that the user makes later, for a client of the server: it moves to the copy when
  /// the server is lost, and back.
  /// - Parameters:
  ///   - refreshPause: how long the copy may be behind the server; nil for the usual time.
  ///   - failure: why the copy could not be brought up to date before.
  package func keep(
    _ client: GraphClient, log: Logger? = nil, refreshPause: Duration? = nil, after failure: (any Error)? = nil,
    connect: @escaping @Sendable (UniqueID?, isolated any Actor) async throws -> GraphClient
  ) {
    let kept = KeptReplica(
      self, model: client.context.model, log: log ?? Self.silentLog, address: client.address,
      refreshPause: refreshPause ?? ReplicaConnector.usualRefreshPause, connect: connect)
    guard let connector = kept.connector else { preconditionFailure("a client that moves has a connector") }
    if let failure, let sentence = ReplicaConnector.sentence(of: failure) { connector.trouble.set(sentence) }
    client.use(KeptReplica.clients(of: connector).newClient())
    client.companion = kept
    kept.follow(client, by: connector)
  }
}

extension OfflineReplica {
  private static let silentLog = Logger(label: "replica") { _ in SwiftLogNoOpLogHandler() }
}

/// The replica of a client, live.
extension GraphClient {
  private var kept: KeptReplica? { companion as? KeptReplica }

  /// The edits that the server has refused, oldest first: the present ones, and each later list. Always empty for a
  /// client without a replica.
  public var conflicts: LiveValue<[OfflineReplica.ParkedEdit]> {
    if let kept { LiveValue(state: kept.watcher.conflicts) } else { LiveValue(constant: []) }
  }

  /// Whether sync is on, and how many edits wait; nil without a replica.
  public var syncStatus: LiveValue<OfflineReplica.Status?> {
    if let kept { LiveValue(state: kept.watcher.status) } else { LiveValue(constant: nil) }
  }

  /// Why the server does not take the edits, although it answers; empty otherwise.
  package var syncTrouble: LiveValue<String> {
    if let connector = kept?.connector { LiveValue(state: connector.trouble) } else { LiveValue(constant: "") }
  }

  /// The newest message about a restored server or the like (`SyncReport.Notice`); empty for none.
  package var syncNotice: LiveValue<String> {
    if let connector = kept?.connector { LiveValue(state: connector.notice) } else { LiveValue(constant: "") }
  }

  /// The replica that the client keeps; nil for none.
  package var keptReplica: OfflineReplica? { kept?.replica }

  /// Runs work on the files of the replica while the client is disconnected. Returns when it is connected again.
  /// - Parameter body: receives the replica, and how to connect to the server.
  /// - Throws: any error of the body.
  package func withoutConnection<Result: Sendable>(
    _ body: @escaping @Sendable (OfflineReplica, OfflineReplica.Connect) async throws -> Result
  ) async throws -> Result {
    guard let kept, let connector = kept.connector else { throw OfflineReplica.none }
    await connector.add(link)
    // A cancelled task does not wait for the connection; what the body has done is done.
    do {
      let result = try await connector.withoutClients(body)
      try? await waitForReconnection()
      return result
    } catch {
      try? await waitForReconnection()
      throw error
    }
  }
}

extension LiveValue {
  /// A value that does not change.
  init(constant: Value) {
    state = LiveState(constant)
    state.end()
  }
}
