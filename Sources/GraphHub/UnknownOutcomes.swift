// Tests: HubTests.swift
import GraphModel

/// The commits that were answered with an unknown outcome and may exist: reads would show them, live queries would not.
///
/// The hub asks the store for its newest state once a second until it is above the hub's, or until a later commit is
/// published, which shows the gap before it.
struct UnknownOutcomes {
  /// Whether such a commit may exist.
  private(set) var isPossible = false
  /// Whether the store is looking for its newest state.
  private var isLooking = false

  /// Observes the results of the writer, in their order.
  mutating func observe(_ results: [(ticket: StoreRequestID, result: WriteResult)]) {
    for (_, result) in results {
      if case .refused(let refusal) = result.outcome, refusal.isOutcomeUnknown {
        isPossible = true
      } else if result.record != nil {
        isPossible = false
      }
    }
  }

  /// Observes the failure of requests.
  mutating func observe(_ failure: StoreFailure) { if failure.isOutcomeUnknown { isPossible = true } }

  /// - Returns: whether the store must be asked now.
  mutating func beginSearch() -> Bool {
    guard isPossible, !isLooking else { return false }
    isLooking = true
    return true
  }

  /// Ends a search, with or without an answer.
  mutating func endSearch() { isLooking = false }

  /// The hub has all commits.
  mutating func resolve() { isPossible = false }
}
