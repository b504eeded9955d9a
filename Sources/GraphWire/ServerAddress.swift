/// The address of a server: `tcp://HOST:PORT` or `unix:///PATH`.
public enum ServerAddress: Hashable, Sendable, CustomStringConvertible {
  /// A host name or an IP address, IPv6 without its brackets. A server binds any free port for port 0.
  case tcp(host: String, port: Int)
  /// The absolute path of a Unix-domain socket.
  case unix(path: String)

  /// The default port.
  public static let defaultPort = 7417
  /// The size in bytes of a Unix-domain socket's path, which must fit into the kernel's structure.
  public static let maximumPathLength = 107

  /// Why a text is not an address.
  public struct ParseError: Error, Hashable, CustomStringConvertible {
    public let description: String
  }

  /// Parses an address as people write it, with an IPv6 address in brackets.
  public init(parsing text: String) throws(ParseError) {
    func fail(_ reason: String) -> ParseError {
      ParseError(description: "\"\(text)\" is not an address: \(reason); write tcp://HOST:PORT or unix:///PATH")
    }
    if text.hasPrefix("unix://") {
      let path = String(text.dropFirst("unix://".count))
      guard path != "/" else { throw fail("the path is missing") }
      guard path.hasPrefix("/") else { throw fail("the path must begin with /") }
      guard !path.hasSuffix("/") else { throw fail("a path that ends with / is a directory; name a file in it") }
      guard path.utf8.count <= Self.maximumPathLength, !path.utf8.contains(0) else {
        throw fail("the path has more than \(Self.maximumPathLength) bytes, which is too long for a socket")
      }
      self = .unix(path: path)
    } else if text.hasPrefix("tcp://") {
      let rest = text.dropFirst("tcp://".count)
      guard !rest.contains("/") else { throw fail("nothing may follow the port, not even a /") }
      guard let colon = rest.lastIndex(of: ":"), rest.index(after: colon) < rest.endIndex, rest.last != "]" else {
        throw fail("the port is missing; the default is \(Self.defaultPort)")
      }
      let digits = rest[rest.index(after: colon)...]
      guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let port = Int(digits), port <= 65_535 else {
        throw fail("a port is a number from 0 to 65535")
      }
      var host = rest[..<colon]
      let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
      if isBracketed { host = host.dropFirst().dropLast() }
      guard !host.isEmpty else { throw fail("the host is missing") }
      guard isBracketed || !host.contains(":") else { throw fail("an IPv6 address needs brackets") }
      self = .tcp(host: String(host), port: port)
    } else if let scheme = ["unix://", "tcp://"].first(where: { text.lowercased().hasPrefix($0) }) {
      throw fail("\(scheme) must be in lower case")
    } else {
      throw fail("it begins with neither tcp:// nor unix://")
    }
  }

  public var description: String {
    switch self {
    case .tcp(let host, let port): host.contains(":") ? "tcp://[\(host)]:\(port)" : "tcp://\(host):\(port)"
    case .unix(let path): "unix://\(path)"
    }
  }
}
