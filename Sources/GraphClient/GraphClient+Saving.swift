import GraphModel
import GraphReplica

extension GraphClient {
  /// Saves the context's changes as one transaction, as they are at this moment, and goes on; `body` is told what became of
  /// it.
  /// - Returns: false when there was nothing to save; then nothing is told.
  public func save(
    policy: MergePolicy = .error, undo: UndoGroup? = nil, body: @escaping (Result<Saved, Refusal>) -> Void
  ) -> Bool {
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
}
