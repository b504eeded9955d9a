import ArgumentParser
import CommandLineIO
import Foundation
import GraphModel
import GraphStoreTools
import StickiesModel

struct Migrate: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "migrate", abstract: "Migrate a store to the newest version of its model.",
    discussion: """
      Stop the daemon first. The command writes and verifies a copy of the store beside it, then migrates the store in \
      one transaction. If it is interrupted, the store has either the old version or the new one. With --dry-run it \
      migrates a copy, prints the same report and deletes the copy.

      Exit codes: 0 done, or nothing to do; 1 refused, or the disk failed; 64 usage.
      """)

  @OptionGroup var store: StoreFlags

  @Flag(help: "Migrate a copy: print the changes, the time and what would be lost.")
  var dryRun = false

  @Flag(help: "Print the result as one line of JSON.")
  var json = false

  mutating func run() async throws {
    umask(0o077)
    try await StoreCommand.reportingFailures(json: json) {
      let settings = try await store.settings()
      let models = try ModelSource.versions(folder: settings.schema)
      do {
        let report = try Self.migrate(settings.data, models, isRehearsal: dryRun)
        Console.print(
          json ? MigrationText.json(report, isRehearsal: dryRun) : MigrationText.text(report, isRehearsal: dryRun))
      } catch let refusal as MigrationRefusal where json {
        Console.print(MigrationText.json(refusal))
        throw refusal
      }
    }
  }

  /// Migrates a store and reports each step on standard error, one line per step, so that a log shows where it
  /// stopped.
  static func migrate(_ directory: String, _ models: [Model], isRehearsal: Bool) throws -> MigrationReport {
    var options = StoreMigration.Options()
    options.isRehearsal = isRehearsal
    options.author = "stickiesd migrate"
    options.progress = { step, done in
      StandardError.write("\(Int((done * 100).rounded()))% \(step)".escapedForLine)
    }
    let now = Int64(Date().timeIntervalSince1970 * 1_000_000)
    return try StoreMigration(directory: directory, models: models, now: now, options: options).run()
  }
}

/// The report as text and as JSON.
enum MigrationText {
  static func text(_ report: MigrationReport, isRehearsal: Bool) -> String {
    guard !report.steps.isEmpty || report.revision > 0 else {
      let same = report.from == report.to ? "" : ", and version \(report.to) stores the same"
      return "the store has version \(report.from)\(same); there is nothing to migrate"
    }
    var lines = report.steps.map { "  \($0)" }
    let would = isRehearsal ? "would be migrated" : "was migrated"
    lines.insert("the store \(would) from version \(report.from) to version \(report.to):", at: 0)
    for loss in report.lost {
      lines.append("\(isRehearsal ? "would be lost" : "lost"): \(description(of: loss))")
    }
    if report.lost.isEmpty { lines.append("nothing \(isRehearsal ? "would be" : "is") lost") }
    lines.append("rows rewritten: \(report.rewritten); \(report.milliseconds) ms")
    if let backup = report.backup { lines.append("the previous store: \(backup)") }
    if isRehearsal { lines.append("this was a rehearsal: nothing was changed") }
    return lines.map(\.escapedForLine).joined(separator: "\n")
  }

  /// Describes a loss, for example `Member.visits, 2 values that are recomputed with another result (ID, ID)`.
  static func description(of loss: MigrationLoss) -> String {
    let isOne = loss.count == 1
    let noun = (loss.path.contains(".") ? "value" : "object") + (isOne ? "" : "s")
    let reason =
      switch loss.kind {
      case .gone: ""
      case .replaced: " that \(isOne ? "is" : "are") recomputed with another result"
      case .rounded: " that no double can represent, rounded to the nearest"
      }
    let ids = loss.first.map(\.description).joined(separator: ", ")
    return "\(loss.path), \(loss.count) \(noun)\(reason) (\(ids)\(loss.count > loss.first.count ? ", …" : ""))"
  }

  static func json(_ report: MigrationReport, isRehearsal: Bool) -> String {
    let steps = report.steps.map { step in
      JSON.object([
        .init("kind", .string(step.kind.rawValue)), .init("path", .string(step.path)),
        .init("text", .string(step.text)),
      ])
    }
    let lost = report.lost.map {
      JSON.object([
        .init("path", .string($0.path)), .init("kind", .string($0.kind.rawValue)),
        .init("count", .integer(Int64($0.count))),
        .init("ids", .array($0.first.map { .string($0.description) })),
      ])
    }
    return JSON.object([
      .init("from", .integer(Int64(report.from))), .init("to", .integer(Int64(report.to))),
      .init("rehearsal", .bool(isRehearsal)), .init("steps", .array(steps)), .init("lost", .array(lost)),
      .init("rewritten", .integer(Int64(report.rewritten))),
      .init("milliseconds", .integer(Int64(report.milliseconds))),
      .init("backup", report.backup.map(JSON.string) ?? .null), .init("revision", .integer(report.revision)),
    ]).text
  }

  static func json(_ refusal: MigrationRefusal) -> String {
    let breaches = refusal.breaches.map { breach in
      JSON.object([
        .init("id", breach.object.map { .string($0.description) } ?? .null), .init("entity", .string(breach.entity)),
        .init("text", .string(breach.text)),
      ])
    }
    return JSON.object([
      .init(
        "error",
        .object([
          .init("code", .string("migration")), .init("from", .integer(Int64(refusal.from))),
          .init("to", .integer(Int64(refusal.to))), .init("problems", .array(refusal.problems.map(JSON.string))),
          .init("breaches", .array(breaches)), .init("more", .integer(Int64(refusal.more))),
        ]))
    ]).text
  }
}
