// Tests: SynchronizerTests.swift, OfflineClientTests.swift
import Foundation
import GraphClient
import GraphModel
import GraphReplica
import GraphReplicaStore
import GraphStore

/// A replica of what a user sees on a server, which works without it.
///
/// `open` gives a client of the replica: it reads the copy with the unsent edits over it, and its saves are unsent
/// edits.
/// `synchronize` sends them, and receives what others have committed.
public struct OfflineReplica: Sendable {
  /// The folder of the server's replicas.
  package let folder: ReplicaFolder
  /// Returns the present time.
  let now: @Sendable () -> Timestamp
  /// The size up to which a copy is loaded.
  var limit = MirrorStore.Limit()

  /// A replica in a folder.
  /// - Parameters:
  ///   - folder: a folder for replicas, readable by this user only.
  ///   - name: the name of the server as a file name.
  package init(in folder: String, name: String, now: (@Sendable () -> Timestamp)? = nil) {
    self.folder = ReplicaFolder(in: folder, name: name)
    self.now = now ?? { Int64(Date().timeIntervalSince1970 * 1_000_000) }
  }

  /// The replica with a copy of at most so many objects.
  package func limited(toObjects count: Int) -> OfflineReplica {
    var limited = self
    limited.limit.objects = count
    return limited
  }

  /// Makes a connection to the server.
  /// - Parameter replica: the id under which the client acts; nil for a new one.
  package typealias Connect = (_ replica: UniqueID?) async throws -> GraphClient

  /// Whether there is a replica.
  package var exists: Bool { folder.current != nil }

  /// The file of unsent edits; nil without a replica.
  package func unsentFile() throws -> UnsentFile? { try folder.current.flatMap { try UnsentFile.open(folder: $0) } }

  // MARK: - Working without the server

  /// Opens the replica, and connects a client to it.
  /// - Parameter file: the file of unsent edits if it is open already; the client closes it.
  /// - Throws: `StoreFailure` if there is none, or none of this version of the model.
  package func open(
    model: Model, classes: [ManagedObject.Type] = [], options: GraphClient.Options, file: UnsentFile? = nil,
    actor: isolated any Actor = #isolation
  ) async throws -> GraphClient {
    guard let current = folder.current else {
      throw StoreFailure(
        .notAStore, "there is no replica in \(folder.path)",
        advice: "Run stickies sync on while the server can be reached.")
    }
    let copy = try await ServedCopy(folder: current, model: model, file: file, log: options.logger)
    var options = options
    options.localServer =
      ReplicaClients(
        choose: { _ in try await copy.connect() }, lastDidClose: { await copy.stop() }
      ).server
    do {
      let client = try await GraphClient.connect(
        to: .unix(path: current), model: model, classes: classes, options: options)
      client.companion = KeptReplica(self, model: model, newestEdit: { try copy.newestEdit() })
      return client
    } catch {
      await copy.stop()
      throw error
    }
  }

  // MARK: - Keeping it

  /// Turns sync on: creates a replica of the objects that the user sees, or updates the existing one.
  /// - Parameter contents: the part of the graph that the copy is to have from now on; nil for that of before.
  package func turnOn(keeping contents: Contents? = nil, connect: Connect) async throws -> SyncReport {
    let client = try await connect(nil)
    do {
      let welcome = try invariant(client.welcome, "a client that is connected was welcomed")
      let folder = self.folder.folder(store: welcome.head.store, principal: welcome.principal)
      var identity = UnsentFile.Replica(
        id: GraphClient.newReplica, store: welcome.head.store, principal: welcome.principal, author: welcome.author)
      identity.kept = try contents?.kept(of: client.context.model)
      let unsent = try await makeFiles(in: folder, identity, client)
      defer { unsent.close() }
      // A reset that was interrupted is completed by the run below.
      if try unsent.replica.state == .off { try unsent.setState(.on) }
      // At last: a replica whose first load fails is none, so that no other program tries to load it.
      try self.folder.use(folder)
    } catch {
      await client.close()
      throw error
    }
    await client.close()
    return try await synchronize(keeping: contents, connect: connect)
  }

  /// Turns sync on, also without the server if there is a copy: the edits are sent when it answers.
  /// - Returns: nil if the server does not answer.
  package func turnOnIfReached(connect: Connect) async throws -> SyncReport? {
    do {
      return try await turnOn(connect: connect)
    } catch let failure as ConnectFailure {
      // The server need not make a copy that is there.
      guard exists else { throw failure }
      try setOn()
      return nil
    }
  }

