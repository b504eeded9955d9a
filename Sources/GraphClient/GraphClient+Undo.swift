import GraphModel
import GraphReplica
import GraphWire

/// Undo and redo, which the server computes from history and commits as transactions of their own. They concern saved
/// changes; unsaved edits in the context stay.
extension GraphClient {
  /// An undo stack for `context.undoScope`.
  /// - Parameter id: the id of an existing stack; nil makes a new one.
  public func undoScope(_ id: UniqueID? = nil) -> UndoScope {
    UndoScope(
      id: id ?? UniqueID(high: .random(in: 1 ... .max), low: .random(in: 0 ... .max)),
      after: .random(in: 0 ..< .max >> 1))
  }

  /// Undoes the author's newest step that is not undone. `committed.conflicts` of the answer lists what other authors
  /// have changed since, and what therefore stays.
  /// - Parameter scope: nil for all of the author's scopes as if they were one.
  /// - Throws: `Refusal`, `notFound` when there is nothing to undo, `conflict` with all conflicts when they prevent
  ///   the entire step; the next undo attempts that step again.
  public func undo(scope: UniqueID? = nil) async throws -> SaveResult {
    try await undo { UndoRequest($0, scope: scope) }
  }

  /// Undoes the step that a commit of this author belongs to; undoing an undo is a redo.
  /// - Throws: `Refusal`, `conflict` when it is already undone or nothing of it can be reverted.
  public func undo(revision: Revision) async throws -> SaveResult {
    try await undo { UndoRequest($0, revision: revision) }
  }

  /// Redoes what the author's newest undo reverted, unless something else was saved since.
  /// - Parameter scope: nil for all of the author's scopes as if they were one.
  /// - Throws: `Refusal`, `notFound` when there is nothing to redo, `conflict` with all conflicts when they prevent
  ///   the entire step.
  public func redo(scope: UniqueID? = nil) async throws -> SaveResult {
    try await undo { UndoRequest($0, scope: scope, redo: true) }
  }

  private func undo(_ request: (TransactionID) -> UndoRequest) async throws -> SaveResult {
    let id = context.newTransactionID()
    context.undo(request(id))
    return try await answer(to: id)
  }

  /// The next undo and redo steps, for a menu.
  /// - Parameter scope: nil for all of the author's scopes as if they were one.
  /// - Throws: `Refusal` when there is no connection.
  public func undoState(scope: UniqueID? = nil) async throws -> UndoState {
    guard case .undoState(let state)? = try await ask(.undoState(scope: scope)).nextAnswer() else {
      throw Refusal(.unavailable, "the server did not say what can be undone")
    }
    return state
  }
}
