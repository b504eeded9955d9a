import Foundation

/// `graph-bench DAEMON [SECONDS] [SECTION]…`: measures every figure beside its limit, and beside the peers that have an
/// equivalent, in one run. Each figure is the median of five runs; ours, the limit's and the peers' alternate.
struct Bench {
  /// The number of runs of which the median is taken.
  static let rounds = 5
  static let text = "Buy milk and bread on the way home, and call Ann about the garden party on Saturday"

  let daemon: String
  /// The command-line client, in the daemon's folder.
  let shell: String
  /// The duration of each rate measurement.
  let seconds: Double
  let sections: [Section]
  /// The folder for stores, removed when the program ends. TMPDIR moves it to another disk.
  let folder: String

  enum Section: String, CaseIterable {
    case commits, mixed, latency, fanout, idle, snapshot, start, notes, queries
    case fetch, predicates, transactions, cascades, relations, paths, past
    case migration, history, backup, pruning, windows, controllers, terminal

    /// Whether the section prints tables of its own instead of figures.
    var isCurve: Bool { [.notes, .queries, .relations].contains(self) }

    /// Whether the section compares with the peers.
    var hasPeers: Bool { [.commits, .mixed, .latency, .fanout, .idle, .snapshot].contains(self) }

    var summary: String {
      switch self {
      case .commits: "durable notes a second: one, 16 and 64 clients, 100 notes a commit"
      case .mixed: "commits and fetches: one client that reads its own, 8 writers beside 8 readers"
      case .latency: "an update seen by another client: median and p99"
      case .fanout: "1,000 watching connections, one writer"
      case .idle: "the server's memory for an idle connection"
      case .snapshot: "100,000 notes to one client: time and memory"
      case .start: "the daemon's start, and a command's, on the clock"
      case .notes: "the cost of a commit at 1,000 to 1,000,000 stored notes"
      case .queries: "the cost of a commit beside 0 to 10,000 live queries"
      case .fetch: "20 of 1,000,000 objects by an index"
      case .predicates: "predicates judged in memory"
      case .transactions: "one transaction of 1,000 to 100,000 objects: time and memory"
      case .cascades: "one delete that takes 1,000 to 100,000 objects along"
      case .relations: "one changed property of an object with 1,000 related ones"
      case .past: "the graph as of 1,000 commits ago, and an object with 10,000 changes"
      case .paths: "the cost of a commit beside 10,000 live queries that follow paths"
      case .migration: "a store of 1,000,000 objects goes to the next version of its model"
      case .history: "what an object with 10,000 changes costs to ask, and a change to remember"
      case .backup: "a backup of 1,000,000 objects while 16 clients write"
      case .pruning: "history of 1,000,000 commits goes"
      case .windows: "a commit beside 100 windows of 1,000 to 1,000,000 rows"
      case .controllers: "a results controller over 1,000 to 1,000,000 objects"
      case .terminal: "cells to bytes and bytes to keys"
      }
    }
  }

  init(arguments: [String]) throws {
    guard let daemon = arguments.first, access(daemon, X_OK) == 0 else { Self.usage() }
    self.daemon = daemon
    shell = (daemon as NSString).deletingLastPathComponent + "/stickies"
    var (seconds, sections) = (2.0, [Section]())
    for argument in arguments.dropFirst() {
      if let number = Double(argument), number > 0 {
        seconds = number
      } else if let section = Section(rawValue: argument) {
        sections.append(section)
      } else {
        Self.usage()
      }
    }
    self.seconds = seconds
    self.sections = sections.isEmpty ? Section.allCases : sections
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("graph-bench-\(getpid())").path
  }

  private static func usage() -> Never {
    print("usage: graph-bench PATH-TO-STICKIESD [SECONDS] [SECTION]...\n\nsections, all of them by default:")
    for section in Section.allCases {
      print("  \(section.rawValue.padding(toLength: 13, withPad: " ", startingAt: 0))\(section.summary)")
    }
    exit(64)
  }

  func run() throws {
    FileLimit.raise()
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    say("stores under \(folder); rates over \(seconds) s; medians of \(Self.rounds) runs")
    for section in sections {
      if !section.isCurve { say("\n" + Figure.header(withPeers: section.hasPeers)) }
      switch section {
      case .commits: try measureCommits()
      case .mixed: try measureMixedWork()
      case .latency: try measureLatency()
      case .fanout: try measureFanOut()
      case .idle: try measureIdleConnections()
      case .snapshot: try measureSnapshot()
      case .start: try measureStart()
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
      case .terminal: try measureTerminal()
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
