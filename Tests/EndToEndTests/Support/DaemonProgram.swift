import Foundation
import Testing

extension Daemon.Result {
  /// The complete output of a running program.
  init(of process: Process, output: Pipe, errors: Pipe) {
    let text = output.fileHandleForReading.readDataToEndOfFile()
    let errorText = errors.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    self.init(
      status: process.terminationStatus, output: String(decoding: text, as: UTF8.self),
      errors: String(decoding: errorText, as: UTF8.self))
  }
}

extension Process {
  /// Runs the program to its end, with empty input.
  func result() throws -> Daemon.Result {
    let (output, errors) = (Pipe(), Pipe())
    (standardOutput, standardError) = (output, errors)
    standardInput = FileHandle.nullDevice
    try run()
    return Daemon.Result(of: self, output: output, errors: errors)
  }
}

extension Daemon {
  /// A field of /proc/PID/status in bytes: `VmRSS`, or `VmHWM` for the most that it ever was.
  func memory(_ field: String) throws -> Int {
    let status = try String(contentsOfFile: "/proc/\(process.processIdentifier)/status", encoding: .utf8)
    let line = try #require(status.split(separator: "\n").first { $0.hasPrefix(field + ":") })
    return try #require(line.split(separator: " ").dropFirst().first.flatMap { Int($0) }) << 10
  }
}

/// The commands of `stickiesd` that end by themselves, on the daemon's own directory.
extension Daemon {
  /// Runs `stickiesd` to its end.
  /// - Parameter wrapper: a command that ends by becoming `stickiesd`.
  @discardableResult
  func stickiesd(_ arguments: [String], through wrapper: [String] = []) throws -> Result {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.environment = ProcessInfo.processInfo.environment.merging([
      "XDG_CONFIG_HOME": home.path, "STICKIESD_DATA": data,
    ]) { $1 }
    process.arguments = wrapper + [Self.binary("stickiesd").path] + arguments
    return try process.result()
  }

  @discardableResult
  func stickiesd(_ arguments: String..., through wrapper: [String] = []) throws -> Result {
    try stickiesd(arguments, through: wrapper)
  }

  /// Requires that its store is sound. No daemon may be serving it.
  func expectSound(_ options: [String] = [], place: SourceLocation = #_sourceLocation) throws {
    let check = try stickiesd(["check"] + options)
    // After a kill, commits may be in the commit log only.
    let isSound = check.output == "sound\n" || check.output.hasPrefix("sound; ")
    #expect(check.status == 0 && isSound, "\(check.output)\(check.errors)", sourceLocation: place)
  }
}
