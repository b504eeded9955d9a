import GraphModel

/// The limits for the undo of one step.
///
/// An undo is planned and written as one transaction in memory. It takes about 2 KB per change of a small object, and
/// several times the size of the step's history and objects. A batch may be ten times as large; its undo is refused
/// then (docs/decisions/0012-batches.md explains why it is not undone in slices).
public struct UndoLimits: Sendable {
  /// The maximum number of changes in the step's commits.
  public var changes = 100_000
  /// The maximum size in bytes of the step's history, and of the present objects.
  public var bytes = 64 << 20

  /// Creates a server's limits.
  public init() {}

  func check(changes: Int, bytes: Int) throws {
    if changes > self.changes { throw Self.refusal("has more than \(self.changes) changes") }
    if bytes > self.bytes { throw Self.refusal("and its objects take more than \(self.bytes) bytes") }
  }

  /// The advice comes first, because a terminal may truncate the rest.
  private static func refusal(_ what: String) -> Refusal {
    Refusal(
      .limit,
      "the step \(what); undo older steps by their revision. It is too large to undo or redo as one. A restore has a "
        + "higher limit: restore an object with its contents, or the whole graph as of the revision before. A batch "
        + "with a predicate can also set values back or delete the new objects")
  }
}
