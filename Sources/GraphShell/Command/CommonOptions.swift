import ArgumentParser
import CommandLineIO
import GraphClient
import GraphModel
import GraphWire

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The options of every command.
package struct CommonOptions: ParsableArguments {
  package enum ANSI: String, ExpressibleByArgument, CaseIterable { case auto, always, never }

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("The daemon's address, \(ServerAddress.forms).", valueName: "address"))
  package var server: String?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "The hash of the server's key, with tls://; a server that has it is trusted from then on.",
      valueName: "sha256:digits"))
  package var pin: String?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "A file with the certificates of the authorities to trust, with tls://; default: the system's.",
      valueName: "file"))
  package var ca: String?

  @Flag(help: "Connect to another machine without encryption, with tcp://.")
  package var insecure = false

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

  /// The options for the verification of the server.
  package var security: TransportSecurity {
    get throws {
      var security = TransportSecurity()
      do {
        security.pin = try pin.map { try PublicKeyHash(parsing: $0) }
      } catch {
        throw ValidationError("--pin: \(error)")
      }
      if let ca { security.authorities = .file(ca) }
      security.allowsUnencrypted = insecure
      return security
    }
  }

  /// Runs `body` with a daemon of any model; refusals use the names of that model.
  @MainActor
  package func withGraph(
    reconnects: Bool = false, _ body: (CommandContext) async throws -> Void
  ) async throws {
    let (program, address) = (RunningProgram.current, try address)
    let client = try await connecting { security in
      try await program.connect(to: address, security: security, reconnects: reconnects)
    }
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
      client = try await connecting { security in
        try await program.connectWithOwnModel(to: address, security: security, reconnects: reconnects)
      }
    } catch let refusal as Refusal where refusal.code == .notAllowed {
      return try await withGraph(reconnects: reconnects, body)
    }
    try await run(client) { shell in try await explaining(shell, body) }
  }

  /// Connects with the settings of the options. If the server's key is not known, asks the user about it.
  @MainActor
  package func connecting<Result>(
    _ body: @MainActor (TransportSecurity) async throws -> Result
  ) async throws -> Result {
    var security = try security
    do {
      return try await showingProgress { try await body(security) }
    } catch let failure as SecurityFailure where failure.code == .unknownKey {
      guard let key = failure.key, !json, FirstUseQuestion.accepts(failure) else { throw failure }
      security.pin = key
      return try await showingProgress { try await body(security) }
    }
  }

  /// Shows a line on the terminal while a connection takes long.
  @MainActor
  private func showingProgress<Result>(_ body: @MainActor () async throws -> Result) async throws -> Result {
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

  /// The client that the end of the process closes: its release would close it as `close` does.
  @MainActor private static var clientUntilExit: GraphClient?

  /// Runs `body` with a connection and closes it, unless the end of the process does. Each command is a new replica.
  @MainActor
  package func run(_ client: GraphClient, _ body: (CommandContext) async throws -> Void) async throws {
    let output = Output(
      json: json, ansi: ansi, model: client.context.model, program: RunningProgram.current,
      unsentAfter: client.unsentAfter)
    let shell = CommandContext(client: client, output: output, server: try address)
    if !json, client.address.isUnprotected {
      output.message(
        "the connection to \(client.address) is not encrypted: every machine on the way can read and change it")
    }
    do {
      try await body(shell)
      if client.hasUnsentCommits { output.message("not sent yet: it is sent when the daemon answers again") }
      if client.mayStayOpen {
        Self.clientUntilExit = client
        return
      }
    } catch {
      let missing = MissingRight(error, rights: client.rights)
      await client.close()
      if let missing { throw missing }
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
