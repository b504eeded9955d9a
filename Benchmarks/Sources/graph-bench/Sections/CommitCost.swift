/// The cost of commits in a daemon, over complete rounds of SQLite's write-ahead log: from one restart to the next, so
/// that each commit includes its share of the checkpoint, in time and in bytes.
struct CommitCost {
  var processorMicroseconds: Double
  /// Pages written to the write-ahead log.
  var pages: Double
  /// Kilobytes written to the disk, including the commit log and checkpoints.
  var kilobytes: Double

  /// The maximum number of commits in a round; beyond it the log does not restart.
  private static let most = 100_000
  /// The minimum number of commits in a round: a daemon with a commit log writes pages for many commits at once.
  private static let least = 1_000

  /// Returns the median over five rounds, separately for each figure.
  static func measure(_ daemon: Daemon, data: String, commit: () throws -> Void) throws -> CommitCost {
    let log = try WriteAheadLogFrames(data: data)
    _ = try round(log, daemon, commit)
    let rounds = try (0..<Bench.rounds).map { _ in try round(log, daemon, commit) }
    return CommitCost(
      processorMicroseconds: median(rounds.map(\.processorMicroseconds)), pages: median(rounds.map(\.pages)),
      kilobytes: median(rounds.map(\.kilobytes)))
  }

  private static func round(_ log: WriteAheadLogFrames, _ daemon: Daemon, _ commit: () throws -> Void) throws
    -> CommitCost
  {
    let before = (daemon.process.processorSeconds, daemon.process.bytesWritten)
    var (count, pages) = (0, 0)
    while count < most {
      try commit()
      count += 1
      let step = log.advance()
      pages += step.pages
      guard step.restarted, count >= least else { continue }
      let commits = Double(count)
      return CommitCost(
        processorMicroseconds: (daemon.process.processorSeconds - before.0) * 1e6 / commits,
        pages: Double(pages) / commits, kilobytes: (daemon.process.bytesWritten - before.1) / 1024 / commits)
    }
    throw BenchmarkError(description: "the write-ahead log did not restart in \(most) commits")
  }
}

/// A cost against a parameter that should not affect it.
struct Curve {
  /// The maximum ratio of the largest cost to the smallest.
  static let aim = 1.3

  let name: String
  private var points = [(label: String, cost: CommitCost)]()

  init(_ name: String) { self.name = name }

  mutating func add(_ label: String, _ cost: CommitCost) { points.append((label, cost)) }

  /// Prints a table: a column for each point, and the ratio of the largest to the smallest.
  func report() {
    say("\n| \(name) | \(points.map(\.label).joined(separator: " | ")) | factor |")
    say("|" + String(repeating: " --- |", count: points.count + 2))
    report("processor time, µs", \.processorMicroseconds)
    report("pages to the write-ahead log", \.pages)
    report("KiB to the disk", \.kilobytes)
  }

  private func report(_ what: String, _ value: KeyPath<CommitCost, Double>) {
    let values = points.map { $0.cost[keyPath: value] }
    guard let least = values.min(), let most = values.max() else { return }
    let factor = most / least
    let verdict = String(format: "%.2f", factor) + (factor <= Self.aim ? "" : ", missed")
    say("| \(what) | \(values.map(Figure.text).joined(separator: " | ")) | \(verdict) |")
  }
}
