import Foundation
import Testing

extension Daemon.Result {
  /// All that a running program says until it ends.
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
  /// Runs it to its end, with nothing to read.
  func result() throws -> Daemon.Result {
    let (output, errors) = (Pipe(), Pipe())
    (standardOutput, standardError) = (output, errors)
    standardInput = FileHandle.nullDevice
    try run()
    return Daemon.Result(of: self, output: output, errors: errors)
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

  /// Its store is sound. Nobody may be serving it.
  func expectSound(_ options: [String] = [], place: SourceLocation = #_sourceLocation) throws {
    let check = try stickiesd(["check"] + options)
    #expect(check.status == 0 && check.output == "sound\n", "\(check.output)\(check.errors)", sourceLocation: place)
  }
}
