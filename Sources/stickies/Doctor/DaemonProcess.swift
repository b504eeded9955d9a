import CommandLineIO
import GraphModel
import GraphWire
import StickiesKit

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A running `stickiesd` of this user, although no daemon answers at the expected address.
///
/// It is found by its socket, by the lock of the default data directory, which contains its process id, or by the
/// address in its command line.
struct DaemonProcess {
  let process: Int32
  /// The words of its command line, the program's name first.
  let words: [String]

  private static let program = "stickiesd"
  private static let maintenance: Set = ["check", "backup", "restore", "migrate", "compact", "certificate"]

  /// Whether it runs a maintenance command, which locks the store and serves no clients.
  var isMaintenance: Bool { words.dropFirst().first.map { Self.maintenance.contains($0) } == true }

  /// As in `process 4711 ("stickiesd --data notes")`.
  var name: String { "process \(process) (\"\(([Self.program] + words.dropFirst()).joined(separator: " ").excerpt)\")" }

  /// The addresses of its `--listen` options. With port 0 the actual address is unknown.
  var addresses: [ServerAddress] {
    let options = words.enumerated().compactMap { index, word -> String? in
      if word.hasPrefix("--listen=") { return String(word.dropFirst("--listen=".count)) }
      return word == "--listen" && index + 1 < words.count ? words[index + 1] : nil
    }
    return options.compactMap { try? ServerAddress(parsing: $0) }
      .filter { if case .tcp(_, 0) = $0.tcp { false } else { true } }
  }

  /// A message about the process, and advice.
  func explanation(_ address: ServerAddress) -> (message: String, mend: String) {
    if isMaintenance {
      return ("\(name) has the store and serves no clients", "wait until it ends, then start stickiesd")
    }
    let end = "end it with kill \(process) and start stickiesd again"
    if isSuspended {
      let mend = "resume it with kill -CONT \(process), or \(end)"
      return ("\(name) is suspended and does not answer at \(address)", mend)
    }
    let other = "give an address that it serves with --server, or \(end)"
    // A daemon whose socket was removed creates it again after some seconds.
    let isMissing = if case .unix(let path) = address { access(path, F_OK) != 0 } else { false }
    return (
      "\(name) runs but does not answer at \(address)",
      isMissing ? "try again in a few seconds, because a daemon restores its socket; otherwise \(other)" : other
    )
  }

  /// Whether the process is stopped by a signal, or by a debugger.
  var isSuspended: Bool {
    guard let descriptor = Self.opened("/proc/\(process)/stat"), let bytes = Self.contents(of: descriptor) else {
      return false
    }
    // The state follows the program's name, which is in parentheses and may contain some.
    let state = String(decoding: bytes, as: UTF8.self).split(separator: ")").last?.split(separator: " ").first
    return state == "T" || state == "t"
  }

  /// The process that has the socket of `address`, otherwise the one that holds the lock of `data`, otherwise one that
  /// was started with `address`.
  static func find(for address: ServerAddress, data: String) -> DaemonProcess? {
    if case .unix(let path) = address, let found = listening(at: path) { return found }
    if let descriptor = opened(data + "/lock"), let bytes = contents(of: descriptor),
      let number = Int32(String(decoding: bytes.prefix { $0 != 0x0A }, as: UTF8.self)), let found = running(number)
    {
      return found
    }
    return processes().lazy.compactMap(running).first { $0.addresses.contains(address) }
  }

  /// The process that listens on the socket with a name, whether or not it accepts connections. Linux lists sockets by
  /// inode.
  private static func listening(at path: String) -> DaemonProcess? {
    guard let descriptor = opened("/proc/net/unix"), let bytes = contents(of: descriptor) else { return nil }
    let listens = "00010000"
    let sockets = bytes.split(separator: 0x0A).compactMap { line -> String? in
      let fields = line.split(separator: 0x20, maxSplits: 7).map { String(decoding: $0, as: UTF8.self) }
      guard fields.count == 8, fields[3] == listens, fields[7] == path else { return nil }
      return "socket:[\(fields[6])]"
    }
    if sockets.isEmpty { return nil }
    return processes().lazy.compactMap(running).first { $0.hasOpened(sockets) }
  }

  /// Whether the process has one of these files open, as `/proc` names them.
  private func hasOpened(_ files: [String]) -> Bool {
    let folder = "/proc/\(process)/fd"
    return Self.entries(of: folder).contains { name in
      var target = [UInt8](repeating: 0, count: 64)
      let count = readlink("\(folder)/\(name)", &target, target.count)
      return count > 0 && files.contains(String(decoding: target[..<count], as: UTF8.self))
    }
  }

  /// A process of this user with the daemon's name. The id in a lock may have been reused by another program.
  private static func running(_ process: Int32) -> DaemonProcess? {
    var status = stat()
    guard process > 0, stat("/proc/\(process)", &status) == 0, status.st_uid == geteuid(),
      let descriptor = opened("/proc/\(process)/cmdline"), let bytes = contents(of: descriptor)
    else { return nil }
    let words = bytes.split(separator: 0, omittingEmptySubsequences: false).dropLast()
      .map { String(decoding: $0, as: UTF8.self) }
    guard let first = words.first, first.split(separator: "/").last.map(String.init) == program else { return nil }
    return DaemonProcess(process: process, words: words)
  }

  private static func processes() -> [Int32] { entries(of: "/proc").compactMap { Int32($0) }.sorted() }

  /// The names in a folder; none if it can't be read.
  private static func entries(of folder: String) -> [String] {
    guard let directory = opendir(folder) else { return [] }
    defer { closedir(directory) }
    var names = [String]()
    while let entry = readdir(directory) {
      names.append(
        withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) })
    }
    return names
  }

  private static func opened(_ path: String) -> Int32? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    return descriptor >= 0 ? descriptor : nil
  }

  private static func contents(of descriptor: Int32) -> [UInt8]? {
    defer { close(descriptor) }
    return Descriptor.readToEnd(descriptor)
  }
}
