import GraphSimulation
import GraphTesting
import Testing

/// A run in a folder of its own.
private func simulate(seed: UInt64, bug: OfflineBug? = nil) throws -> [OfflineEvent: Int] {
  let directory = try TemporaryDirectory()
  let simulation = try OfflineSimulation(seed: seed, directory: directory.path, bug: bug)
  try simulation.run(steps: 40)
  return simulation.eventCounts
}

/// Runs with replicas that work without their server: killed, cut off, copied, restored, and shared by two processes.
@Suite struct OfflineSimulationTests {
  /// The runs in which rare events occur: undos of steps that wait and that have left; a retry, and an old copy that is
  /// restored; the reload for a hidden object; an edit over one that a reload has cut off from its base; and edits over
  /// states that a server has lost, which was restored and then pruned.
  private static let rare: [UInt64] = [26, 40, 106, 1_006, 201_902, 203_325]

  /// `graph-sim --offline --seeds` runs as many seeds as you like.
  @Test func everyPromiseHoldsAndEveryEventOccurs() throws {
    var missing = Set(OfflineEvent.allCases)
    for seed in SeedSweep.seeds(14) + Self.rare {
      #expect(throws: Never.self, "seed \(seed)") {
        for (event, count) in try simulate(seed: seed) where count > 0 { missing.remove(event) }
      }
    }
    #expect(missing.isEmpty, "these never happen")
  }

  /// A checker that can't fail proves nothing. Most bugs show in the first seeds, one that needs a restore later: the
  /// seed that detects it comes first.
  @Test(arguments: OfflineBug.allCases)
  func plantedBugIsDetected(bug: OfflineBug) throws {
    var caught: UInt64?
    for seed in (bug == .sentBeforeMark ? [18] : []) + Array(UInt64(3)..<40) where caught == nil {
      do { _ = try simulate(seed: seed, bug: bug) } catch is Simulation.Failure { caught = seed }
    }
    #expect(caught != nil, "\(bug) goes unnoticed")
  }
}
