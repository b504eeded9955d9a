extension Bench {
  private static let queryCounts = [0, 100, 1_000, 10_000]

  private enum Kind: String, CaseIterable {
    case equality = "x == …"
    case range = "x BETWEEN …"

    var row: String { self == .equality ? "equality" : "range" }

    /// Returns a predicate that no moved note satisfies.
    func predicate(_ number: Int) -> String {
      switch self {
      case .equality: "x == \(-1_000 - number)"
      case .range: "x BETWEEN {\(-1_000 - number), \(-999.5 - Double(number))}"
      }
    }
  }

  /// Measures the cost of a commit against the number of distinct live queries that it does not touch. They use the
  /// property that it changes, so the daemon cannot skip them by the property's name.
  func measureLiveQueries() throws {
    for kind in Kind.allCases where selection.includes(.queries, kind.row) {
      for bench in builds {
        var curve = Curve("a move beside live queries, `\(kind.rawValue)`\(bench.suffix)")
        for count in Self.queryCounts { curve.add(Figure.text(Double(count)), try bench.cost(beside: count, kind)) }
        curve.report()
      }
    }
  }

  private func cost(beside count: Int, _ kind: Kind) throws -> CommitCost {
    let data = place("queries")
    let daemon = try Daemon(self, data: data)
    defer { daemon.stop() }
    let writer = try WireClient(daemon.unix)
    var mover = try NoteMover(writer, making: 256, on: try writer.insertBoard())
    // The queries are divided among ten connections; a connection may have 16,384.
    let watchers = try (0..<10).map { part in
      let watcher = try WireClient(daemon.unix)
      try watcher.subscribe("Note", where: (0..<(count / 10)).map { kind.predicate(part * (count / 10) + $0) })
      return watcher
    }
    return try withExtendedLifetime(watchers) { try .measure(daemon, data: data) { try mover.move() } }
  }
}
