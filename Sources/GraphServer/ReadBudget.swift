// Tests: UserBudgetTests.swift
import GraphHub
import GraphModel

/// The limits of one fetch of a user. The machine's owner has none: the largest results are fetched on purpose.
struct ReadBudget: Sendable {
  let time: Duration
  let rows: Int

  init(_ limits: UserLimits) {
    (time, rows) = (.milliseconds(limits.fetchMilliseconds), limits.fetchedRows)
  }

  /// The refusal of a fetch that has found more objects or rows.
  var rowRefusal: Refusal {
    Refusal(.limit, "a fetch of a user finds at most \(rows) objects; narrow it, or set a limit and continue after it")
  }
}

/// Counts the objects and rows that one fetch has found.
struct FoundRows {
  private let budget: ReadBudget?
  private var count = 0

  /// - Parameter budget: nil for no limit.
  init(_ budget: ReadBudget?) { self.budget = budget }

  mutating func add(_ part: FetchElement) throws(Refusal) {
    count += 1
    if let budget, count > budget.rows { throw budget.rowRefusal }
  }
}
