import GraphSimulation
import GraphTesting
import Testing

/// A run in a folder of its own.
private func simulate(seed: UInt64, bug: AccessBug? = nil) throws -> [AccessEvent: Int] {
  let directory = try TemporaryDirectory()
  let simulation = try AccessSimulation(seed: seed, directory: directory.path, bug: bug)
  try simulation.run(steps: 150)
  return simulation.eventCounts
}

/// Runs with accounts: roles that change, objects that move between scopes, stolen and cloned replicas.
@Suite struct AccessSimulationTests {
  /// `graph-sim --access --seeds` runs as many seeds as you like, and so does `scripts/sweep`.
  @Test func everyPromiseHoldsAndEveryEventOccurs() throws {
    var missing = Set(AccessEvent.allCases)
    for seed in SeedSweep.seeds(120) {
      #expect(throws: Never.self, "seed \(seed)") {
        for (event, count) in try simulate(seed: seed) where count > 0 { missing.remove(event) }
      }
    }
    #expect(missing.isEmpty, "these never happen")
  }

  /// A checker that can't fail proves nothing.
  @Test(arguments: AccessBug.allCases)
  func plantedBugIsDetected(bug: AccessBug) throws {
    var caught: UInt64?
    for seed in UInt64(0)..<60 where caught == nil {
      do { _ = try simulate(seed: seed, bug: bug) } catch is Simulation.Failure { caught = seed }
    }
    #expect(caught != nil, "\(bug) goes unnoticed in 60 seeds")
  }
}
