import CommandLineIO
import GraphClient
import GraphModel
import GraphOffline
import GraphReplicaStore
import GraphShell
import GraphWire
import StickiesKit
import StickiesModel

/// The connection of a command that has a replica: to the daemon if it answers, otherwise to this computer's copy.
///
/// With the daemon, the command first sends the unsent edits and receives the commits of others, so that it works on
/// the newest state. While sync is off it uses the copy, also if the daemon could be reached.
@MainActor
enum OfflineConnection {
  /// The replica of the daemon at an address, by default the user's own.
  static func replica(of address: ServerAddress?) throws -> OfflineReplica {
    let environment = ProcessEnvironment.current
    let named = try address ?? environment.server
    let name = if let named { LoginFile.name(of: named) } else { "local" }
    return OfflineReplica(in: environment.dataDirectory + "/replicas", name: name)
  }

  /// The number that the daemon at an address has assigned in place of a provisional one; nil if it has not.
  static func assignedNumber(for provisional: Int64, by address: ServerAddress?) throws -> Int64? {
    guard let unsent = try replica(of: address).unsentFile() else { return nil }
    defer { unsent.close() }
    return try unsent.assignedNumber(for: provisional)
  }

  /// Connects with `online`, or opens the copy. A client that reconnects and begins with the copy moves to the daemon
  /// when it answers.
  /// - Throws: the error of the connection if there is no copy.
  static func connect(
    to address: ServerAddress?, security: TransportSecurity, reconnects: Bool,
    online: @MainActor () async throws -> GraphClient
  ) async throws -> GraphClient {
    let replica = try replica(of: address)
    let file: UnsentFile?
    do {
      file = try replica.unsentFile()
    } catch let failure as StoreFailure {
      return try await withoutFile(failure, online)
    }
    guard let unsent = file else { return try await online() }
    let moves = reconnects ? connectForReplica(address, security) : nil
    let row = try unsent.replica
    let kept = row.kept?.containers
    if row.state == .off { return try await open(replica, unsent, kept, "sync is off", moves) }
    let client: GraphClient
    do {
      client = try await online()
    } catch is ConnectFailure {
      return try await open(replica, unsent, kept, "no daemon answers", moves)
    } catch let refusal as Refusal {
      throw replica.removingCopy(after: refusal)
    }
    unsent.close()
    let report = await synchronize(replica, address, security)
    if let report, report.parked > 0 { message(parkedSentence(report.parked)) }
    return client
  }

  /// Connects although the file of unsent edits can't be opened, for example on a full disk: the daemon has the notes.
  /// - Throws: the failure of the file if no daemon answers.
  private static func withoutFile(
    _ failure: StoreFailure, _ online: @MainActor () async throws -> GraphClient
  ) async throws -> GraphClient {
    do {
      let client = try await online()
      message("the edits on this computer can't be sent: \(failure)")
      return client
    } catch is ConnectFailure {
      throw failure
    }
  }

  /// Sends and receives. A failure is reported only: the command itself always works with the daemon.
  private static func synchronize(
    _ replica: OfflineReplica, _ address: ServerAddress?, _ security: TransportSecurity
  ) async -> SyncReport? {
    do {
      let report = try await replica.synchronize { try await connection(address, security, $0) }
      for notice in report.notices { message(notice.sentence) }
      return report
    } catch {
      let refusal = error as? Refusal
      // Another program that synchronizes does it for this one.
      if refusal?.code == .conflict { return nil }
      let sentence = if let refusal { refusal.message } else { "\(error)" }
      message("sync failed: \(sentence)")
      return nil
    }
  }

  private typealias ConnectForReplica = @Sendable (UniqueID?, isolated any Actor) async throws -> GraphClient

  private static func connectForReplica(
    _ address: ServerAddress?, _ security: TransportSecurity
  ) -> ConnectForReplica {
    { id, actor in try await Stickies.connectForReplica(id, to: address, security: security, actor: actor) }
  }

