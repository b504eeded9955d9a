import ArgumentParser
import CommandLineIO
import Foundation
import FreedMemory
import GraphHTTP
import GraphModel
import GraphServer
import GraphStore
import GraphStoreTools
import GraphWire
import Logging
import ServiceLifecycle
import StickiesModel
import StickiesWeb

/// `stickiesd`: serves one store to any number of clients.
@main
struct Daemon: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "stickiesd", abstract: "Serve a store of notes, or of any model, to stickies and other clients.",
    discussion: """
      Without options it serves the store in $XDG_DATA_HOME/stickies on the user's Unix-domain sockets and, if the \
      port is free, on tcp://127.0.0.1:\(ServerAddress.defaultPort) and http://127.0.0.1:\(HTTPSettings.defaultPort). It prints one line for each address when it is \
      ready, and logs to standard error. SIGTERM and SIGINT (Ctrl-C) end it: it notifies clients and finishes accepted \
      requests. "stickiesd help serve" lists the options.

      An option that is not given as a flag is read from the environment (STICKIESD_DATA, STICKIESD_SCHEMA, \
      STICKIESD_LISTEN with commas between addresses, STICKIESD_LOG_LEVEL, STICKIESD_SEARCH_SECONDS, \
      STICKIESD_KEEP_HISTORY, STICKIESD_MINIMUM_RETENTION, STICKIESD_PRUNE_EVERY, STICKIESD_CERTIFICATE, STICKIESD_KEY, \
      STICKIESD_INSECURE, STICKIESD_HTTP, STICKIESD_PUBLIC_URL, STICKIESD_METRICS), else from the configuration file, a \
      JSON object with the keys data, schema, listen (a list), logLevel, searchSeconds, keepHistory, minimumRetention, \
      pruneEvery, certificate, key, insecure (true or false), http, publicURL and metrics.
      """,
    version: VersionText.of("stickiesd"),
    subcommands: [
      Serve.self, Check.self, Backup.self, Restore.self, Migrate.self, Compact.self, UserCommand.self,
      GrantCommand.self, ShareCommand.self, AccessCommand.self, TokenCommand.self, CertificateCommand.self,
      AuditCommand.self,
    ],
    defaultSubcommand: Serve.self)
}

/// The line that `--version` prints in both programs.
enum VersionText {
  static func of(_ program: String) -> String {
    "\(program) \(Stickies.version) (protocol \(ProtocolLimits.version), "
      + "model \(StickiesModel.model.name) \(StickiesModel.model.version) \(StickiesModel.model.hash))"
  }
}

