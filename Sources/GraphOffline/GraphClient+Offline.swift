// Tests: OfflineClientTests.swift, KeptClientTests.swift
import Foundation
import GraphClient
import GraphModel
import GraphReplica
import GraphReplicaStore
import GraphWire
import Logging

/// Whether and where a client keeps a copy of what it sees, to work without its server.
public enum OfflineMode: Sendable {
  /// In a folder that only this user can read, with a folder in it for each server, store and user.
  case kept(at: URL)

  /// The replica of a server.
  func replica(of address: ServerAddress) -> OfflineReplica {
    switch self {
    case .kept(let folder):
      let name = "\(address)".utf8.map { byte -> String in
        let isPlain = (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20)
        return isPlain ? String(UnicodeScalar(byte)) : "%" + String(byte, radix: 16)
      }
      return OfflineReplica(in: folder.path, name: name.joined())
    }
  }
}

extension GraphClient {
  /// Connects to a server, or, if it can't be reached, to this computer's copy of what the user may see there.
  ///
  /// With the server, the client first sends the edits that wait and receives what others have committed. Without the
  /// server, a save is an edit that waits, and is on disk when the call returns. `isOffline` says which case applies.
  /// With `options.reconnects` the client moves between both while it is open: objects keep their instances and get the
  /// server's ids. `conflicts` and `syncStatus` follow what waits. Without `options.reconnects` the copy is brought up
  /// to date again when the client closes its connection to the server.
  ///
  /// While sync is off the client uses the copy, also if the server could be reached. If the server answers and the
  /// copy can't be made or brought up to date, the client works with the server; the reason is in the log.
  /// - Parameters:
  ///   - offline: where the copy is kept.
  ///   - actor: the actor that the client belongs to: the caller's.
  /// - Throws: `ConnectFailure` if there is neither a server nor a copy, `StoreFailure` if the copy can't be opened,
  ///   `SecurityFailure` or the server's `Refusal`.
  public static func connect(
    to address: ServerAddress, model: Model, classes: [ManagedObject.Type] = [], options: Options,
    offline: OfflineMode, actor: isolated any Actor = #isolation
  ) async throws -> GraphClient {
    let replica = offline.replica(of: address)
    let connectKept: @Sendable (UniqueID?, isolated any Actor) async throws -> GraphClient = { id, actor in
      var kept = options
      kept.keptReplica = id
      kept.reconnects = false
      return try await GraphClient.connect(
        to: address, model: model, classes: classes, options: kept, actor: actor)
    }
    let status = try replica.status()
    if status?.isOn == false {
      return try await replica.openCopy(model: model, classes: classes, options: options, connect: connectKept)
    }
    let client: GraphClient
    do {
      client = try await connect(to: address, model: model, classes: classes, options: options)
    } catch let failure as ConnectFailure {
      guard status != nil else { throw failure }
      return try await replica.openCopy(model: model, classes: classes, options: options, connect: connectKept)
    } catch let refusal as Refusal {
      throw replica.removingCopy(after: refusal)
    }
    var failure: (any Error)?
    do {
      try await replica.follow { id in try await connectKept(id, actor) }
    } catch {
      failure = error
      options.logger.warning("the copy can't be kept", metadata: ["failure": "\(error)"])
    }
    if options.reconnects {
      replica.keep(client, log: options.logger, after: failure, connect: connectKept)
      return client
    }
    var updateCopy: (@Sendable () async -> Void)?
    if failure == nil {
      let update = CopyUpdate(replica, log: options.logger, connect: connectKept)
      updateCopy = { await update.run() }
    }
    client.companion = KeptReplica(replica, model: model, updateCopy: updateCopy)
    return client
  }

  /// Whether the client works on this computer's copy, and its saves wait for the server.
  public var isOffline: Bool { unsentAfter != nil }
}

/// Brings the copy up to date after a client that stays with its server: otherwise the copy would lack what it saved.
private actor CopyUpdate {
  private let replica: OfflineReplica
  private let log: Logger
  private let connect: ReplicaConnector.Connect

  init(_ replica: OfflineReplica, log: Logger, connect: @escaping ReplicaConnector.Connect) {
    (self.replica, self.log, self.connect) = (replica, log, connect)
  }

  func run() async {
    do {
      try await replica.follow { id in try await self.connect(id, self) }
    } catch {
      log.warning("the copy lacks the last commits", metadata: ["failure": "\(error)"])
    }
  }
}

extension OfflineReplica {
  /// Opens the replica for a client that moves to the server when it answers, if the client connects again at all.
  fileprivate func openCopy(
    model: Model, classes: [ManagedObject.Type], options: GraphClient.Options, actor: isolated any Actor = #isolation,
    connect: @escaping @Sendable (UniqueID?, isolated any Actor) async throws -> GraphClient
  ) async throws -> GraphClient {
    guard options.reconnects else { return try await open(model: model, classes: classes, options: options) }
    return try await openMoving(model: model, classes: classes, options: options, connect: connect)
  }

  /// Makes the replica, or sends its edits and receives those of others. While another program does that, it returns at
  /// once.
  /// - Throws: as `synchronize`.
  fileprivate func follow(connect: Connect) async throws {
    do {
      if let status = try status() { try await follow(status, connect) } else { _ = try await turnOn(connect: connect) }
    } catch let refusal as Refusal where refusal.code == .conflict {}
  }

  private func follow(_ status: Status, _ connect: Connect) async throws {
    do {
      _ = try await synchronize(connect: connect)
    } catch let refusal as Refusal where refusal.code == .notAllowed && status.unsent + status.parked == 0 {
      // The server has another store, or knows the user by another account, and the replica has nothing to lose. With
      // edits in it, the user decides.
      _ = try await turnOn(connect: connect)
    }
  }

  /// The replica of a server that `GraphClient.connect` keeps.
  public init(of address: ServerAddress, _ mode: OfflineMode) { self = mode.replica(of: address) }

  /// Whether sync is on, and the number of edits that wait.
  public struct Status: Sendable, Equatable {
    /// Whether edits are sent and received when the server can be reached.
    public var isOn: Bool
    /// The number of edits that were not sent.
    public var unsent: Int
    /// The number of edits that the server has refused.
    public var parked: Int
    /// The keys of the containers whose scopes the copy has; nil if it has everything that the user sees.
    public var scopes: Set<UniqueID>?
  }

  /// The state of the replica; nil without one.
  /// - Throws: `StoreFailure` if its file can't be read.
  public func status() throws -> Status? {
    guard let unsent = try unsentFile() else { return nil }
    defer { unsent.close() }
    let counts = try unsent.counts()
    let replica = try unsent.replica
    return Status(
      isOn: replica.state != .off, unsent: counts.unsent, parked: counts.parked, scopes: replica.kept?.containers)
  }
}
