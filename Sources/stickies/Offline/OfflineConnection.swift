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

  /// The number that the daemon has assigned in place of a provisional one; nil if it has not.
  static func assignedNumber(for provisional: Int64) throws -> Int64? {
    guard let unsent = try replica(of: nil).unsentFile() else { return nil }
    defer { unsent.close() }
    return try unsent.assignedNumber(for: provisional)
  }

  /// Connects with `online`, or opens the copy.
  /// - Throws: the error of the connection if there is no copy.
  static func connect(
    to address: ServerAddress?, security: TransportSecurity, reconnects: Bool,
    online: @MainActor () async throws -> GraphClient
  ) async throws -> GraphClient {
    let replica = try replica(of: address)
    guard let state = try state(of: replica) else { return try await online() }
    if state == .off { return try await open(replica, "sync is off") }
    let client: GraphClient
    do {
      client = try await online()
    } catch is ConnectFailure {
      return try await open(replica, "no daemon answers")
    }
    do {
      let report = try await replica.synchronize { try await connection(address, security, $0) }
      if report.parked > 0 { message(parkedSentence(report.parked)) }
    } catch let refusal as Refusal {
      // The command itself always works with the daemon.
      if refusal.code != .conflict { message("sync failed: \(refusal.message)") }
    }
    return client
  }

  private static func state(of replica: OfflineReplica) throws -> SyncState? {
    guard let unsent = try replica.unsentFile() else { return nil }
    defer { unsent.close() }
    return try unsent.replica.state
  }

  private static func open(_ replica: OfflineReplica, _ reason: String) async throws -> GraphClient {
    let client = try await replica.open(
      model: StickiesModel.model, classes: StickiesModel.classes,
      options: GraphClient.Options(author: ProcessEnvironment.current.author))
    let counts = try counts(of: replica)
    let waiting = counts.unsent == 0 ? "" : ", \(Output.count(counts.unsent, "edit")) not sent yet"
    let parked = counts.parked == 0 ? "" : ", \(counts.parked) in conflict (stickies sync conflicts)"
    message("\(reason): working on this computer's copy\(waiting)\(parked)")
    return client
  }

  private static func counts(of replica: OfflineReplica) throws -> (unsent: Int, parked: Int) {
    guard let unsent = try replica.unsentFile() else { return (0, 0) }
    defer { unsent.close() }
    return try unsent.counts()
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