struct Serve: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve", abstract: "Serve a store until SIGTERM or Ctrl-C.")

  @OptionGroup var store: StoreFlags

  @Option(
    help: ArgumentHelp(
      "An address to listen on, \(ServerAddress.forms); replaces the defaults, may be repeated.",
      valueName: "address"))
  var listen: [String] = []

  @Option(help: ArgumentHelp("How much to log; default: info.", valueName: "level"))
  var logLevel: Logger.Level?

  @Option(
    help: ArgumentHelp(
      "The seconds after which a fetch without a result is cancelled, 1 to 86400; default: 60.", valueName: "seconds"))
  var searchSeconds: Int?

  @OptionGroup var history: HistoryFlags

  @OptionGroup var network: NetworkFlags

  @OptionGroup var http: HTTPFlags

  @Flag(help: "First migrate an older store to the newest version of its model, as stickiesd migrate does.")
  var migrate = false

  mutating func run() async throws {
    // Notes are private to their owner, regardless of the shell's umask.
    umask(0o077)
    let signals = SignalHandler()
    DescriptorLimitRaiser.raise()
    configureAllocator()
    try await StoreCommand.reportingFailures {
      let settings = try await store.servingSettings(
        listen: listen, logLevel: logLevel, searchSeconds: searchSeconds, history: history, network: network,
        http: http)
      LoggingSystem.bootstrap { label in
        var handler = LineLogHandler(.standardError(label: label, metadataProvider: nil))
        handler.logLevel = settings.logLevel
        return handler
      }
      let log = Logger(label: "stickiesd")
      // Read only if an address needs it, so that a daemon without TLS does not load the library.
      let isEncrypted = (settings.addresses + settings.optionalAddresses).contains(where: \.isEncrypted)
      let certificate =
        isEncrypted
        ? try ServerCertificate(certificate: settings.network.certificate, key: settings.network.key) : nil
      let reload: (@Sendable () -> Void)? = if let certificate { { _ = certificate.reload(log) } } else { nil }
      let sources = signals.watch(log, hangUp: reload)
      defer { withExtendedLifetime(sources) {} }
      try await serve(settings, certificate, signals, log)
    }
  }

  /// Opens the store. A store with an earlier version of the built-in model of notes is migrated automatically, because
  /// that model belongs to the program. A store with a model of `--schema` is migrated only on request.
  private func openStore(_ settings: Settings, _ models: [Model], _ log: Logger) throws -> SQLiteStore {
    let model = try invariant(models.last, "a model has a version")
    var options = SQLiteStore.Options()
    options.created = Int64(Date().timeIntervalSince1970 * 1_000_000)
    options.commitLog = SQLiteStore.localLog(in: settings.data)
    do {
      return try SQLiteStore(directory: settings.data, model: model, options: options, log: log)
    } catch let failure as StoreFailure where failure.code == .modelDiffers && settings.schema == nil {
      let hash = StoredModel.hash(inStoreAt: settings.storePath)
      guard models.dropLast().contains(where: { $0.hash == hash }) else { throw failure }
      try performMigration(of: settings.data, to: models, log)
      return try SQLiteStore(directory: settings.data, model: model, options: options, log: log)
    }
  }

  private func performMigration(of directory: String, to models: [Model], _ log: Logger) throws {
    let report = try Migrate.migrate(directory, models, isRehearsal: false)
    if report.revision > 0 {
      log.info("the store was migrated", metadata: ["report": "\(MigrationText.json(report, isRehearsal: false))"])
    }
  }

  private func serve(
    _ settings: Settings, _ certificate: ServerCertificate?, _ signals: SignalHandler, _ log: Logger
  ) async throws {
    let models = try ModelSource.versions(folder: settings.schema)
    if migrate, FileManager.default.fileExists(atPath: settings.storePath) {
      try performMigration(of: settings.data, to: models, log)
    }
    let store = try openStore(settings, models, log)
    // The migration and the redo of a full log free tens of MiB, which serving does not need.
    releaseFreedMemory()
    var configuration = GraphServer.Configuration(
      addresses: settings.addresses, name: "stickiesd \(Stickies.version)")
    configuration.optionalAddresses = settings.optionalAddresses
    configuration.olderModels = models.dropLast()
    let accounts = try AccountAuthenticator(
      directory: settings.data, requiresFile: store.hasCommitsOfAccounts, log: log)
    configuration.authenticator = accounts
    configuration.browserLogins = accounts
    configuration.shareLinks = accounts
    configuration.hasAccounts = try accounts.hasUsers
    configuration.limits.searchMilliseconds = Int64(settings.searchSeconds) * 1_000
    configuration.history = settings.history
    configuration.pruningPeriod = .microseconds(settings.pruning.microseconds)
    configuration.certificate = certificate
    configuration.allowsExposure = settings.network.isInsecure
    // The board is for notes only.
    let isBoard = UTF8Comparison.equal(store.model.name, StickiesModel.model.name)
    let app = isBoard ? try WebApp(parsing: WebBoard.files) : nil
    let interfaces = settings.http.interfaces(author: ProcessEnvironment.current.author, app: app, log)
    var server = GraphServer(store: store, configuration: configuration, log: log) { addresses in
      let all = addresses.map(\.description) + interfaces.compactMap(\.address)
      let web = interfaces.compactMap(\.webAddress).map { "web board \($0)" }
      let lines = (all.map { "listening \($0)" } + web).joined(separator: "\n")
      let code = Descriptor.write(lines + "\n", to: 1)
      // The addresses are only information: the server continues without them.
      if code != 0 {
        log.warning(
          "standard output can't be written",
          metadata: ["cause": "\(String(cString: strerror(code)))", "text": "\(lines)"])
      }
    }
    server.interfaces = interfaces
    let group = ServiceGroup(
      configuration: .init(
        services: [.init(service: server, successTerminationBehavior: .gracefullyShutdownGroup)],
        gracefulShutdownSignals: signals.ending, logger: log))
    try await group.run()
  }
}

/// Raises the limit of open files: a thousand clients need a thousand descriptors, and shells often set a low limit.
enum DescriptorLimitRaiser {
  static func raise() {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
    limit.rlim_cur = min(limit.rlim_max, 65_536)
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
  }
}

struct Check: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check", abstract: "Verify a store: SQLite's own check, the rules of the model, history, checksums.",
    discussion: """
      Stop the daemon first. Prints "sound", or the findings. Changes nothing: commits that are in the commit log only \
      are verified and counted, and the next start applies them. Exit codes: 0 sound, 1 findings or no store, 64 usage.
      """)

  @OptionGroup var store: StoreFlags

  @Flag(help: "Print the result as one line of JSON.")
  var json = false

  mutating func run() async throws {
    try await StoreCommand.reportingFailures(json: json) {
      let settings = try await store.settings()
      let model = try ModelSource.load(folder: settings.schema, forStoreAt: settings.storePath)
      let report = try StoreCheck.report(directory: settings.data, model: model)
      if json {
        Console.print(CheckText.json(report))
      } else {
        for finding in report.findings { Console.printLine(finding.description) }
        if report.findings.isEmpty { Console.print(CheckText.sound(report)) }
      }
      guard report.findings.isEmpty else { throw ExitCode(1) }
    }
  }
}
