/// The address of a server: `tcp://HOST:PORT`, `tls://HOST:PORT` or `unix:///PATH`.
public enum ServerAddress: Hashable, Sendable, CustomStringConvertible {
  /// A host name or an IP address, IPv6 without its brackets. A server binds any free port for port 0.
  case tcp(host: String, port: Int)
  /// As `tcp`, with encryption by TLS.
  case tls(host: String, port: Int)
  /// The absolute path of a Unix-domain socket.
  case unix(path: String)

  /// The default port, also of TLS.
  public static let defaultPort = 7417
  /// The size in bytes of a Unix-domain socket's path, which must fit into the kernel's structure.
  public static let maximumPathLength = 107
  /// The size in bytes of a host name, the limit of DNS and of the name in a TLS handshake.
  public static let maximumHostLength = 253
  /// The forms of an address, for messages and help.
  public static let forms = "tcp://HOST:PORT, tls://HOST:PORT or unix:///PATH"

  /// The reason why a text is not an address.
  public struct ParseError: Error, Hashable, CustomStringConvertible {
    public let description: String
  }

  /// Parses an address as people write it, with an IPv6 address in brackets. The port of `tls://` can be omitted.
  public init(parsing text: String) throws(ParseError) {
    do throws(Mistake) {
      if text.hasPrefix("unix://") {
        self = .unix(path: try Self.path(String(text.dropFirst("unix://".count))))
      } else if text.hasPrefix("tcp://") {
        let (host, port) = try Self.hostAndPort(text.dropFirst("tcp://".count))
        guard let port else { throw Mistake("the port is missing; the default is \(Self.defaultPort)") }
        self = .tcp(host: host, port: port)
      } else if text.hasPrefix("tls://") {
        let (host, port) = try Self.hostAndPort(text.dropFirst("tls://".count))
        self = .tls(host: host, port: port ?? Self.defaultPort)
      } else if let scheme = ["unix://", "tcp://", "tls://"].first(where: { text.lowercased().hasPrefix($0) }) {
        throw Mistake("\(scheme) must be in lower case")
      } else {
        throw Mistake("it begins with none of tcp://, tls:// and unix://")
      }
    } catch {
      throw ParseError(description: "\"\(text)\" is not an address: \(error.reason); write \(Self.forms)")
    }
  }

  private struct Mistake: Error {
    let reason: String

    init(_ reason: String) { self.reason = reason }
  }

  private static func path(_ path: String) throws(Mistake) -> String {
    guard path != "/" else { throw Mistake("the path is missing") }
    guard path.hasPrefix("/") else { throw Mistake("the path must begin with /") }
    guard !path.hasSuffix("/") else { throw Mistake("a path that ends with / is a directory; name a file in it") }
    guard path.utf8.count <= maximumPathLength, !path.utf8.contains(0) else {
      throw Mistake("the path has more than \(maximumPathLength) bytes, which is too long for a socket")
    }
    return path
  }

  /// - Returns: the host, and the port unless it is missing.
  private static func hostAndPort(_ text: Substring) throws(Mistake) -> (host: String, port: Int?) {
    guard !text.contains("/") else { throw Mistake("nothing may follow the port, not even a /") }
    guard !text.contains("@") else { throw Mistake("a user name has no place in it") }
    var (host, port) = (text, Int?.none)
    // The colons of an IPv6 address are inside its brackets.
    if let colon = text.lastIndex(of: ":"), text.last != "]" {
      let digits = text[text.index(after: colon)...]
      guard !digits.isEmpty else { throw Mistake("the port is missing; the default is \(defaultPort)") }
      guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(digits), number <= 65_535 else {
        throw Mistake("a port is a number from 0 to 65535")
      }
      (host, port) = (text[..<colon], number)
    }
    let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
    if isBracketed { host = host.dropFirst().dropLast() }
    guard !host.isEmpty else { throw Mistake("the host is missing") }
    guard isBracketed || !host.contains(":") else { throw Mistake("an IPv6 address needs brackets") }
    guard host.utf8.count <= maximumHostLength, host.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7f }) else {
      throw Mistake("a host has at most \(maximumHostLength) bytes, without spaces and control characters")
    }
    return (String(host), port)
  }

  public var description: String {
    switch self {
    case .tcp(let host, let port): "tcp://\(Self.bracketed(host)):\(port)"
    case .tls(let host, let port): "tls://\(Self.bracketed(host)):\(port)"
    case .unix(let path): "unix://\(path)"
    }
  }

  private static func bracketed(_ host: String) -> String { host.contains(":") ? "[\(host)]" : host }

  /// Whether only programs of this machine can be at the other end. Other names and addresses may lead to it as well,
  /// but a program cannot rely on that.
  public var isLoopback: Bool {
    guard case .tcp(let host, _) = tcp else { return true }
    if host == "::1" || host.lowercased() == "localhost" { return true }
    let parts = host.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
  }

  /// Whether the transport is encrypted.
  public var isEncrypted: Bool { if case .tls = self { true } else { false } }

  /// Whether machines on the route can read and change the messages.
  public var isUnprotected: Bool { !isEncrypted && !isLoopback }

  /// The address without the encryption: a TLS connection is a TCP connection first.
  public var tcp: ServerAddress {
    if case .tls(let host, let port) = self { .tcp(host: host, port: port) } else { self }
  }
}
