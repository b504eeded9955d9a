import GraphModel

/// What the undo of one step may take. It is planned and written as one transaction, all of it in memory: some 2 KB for each
/// change of a small object, and several times the bytes of what the step's history and the objects hold. A batch may be ten
/// times as large, and is refused then (docs/decisions/0012-batches.md says why it is not undone in slices).
public struct UndoLimits: Sendable {
  /// Changes of the step's commits together.
  public var changes = 100_000
  /// Bytes of the step's history, and of the objects as they are.
  public var bytes = 64 << 20

  /// What a server allows.
  public init() {}

  func check(changes: Int, bytes: Int) throws {
    guard changes > self.changes || bytes > self.bytes else { return }
    let what =
      changes > self.changes
      ? "has more than \(self.changes) changes"
      : "and what it changed take more than \(self.bytes) bytes"
    // What to do comes first: a terminal may have room for no more.
    throw Refusal(
      .limit,
      "the step \(what); older ones are undone by their revision. It is too large to be taken back or done again as one. A "
        + "restore takes more: of an object with what was in it, or of the whole graph as of the revision before. Values can "
        + "be set back, and what was made can be deleted, with a batch and a predicate")
  }
}
