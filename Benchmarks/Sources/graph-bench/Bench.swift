import Foundation

/// Measures every figure beside its limit, beside the peers that have an equivalent, and beside another build of the
/// daemon, in one run. Each figure is the median of five runs; ours, the limit's and the others' alternate.
struct Bench {
  /// The number of runs of which the median is taken.
  static let rounds = 5
  static let text = "Buy milk and bread on the way home, and call Ann about the garden party on Saturday"

  private(set) var daemon: String
  /// The path of the other build of the daemon.
  private var baselineDaemon: String?
  /// The end of the titles of tables that each build has for itself; empty for the daemon.
  private(set) var suffix = ""
  /// The duration of each rate measurement.
  let seconds: Double
  let peers: [Peer]
  let selection: Selection
  /// The folder for stores, removed when the program ends. TMPDIR moves it to another disk.
  let folder: String

  init(_ options: Options) {
    (daemon, baselineDaemon) = (options.daemon, options.baseline)
    (seconds, peers, selection) = (options.seconds, options.peers, options.selection)
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("graph-bench-\(getpid())").path
  }

  /// The same benchmark with the baseline as its daemon; nil without a baseline.
  var baseline: Bench? {
    guard let path = baselineDaemon else { return nil }
    var other = self
    (other.daemon, other.baselineDaemon, other.suffix) = (path, nil, ", baseline")
    return other
  }

  /// The benchmark of the daemon, and that of the baseline.
  var builds: [Bench] { [self] + (baseline.map { [$0] } ?? []) }

  /// The command-line client, in the daemon's folder.
  var shell: String { (daemon as NSString).deletingLastPathComponent + "/stickies" }

  func run() throws {
    FileLimit.raise()
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    say("stores under \(folder); rates over \(seconds) s; medians of \(Self.rounds) runs")
    if let baselineDaemon { say("daemon: \(daemon); baseline: \(baselineDaemon)") }
    for section in selection.sections {
      if !section.isCurve {
        let hasBaseline = baselineDaemon != nil && section.hasBaseline
        say("\n" + Figure.header(withBaseline: hasBaseline, withPeers: section.hasPeers))
      }
      switch section {
      case .commits: try measureCommits()
      case .mixed: try measureMixedWork()
      case .latency: try measureLatency()
      case .fanout: try measureFanOut()
      case .idle: try measureIdleConnections()
      case .snapshot: try measureSnapshot()
      case .start: try measureStart()
      case .apply: try measureApply()
      case .notes: try measureStoredNotes()
      case .queries: try measureLiveQueries()
      case .fetch: try measureFetch()
      case .predicates: try measurePredicates()
      case .transactions: try measureTransactions()
      case .cascades: try measureCascades()
      case .relations: try measureRelations()
      case .paths: try measurePaths()
      case .past: try measurePast()
      case .migration: try measureMigration()
      case .history: try measureHistory()
      case .backup: try measureBackup()
      case .pruning: try measurePruning()
      case .windows: try measureWindows()
      case .controllers: try measureControllers()
      case .following: try measureFollowing()
      case .contexts: try measureContexts()
      case .terminal: try measureTerminal()
      case .http: try measureHTTP()
      case .offline: try measureOffline()
      case .access: try measureAccess()
      }
    }
  }

  /// Returns an unused path in the folder.
  func place(_ name: String) -> String {
    var number = 0
    while access("\(folder)/\(name)-\(number)", F_OK) == 0 { number += 1 }
    return "\(folder)/\(name)-\(number)"
  }

  func remove(_ path: String) { try? FileManager.default.removeItem(atPath: path) }
}

struct BenchmarkError: Error, CustomStringConvertible { let description: String }
