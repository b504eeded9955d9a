// Tests: CommitTests.swift
import GraphModel

/// Test only: places at which the simulation and tests change the behavior of the store, so that a check must detect
/// it.
///
/// By default no hook is set, and the store keeps its promises. A program outside this package can't set any.
package struct StoreHooks: Sendable {
  /// Runs a statement on the writer's connection.
  package typealias Execute = (_ sql: String) throws -> Void

  /// Called with each new connection of the writer, after its durability was verified.
  package var didOpenWriter: (@Sendable (_ execute: Execute) throws -> Void)?
  /// Called before the BEGIN of each commit.
  package var willBegin: (@Sendable (_ isInTransaction: Bool, _ execute: Execute) throws -> Void)?
  /// Called in place of each COMMIT.
  package var commit: (@Sendable (_ commit: () throws -> Void) throws -> Void)?
  /// Replaces the known outcome of a transaction that is about to run.
  package var earlierOutcome: (@Sendable (Outcome?) -> Outcome?)?
  /// Alters the plan of each transaction before the writer checks it.
  package var alterPlan: (@Sendable (inout TransactionPlan, Model) throws -> Void)?
  /// Replaces an object's past as the planner reads it.
  package var past: (@Sendable ([PastChange]) -> [PastChange])?
  /// Called when a statement begins to run, with whether it runs on a reader's connection.
  package var willRunStatement: (@Sendable (_ isReader: Bool) -> Void)?
  /// Called before SQLite's log is read for a comparison, with the number of bytes.
  package var willReadLog: (@Sendable (_ bytes: Int) -> Void)?

  /// Whether reads do not see the commits that have gathered.
  package var hidesGathered = false
  /// Whether SQLite's log is not synced before the commit log is released.
  package var skipsSync = false

  package init() {}
}
