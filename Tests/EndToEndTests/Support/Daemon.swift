import Foundation
import GraphModel
import GraphTesting
import GraphWire
import Testing

/// The programs as users run them: as processes, with a temporary folder, independent of the user's own files.
final class Daemon: @unchecked Sendable {  // `process` is replaced by one test at a time, between awaits of its own.
  let home: TemporaryDirectory
  let socket: ServerAddress
  private(set) var process = Process()
  private(set) var listening = [String]()
  let log: String

  static let binaries = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()

  static func binary(_ name: String) -> URL {
    // The test bundle lies beside the programs, whichever tool runs it.
    let beside = binaries.appendingPathComponent(name)
    if FileManager.default.isExecutableFile(atPath: beside.path) { return beside }
    return URL(fileURLWithPath: Fixtures.root + "/.build/debug/" + name)
  }

  var data: String { home.path + "/data" }

  init() throws {
    home = try TemporaryDirectory()
    socket = .unix(path: home.path + "/socket")
    log = home.path + "/log"
    try Data().write(to: URL(fileURLWithPath: log))
  }

  /// Starts the daemon and returns when it listens.
  /// - Parameter wrapper: a command that ends by becoming the daemon.
  func start(
    _ extra: [String] = [], listen: [String] = ["tcp://127.0.0.1:0"], through wrapper: [String] = []
  ) throws {
    process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    // The user who runs the tests may have a configuration.
    process.environment = ProcessInfo.processInfo.environment.merging(["XDG_CONFIG_HOME": home.path]) { $1 }
    process.arguments =
      wrapper + [Self.binary("stickiesd").path, "--data", data]
      + ([socket.description] + listen).flatMap { ["--listen", $0] } + extra
    let output = Pipe()
    process.standardOutput = output
    let errors = try #require(FileHandle(forWritingAtPath: log))
    errors.seekToEndOfFile()
    process.standardError = errors
    process.standardInput = FileHandle.nullDevice
    try process.run()
    listening = []
    var text = ""
    while listening.count < listen.count + 1 {
      let bytes = output.fileHandleForReading.availableData
      guard !bytes.isEmpty else {
        process.waitUntilExit()
        throw DaemonExited(status: process.terminationStatus, log: errorText)
      }
      text += String(decoding: bytes, as: UTF8.self)
      listening = text.split(separator: "\n").filter { $0.hasPrefix("listening ") }.map { String($0.dropFirst(10)) }
    }
  }

  struct DaemonExited: Error {
    let status: Int32
    let log: String
  }

  var errorText: String { (try? String(contentsOfFile: log, encoding: .utf8)) ?? "" }

  var tcp: String { listening.first { $0.hasPrefix("tcp:") } ?? "" }

  func kill() {
    Foundation.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  /// Asks it to end; returns its exit code.
  func stop() -> Int32 {
    process.terminate()
    process.waitUntilExit()
    return process.terminationStatus
  }

  deinit { if process.isRunning { Foundation.kill(process.processIdentifier, SIGKILL) } }

  // MARK: - The command line

  struct Result {
    let status: Int32
    let output: String
    let errors: String

    var lines: [String] { output.split(separator: "\n").map(String.init) }

    func json() throws -> JSON { try JSON(parsing: output.trimmingCharacters(in: .newlines)) }
  }

  /// Runs `stickies` to its end.
  @discardableResult
  func run(
    _ arguments: String..., author: String = "ann@test", input: String? = nil, server: String? = nil,
    environment: [String: String] = [:]
  ) throws -> Result {
    try Self.run(
      arguments, server: server ?? socket.description, author: author, input: input, environment: environment)
  }

  /// - Parameters:
  ///   - environment: variables besides, or instead of, those that tests have.
  ///   - wrapper: a command that runs the program.
  static func run(
    _ arguments: [String], server: String, author: String, input: String?, environment: [String: String] = [:],
    through wrapper: [String] = []
  ) throws -> Result {
    let process = Process()
    process.executableURL = wrapper.isEmpty ? binary("stickies") : URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = wrapper.isEmpty ? arguments : wrapper + [binary("stickies").path] + arguments
    process.environment = ProcessInfo.processInfo.environment.merging(
      [
        "STICKIES_SERVER": server, "STICKIES_AUTHOR": author, "NO_COLOR": "1", "VISUAL": "sed -i s/stdin/an-editor/",
      ].merging(environment) { $1 }
    ) { $1 }
    let (output, errors) = (Pipe(), Pipe())
    process.standardOutput = output
    process.standardError = errors
    let stdin = Pipe()
    process.standardInput = stdin
    try process.run()
    let writer = stdin.fileHandleForWriting
    // Input and output may be larger than a pipe. A program that ends before it has read all input must not end the
    // tests.
    signal(SIGPIPE, SIG_IGN)
    DispatchQueue.global().async {
      if let input { try? writer.write(contentsOf: Data(input.utf8)) }
      try? writer.close()
    }
    return Result(of: process, output: output, errors: errors)
  }
}

/// A `stickies watch` or `stickies graph watch` that runs beside a test.
final class Watcher {
  private let process = Process()
  private let output = Pipe()
  private var buffer = ""

  init(_ daemon: Daemon, command: [String] = ["watch"], _ arguments: String...) throws {
    process.executableURL = Daemon.binary("stickies")
    process.arguments = command + ["--json", "--server", daemon.socket.description] + arguments
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    process.standardInput = FileHandle.nullDevice
    try process.run()
  }

  /// The next line; blocks until there is one.
  func next() throws -> JSON {
    while true {
      if let end = buffer.firstIndex(of: "\n") {
        let line = String(buffer[..<end])
        buffer = String(buffer[buffer.index(after: end)...])
        return try JSON(parsing: line)
      }
      let bytes = output.fileHandleForReading.availableData
      guard !bytes.isEmpty else { throw Daemon.DaemonExited(status: -1, log: "the watcher ended") }
      buffer += String(decoding: bytes, as: UTF8.self)
    }
  }

  func kill() {
    Foundation.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  deinit { if process.isRunning { Foundation.kill(process.processIdentifier, SIGKILL) } }
}

extension JSON {
  subscript(index: Int) -> JSON? { arrayValue.flatMap { $0.indices.contains(index) ? $0[index] : nil } }
}
