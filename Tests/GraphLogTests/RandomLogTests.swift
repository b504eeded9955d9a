import GraphTesting
import Testing

/// A log and its naive twin under random faults, kills and power cuts.
@Suite struct RandomLogTests {
  @Test func logEqualsItsTwin() throws {
    var counts = [String: Int]()
    for seed in SeedSweep.seeds(150) {
      var twin = try LogTwin(seed: seed)
      do {
        try twin.run(steps: 60)
      } catch {
        Issue.record("seed \(seed): \(error)")
        return
      }
      counts.merge(twin.counts, uniquingKeysWith: +)
    }
    for event in [
      "append", "failed append", "failed preparation", "failed forget", "failed restart", "failed restore",
      "failed opening", "unanswered entry survived", "refusal", "restart", "restore", "forget",
      "move", "failed restart after a move",
    ] { #expect(counts[event, default: 0] > 0, "no run has met this: \(event)") }
  }

  @Test(arguments: PlantedLogBug.allCases)
  func plantedBugIsFound(bug: PlantedLogBug) throws {
    for seed in 0..<UInt64(150) {
      do {
        var twin = try LogTwin(seed: seed, bug: bug)
        try twin.run(steps: 60)
      } catch is LogTwin.Failure {
        return
      }
    }
    Issue.record("no run has found \(bug)")
  }
}
