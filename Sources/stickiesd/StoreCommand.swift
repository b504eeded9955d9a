import ArgumentParser
import Foundation
import GraphModel
import GraphStore
import GraphWire

/// What the commands that look after a store's files have in common.
enum StoreCommand {
  /// Reads the options and does the work.
  static func run<Result>(
    _ flags: StoreFlags, _ meter: ProgressMeter, _ body: (Settings, Model) throws -> Result
  ) async throws -> Result {
    return try await tellingFailures {
      defer { meter.end() }
      let settings = try await flags.settings()
      return try body(settings, try ModelSource.load(folder: settings.schema))
    }
  }

  /// Turns failures into words and exit codes.
  static func tellingFailures<Result>(_ body: () async throws -> Result) async throws -> Result {
    do {
      return try await body()
    } catch {
      var words = "\(error)"
      let code: Int32
      switch error {
      case let unsound as StoreBackup.Unsound:
        for finding in unsound.findings { print(finding) }
        code = 1
      case is MigrationRefusal:
        words += "\nThe store was not changed."
        code = 1
      case is StoreFailure: code = 1
      case is OptionsError, is ServerAddress.ParseError: code = 64
      default: throw error
      }
      FileHandle.standardError.write(Data("stickiesd: \(words)\n".utf8))
      throw ExitCode(code)
    }
  }
}
