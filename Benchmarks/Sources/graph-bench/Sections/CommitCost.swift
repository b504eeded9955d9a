/// What commits cost a daemon, over whole rounds of its log: from one restart of the log to the next, so that each
/// commit carries its share of the checkpoint, in time and in bytes, and no more.
struct CommitCost {
  var processorMicroseconds: Double
  /// Pages of the log.
  var pages: Double
  /// Kilobytes sent to the disk, checkpoints included.
  var kilobytes: Double

  /// No commit needs so many for a round; past it something is wrong with the log.
  private static let most = 50_000

  /// The median over three rounds of the log, each figure by itself.
  static func measure(_ daemon: Daemon, data: String, commit: () throws -> Void) throws -> CommitCost {
    let log = try LogFrames(data: data)
    _ = try round(log, daemon, commit)
    let rounds = try (0..<Bench.rounds).map { _ in try round(log, daemon, commit) }
    return CommitCost(
      processorMicroseconds: median(rounds.map(\.processorMicroseconds)), pages: median(rounds.map(\.pages)),
      kilobytes: median(rounds.map(\.kilobytes)))
  }

  private static func round(_ log: LogFrames, _ daemon: Daemon, _ commit: () throws -> Void) throws -> CommitCost {
    let before = (daemon.process.processorSeconds, daemon.process.bytesWritten)
    var (count, pages) = (0, 0)
    while count < most {
      try commit()
      count += 1
      let step = log.advance()
      pages += step.pages
      guard step.restarted else { continue }
      let commits = Double(count)
      return CommitCost(
        processorMicroseconds: (daemon.process.processorSeconds - before.0) * 1e6 / commits,
        pages: Double(pages) / commits, kilobytes: (daemon.process.bytesWritten - before.1) / 1024 / commits)
    }
    throw BenchmarkError(description: "the log did not begin anew in \(most) commits")
  }
}

/// A cost against something that it should not depend on.
struct Curve {
  /// The largest cost may be so many times the smallest.
  static let aim = 1.3

  let name: String
  private var points = [(label: String, cost: CommitCost)]()

  init(_ name: String) { self.name = name }

  mutating func add(_ label: String, _ cost: CommitCost) { points.append((label, cost)) }

  /// A table of its own: a column for each point, and the largest beside the smallest.
  func report() {
    say("\n| \(name) | \(points.map(\.label).joined(separator: " | ")) | factor |")
    say("|" + String(repeating: " --- |", count: points.count + 2))
    report("processor time, µs", \.processorMicroseconds)
    report("pages to the log", \.pages)
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
