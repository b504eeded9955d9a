import ArgumentParser
import Configuration
import GraphHTTP
import GraphWire

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
}

/// The settings of the HTTP interface.
struct HTTPSettings {
  static let defaultPort = 7_418
  static let expectedAddress = "HOST:PORT, such as 127.0.0.1:\(defaultPort), or off"
  static let expectedURL = "https://HOST or http://HOST, with a port and a path if the proxy needs them"

  /// The address to serve; nil for off.
  private(set) var address: (host: String, port: Int)?
  /// Whether an option names the address, so that the daemon ends if it is in use.
  private(set) var isRequired = false
  private(set) var publicURL: PublicURL?

  /// Combines flags, environment and file.
  /// - Parameters:
  ///   - flags: nil for a command that serves nothing.
  ///   - hasDefaultAddresses: whether the daemon serves its default addresses, of which HTTP's is one.
  init(_ flags: HTTPFlags?, _ reader: ConfigReader, hasDefaultAddresses: Bool) throws {
    if let text = flags?.http {
      guard let parsed = Self.address(text) else {
        throw OptionsError(description: "--http: \"\(text)\"; it must be \(Self.expectedAddress)")
      }
      (address, isRequired) = (parsed.address, true)
    } else if let text = reader.string(forKey: "http") {
      guard let parsed = Self.address(text) else {
        throw OptionsError(description: "STICKIESD_HTTP: \"\(text)\"; it must be \(Self.expectedAddress)")
      }
      (address, isRequired) = (parsed.address, true)
    } else if hasDefaultAddresses {
      address = ("127.0.0.1", Self.defaultPort)
    }
    if let text = flags?.publicURL ?? reader.string(forKey: "publicURL") {
      guard let url = PublicURL(parsing: text) else {
        throw OptionsError(description: "the public URL \"\(text)\" must be \(Self.expectedURL)")
      }
      publicURL = url
    }
  }

  /// A valid text of the option.
  struct ParsedAddress {
    /// Nil for `off`.
    let address: (host: String, port: Int)?
  }

  /// Nil for a text that is neither an address nor `off`.
  static func address(_ text: String) -> ParsedAddress? {
    if text == "off" { return ParsedAddress(address: nil) }
    let authority = text.hasPrefix("http://") ? String(text.dropFirst("http://".count)) : text
    guard case .tcp(let host, let port)? = try? ServerAddress(parsing: "tcp://\(authority)") else { return nil }
    return ParsedAddress(address: (host, port))
  }

  /// The interface to serve; nil for none.
  func configuration(author: String) -> HTTPInterface.Configuration? {
    address.map { address in
      var configuration = HTTPInterface.Configuration(host: address.host, port: address.port, author: author)
      configuration.isRequired = isRequired
      configuration.publicURL = publicURL
      return configuration
    }
  }
}
