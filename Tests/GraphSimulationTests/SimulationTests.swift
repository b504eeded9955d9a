import Foundation
import GraphTesting
import Testing

@testable import GraphSimulation

/// A run in a folder of its own.
private func simulate(seed: UInt64, steps: Int = 1_000, bug: PlantedBug? = nil) throws {
  let directory = try TemporaryDirectory()
  try Simulation(seed: seed, directory: directory.path, bug: bug).run(steps: steps)
}

@Suite struct SimulationTests {
  @Test(arguments: Array(0..<10))
  func everyPromiseHolds(tens: Int) throws {
    for seed in UInt64(tens * 20)..<UInt64(tens * 20 + 20) {
      #expect(throws: Never.self, "seed \(seed)") { try simulate(seed: seed) }
    }
  }

  /// A checker that can't fail proves nothing.
  @Test(arguments: PlantedBug.allCases)
  func aPlantedBugIsCaught(bug: PlantedBug) throws {
    var caught: UInt64?
    for seed in UInt64(1)...300 where caught == nil {
      do { try simulate(seed: seed, bug: bug) } catch is Simulation.Failure { caught = seed }
    }
    #expect(caught != nil, "\(bug) goes unnoticed in 300 seeds")
  }

  // What simulations found, by its seed. Each failed before its mend, under the generator of its day; one that grows gives
  // a seed another run.

  @Test func aQueryThatLoadsAgainDoesNotMakeTheOthersSkip() {
    #expect(throws: Never.self) { try simulate(seed: 93) }
  }

  @Test func aDeleteThatLostToAnEditLeavesTheObject() {
    #expect(throws: Never.self) { try simulate(seed: 3) }
  }

  @Test func aReplyWithoutObjectsDoesNotApplyATextTwice() {
    #expect(throws: Never.self) { try simulate(seed: 4) }
  }

  @Test func aQueryThatIsDroppedAndFollowedAgainIsAccepted() {
    #expect(throws: Never.self) { try simulate(seed: 27) }
  }

  @Test func oneSeedGivesOneTraceInTwoProcesses() throws {
    func trace() throws -> Data {
      let process = Process()
      let beside = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent().appendingPathComponent(
        "graph-sim")
      process.executableURL =
        FileManager.default.isExecutableFile(atPath: beside.path)
        ? beside : URL(fileURLWithPath: Fixtures.root + "/.build/debug/graph-sim")
      process.arguments = ["--seed", "5", "--steps", "600", "--trace"]
      let output = Pipe()
      process.standardOutput = output
      try process.run()
      let data = output.fileHandleForReading.readDataToEndOfFile()
      process.waitUntilExit()
      #expect(process.terminationStatus == 0)
      return data
    }
    let first = try trace()
    #expect(first.count > 5_000)
    #expect(try trace() == first)
  }
}
