import Foundation
import GraphModel
import Testing

/// A program that runs beside a test until it ends by itself.
final class BackgroundProcess {
  private let process = Process()
  private let output = Pipe()
  private let errors = Pipe()

  /// - Parameters:
  ///   - program: `stickies`, or what the path has.
  ///   - environment: variables besides those that tests have.
  init(
    _ daemon: Daemon, _ arguments: [String], program: String? = nil, environment: [String: String] = [:]
  ) throws {
    process.executableURL = program.map { URL(fileURLWithPath: $0) } ?? Daemon.binary("stickies")
    process.arguments = arguments
    process.environment = Self.environment(daemon.socket.description).merging(environment) { $1 }
    process.standardOutput = output
    process.standardError = errors
    process.standardInput = FileHandle.nullDevice
    try process.run()
  }

  /// The programs on the path, and a daemon's address.
  static func environment(_ server: String) -> [String: String] {
    let own = ProcessInfo.processInfo.environment
    let folder = Daemon.binary("stickies").deletingLastPathComponent().path
    return own.merging([
      "STICKIES_SERVER": server, "STICKIES_AUTHOR": "ann@test", "NO_COLOR": "1",
      "PATH": folder + ":" + (own["PATH"] ?? ""),
    ]) { $1 }
  }

  /// Waits for its end.
  func end() -> Daemon.Result { Daemon.Result(of: process, output: output, errors: errors) }

  /// The next part of standard output; blocks until there is one, empty at its end.
  func read() -> String { String(decoding: output.fileHandleForReading.availableData, as: UTF8.self) }

  func kill() {
    Foundation.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  deinit { if process.isRunning { Foundation.kill(process.processIdentifier, SIGKILL) } }
}

extension Daemon {
  /// Returns when this number of live queries is followed, by this number of other clients.
  func expectQueries(_ count: Int64, sessions: Int64 = 1, place: SourceLocation = #_sourceLocation) throws {
    var last = JSON.null
    for _ in 0..<200 {
      last = try run("status", "--json").json()
      if last["registrations"] == .integer(count), last["sessions"] == .integer(sessions) { return }
    }
    Issue.record("\(last)", sourceLocation: place)
  }
}
