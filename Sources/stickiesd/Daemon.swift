import ArgumentParser
import Foundation
import GraphModel
import GraphServer
import GraphStore
import GraphWire
import Logging
import ServiceLifecycle
import StickiesKit

/// `stickiesd`: serves one store to any number of clients.
@main
struct Daemon: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "stickiesd", abstract: "Serves a graph of sticky notes, kept in SQLite, live over sockets.",
    discussion: """
      Without options it serves the store under $XDG_DATA_HOME/stickies on a Unix-domain socket of the user's and on \
      tcp://127.0.0.1:\(ServerAddress.defaultPort). It prints one line for each address when it is ready, and logs to \
      standard error. SIGTERM and SIGINT end it: clients are told, what was accepted is finished.
      """,
    version: VersionText.of("stickiesd"), subcommands: [Serve.self, Check.self], defaultSubcommand: Serve.self)
}

/// The line that `--version` of both programs prints.
enum VersionText {
  static func of(_ program: String) -> String {
    "\(program) \(Stickies.version) (protocol \(ProtocolLimits.version), "
      + "model \(StickiesModel.model.name) \(StickiesModel.model.version) \(StickiesModel.model.hash))"
  }
}

struct Serve: AsyncParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Serve (the default).")

  @Option(help: "The data directory; it is made when it is not there.")
  var data: String?

  @Option(help: "A folder of model files, the highest number counts; instead of the model that is built in.")
  var schema: String?

  @Option(
    help: ArgumentHelp(
      "An address to listen on, tcp://HOST:PORT or unix:///PATH; may be repeated, replaces the defaults.",
      valueName: "address"))
  var listen: [String] = []

  @Option(help: "How much to log: trace, debug, info, notice, warning, error or critical.")
  var logLevel: Logger.Level = .info

  mutating func run() async throws {
    let level = logLevel
    LoggingSystem.bootstrap { label in
      var handler = StreamLogHandler.standardError(label: label)
      handler.logLevel = level
      return handler
    }
    // A reader that vanished is an error of one write, not the end of the program.
    signal(SIGPIPE, SIG_IGN)
    FileLimit.raise()
    do {
      try await serve(log: Logger(label: "stickiesd"))
    } catch let failure as StoreFailure {
      FileHandle.standardError.write(Data("stickiesd: \(failure)\n".utf8))
      throw ExitCode(1)
    } catch let error as ServerAddress.ParseError {
      FileHandle.standardError.write(Data("stickiesd: \(error)\n".utf8))
      throw ExitCode(64)
    }
  }

  private func serve(log: Logger) async throws {
    let environment = ProcessEnvironment.current
    let model = try ModelSource.load(folder: schema)
    var addresses = try listen.map { try ServerAddress(parsing: $0) }
    if addresses.isEmpty {
      addresses = [environment.defaultSocket, .tcp(host: "127.0.0.1", port: ServerAddress.defaultPort)]
    }
    var options = SQLiteStore.Options()
    options.created = Int64(Date().timeIntervalSince1970 * 1_000_000)
    let store = try SQLiteStore(
      directory: data ?? environment.dataDirectory, model: model, options: options, log: log)
    let server = GraphServer(
      store: store,
      configuration: GraphServer.Configuration(addresses: addresses, name: "stickiesd \(Stickies.version)"), log: log
    ) { addresses in
      for address in addresses { print("listening \(address)") }
      fflush(nil)
    }
    let group = ServiceGroup(
      configuration: .init(
        services: [.init(service: server, successTerminationBehavior: .gracefullyShutdownGroup)],
        gracefulShutdownSignals: [.sigterm, .sigint], logger: log))
    try await group.run()
  }
}

extension Logger.Level: @retroactive ExpressibleByArgument {}

/// The model that the daemon serves.
enum ModelSource {
  static func load(folder: String?) throws -> Model {
    guard let folder else { return StickiesModel.model }
    let files = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    let versions = files.compactMap { name in
      name.hasSuffix(".json") ? Int(name.dropLast(5)).map { ($0, name) } : nil
    }
    guard let newest = versions.max(by: { $0.0 < $1.0 })?.1,
      let bytes = FileManager.default.contents(atPath: folder + "/" + newest)
    else {
      throw StoreFailure(
        .inputOutput, "the folder \(folder) holds no model file",
        advice: "Model files are called 1.json, 2.json and so on; the highest counts.")
    }
    do {
      return try Model(parsing: bytes)
    } catch {
      throw StoreFailure(
        .modelDiffers, "the model \(folder)/\(newest) has \(error.mistakes.count) mistakes:\n\(error)\n",
        advice: "docs/model-format.md describes the format.")
    }
  }
}

/// A thousand clients need a thousand descriptors; shells often allow fewer than the system does.
enum FileLimit {
  static func raise() {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
    limit.rlim_cur = min(limit.rlim_max, 65_536)
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
  }
}

struct Check: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Verify a store: SQLite's own check, the graph's rules, history, checksums.")

  @Option(help: "The data directory.")
  var data: String?

  @Option(help: "A folder of model files, instead of the model that is built in.")
  var schema: String?

  mutating func run() throws {
    do {
      let model = try ModelSource.load(folder: schema)
      let directory = data ?? ProcessEnvironment.current.dataDirectory
      let findings = try StoreCheck.run(directory: directory, model: model)
      for finding in findings { print(finding) }
      guard findings.isEmpty else { throw ExitCode(1) }
      print("sound")
    } catch let failure as StoreFailure {
      FileHandle.standardError.write(Data("stickiesd: \(failure)\n".utf8))
      throw ExitCode(1)
    }
  }
}
