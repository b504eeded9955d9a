import GraphModel
import GraphReplica
import GraphWire

/// Undo and redo: the server makes them from history, as transactions of their own. They concern what was saved; what is
/// unsaved in the context stays.
extension GraphClient {
  /// A stack of undo for `context.undoScope`.
  /// - Parameter id: a stack from before, kept somewhere; nil makes a new one.
  public func undoScope(_ id: UniqueID? = nil) -> UndoScope {
    UndoScope(
      id: id ?? UniqueID(high: .random(in: 1 ... .max), low: .random(in: 0 ... .max)),
      after: .random(in: 0 ..< .max >> 1))
  }

  /// Takes back the author's newest step that is not undone. `committed.conflicts` of the answer name what others have
  /// changed since and what therefore stays.
  /// - Parameter scope: nil for all of the author's as if they were one.
  /// - Throws: `Refusal`, `notFound` when there is nothing to undo, `conflict` with all that stays when that is the whole step:
  ///   the next undo finds it again.
  public func undo(scope: UniqueID? = nil) async throws -> Saved {
    try await undo { UndoRequest($0, scope: scope) }
  }

  /// Takes back the step that a commit of this author belongs to; to take back an undo is to redo.
  /// - Throws: `Refusal`, `conflict` when it is undone already or nothing of it can be set back.
  public func undo(revision: Revision) async throws -> Saved {
    try await undo { UndoRequest($0, revision: revision) }
  }

  /// Does again what the author's newest undo took back, unless something else was saved since.
  /// - Parameter scope: nil for all of the author's as if they were one.
  /// - Throws: `Refusal`, `notFound` when there is nothing to redo, `conflict` with all that stays when that is the whole step.
  public func redo(scope: UniqueID? = nil) async throws -> Saved {
    try await undo { UndoRequest($0, scope: scope, redo: true) }
  }

  private func undo(_ request: (TransactionID) -> UndoRequest) async throws -> Saved {
    let id = context.newTransactionID()
    context.undo(request(id))
    return try await answer(to: id)
  }

  /// What undo and redo would take now, for a menu.
  /// - Parameter scope: nil for all of the author's as if they were one.
  /// - Throws: `Refusal` when there is no connection.
  public func undoState(scope: UniqueID? = nil) async throws -> UndoState {
    guard case .undoState(let state)? = try await ask(.undoState(scope: scope)).nextAnswer() else {
      throw Refusal(.unavailable, "the server did not say what can be undone")
    }
    return state
  }
}
