import GraphModel
import GraphShell
import GraphWire
import StickiesKit
import StickiesModel

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The address that commands use, and where it was specified.
struct ServerAddressChoice {
  let address: ServerAddress
  let origin: String

  init(_ options: CommonOptions) throws {
    let environment = ProcessEnvironment.current
    if let address = try options.address {
      (self.address, origin) = (address, "from --server")
    } else if let address = try environment.server {
      (self.address, origin) = (address, "from STICKIES_SERVER")
    } else {
      // A daemon that was killed may have left a socket at a place that comes earlier in the list.
      let places = environment.daemonPlaces.map(\.address)
      let answering = places.first { ConnectionProbe.connect(to: $0) == nil }
      (address, origin) = (answering ?? environment.defaultSocket, "the default")
    }
  }

  /// Whether the daemon runs on this machine, so that its files can be checked.
  var isHere: Bool { address.isLoopback }

  /// Explains why the connection was refused.
  func noDaemon(_ code: Int32) async -> CheckResult {
    let running = DaemonProcess.find(for: address, data: ProcessEnvironment.current.dataDirectory)
    let elsewhere = others(running)
    if case .unix(let path) = address, let obstacle = Self.obstacle(at: path) {
      return CheckResult("daemon", .problem, "\(path) is \(obstacle.name)", mend: obstacle.mend)
    }
    if Self.isBusy(address, code) {
      let (message, mend) = Self.busyProgram(at: address, running)
      return CheckResult("daemon", .problem, message, mend: mend)
    }
    // A running daemon must end before another one can serve its store.
    if elsewhere == nil, isHere, let running {
      let (message, mend) = running.explanation(address)
      return CheckResult("daemon", .problem, message, mend: mend)
    }
    let start =
      if let elsewhere {
        "a socket answers at \(elsewhere): use it with --server \(elsewhere)"
      } else {
        "start a daemon: \(Self.command(address))"
      }
    // The code for an unknown host is not one of the system's.
    let reason = code == ConnectionProbe.unknownHost ? "there is no host of that name" : String(cString: strerror(code))
    guard case .unix(let path) = address else {
      if !isHere, elsewhere == nil {
        return CheckResult(
          "daemon", .problem, "no program listens at \(address): \(reason)",
          mend: "check the name and the port, and whether a stickiesd listens on that machine")
      }
      return CheckResult("daemon", .problem, "no program listens at \(address): \(reason)", mend: start)
    }
    var state = stat()
    guard lstat(path, &state) == 0 else {
      return errno == EACCES
        ? CheckResult("daemon", .problem, "the folder of \(path) can't be entered", mend: "use the daemon's account")
        : CheckResult("daemon", .problem, "there is no socket \(path)", mend: start)
    }
    if code == EACCES || code == EPERM {
      return CheckResult(
        "daemon", .problem, "the socket \(path) belongs to user \(state.st_uid) and you may not use it",
        mend: "use that account, or start your own daemon: stickiesd --listen with another address")
    }
    if code == ECONNREFUSED {
      return CheckResult(
        "daemon", .problem, "the socket \(path) is stale: the daemon that created it has ended",
        mend: elsewhere == nil
          ? "start the daemon again, which replaces the socket: \(Self.command(address))" : start)
    }
    return CheckResult("daemon", .problem, "no program listens at \(address): \(reason)", mend: start)
  }

  /// Whether a program has the socket, and accepts no connection now: it is suspended, or too many wait.
  private static func isBusy(_ address: ServerAddress, _ code: Int32) -> Bool {
    if case .unix = address { code == EAGAIN || code == ETIMEDOUT } else { false }
  }

  /// A message about a program that has the socket, and advice.
  private static func busyProgram(
    at address: ServerAddress, _ running: DaemonProcess?
  ) -> (message: String, mend: String) {
    if let running { return running.explanation(address) }
    return (
      "a program listens at \(address) and accepts no connection now",
      "try again later; otherwise end that program, or give another address with --server"
    )
  }

  /// Another default address, or one of a running daemon, at which a socket accepts connections.
  private func others(_ running: DaemonProcess?) -> ServerAddress? {
    var places = ProcessEnvironment.current.daemonPlaces.map(\.address)
    if let running { places += running.addresses }
    return places.first { $0 != address && ConnectionProbe.connect(to: $0) == nil }
  }

  /// The kind of a file at whose path no daemon can listen, and advice; nil for a socket and for no file.
  private static func obstacle(at path: String) -> (name: String, mend: String)? {
    var state = stat()
    if stat(path, &state) == 0 {
      switch state.st_mode & S_IFMT {
      case S_IFSOCK: return nil
      case S_IFDIR: return ("a folder, not a socket", "give another address")
      default: return ("a file, not a socket", "give another address, or remove that file")
      }
    }
    let isLink = lstat(path, &state) == 0 && state.st_mode & S_IFMT == S_IFLNK
    return isLink ? ("a link to nothing", "remove it, or give another address") : nil
  }

  /// The command that starts a daemon at an address; default addresses need no option.
  private static func command(_ address: ServerAddress) -> String {
    let isUsual = ProcessEnvironment.current.socketPlaces.contains { $0.address == address }
    return isUsual ? "stickiesd" : "stickiesd --listen \(address)"
  }

