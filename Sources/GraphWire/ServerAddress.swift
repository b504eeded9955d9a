/// Where a server listens: `tcp://HOST:PORT` or `unix:///PATH`.
public enum ServerAddress: Hashable, Sendable, CustomStringConvertible {
  /// A host name or an address, IPv6 without its brackets. Port 0 asks a server for any free one.
  case tcp(host: String, port: Int)
  /// An absolute path.
  case unix(path: String)

  /// The port that nobody has to name.
  public static let defaultPort = 7417
  /// A path of a Unix-domain socket has at most this many bytes: it must fit into the kernel's structure.
  public static let maximumPathLength = 107

  /// Why a text is no address.
  public struct ParseError: Error, Hashable, CustomStringConvertible {
    public let description: String
  }

  /// Reads an address as people write it; an IPv6 address stands in brackets.
  public init(parsing text: String) throws(ParseError) {
    func fail(_ reason: String) -> ParseError {
      ParseError(description: "\"\(text)\" is no address: \(reason); write tcp://HOST:PORT or unix:///PATH")
    }
    if text.hasPrefix("unix://") {
      let path = String(text.dropFirst("unix://".count))
      guard path.hasPrefix("/"), path.count > 1 else { throw fail("the path must begin with /") }
      guard path.utf8.count <= Self.maximumPathLength, !path.utf8.contains(0) else {
        throw fail("the path has more than \(Self.maximumPathLength) bytes, which no socket's name may have")
      }
      self = .unix(path: path)
    } else if text.hasPrefix("tcp://") {
      let rest = text.dropFirst("tcp://".count)
      guard let colon = rest.lastIndex(of: ":"), let port = Int(rest[rest.index(after: colon)...]) else {
        throw fail("the port is missing")
      }
      guard (0...65_535).contains(port) else { throw fail("a port is 0 to 65535") }
      var host = rest[..<colon]
      if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
      guard !host.isEmpty else { throw fail("the host is missing") }
      self = .tcp(host: String(host), port: port)
    } else {
      throw fail("it has another beginning")
    }
  }

  public var description: String {
    switch self {
    case .tcp(let host, let port): host.contains(":") ? "tcp://[\(host)]:\(port)" : "tcp://\(host):\(port)"
    case .unix(let path): "unix://\(path)"
    }
  }
}
