import Foundation

/// The system calls of a program: only tracing shows what was on the disk when a commit was answered.
struct SystemTrace {
  struct Unavailable: Error, CustomStringConvertible {
    let cause: String
    var description: String {
      "the program can't be traced here: this test needs the package strace and the right to ptrace. \(cause)"
    }
  }

  /// A call that has returned.
  struct Call {
    let name: String
    /// The file or the socket of the first argument, such as `socket:[94966]`; empty if it has none.
    let file: String
    /// The number of that file; nil if there is none.
    let descriptor: Int?
    /// The lines of the trace in which it began and returned.
    let begin: Int
    fileprivate(set) var end = 0
    fileprivate(set) var result: Int?

    var isOfSocket: Bool { file.hasPrefix("socket:") }
    var isOfSegment: Bool { file.hasSuffix(".segment") }
    /// Whether its file is SQLite's database or write-ahead log.
    var isOfDatabase: Bool { file.hasSuffix("/graph.sqlite") || file.hasSuffix("/graph.sqlite-wal") }
    var isSync: Bool { name == "fdatasync" || name == "fsync" }
    var isRequest: Bool { isOfSocket && name == "read" && (result ?? 0) > 0 }
    var isAnswer: Bool { isOfSocket && name != "read" }
  }

  private let file: String

  /// Calls that read requests and write answers, files and their sizes, and that sync.
  static let inputAndOutput =
    "read,write,writev,sendto,sendmsg,pwrite64,pwritev,pwritev2,ftruncate,fallocate,fdatasync,fsync"

  static func command(_ arguments: String...) -> [String] { ["strace", "-D", "-f", "-qq"] + arguments }

  /// The wrapper of a command that is traced to its end.
  static func wrapper(writing file: String) -> [String] {
    ["strace", "-f", "-qq", "-y", "-s", "0", "-e", "trace=\(inputAndOutput)", "-o", file]
  }

  /// The trace of a command that has ended.
  init(of file: String) throws {
    self.file = file
    guard FileManager.default.fileExists(atPath: file) else { throw Unavailable(cause: "strace wrote no file.") }
  }

  /// Starts a daemon and traces some calls.
  /// - Parameter options: further options of strace.
  init(starting daemon: Daemon, calls: String, _ options: [String] = []) throws {
    file = daemon.home.path + "/trace"
    do {
      try daemon.start(through: Self.command("-y", "-s", "0", "-e", "trace=\(calls)", "-o", file) + options)
    } catch let ended as Daemon.DaemonExited {
      throw Unavailable(cause: "Exit code \(ended.status): \(ended.log)")
    }
    guard FileManager.default.fileExists(atPath: file) else { throw Unavailable(cause: "strace wrote no file.") }
  }

  private func lines() throws -> [Substring] {
    try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n")
  }

  /// The number of lines so far.
  ///
  /// A thread waits for the tracer: a call is in the trace when its thread begins the next one. The call that wrote an
  /// answer may be missing when the answer arrives.
  func position() throws -> Int { try lines().count }

  /// The calls that have begun behind a position and returned, in the order of their ends.
  func calls(after position: Int = 0) throws -> [Call] {
    var (calls, unfinished) = ([Call](), [Substring: Call]())
    for (place, line) in try lines().enumerated().dropFirst(position) {
      let thread = line.prefix { $0 != " " }
      var call: Call
      if line.contains(" resumed>") {
        // A call that began before the position has no beginning here.
        guard let begun = unfinished.removeValue(forKey: thread) else { continue }
        call = begun
      } else {
        guard let match = line.firstMatch(of: /^\d+ +(\w+)\((?:(\d+)<([^>]*)>)?/) else { continue }
        call = Call(
          name: String(match.1), file: match.3.map(String.init) ?? "", descriptor: match.2.flatMap { Int($0) },
          begin: place)
      }
      if line.hasSuffix("<unfinished ...>") {
        unfinished[thread] = call
        continue
      }
      call.end = place
      if let equals = line.range(of: " = ", options: .backwards) {
        call.result = Int(line[equals.upperBound...].prefix { $0 == "-" || $0.isNumber })
      }
      calls.append(call)
    }
    return calls
  }
}
