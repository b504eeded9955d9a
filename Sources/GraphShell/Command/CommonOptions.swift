import ArgumentParser
import CommandLineIO
import Glibc
import GraphClient
import GraphModel
import GraphWire

/// The options of every command.
package struct CommonOptions: ParsableArguments {
  package enum ANSI: String, ExpressibleByArgument, CaseIterable { case auto, always, never }

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("The daemon's address, tcp://HOST:PORT or unix:///PATH.", valueName: "address"))
  package var server: String?

  @Flag(help: "Print only JSON on standard output, and errors as JSON.")
  package var json = false

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("When to print colors; auto: on a terminal, unless NO_COLOR is set.", valueName: "when"))
  package var ansi: ANSI = .auto

  package init() {}

  /// The address of `--server`; nil without it.
  package var address: ServerAddress? {
    get throws(ServerAddress.ParseError) {
      guard let server else { return nil }
      return try ServerAddress(parsing: server)
    }
  }

  /// Runs `body` with a daemon of any model; refusals use the names of that model.
  @MainActor
  package func withGraph(
    reconnects: Bool = false, _ body: (CommandContext) async throws -> Void
  ) async throws {
    let (program, address) = (RunningProgram.current, try address)
    let client = try await connecting { try await program.connect(to: address, reconnects: reconnects) }
    try await run(client) { shell in
      try await explaining(shell, body)
    }
  }

  /// Runs a history command with the program's own model if the daemon supports it, also through a lens. Otherwise,
  /// and for the commands of any model, it uses the daemon's model.
  @MainActor
  func withHistory(reconnects: Bool = false, _ body: (CommandContext) async throws -> Void) async throws {
    guard CommandLine.arguments.dropFirst().first != GraphCommand.configuration.commandName else {
      return try await withGraph(reconnects: reconnects, body)
    }
    let client: GraphClient
    do {
      let (program, address) = (RunningProgram.current, try address)
      client = try await connecting { try await program.connectWithOwnModel(to: address, reconnects: reconnects) }
    } catch let refusal as Refusal where refusal.code == .notAllowed {
      return try await withGraph(reconnects: reconnects, body)
    }
    try await run(client) { shell in try await explaining(shell, body) }
  }

  /// Shows a line on the terminal while a connection takes long.
  @MainActor
  package func connecting<Result>(_ body: @MainActor () async throws -> Result) async throws -> Result {
    do {
      guard !json, isatty(2) == 1 else { return try await body() }
      let interruption = Interruption()
      defer { withExtendedLifetime(interruption) {} }
      return try await ConnectingLine(to: server) { StandardError.write($0, terminator: "") }
        .whileConnecting(body)
    } catch let refusal as Refusal where refusal.code == .unavailable {
      throw WelcomeError(reason: refusal.message)
    }
  }

  /// Explains refusals with the names of the connection's model.
  @MainActor
  private func explaining(_ shell: CommandContext, _ body: (CommandContext) async throws -> Void) async throws {
    do {
      try await body(shell)
    } catch let refusal as Refusal {
      throw await RefusalExplainer(shell).explained(refusal)
    }
  }

  /// Runs `body` with a connection and closes it. Each command is a new replica.
  @MainActor
  package func run(_ client: GraphClient, _ body: (CommandContext) async throws -> Void) async throws {
    let output = Output(json: json, ansi: ansi, model: client.context.model, program: RunningProgram.current)
    let shell = CommandContext(client: client, output: output)
    do {
      try await body(shell)
    } catch {
      await client.close()
      throw error
    }
    await client.close()
  }
}

/// A limit; negative numbers are parsed, so that the error message is about the number.
package struct LimitOption: ParsableArguments {
  @Option(
    name: .customLong("limit"), parsing: .unconditional,
    help: ArgumentHelp("Print at most this many.", valueName: "count"))
  package var number: Int?

  package init() {}

  package func validate() throws {
    if let number, number < 1 { throw ValidationError("--limit must be at least 1") }
  }
}
