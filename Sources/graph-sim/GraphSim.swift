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
  @Option(help: "The number of clients; runs with accounts and with offline replicas have their own.")
  var clients = 3
  @Option(help: "Add a kind of act to the runs: \(OptionalAction.allCases.map(\.rawValue).joined(separator: ", ")).")
  var act: [OptionalAction] = []
  @Option(help: "Plant a bug: \(PlantedBug.allCases.map(\.rawValue).joined(separator: ", ")).")
  var bug: PlantedBug?
  @Option(
    help:
      "Write what each client's replica received and did into files of this folder, for replicas in other languages.")
  var recordReplica: String?
  @Flag(help: "Run with accounts: roles that change, scopes, and stolen and cloned replicas.")
  var access = false
  @Option(help: "Plant a bug in a run with accounts: \(AccessBug.allCases.map(\.rawValue).joined(separator: ", ")).")
  var accessBug: AccessBug?
  @Flag(help: "Run with replicas that work without their server, are copied and restored, and synchronize.")
  var offline = false
  @Option(
    help:
      "Plant a bug in a run with offline replicas: \(OfflineBug.allCases.map(\.rawValue).joined(separator: ", ")).")
  var offlineBug: OfflineBug?
  @Flag(help: "Print how often each event happened.")
  var counts = false
  @Flag(help: "Print every step.")
  var trace = false

  func validate() throws {
    if steps < 1 || clients < 1 || clients > 64 { throw ValidationError("steps from 1, clients from 1 to 64") }
    if access, bug != nil || !act.isEmpty { throw ValidationError("--access goes with --access-bug only") }
    if access, recordReplica != nil { throw ValidationError("--record-replica goes without --access") }
    if !access, accessBug != nil { throw ValidationError("--access-bug goes with --access") }
    if offline, access || bug != nil || !act.isEmpty || recordReplica != nil {
      throw ValidationError("--offline goes with --offline-bug only")
    }
    if !offline, offlineBug != nil { throw ValidationError("--offline-bug goes with --offline") }
  }

  func run() throws {
    var happened = [String: Int]()
    for seed in self.seed..<(self.seed + seeds) {
      let directory = FileManager.default.temporaryDirectory.appendingPathComponent("graph-sim-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: directory) }
      let recorder = recordReplica.map { _ in ReplicaRecorder() }
      do {
        for (event, count) in try counts(of: seed, directory.path, recorder) { happened[event, default: 0] += count }
      } catch let failure as Simulation.Failure {
        print(failure)
        throw ExitCode(1)
      }
      if let recordReplica, let recorder { try write(recorder, of: seed, into: recordReplica) }
    }
    if counts { for event in events { print("\(event) \(happened[event, default: 0])") } }
    print("\(seeds) seeds from \(seed), \(steps) steps each: every promise held")
  }

  /// The events that the runs count.
  private var events: [String] {
    if access { return AccessEvent.allCases.map(\.rawValue) }
    if offline { return OfflineEvent.allCases.map(\.rawValue) }
    return CoverageEvent.allCases.map(\.rawValue)
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

  /// Runs one seed, and returns how often each event happened.
  private func counts(
    of seed: UInt64, _ directory: String, _ recorder: ReplicaRecorder?
  ) throws -> [(event: String, count: Int)] {
    let print: ((String) -> Void)? = trace ? { Swift.print($0) } : nil
    if access {
      let simulation = try AccessSimulation(seed: seed, directory: directory, bug: accessBug, trace: print)
      try simulation.run(steps: steps)
      return simulation.eventCounts.map { ($0.key.rawValue, $0.value) }
    }
    if offline {
      let simulation = try OfflineSimulation(seed: seed, directory: directory, bug: offlineBug, trace: print)
      try simulation.run(steps: steps)
      return simulation.eventCounts.map { ($0.key.rawValue, $0.value) }
    }
    let simulation = try Simulation(
      seed: seed, directory: directory, clients: clients, acts: Set(act), bug: bug, trace: print,
      recorder: recorder)
    try simulation.run(steps: steps)
    return simulation.eventCounts.map { ($0.key.rawValue, $0.value) }
  }
}

extension OptionalAction: ExpressibleByArgument {}
extension PlantedBug: ExpressibleByArgument {}
extension AccessBug: ExpressibleByArgument {}
extension OfflineBug: ExpressibleByArgument {}
