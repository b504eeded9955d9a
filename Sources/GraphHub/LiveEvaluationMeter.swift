// Tests: LiveEvaluationTests.swift
import GraphModel

/// Limits the steps of evaluating live queries for one commit, because the evaluation blocks the event loop.
///
/// Queries are evaluated in a fixed order. When the total is spent, every further query has its own share, so that
/// cheap queries still get their deltas after an expensive one; past four times the total, no query is evaluated. The
/// steps are counted, never timed: equal commits have equal effects.
final class LiveEvaluationMeter {
  private let total: Int
  private let share: Int
  private var spent = 0
  /// The steps of each query since the total was spent.
  private var shares = [UInt64: Int]()
  /// The queries whose effects are incomplete.
  private(set) var stopped = Set<UInt64>()

  /// - Parameter total: the steps of all queries together.
  init(total: Int) { (self.total, share) = (total, total / 32) }

  /// Evaluates a query for one object.
  /// - Parameters:
  ///   - steps: the estimated steps.
  ///   - isLong: whether the object has a long text, whose steps are counted during the evaluation.
  /// - Returns: nil if the query is stopped.
  func evaluate<Result>(_ number: UInt64, steps: Int, isLong: Bool, _ body: () -> Result) -> Result? {
    if stopped.contains(number) { return nil }
    guard charge(steps, to: number) else { return stop(number) }
    if !isLong { return body() }
    return Cancellation.run(while: { charge(Cancellation.pollInterval, to: number) }) {
      let result = body()
      return Cancellation.isCancelled ? stop(number) : result
    }
  }

  /// - Returns: whether the query may continue.
  private func charge(_ steps: Int, to number: UInt64) -> Bool {
    assert(steps >= 0, "a charge is not negative")
    spent += steps
    if spent <= total { return true }
    shares[number, default: 0] += steps
    return spent <= 4 * total && shares[number, default: 0] <= share
  }

  private func stop<Result>(_ number: UInt64) -> Result? {
    stopped.insert(number)
    return nil
  }
}

extension ObjectChange {
  /// Whether the object has, or had, a text whose evaluation takes more steps than are estimated.
  var hasLongText: Bool { before?.hasLongText == true || after?.hasLongText == true }
}

extension ObjectImage {
  fileprivate var hasLongText: Bool {
    values.contains { if case .string(let text) = $0 { text.utf8.count >= Cancellation.uncountedSize } else { false } }
  }
}
