import ArgumentParser
import GraphClient
import GraphModel
import GraphShell
import GraphWire
import StickiesKit

/// The shell's program for notes.
struct StickiesProgram: ShellProgram {
  var name: String { "stickies" }
  var command: any ParsableCommand.Type { StickiesCommand.self }
  var examples: [String: [String]] { CommandExamples.lines }
  var adviceOnSilentDaemon: String { "; run stickies doctor to find the cause" }
  var commandsWithText: Set<String> { ["add", "search", "tag", "untag", "board"] }
  var remarkOnInserts: String { " Notes without x and y are placed beside the others of their board." }
  var completedNames: String { "commands, options, notes, boards and tags" }
  var completedValues: Set<String> { NoteCandidates.values }

  var connectingCommand: String { "status" }

  func connect(
    to address: ServerAddress?, security: TransportSecurity, reconnects: Bool
  ) async throws -> GraphClient {
    try await OfflineConnection.connect(to: address, security: security, reconnects: reconnects) {
      try await Stickies.connectToAnyModel(at: address, reconnects: reconnects, security: security)
    }
  }

  func connectWithOwnModel(
    to address: ServerAddress?, security: TransportSecurity, reconnects: Bool
  ) async throws -> GraphClient {
    try await OfflineConnection.connect(to: address, security: security, reconnects: reconnects) {
      try await Stickies.connect(to: address, reconnects: reconnects, security: security)
    }
  }

  func sentence(forUnreachable address: ServerAddress) -> String { ServerAddressChoice.sentence(address) }

  func prepared(_ arguments: [String]) -> [String] { NegativeArgumentEscaping.protected(arguments) }

  func candidates(for valueName: String, from client: GraphClient) async throws -> [CompletionCandidate] {
    try await NoteCandidates.find(valueName, client)
  }

  func line(_ image: ObjectImage, of entity: Entity, isColored: Bool) -> String? {
    NoteLine.text(image, of: entity, isColored: isColored)
  }

  func placement(in client: GraphClient, policy: MergePolicy) -> (any InsertPlacement)? {
    NotePlacer(client, policy)
  }
}

extension CommonOptions {
  /// Runs `body` with a connection to a daemon of the notes' model.
  @MainActor
  func withShell(reconnects: Bool = false, _ body: (CommandContext) async throws -> Void) async throws {
    let address = try address
    let client: GraphClient
    do {
      client = try await connecting { security in
        try await OfflineConnection.connect(to: address, security: security, reconnects: reconnects) {
          try await Stickies.connect(to: address, reconnects: reconnects, security: security)
        }
      }
    } catch let refusal as Refusal where refusal.code == .notAllowed {
      // The refusal concerns the model; a failure of the protocol already has advice.
      guard
        let any = try? await Stickies.connectToAnyModel(at: address, reconnects: false, security: security)
      else { throw refusal }
      let model = any.context.model
      await any.close()
      guard model.name == StickiesModel.model.name else {
        throw Refusal(
          .notAllowed,
          "the daemon serves the model \(model.name) \(model.version), and this command works with "
            + "\(StickiesModel.model.name) only: use stickies graph, which works with any model (stickies graph entities "
            + "lists its entities), or give another daemon's address with --server")
      }
      throw Refusal(
        .notAllowed,
        refusal.message + "; the commands of stickies graph work with any model: start with "
          + "stickies graph entities and stickies graph fetch")
    }
    try await run(client, body)
  }
}
