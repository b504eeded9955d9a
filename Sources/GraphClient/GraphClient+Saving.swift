import GraphModel
import GraphReplica

extension GraphClient {
  /// Saves the context's changes as one transaction and waits until they are on the server's disk.
  /// - Parameters:
  ///   - policy: resolves conflicts with other clients' changes.
  ///   - requirements: conditions on objects that other clients must not have changed; otherwise the save is refused
  ///     under every policy.
  ///   - undo: the group of its undo step; nil for the open or a new group of the context's scope.
  /// - Returns: nil when there was nothing to save.
  /// - Throws: `Refusal`; the edits are unsaved again then. Edits of objects that the server does not know (the rule
  ///   `missing`) are discarded with those objects, and the context's observers are notified.
  @discardableResult
  public func save(
    policy: MergePolicy = .error, requiring requirements: [SaveRequirement] = [], undo: UndoGroup? = nil
  ) async throws -> SaveResult? {
    if let refusal = refusalWithoutServer(policy) { throw refusal }
    guard let id = context.save(policy: policy, requiring: requirements, undo: undo) else { return nil }
    return try await answer(to: id)
  }

  /// Commits changes that bypass the context, and waits until they are on the server's disk.
  /// - Parameter undo: the group of its undo step; nil makes it a step of its own.
  /// - Throws: `Refusal`; nothing was written then, unless it is `unavailable`, when it may have been.
  public func commit(_ changes: [Change], policy: MergePolicy, undo: UndoGroup? = nil) async throws -> SaveResult {
    let id = context.newTransactionID()
    context.handle(.save(Transaction(id: id, policy: policy, undo: undo, changes: changes)))
    return try await answer(to: id)
  }

  func answer(to id: TransactionID) async throws -> SaveResult {
    guard state != .closed else { throw Refusal(.unavailable, "the connection is closed; nothing was sent") }
    return try await withCheckedThrowingContinuation { continuation in
      saves[id] = continuation
      perform()
    }
  }

  /// Saves the context's current changes as one transaction, and calls `body` with the outcome.
  /// - Returns: false when there was nothing to save; `body` is not called then.
  public func save(
    policy: MergePolicy = .error, undo: UndoGroup? = nil, body: @escaping (Result<SaveResult, Refusal>) -> Void
  ) -> Bool {
    if let refusal = refusalWithoutServer(policy) {
      Task { body(.failure(refusal)) }
      return true
    }
    guard let id = context.save(policy: policy, undo: undo) else { return false }
    Task {
      do {
        body(.success(try await answer(to: id)))
      } catch {
        body(.failure(error as? Refusal ?? Refusal(.unavailable, "\(error)")))
      }
    }
    return true
  }

  /// Refuses edits that violate a rule by themselves while there is no server; they stay unsaved. In a queued save
  /// they would be refused long after the user made them.
  private func refusalWithoutServer(_ policy: MergePolicy) -> Refusal? {
    state == .connected || state == .closed ? nil : context.foreseenRefusal(policy: policy)
  }
}
