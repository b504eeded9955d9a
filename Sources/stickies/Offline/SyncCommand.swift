import ArgumentParser
import GraphClient
import GraphModel
import GraphOffline
import GraphReplicaStore
import GraphShell
import StickiesKit
import StickiesModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// `stickies sync`: a copy of the notes on this computer, and edits without the daemon.
struct SyncCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sync", abstract: "Work without the daemon, and send the edits later.",
    discussion: """
      After "stickies sync on", this computer keeps a copy of the notes that you may see. If no daemon answers, the \
      commands use the copy: they say so, and keep your edits until the daemon answers again. Then each edit is sent, \
      in order. An edit that the daemon refuses, because another user has changed or deleted the same thing, waits in the \
      list of conflicts with both values; the others are not held up.
      """,
    subcommands: [
      On.self, Off.self, State.self, Now.self, Conflicts.self, Retry.self, Edit.self, Discard.self, Export.self,
      Take.self, Reset.self, DeleteEverywhere.self,
    ], defaultSubcommand: State.self)

  struct On: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "on", abstract: "Keep a copy of the notes on this computer, and send and receive edits.",
      discussion: """
        If there is a copy and no daemon answers, the edits are sent when it does.

        A copy has up to 100,000 objects. If you may see more, name the boards that you need; the copy has them and \
        the boards that you add without the daemon:
          stickies sync on --board Work --board Home
        """)
    @OptionGroup var options: CommonOptions
    @Option(
      name: .customLong("board"), parsing: .unconditionalSingleValue,
      help: "Keep this board, by name or id, and no others; repeatable.")
    var boards = [String]()
    @Flag(help: "Keep all boards again.")
    var allBoards = false

    func validate() throws {
      if allBoards, !boards.isEmpty { throw ValidationError("--board and --all-boards exclude each other") }
    }

    @MainActor
    func run() async throws {
      let (address, replica) = (try options.address, try OfflineConnection.replica(of: options.address))
      let contents = try await contents()
      let report = try await options.connecting { security -> SyncReport? in
        let connect: OfflineReplica.Connect = { try await OfflineConnection.connection(address, security, $0) }
        if contents == nil { return try await replica.turnOnIfReached(connect: connect) }
        return try await replica.turnOn(keeping: contents, connect: connect)
      }
      if report == nil { OfflineConnection.message("no daemon answers: your edits are sent when it does") }
      try SyncOutput(options, replica).show(report)
    }

    /// The part of the notes that the options name; nil for that of before.
    @MainActor
    private func contents() async throws -> OfflineReplica.Contents? {
      if allBoards { return .everything }
      if boards.isEmpty { return nil }
      var ids = [ObjectID]()
      // The daemon's boards, also while sync is off: the copy does not have all.
      let address = try options.address
      let client = try await options.connecting { try await OfflineConnection.connection(address, $0, nil) }
      try await options.run(client) { shell in
        for name in boards { ids.append(try await NoteFinder(shell).board(name).id) }
      }
      return .scopes(ids)
    }
  }

  struct Off: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "off", abstract: "Stop sending and receiving; the copy and the edits stay.",
      discussion: "The commands work on the copy until \"stickies sync on\", also if the daemon could be reached.")
    @OptionGroup var options: CommonOptions

    @MainActor
    func run() async throws {
      let replica = try OfflineConnection.replica(of: options.address)
      try replica.turnOff()
      try SyncOutput(options, replica).show()
    }
  }

  struct State: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "status", abstract: "Show whether sync is on, and the number of unsent edits.")
    @OptionGroup var options: CommonOptions

    @MainActor
    func run() async throws {
      try SyncOutput(options, OfflineConnection.replica(of: options.address)).show()
    }
  }

  struct Now: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "now", abstract: "Send the edits and receive those of others.",
      discussion: "Every other command does it, too, if it can.")
    @OptionGroup var options: CommonOptions

    @MainActor
    func run() async throws {
      try await SyncOutput.synchronize(options)
    }
  }
}

/// The output of the commands of `sync`.
@MainActor
struct SyncOutput {
  let options: CommonOptions
  let replica: OfflineReplica
  let output: Output

  init(_ options: CommonOptions, _ replica: OfflineReplica) {
    (self.options, self.replica) = (options, replica)
    output = Output(
      json: options.json, ansi: options.ansi, model: StickiesModel.model, program: RunningProgram.current)
  }

  /// Sends and receives, and prints the result.
  static func synchronize(_ options: CommonOptions) async throws {
    let (address, replica) = (try options.address, try OfflineConnection.replica(of: options.address))
    let report = try await options.connecting { security in
      try await replica.synchronize { try await OfflineConnection.connection(address, security, $0) }
    }
    try SyncOutput(options, replica).show(report)
  }

  /// Sends what was queued, if sync is on and the daemon answers. Otherwise it waits, as any edit without the daemon.
  static func sendQueued(_ options: CommonOptions) async throws {
    let replica = try OfflineConnection.replica(of: options.address)
    var reason = "sync is off"
    if try replica.status()?.isOn == true {
      do { return try await synchronize(options) } catch is ConnectFailure { reason = "no daemon answers" }
    }
    OfflineConnection.message("\(reason): the edit is not sent yet")
    try SyncOutput(options, replica).show()
  }

  /// Prints the state of the replica and the result of a run.
  func show(_ report: SyncReport? = nil) throws {
    let unsent = try replica.openUnsent()
    defer { unsent.close() }
    let (row, counts) = (try unsent.replica, try unsent.counts())
    let state = row.state == .off ? "off" : "on"
    if output.json {
      var members = [
        JSON.Member("state", .string(state)), .init("unsent", .integer(Int64(counts.unsent))),
        .init("parked", .integer(Int64(counts.parked))), .init("folder", .string(replica.path)),
      ]
      // Absent if the copy has all boards.
      if let boards = try replica.keptBoards() { members.append(.init("boards", .array(boards.map(JSON.string)))) }
      if let report {
        members += [
          .init("sent", .integer(Int64(report.sent))), .init("newlyParked", .integer(Int64(report.parked))),
          .init("received", .integer(Int64(report.received))), .init("reloaded", .bool(report.isReloaded)),
          .init("notices", .array(report.notices.map { .string($0.sentence) })),
        ]
      }
      return output.print(JSON.object(members))
    }
    if let report {
      let received = Output.count(report.received, "commit") + " received"
      let reloaded = report.isReloaded ? "the copy was loaded as a whole" : received
      output.print("\(Output.count(report.sent, "edit")) sent, \(reloaded)")
      for notice in report.notices { output.print(notice.sentence) }
    }
    output.print(
      "sync is \(state): \(Output.count(counts.unsent, "edit")) not sent, \(counts.parked) in conflict"
        + (counts.parked == 0 ? "" : " (stickies sync conflicts)"))
    if let boards = try replica.keptBoards() {
      output.print("the copy has \(boards.sentence) only (stickies sync on --all-boards keeps all)")
    }
  }
}
