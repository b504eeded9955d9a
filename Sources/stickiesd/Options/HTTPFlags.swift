import ArgumentParser
import Configuration
import GraphHTTP
import GraphServer
import GraphWire
import Logging

/// The options of the HTTP interface.
struct HTTPFlags: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      """
      The address of the HTTP interface, HOST:PORT, or off. Default: 127.0.0.1:\(HTTPSettings.defaultPort) if it is \
      free; off with --listen.
      """, valueName: "address"))
  var http: String?

  @Option(
    help: ArgumentHelp(
      "The URL at which a proxy serves the HTTP interface, such as https://notes.example.org/board.", valueName: "url"))
  var publicURL: String?

  @Option(
    help: ArgumentHelp(
      "The address of /metrics for Prometheus, HOST:PORT, or off; default: off.", valueName: "address"))
  var metrics: String?
}

/// The settings of the HTTP interface, and of the listener for metrics.
struct HTTPSettings {
  static let defaultPort = 7_418
  static let expectedAddress = "HOST:PORT, such as 127.0.0.1:\(defaultPort), or off"
  static let expectedURL = "https://HOST or http://HOST, with a port and a path if the proxy needs them"

  /// The host and the port at which an interface listens.
  struct Address {
    let host: String
    let port: Int
  }

  /// The address to serve; nil for off.
  private(set) var address: Address?
  /// Whether an option names the address, so that the daemon ends if it is in use.
  private(set) var isRequired = false
  private(set) var publicURL: PublicURL?
  /// The address of `/metrics`; nil for off.
  private(set) var metrics: Address?

  /// Combines flags, environment and file.
  /// - Parameters:
  ///   - flags: nil for a command that serves nothing.
  ///   - hasDefaultAddresses: whether the daemon serves its default addresses. The default address of HTTP is one of
  ///     them.
  init(_ flags: HTTPFlags?, _ reader: ConfigReader, hasDefaultAddresses: Bool) throws {
    if let given = try Self.option("http", flags?.http, reader) {
      (address, isRequired) = (given.address, true)
    } else if hasDefaultAddresses {
      address = Address(host: "127.0.0.1", port: Self.defaultPort)
    }
    metrics = try Self.option("metrics", flags?.metrics, reader)?.address
    if let text = flags?.publicURL ?? reader.string(forKey: "publicURL") {
      guard let url = PublicURL(parsing: text) else {
        throw OptionsError(description: "the public URL \"\(text)\" must be \(Self.expectedURL)")
      }
      publicURL = url
    }
  }

  /// Checks that the interfaces have other ports than the addresses to listen on.
  /// - Throws: `OptionsError`.
  func check(besides addresses: [ServerAddress]) throws {
    for (option, own) in [("--http", address), ("--metrics", metrics)] {
      guard let own, own.port != 0 else { continue }
      for other in addresses {
        guard case .tcp(let host, own.port) = other.tcp, host.lowercased() == own.host.lowercased() else { continue }
        throw OptionsError(
          description: "the port \(own.port) of \(option) is given twice, because \(other) has it, too; give one of "
            + "them another port")
      }
    }
  }

  /// The parsed value of an option.
  struct ParsedAddress {
    /// Nil for `off`.
    let address: Address?
  }

  /// Nil if neither the flag nor the variable nor the file has the option.
  private static func option(_ name: String, _ flag: String?, _ reader: ConfigReader) throws -> ParsedAddress? {
    guard let text = flag ?? reader.string(forKey: ConfigKey(name)) else { return nil }
    // The file was validated when it was read.
    guard let parsed = parse(text) else {
      let source = flag == nil ? "STICKIESD_\(name.uppercased())" : "--\(name)"
      throw OptionsError(description: "\(source): \"\(text)\"; it must be \(expectedAddress)")
    }
    return parsed
  }

  /// Nil for a text that is neither an address nor `off`.
  static func parse(_ text: String) -> ParsedAddress? {
    if text == "off" { return ParsedAddress(address: nil) }
    let authority = text.hasPrefix("http://") ? String(text.dropFirst("http://".count)) : text
    guard case .tcp(let host, let port)? = try? ServerAddress(parsing: "tcp://\(authority)") else { return nil }
    return ParsedAddress(address: Address(host: host, port: port))
  }

  /// The interfaces to serve.
  /// - Parameters:
  ///   - author: the author of commits on a graph without accounts.
  ///   - app: the application for browsers; nil for none.
  func interfaces(author: String, app: WebApp?, _ log: Logger) -> [any ServerInterface] {
    var interfaces = [any ServerInterface]()
    var http: HTTPInterface?
    if let address {
      var configuration = HTTPInterface.Configuration(host: address.host, port: address.port, author: author)
      configuration.isRequired = isRequired
      configuration.publicURL = publicURL
      configuration.app = app
      configuration.cookieName = "stickies"
      let interface = HTTPInterface(configuration: configuration, log: log)
      http = interface
      interfaces.append(interface)
    }
    if let metrics {
      interfaces.append(
        MetricsInterface(host: metrics.host, port: metrics.port, publicURL: publicURL, http: http, log: log))
    }
    return interfaces
  }
}
