import Foundation

/// The number of seeds for random tests: a few in each test run, multiplied by `GRAPH_SWEEP`, which `scripts/sweep`
/// sets.
public enum SeedSweep {
  private static let times =
    ProcessInfo.processInfo.environment["GRAPH_SWEEP"].flatMap { Int($0) }.map { min(max($0, 1), 10_000) } ?? 1

  /// The seeds from 0, `count` of them or a multiple.
  public static func seeds(_ count: Int) -> Range<UInt64> { 0..<UInt64(count * times) }
}
