import ArgumentParser
import CommandLineIO
import Foundation
import GraphModel
import GraphServer
import GraphStore
import GraphStoreTools
import GraphWire
import StickiesModel

/// The common part of the commands that work on a store's files.
enum StoreCommand {
  /// Reads the options and runs the command.
  /// - Parameters:
  ///   - file: the backup on which the command works; nil for the store.
  ///   - json: whether to report failures as one line of JSON, in the format of `stickies`.
  static func run<Result>(
    _ flags: StoreFlags, _ meter: ProgressMeter, on file: String? = nil, json: Bool,
    _ body: (Settings, Model) throws -> Result
  ) async throws -> Result {
    return try await reportingFailures(json: json) {
      defer { meter.end() }
      let settings = try await flags.settings()
      let path = if let file { file } else { settings.storePath }
      return try body(settings, try ModelSource.load(folder: settings.schema, forStoreAt: path))
    }
  }

  /// Reports failures and turns them into exit codes.
  static func reportingFailures<Result>(
    json: Bool = false, _ body: () async throws -> Result
  ) async throws -> Result {
    do {
      return try await body()
    } catch {
      var (text, name, exit) = ("\(error)", "", Int32(1))
      var members = [JSON.Member]()
      switch error {
      case let unsound as StoreBackup.VerificationError:
        name = "unsound"
        members = [.init("findings", FindingText.json(unsound.findings))]
        if !json { for finding in unsound.findings { Console.printLine(finding.description) } }
      case is MigrationRefusal:
        text += "\nThe store was not changed."
      case let failure as StoreFailure: name = failure.code.rawValue
      case is CertificateFailure: name = "certificate"
      // The commands for users and tokens throw refusals.
      case let refusal as Refusal: (text, name) = (refusal.message, refusal.code.rawValue)
      case is OptionsError, is ServerAddress.ParseError, is ExposedAddressError: (name, exit) = ("usage", 64)
      default: throw error
      }
      // With --json, the reasons for a refused migration are already on standard output, with ids.
      let isLine = json && !(error is MigrationRefusal)
      let object = [JSON.Member("code", .string(name)), .init("message", .string(text))] + members
      if isLine {
        StandardError.write(JSON.object([.init("error", .object(object))]).text)
      } else {
        Console.message(text)
      }
      throw ExitCode(exit)
    }
  }
}

/// The result of a check as text and as JSON.
enum CheckText {
  /// The line for a report without findings.
  static func sound(_ report: StoreCheck.Report) -> String {
    switch report.unappliedCommits {
    case 0: "sound"
    case 1: "sound; 1 commit is in the commit log only, the next start applies it"
    case let count: "sound; \(count) commits are in the commit log only, the next start applies them"
    }
  }

  static func json(_ report: StoreCheck.Report) -> String {
    JSON.object([
      .init("sound", .bool(report.findings.isEmpty)), .init("findings", FindingText.json(report.findings)),
      .init("unappliedCommits", .integer(Int64(report.unappliedCommits))),
    ]).text
  }
}

/// The findings of a check as JSON.
enum FindingText {
  static func json(_ findings: [StoreFinding]) -> JSON {
    .array(
      findings.map { finding in
        .object([
          .init("kind", .string(finding.kind.rawValue)), .init("damage", .bool(finding.isDamage)),
          .init("table", finding.place.table.map(JSON.string) ?? .null),
          .init("row", finding.place.row.map(JSON.integer) ?? .null),
          .init("object", finding.place.object.map { .string($0.description) } ?? .null),
          .init("text", .string(finding.text)),
        ])
      })
  }
}
