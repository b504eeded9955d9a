import Foundation

/// How many seeds a random test tries: a few in each run of the tests, as many times more as `GRAPH_SWEEP` says, which
/// `scripts/sweep` sets.
public enum Sweep {
  private static let times =
    ProcessInfo.processInfo.environment["GRAPH_SWEEP"].flatMap { Int($0) }.map { min(max($0, 1), 10_000) } ?? 1

  /// The numbers from 0 of as many seeds as the sweep makes of `count`.
  public static func seeds(_ count: Int) -> Range<UInt64> { 0..<UInt64(count * times) }
}
