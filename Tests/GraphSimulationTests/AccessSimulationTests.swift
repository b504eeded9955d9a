import GraphSimulation
import GraphTesting
import Testing

/// A run in a folder of its own.
private func simulate(seed: UInt64, steps: Int = 150, bug: AccessBug? = nil) throws -> [AccessEvent: Int] {
  let directory = try TemporaryDirectory()
  let simulation = try AccessSimulation(seed: seed, directory: directory.path, bug: bug)
  try simulation.run(steps: steps)
  return simulation.eventCounts
}

/// Runs with accounts: roles that change, objects that move between scopes, stolen and cloned replicas.
@Suite struct AccessSimulationTests {
  /// `graph-sim --access --seeds` runs as many seeds as you like, and so does `scripts/sweep`. The test ends with the
  /// rarest event.
  @Test func everyPromiseHoldsAndEveryEventOccurs() throws {
    var missing = Set(AccessEvent.allCases)
    let always = SeedSweep.seeds(30)
    for seed in SeedSweep.seeds(120) where always.contains(seed) || !missing.isEmpty {
      #expect(throws: Never.self, "seed \(seed)") {
        for (event, count) in try simulate(seed: seed) where count > 0 { missing.remove(event) }
      }
    }
    #expect(missing.isEmpty, "these never happen")
  }

  /// A client that reconnects does not resume a result that was being read again when the connection was lost.
  @Test func connectionLostDuringReloadResumesNoOldResult() {
    #expect(throws: Never.self) { _ = try simulate(seed: 237, steps: 450) }
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

  /// A user loses its role on a folder while the writer has its edit of an item there, which conflicts with a batch.
  @Test func conflictOfACommitFromBeforeTheLossOfARoleNamesNoInvisibleObject() {
    #expect(throws: Never.self) { _ = try simulate(seed: 1_072) }
  }
}
