/// The results of one measurement in all rounds: those of the daemon, and those of the baseline, if there is one. Both
/// alternate.
struct Builds<Result> {
  private(set) var ours = [Result]()
  private(set) var baseline = [Result]()

  mutating func measure(_ bench: Bench, _ body: (Bench) throws -> Result) rethrows {
    ours.append(try body(bench))
    if let other = bench.baseline { baseline.append(try body(other)) }
  }

  /// Measures on the stores of `Bench.filledStores`.
  mutating func measure(_ stores: [BuildStore], _ body: (Bench, String) throws -> Result) rethrows {
    for (number, store) in stores.enumerated() {
      let result = try body(store.bench, store.data)
      if number == 0 { ours.append(result) } else { baseline.append(result) }
    }
  }

  /// The median of a value in each result.
  func median(_ value: (Result) -> Double) -> (ours: Double, baseline: Double?) {
    (graph_bench.median(ours.map(value)), baseline.isEmpty ? nil : graph_bench.median(baseline.map(value)))
  }
}

/// A data directory that a build has written.
struct BuildStore {
  let bench: Bench
  let data: String
}

extension Bench {
  /// Creates a store of each build with this many notes; the first one is that of the daemon.
  func filledStores(_ count: Int) throws -> [BuildStore] {
    try builds.map { BuildStore(bench: $0, data: try $0.filledStore(count)) }
  }
}

extension Builds<Double> {
  var median: (ours: Double, baseline: Double?) { median { $0 } }
}
