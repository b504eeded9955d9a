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
  /// The runs in which rare events occur: an undo of a step that has left, and the reload for a hidden object.
  private static let rare: [UInt64] = [36, 178]

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

  /// A checker that can't fail proves nothing. The first seeds in which the bugs show are from 3 to 4.
  @Test(arguments: OfflineBug.allCases)
  func plantedBugIsDetected(bug: OfflineBug) throws {
    var caught: UInt64?
    for seed in UInt64(3)..<12 where caught == nil {
      do { _ = try simulate(seed: seed, bug: bug) } catch is Simulation.Failure { caught = seed }
    }
    #expect(caught != nil, "\(bug) goes unnoticed")
  }
}
