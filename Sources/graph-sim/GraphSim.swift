import ArgumentParser
import Foundation
import GraphSimulation

/// `graph-sim`: runs simulations from seeds, or replays one with its trace.
@main
struct GraphSim: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "graph-sim", abstract: "Simulates a server and its clients, with crashes, in one thread from a seed.")

  @Option(help: "The first seed.")
  var seed: UInt64 = 1
  @Option(help: "The number of seeds, run one after the other.")
  var seeds: UInt64 = 1
  @Option(help: "The number of steps of each run.")
  var steps = 1_000
  @Option(help: "The number of clients.")
  var clients = 3
  @Option(help: "Add a kind of act to the runs: \(OptionalAction.allCases.map(\.rawValue).joined(separator: ", ")).")
  var act: [OptionalAction] = []
  @Option(help: "Plant a bug: \(PlantedBug.allCases.map(\.rawValue).joined(separator: ", ")).")
  var bug: PlantedBug?
  @Option(
    help: "Write what each client's replica received and did into files of this folder, for replicas in other languages.")
  var recordReplica: String?
  @Flag(help: "Print how often each event happened.")
  var counts = false
  @Flag(help: "Print every step.")
  var trace = false

  func validate() throws {
    if steps < 1 || clients < 1 || clients > 64 { throw ValidationError("steps from 1, clients from 1 to 64") }
  }

  func run() throws {
    var happened = [CoverageEvent: Int]()
    for seed in self.seed..<(self.seed + seeds) {
      let directory = FileManager.default.temporaryDirectory.appendingPathComponent("graph-sim-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: directory) }
      let recorder = recordReplica.map { _ in ReplicaRecorder() }
      do {
        let simulation = try Simulation(
          seed: seed, directory: directory.path, clients: clients, acts: Set(act), bug: bug,
          trace: trace ? { print($0) } : nil, recorder: recorder)
        try simulation.run(steps: steps)
        happened.merge(simulation.eventCounts, uniquingKeysWith: +)
      } catch let failure as Simulation.Failure {
        print(failure)
        throw ExitCode(1)
      }
      if let recordReplica, let recorder { try write(recorder, of: seed, into: recordReplica) }
    }
    if counts { for event in CoverageEvent.allCases { print("\(event) \(happened[event, default: 0])") } }
    print("\(seeds) seeds from \(seed), \(steps) steps each: every promise held")
  }

  /// Writes each transcript into a file of its own.
  private func write(_ recorder: ReplicaRecorder, of seed: UInt64, into folder: String) throws {
    let folder = URL(fileURLWithPath: folder, isDirectory: true)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    for (name, lines) in recorder.transcripts {
      let text = lines.joined(separator: "\n") + "\n"
      try Data(text.utf8).write(to: folder.appendingPathComponent("seed-\(seed)-\(name).jsonl"))
    }
  }
}

extension OptionalAction: ExpressibleByArgument {}
extension PlantedBug: ExpressibleByArgument {}