  /// Makes the files of a replica, unless it has edits: then a run loads the mirror, and sends them also if it can't.
  private func makeFiles(
    in folder: String, _ identity: UnsentFile.Replica, _ client: GraphClient
  ) async throws -> UnsentFile {
    try StoreFiles.prepare(directory: folder)
    if let unsent = try UnsentFile.open(folder: folder) { return unsent }
    // Two programs that make them at once would use the same drafts.
    guard let lock = try SenderLock.acquire(folder: folder) else { throw Self.isSynchronizing }
    defer { withExtendedLifetime(lock) {} }
    if !FileManager.default.fileExists(atPath: folder + "/" + ReplicaStore.mirrorName) {
      try await ReplicaSynchronizer.load(folder, client, kept: identity.kept, limit, now: now())
    }
    return try UnsentFile.create(folder: folder, replica: identity)
  }

  /// Stops sending and receiving. The copy and the unsent edits stay.
  package func turnOff() throws {
    let unsent = try openUnsent()
    defer { unsent.close() }
    try unsent.setState(.off)
  }

  static let none = Refusal(.notFound, "there is no replica of this server: run stickies sync on")
  static let isSynchronizing = Refusal(.conflict, "another program is synchronizing this replica now")

  /// Sends the unsent edits, and receives what others have committed.
  /// - Parameter contents: the part of the graph that the copy is to have from now on; nil for that of before. It stays
  ///   what it was if the new one can't be loaded.
  /// - Throws: `Refusal`: `notFound` without a replica, `conflict` while another process synchronizes or while sync is
  ///   off, `notAllowed` if the server has another store or another user.
  package func synchronize(keeping contents: Contents? = nil, connect: Connect) async throws -> SyncReport {
    guard let current = folder.current, let unsent = try UnsentFile.open(folder: current) else { throw Self.none }
    defer { unsent.close() }
    guard let lock = try SenderLock.acquire(folder: current) else { throw Self.isSynchronizing }
    defer { withExtendedLifetime(lock) {} }
    let replica = try unsent.replica
    if replica.state == .off { throw Refusal(.conflict, "sync is off: run stickies sync on") }
    let client = try await connected(replica.id, connect)
    do {
      let kept = if let contents { try contents.kept(of: client.context.model) } else { replica.kept }
      let synchronizer = ReplicaSynchronizer(
        folder: current, client: client, unsent: unsent, kept: kept, limit: limit, now: now)
      let report = try await synchronizer.run(connect: connect)
      await client.close()
      return report
    } catch {
      await client.close()
      throw error
    }
  }

  /// Connects to the server. A server at which the user has no rights any longer ends the copy, too.
  private func connected(_ id: UniqueID, _ connect: Connect) async throws -> GraphClient {
    do {
      return try await connect(id)
    } catch let refusal as Refusal {
      throw removingCopy(after: refusal)
    }
  }

  /// Removes the copy if a login was refused because the user's rights have ended. Edits that were not sent stay.
  /// - Returns: the refusal, which says so.
  package func removingCopy(after refusal: Refusal) -> Refusal {
    guard refusal.endsRights, let current = folder.current else { return refusal }
    let mirror = current + "/" + ReplicaStore.mirrorName
    guard FileManager.default.fileExists(atPath: mirror) else { return refusal }
    MirrorStore.remove(MirrorStore.plans(beside: mirror))
    MirrorStore.remove(mirror)
    var refusal = refusal
    refusal.message += "; this computer's copy was removed, and edits that were not sent stay in \(current)"
    return refusal
  }

  /// Opens the mirror, after a load if there is none of this version of the model.
  /// - Parameter kept: the scopes that a new one has; nil for everything.
  func openMirror(_ folder: String, _ client: GraphClient, kept: KeptScopes?) async throws -> MirrorStore {
    do {
      return try ReplicaSynchronizer.openMirror(folder, client.context.model)
    } catch let failure as StoreFailure where failure.isMissingMirror {
      try await ReplicaSynchronizer.load(folder, client, kept: kept, limit, now: now())
      return try ReplicaSynchronizer.openMirror(folder, client.context.model)
    }
  }
}