  /// The message of a command that found no daemon.
  static func sentence(_ address: ServerAddress) -> String {
    let noAnswer = "no stickiesd answers at \(address)"
    if case .tcp(_, 0) = address.tcp {
      return "\(noAnswer): with port 0 stickiesd chooses a port; use the address that it printed"
    }
    if case .unix(let path) = address, let obstacle = obstacle(at: path) {
      return "\(noAnswer): \(path) is \(obstacle.name); \(obstacle.mend)"
    }
    if case .tcp(let host, _) = address.tcp, ConnectionProbe.connect(to: address) == ConnectionProbe.unknownHost {
      return "\(noAnswer): there is no host \(host.excerpt); check the name in --server or STICKIES_SERVER"
    }
    if case .unix(let path) = address, let code = ConnectionProbe.connect(to: address), [EACCES, EPERM].contains(code) {
      return "\(noAnswer): this user may not use the socket \(path.excerpt); use the account of its daemon, or give "
        + "another address with --server"
    }
    guard address.isLoopback else {
      return "\(noAnswer); check the name and the port, and whether a stickiesd listens on that machine"
    }
    let running = DaemonProcess.find(for: address, data: ProcessEnvironment.current.dataDirectory)
    if running != nil || ConnectionProbe.connect(to: address).map({ isBusy(address, $0) }) == true {
      let (message, mend) = busyProgram(at: address, running)
      return "\(noAnswer): \(message); \(mend)"
    }
    return "\(noAnswer); start one with: \(command(address))"
  }
}

/// A plain connection that finds out why an address fails, or which program listens there.
enum ConnectionProbe {
  /// The code for an unknown host name.
  static let unknownHost = ENXIO

  /// Connects and closes.
  /// - Returns: the error's number; nil if the connection was accepted.
  static func connect(to address: ServerAddress) -> Int32? {
    let (descriptor, code) = open(address)
    if descriptor >= 0 { close(descriptor) }
    return code
  }

  /// The kind of program that listens; nil if it sends nothing. Derived from its greeting or its answer to an HTTP
  /// request.
  static func greeting(of address: ServerAddress) -> String? {
    let (descriptor, code) = open(address)
    guard code == nil else { return nil }
    defer { close(descriptor) }
    let request = Array("GET / HTTP/1.0\r\n\r\n".utf8)
    guard send(descriptor, request, request.count, Int32(MSG_NOSIGNAL)) == request.count else { return nil }
    var bytes = [UInt8](repeating: 0, count: 256)
    let count = recv(descriptor, &bytes, bytes.count, 0)
    guard count > 0 else { return nil }
    let text = String(decoding: bytes[..<count], as: UTF8.self)
    if text.hasPrefix("HTTP/") { return "a web server" }
    if text.hasPrefix("SSH-") { return "an SSH server" }
    return "another program"
  }

  private static let patienceSeconds = 2

  private static func open(_ address: ServerAddress) -> (descriptor: Int32, code: Int32?) {
    switch address {
    case .unix(let path):
      var name = sockaddr_un()
      name.sun_family = sa_family_t(AF_UNIX)
      let bytes = Array(path.utf8)
      guard bytes.count < MemoryLayout.size(ofValue: name.sun_path) else { return (-1, ENAMETOOLONG) }
      withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: bytes) }
      return withUnsafeBytes(of: &name) { open(AF_UNIX, $0) }
    case .tcp(let host, let port), .tls(let host, let port):
      var hints = addrinfo()
      hints.ai_socktype = streamSocket
      var list: UnsafeMutablePointer<addrinfo>?
      guard getaddrinfo(host, String(port), &hints, &list) == 0, let first = list else { return (-1, unknownHost) }
      defer { freeaddrinfo(list) }
      var last: Int32 = EHOSTUNREACH
      for entry in sequence(first: first, next: { $0.pointee.ai_next }) {
        guard let name = entry.pointee.ai_addr else { continue }
        let bytes = UnsafeRawBufferPointer(start: name, count: Int(entry.pointee.ai_addrlen))
        let (descriptor, code) = open(entry.pointee.ai_family, bytes)
        guard let code else { return (descriptor, nil) }
        last = code
      }
      return (-1, last)
    }
  }

  private static func open(_ family: Int32, _ name: UnsafeRawBufferPointer) -> (descriptor: Int32, code: Int32?) {
    let descriptor = socket(family, streamSocket, 0)
    guard descriptor >= 0, let base = name.baseAddress else { return (-1, errno) }
    var patience = timeval(tv_sec: patienceSeconds, tv_usec: 0)
    for option in [SO_SNDTIMEO, SO_RCVTIMEO] {
      setsockopt(descriptor, SOL_SOCKET, option, &patience, socklen_t(MemoryLayout<timeval>.size))
    }
    guard connectSocket(descriptor, base.assumingMemoryBound(to: sockaddr.self), socklen_t(name.count)) == 0 else {
      let code = errno
      close(descriptor)
      return (-1, code == EINPROGRESS ? ETIMEDOUT : code)
    }
    return (descriptor, nil)
  }
}

#if canImport(Darwin)
  private let streamSocket = SOCK_STREAM
#else
  private let streamSocket = Int32(SOCK_STREAM.rawValue)
#endif

/// `connect` of the C library, which a method hides.
private func connectSocket(_ descriptor: Int32, _ name: UnsafePointer<sockaddr>, _ length: socklen_t) -> Int32 {
  connect(descriptor, name, length)
}
