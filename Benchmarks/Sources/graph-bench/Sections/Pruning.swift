import Foundation
import GraphModel
import GraphStore
import GraphStoreTools

extension Bench {
  private static let prunedTotal = 1_000_000
  private static let keptCommits = 1_000
  /// The number of commits per disk write while the store is filled; only the total matters here.
  private static let fillBatch = 1_000
  private static let lateCommits = 1_000

  /// Measures the pruning of a million commits down to the newest thousand: the duration of `stickiesd compact` and
  /// the space that it frees; and the delay of a commit while a served store is pruned in slices between commits.
  func measurePruning() throws {
    let base = place("past")
    let staff = try StaffStore(base)
    try staff.fill(people: 10_000, teams: 500)
    let people = try staff.ids(of: "Person")
    var clock = Timestamp(Date().timeIntervalSince1970 * 1e6)
    for start in stride(from: 0, to: Self.prunedTotal, by: Self.fillBatch) {
      let requests = try (start..<start + Self.fillBatch).map { number in
        staff.transaction([
          Change(
            .update, people[number * 7_919 % people.count], base: .max,
            edits: [try staff.edit("Person", "score", .double(Double(number)))])
        ])
      }
      clock += 1_000_000
      for result in try staff.store.commit(requests, now: clock) {
        if case .refused(let refusal) = result.outcome { throw BenchmarkError(description: refusal.message) }
      }
    }
    try staff.close()

    let data = try copy(base)
    let policy = HistoryPolicy(commits: Self.keptCommits, minimumRetention: 0)
    var report: StoreCompaction.Report?
    let model = try Model(parsing: Staff.source.utf8)
    let seconds = try timed {
      report = try StoreCompaction.run(directory: data, model: model, policy: policy, now: clock + 1)
    }
    guard let report else { return }
    Figure(name: "pruning 1,000,000 commits and giving the room back", unit: "s", ours: seconds).report()
    let mebibyte = Double(1 << 20)
    Figure(
      name: "– the store then, and before", unit: "MiB", ours: Double(report.after) / mebibyte,
      limit: Double(report.before) / mebibyte
    ).report()
    Figure(
      name: "– bytes given back for each commit", unit: "bytes",
      ours: Double(report.before - report.after) / Double(Self.prunedTotal - Self.keptCommits)
    ).report()
    remove(data)
    try measureLateCommits(base, people, policy, clock)
    remove(base)
  }

  /// Measures the worst case for a commit: it arrives just as a slice begins.
  private func measureLateCommits(
    _ data: String, _ people: [ObjectID], _ policy: HistoryPolicy, _ clock: Timestamp
  ) throws {
    let staff = try StaffStore(data)
    func commit(_ number: Int) throws {
      try staff.commit([
        Change(
          .update, people[number * 104_729 % people.count], base: .max,
          edits: [try staff.edit("Person", "score", .double(-Double(number)))])
      ])
    }
    let alone = try (0..<Self.lateCommits).map { number in try timed { try commit(number) } }
    let floor = try staff.store.pruning(policy, now: clock + 1).floor
    var slices = [Double]()
    let late = try (0..<Self.lateCommits).map { number in
      try timed {
        slices.append(
          try timed {
            guard try staff.store.prune(through: floor) else {
              throw BenchmarkError(description: "there was too little to prune")
            }
          })
        try commit(Self.lateCommits + number)
      }
    }
    Figure(
      name: "a commit that comes as a slice begins, p99", unit: "ms", ours: percentile99(late) * 1e3,
      limit: percentile99(alone) * 1e3
    ).report()
    Figure(name: "– median", unit: "ms", ours: median(late) * 1e3, limit: median(alone) * 1e3).report()
    Figure(name: "– a slice of 256 commits, median", unit: "ms", ours: median(slices) * 1e3).report()
    try staff.close()
  }
}
