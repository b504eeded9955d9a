import ArgumentParser
import Foundation
import GraphModel
import GraphStoreTools

struct Compact: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "compact",
    abstract: "Remove old commits from the history, and return the free space to the file system.",
    discussion: """
      Stop the daemon first. A commit is removed if it is not among the newest --keep-commits, is older than \
      --keep-age, and is older than --minimum-retention. Without --keep-commits and --keep-age the command removes no \
      commit and only returns free space. Objects do not change. If the clock is far ahead of the newest commit, ages \
      are counted from that commit. At the end the file is rewritten, which temporarily needs the same space again.

      Exit codes: 0 done; 1 refused, or the disk failed; 64 usage.
      """)

  @OptionGroup var store: StoreFlags

  @Option(help: ArgumentHelp("Keep this many of the newest commits, at least 1.", valueName: "count"))
  var keepCommits: Int?

  @Option(
    help: ArgumentHelp("Keep commits that are not older than this, such as 90d, 12h, 30m or 10s.", valueName: "age"))
  var keepAge: DurationOption?

  @Option(
    help: ArgumentHelp(
      "Never remove younger commits, which disconnected clients may still need; default: 30d; use "
        + "0d if there are no such clients.", valueName: "age"))
  var minimumRetention: DurationOption?

  @Flag(help: "Print what would be removed, and remove nothing.")
  var dryRun = false

  @Flag(help: "Print the result as one line of JSON.")
  var json = false

  func validate() throws {
    if let keepCommits, keepCommits < 1 { throw ValidationError("--keep-commits must be at least 1") }
  }

  mutating func run() async throws {
    umask(0o077)
    var policy = HistoryPolicy(commits: keepCommits, age: keepAge?.microseconds)
    if let minimumRetention { policy.minimumRetention = minimumRetention.microseconds }
    let (dryRun, chosen) = (dryRun, policy)
    let now = Int64(Date().timeIntervalSince1970 * 1_000_000)
    let report = try await StoreCommand.run(store, ProgressMeter(), json: json) { settings, model in
      try StoreCompaction.run(
        directory: settings.data, model: model, policy: chosen, now: now, isRehearsal: dryRun)
    }
    Console.print(
      json
        ? CompactionText.json(report, isRehearsal: dryRun)
        : CompactionText.text(report, isRehearsal: dryRun, hasPolicy: policy.prunes))
  }
}

/// A time span in text form: a number with the unit `d`, `h`, `m` or `s`.
struct DurationOption: ExpressibleByArgument, Equatable {
  let microseconds: Int64

  /// The longest age: a hundred years, which is as good as forever.
  static let maximum: Int64 = 36_525 * 86_400_000_000

  init(microseconds: Int64) { self.microseconds = microseconds }

  init?(argument: String) { self.init(argument) }

  init?(_ text: String) {
    let units: [Character: Int64] = ["d": 86_400, "h": 3_600, "m": 60, "s": 1]
    guard let last = text.last, let unit = units[last], let count = Int64(text.dropLast()), count >= 0 else {
      return nil
    }
    let (microseconds, overflows) = count.multipliedReportingOverflow(by: unit * 1_000_000)
    guard !overflows, microseconds <= Self.maximum else { return nil }
    self.microseconds = microseconds
  }
}

/// The report as text and as JSON.
enum CompactionText {
  static func text(_ report: StoreCompaction.Report, isRehearsal: Bool, hasPolicy: Bool) -> String {
    let pruning = report.pruning
    var lines = [String]()
    if pruning.commits > 0 {
      let verb = isRehearsal ? "would be removed" : "removed"
      lines.append(
        "\(pruning.commits) commit\(pruning.commits == 1 ? "" : "s") \(verb), revisions \(pruning.oldest + 1) to "
          + "\(pruning.floor): \(pruning.bytes) bytes of history")
    } else {
      lines.append("no commit \(isRehearsal ? "would be" : "was") removed\(hasPolicy ? "" : noPolicy)")
    }
    if let lead = report.clockLead, hasPolicy {
      lines.append(
        "the clock is \(days(lead)) ahead of the newest commit, so ages were counted from that commit: the clock may be "
          + "wrong")
    }
    let reaches = isRehearsal ? "would go" : "goes"
    lines.append("history \(reaches) back to revision \(pruning.floor); the newest is \(pruning.head)")
    if pruning.wanted > pruning.floor {
      lines.append(
        "\(pruning.wanted - pruning.floor) more commits \(isRehearsal ? "would be" : "were") kept, up to revision "
          + "\(pruning.wanted): clients that were connected since "
          + "may need them (--minimum-retention)")
    }
    if isRehearsal {
      lines.append("the store has \(report.before) bytes; nothing was changed")
    } else {
      lines.append("the store had \(report.before) bytes and has \(report.after)")
    }
    return lines.joined(separator: "\n")
  }

  private static func days(_ span: Timestamp) -> String {
    let days = span / 86_400_000_000
    return days == 1 ? "1 day" : days > 1 ? "\(days) days" : "\(span / 60_000_000) minutes"
  }

  private static let noPolicy =
    ": no limit was given. Give the number of commits to keep (--keep-commits 10000), their age (--keep-age 90d), or "
    + "both; stickiesd --keep-history applies only while it serves"

  static func json(_ report: StoreCompaction.Report, isRehearsal: Bool) -> String {
    let pruning = report.pruning
    return JSON.object([
      .init("commits", .integer(Int64(pruning.commits))), .init("oldest", .integer(pruning.floor)),
      .init("revision", .integer(pruning.head)), .init("held", .integer(pruning.wanted - pruning.floor)),
      .init("historyBytes", .integer(Int64(pruning.bytes))), .init("before", .integer(Int64(report.before))),
      .init("after", .integer(Int64(report.after))), .init("rehearsal", .bool(isRehearsal)),
    ]).text
  }
}