  /// Connects a program that stays open: it moves between the daemon and this computer's copy while it runs.
  ///
  /// A daemon of this computer answers at once or not at all. With a copy, a program does not wait for a remote one: it
  /// shows the copy first.
  static func connectMoving(
    to address: ServerAddress?, security: TransportSecurity, online: @MainActor () async throws -> GraphClient
  ) async throws -> GraphClient {
    let replica = try replica(of: address)
    let connect = connectForReplica(address, security)
    let state: SyncState?
    do {
      state = try self.state(of: replica)
    } catch let failure as StoreFailure {
      return try await withoutFile(failure, online)
    }
    let isRemote = if let named = try address ?? ProcessEnvironment.current.server { !named.isLoopback } else { false }
    if state == .off || state != nil && isRemote {
      do {
        return try await openMoving(replica, connect)
      } catch let failure as StoreFailure where failure.code == .notAStore || failure.code == .modelDiffers {
        // The copy can only be loaded again.
        if state == .off { throw failure }
      }
    }
    let client: GraphClient
    do {
      client = try await online()
    } catch let failure as ConnectFailure {
      guard state != nil else { throw failure }
      return try await openMoving(replica, connect)
    } catch let refusal as Refusal {
      throw replica.removingCopy(after: refusal)
    }
    if state != nil { _ = await synchronize(replica, address, security) }
    replica.keep(client, connect: connect)
    return client
  }

  private static func openMoving(
    _ replica: OfflineReplica, _ connect: @escaping ConnectForReplica
  ) async throws -> GraphClient {
    try await replica.openMoving(
      model: StickiesModel.model, classes: StickiesModel.classes,
      options: GraphClient.Options(author: ProcessEnvironment.current.author), connect: connect)
  }

  private static func state(of replica: OfflineReplica) throws -> SyncState? {
    guard let unsent = try replica.unsentFile() else { return nil }
    defer { unsent.close() }
    return try unsent.replica.state
  }

  /// Opens the copy, and says so.
  /// - Parameters:
  ///   - kept: the keys of the boards that the copy has; nil for all.
  ///   - connect: connects to the daemon when it answers; nil for a client that stays with the copy.
  private static func open(
    _ replica: OfflineReplica, _ unsent: UnsentFile, _ kept: Set<UniqueID>?, _ reason: String,
    _ connect: ConnectForReplica?
  ) async throws -> GraphClient {
    let counts = try unsent.counts()
    let client: GraphClient
    if let connect {
      // Until the copy has opened it, too: the last one that closes the file writes SQLite's log back, with two syncs.
      defer { unsent.close() }
      client = try await openMoving(replica, connect)
    } else {
      client = try await replica.open(
        model: StickiesModel.model, classes: StickiesModel.classes,
        options: GraphClient.Options(author: ProcessEnvironment.current.author), file: unsent)
    }
    let waiting = counts.unsent == 0 ? "" : ", \(Output.count(counts.unsent, "edit")) not sent yet"
    let parked = counts.parked == 0 ? "" : ", \(counts.parked) in conflict (stickies sync conflicts)"
    let part = if let boards = replica.keptBoards(kept) { " of \(boards.sentence) only" } else { "" }
    message("\(reason): working on this computer's copy\(part)\(waiting)\(parked)")
    return client
  }

  /// A connection to the daemon that acts for the replica.
  static func connection(
    _ address: ServerAddress?, _ security: TransportSecurity, _ replica: UniqueID?
  ) async throws -> GraphClient {
    try await Stickies.connectForReplica(replica, to: address, security: security)
  }

  static func parkedSentence(_ count: Int) -> String {
    "\(Output.count(count, "edit")) could not be applied: stickies sync conflicts shows \(count == 1 ? "it" : "them")"
  }

  static func message(_ text: String) { StandardError.write("stickies: \(text)") }
}
