// Tests: PastContextTests.swift
import GraphModel

/// An attempt to edit the graph as it was: a programming error.
public struct ReadOnlyContextError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The revision of the context.
  public let revision: Revision
  /// The attempt, as a clause for people.
  public let what: String

  public var description: String {
    "\(what) in the graph as of revision \(revision): edit the object of the same id in the client's own context"
  }
}
