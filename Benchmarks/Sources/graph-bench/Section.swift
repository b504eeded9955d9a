extension Bench {
  enum Section: String, CaseIterable {
    case commits, mixed, latency, fanout, idle, snapshot, start, apply, notes, queries
    case fetch, predicates, transactions, cascades, relations, paths, past
    case migration, history, backup, pruning, windows, controllers, following, contexts, terminal, http, offline, access

    /// Whether the section prints tables of its own instead of figures.
    var isCurve: Bool { [.notes, .queries, .relations].contains(self) }

    /// Whether the section compares with the peers.
    var hasPeers: Bool { [.commits, .mixed, .latency, .fanout, .idle, .snapshot].contains(self) }

    /// Whether the section's figures come from a daemon, so that a baseline can be measured beside it. The others run
    /// the code that this program was linked with.
    var hasBaseline: Bool {
      hasPeers || isCurve || [.start, .fetch, .paths, .backup, .http].contains(self)
    }

    /// The names of the rows that can be measured alone.
    var rows: [String] {
      switch self {
      case .commits: ["1", "16", "64", "100"]
      case .mixed: ["own", "8"]
      case .fanout: ["1", "16"]
      case .start: ["kill", "cut", "log", "command"]
      case .apply: ["1", "100", "move"]
      case .queries: ["equality", "range"]
      case .http: ["1", "16", "lines", "streams", "sockets"]
      case .offline: ["add", "list", "replay", "current"]
      case .access: ["users", "classes", "fetch", "revocation", "grants", "flood", "batch", "tls", "watchers"]
      default: []
      }
    }

    var summary: String {
      switch self {
      case .commits: "durable notes a second: one, 16 and 64 clients, 100 notes a commit"
      case .mixed: "commits and fetches: one client that reads its own, 8 writers beside 8 readers"
      case .latency: "an update seen by another client: median and p99"
      case .fanout: "1,000 watching connections, one writer"
      case .idle: "the server's memory for an idle connection"
      case .snapshot: "100,000 notes to one client: time and memory"
      case .start: "the daemon's start, also after a crash and a power cut, its memory and its log; a command's start"
      case .apply: "applying the entries of the commit log"
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
      case .following: "1,000 objects through live, beside an observer of the context"
      case .contexts: "a commit of a background context beside one of the main actor's client"
      case .terminal: "cells to bytes and bytes to keys"
      case .offline: "edits and lists without the daemon, 10,000 unsent edits, a copy of 100,000 notes"
      case .http: "HTTP: one object, 100,000 objects as lines of JSON, event streams, and WebSockets"
      case .access: "accounts: 1,000 users, ten classes, revocation, a flood beside others, TLS, its watchers"
      }
    }
  }
}
