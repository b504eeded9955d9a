import ArgumentParser
import Configuration
import Foundation
import GraphModel
import GraphStore
import GraphWire
import Logging
import StickiesModel

/// The settings of `stickiesd`. The sources of an option, in order of precedence: the flag, the environment, the
/// configuration file, the default.
struct Settings {
  var data: String
  var schema: String?
  var addresses: [ServerAddress]
  /// Whether neither a flag nor the environment nor the file names addresses.
  var hasDefaultAddresses: Bool
  /// Addresses to serve if they are free: all default addresses but the first.
  var optionalAddresses = [ServerAddress]()
  var logLevel: Logger.Level
  /// The time after which a fetch that finds nothing is refused.
  var searchSeconds: Int
  /// The history to keep; nil keeps all of it.
  var history: HistoryPolicy?
  /// The interval of pruning.
  var pruning = DurationOption.hour
  var network: NetworkSettings
  var http: HTTPSettings
}

extension Settings {
  /// The path of the store's database file.
  var storePath: String { data + "/" + StoreFiles.name }

  /// One second to one day.
  static let searchSecondsRange = 1...86_400
}

/// An invalid option, from any source.
struct OptionsError: Error, CustomStringConvertible { let description: String }

/// The flags that select the store and the configuration file.
struct StoreFlags: ParsableArguments {
  @Option(
    help: ArgumentHelp("The data directory; default: $XDG_DATA_HOME/stickies.", valueName: "directory"))
  var data: String?

  @Option(
    help: ArgumentHelp(
      "A folder of model files 1.json, 2.json and so on; the highest number is served. Default: the model of notes.",
      valueName: "folder"))
  var schema: String?

  @Option(
    help: ArgumentHelp(
      "A file with options; default: $XDG_CONFIG_HOME/stickies/stickiesd.json, if it exists.", valueName: "file"))
  var config: String?

  /// Combines flags, environment and file for a daemon that serves, and creates the directories of the default
  /// sockets.
  func servingSettings(
    listen: [String], logLevel: Logger.Level?, searchSeconds: Int?, history: HistoryFlags, network: NetworkFlags,
    http: HTTPFlags
  ) async throws -> Settings {
    var settings = try await settings(
      listen: listen, logLevel: logLevel, searchSeconds: searchSeconds, history: history,
      files: network.files, isInsecure: network.insecure, http: http)
    guard settings.hasDefaultAddresses else { return settings }
    let places = ProcessEnvironment.current.listeningPlaces.map(\.address)
    // If no address is available, the first one is kept, so that its failure states the reason.
    if let first = places.first { settings.addresses = [first] }
    settings.optionalAddresses =
      Array(places.dropFirst()) + [.tcp(host: "127.0.0.1", port: ServerAddress.defaultPort)]
    return settings
  }

  /// Combines flags, environment and file.
  func settings(
    listen: [String] = [], logLevel: Logger.Level? = nil, searchSeconds: Int? = nil,
    history: HistoryFlags? = nil, files: CertificateFileFlags? = nil, isInsecure: Bool = false,
    http: HTTPFlags? = nil
  ) async throws -> Settings {
    let environment = ProcessEnvironment.current
    let variables = EnvironmentVariablesProvider(environmentVariables: environment.variables(prefix: "STICKIESD_"))
    var providers: [any ConfigProvider] = [variables.prefixKeys(with: "stickiesd")]
    if let file = try await OptionsFile.provider(config, otherwise: environment.configurationFile) {
      providers.append(file)
    }
    let reader = ConfigReader(providers: providers)
    let given = try Self.addresses(listen, reader)
    let data = data ?? reader.string(forKey: "data") ?? environment.dataDirectory
    let http = try HTTPSettings(http, reader, hasDefaultAddresses: given == nil)
    if let given { try http.check(besides: given) }
    return Settings(
      data: data,
      schema: schema ?? reader.string(forKey: "schema"),
      addresses: given ?? [environment.defaultSocket], hasDefaultAddresses: given == nil,
      logLevel: try logLevel ?? Self.level(reader) ?? .info,
      searchSeconds: try Self.searchSeconds(searchSeconds, reader) ?? 60,
      history: try history?.policy(reader), pruning: try history?.period(reader) ?? .hour,
      network: try NetworkSettings(files, isInsecure: isInsecure, reader, data: data),
      http: http)
  }

  /// The addresses to listen on, from the flags or else from the variable or the file; nil if none are given.
  private static func addresses(_ flags: [String], _ reader: ConfigReader) throws -> [ServerAddress]? {
    if !flags.isEmpty { return try distinct(flags.map { try ServerAddress(parsing: $0) }) }
    guard let texts = reader.stringArray(forKey: "listen"), !texts.isEmpty else { return nil }
    do {
      return try distinct(texts.map { try ServerAddress(parsing: $0) })
    } catch let error as ServerAddress.ParseError {
      // The flags and the file are already validated, so the invalid address is from the variable.
      throw OptionsError(description: "STICKIESD_LISTEN: \(error)")
    }
  }

  /// Port 0 requests any free port, so it may occur twice.
  private static func distinct(_ addresses: [ServerAddress]) throws -> [ServerAddress] {
    var seen = Set<ServerAddress>()
    // Two names of one socket are one address: the second one would find the daemon itself as its listener.
    for address in addresses {
      if case .tcp(host: _, port: 0) = address.tcp { continue }
      guard seen.insert(normalized(address)).inserted else {
        throw OptionsError(description: "the address \(address) is given twice; name each address to listen on once")
      }
    }
    return addresses
  }

  /// The address with the real path of its folder, without `//` and `/./`, and with its host in lower case.
  private static func normalized(_ address: ServerAddress) -> ServerAddress {
    switch address {
    case .unix(let path):
      let parts = path.split(separator: "/").filter { $0 != "." }
      guard let name = parts.last else { return address }
      let folder = URL(fileURLWithPath: "/" + parts.dropLast().joined(separator: "/")).resolvingSymlinksInPath().path
      return .unix(path: "\(folder)/\(name)")
    case .tcp(let host, let port): return .tcp(host: host.lowercased(), port: port)
    case .tls(let host, let port): return .tls(host: host.lowercased(), port: port)
    }
  }

  private static func searchSeconds(_ flag: Int?, _ reader: ConfigReader) throws -> Int? {
    let range = Settings.searchSecondsRange
    let expected = "it must be a number of seconds, \(range.lowerBound) to \(range.upperBound)"
    if let flag {
      guard range.contains(flag) else { throw OptionsError(description: "--search-seconds: \(flag); \(expected)") }
      return flag
    }
    // Read as text, because a value that is not a number would otherwise count as missing.
    guard let text = reader.string(forKey: "searchSeconds") else { return nil }
    guard let seconds = Int(text), range.contains(seconds) else {
      throw OptionsError(description: "STICKIESD_SEARCH_SECONDS: \"\(text)\"; \(expected)")
    }
    return seconds
  }

  private static func level(_ reader: ConfigReader) throws -> Logger.Level? {
    guard let text = reader.string(forKey: "logLevel") else { return nil }
    guard let level = Logger.Level(rawValue: text) else {
      throw OptionsError(
        description: "STICKIESD_LOG_LEVEL: \"\(text)\" is not a level; it must be one of \(Logger.Level.names)")
    }
    return level
  }
}

extension Logger.Level: @retroactive ExpressibleByArgument {
  static var names: String { allCases.map(\.rawValue).joined(separator: ", ") }
}
