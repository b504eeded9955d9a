import GraphClient
import GraphModel
import GraphOffline
import StickiesKit

/// A change of all notes that satisfy a predicate, made by the server in one commit.
struct NoteBatch: Hashable {
  /// The kind of change.
  enum Operation: Hashable {
    /// Sets a property to a value.
    case set(PropertyNumber, Value)
    case delete
  }

  var notes: GraphPredicate
  var work: Operation
  /// Whether locked notes remain unchanged.
  var sparesLocked = true
}

/// The outcome of a `NoteBatch`.
struct NoteBatchResult: Hashable {
  /// The number of changed notes, and of locked notes that remained unchanged.
  var count: Int
  var locked: Int
  /// The number of objects that the commit changed, cascades included; an undo has to revert them.
  var changed: Int
}

/// Performs batches, each over a connection of its own. Closing that connection makes the server cancel the batch
/// without a trace, so the user can cancel it. The main actor protects the state.
@MainActor
final class NoteBatches {
  /// Called with the progress of a batch.
  var didProgress: (BatchProgress) -> Void = { _ in }
  private let client: GraphClient
  private let user: String

  /// - Parameter user: the author of the client's commits; undo covers the commits of one author.
  init(_ client: GraphClient, user: String) { (self.client, self.user) = (client, user) }

  func perform(_ batch: NoteBatch) async throws -> NoteBatchResult {
    if client.isOffline { throw Refusal(.unavailable, "a change of all notes needs the server") }
    let own = try await GraphClient.connect(
      to: client.address, model: client.context.model, options: client.options(author: user))
    let result: Result<NoteBatchResult, any Error>
    do {
      result = .success(
        try await withTaskCancellationHandler {
          try Task.checkCancellation()
          return try await perform(batch, over: own)
        } onCancel: { [link = own.link] in
          link.closeLater()
        })
    } catch {
      result = .failure(error)
    }
    await own.close()
    return try result.get()
  }

  private func perform(_ batch: NoteBatch, over own: GraphClient) async throws -> NoteBatchResult {
    let entity = own.noteEntity
    let free = GraphPredicate(Note.self) { $0.locked == false }
    let locked = GraphPredicate(Note.self) { $0.locked == true }
    let meant = batch.sparesLocked ? GraphPredicate.all([batch.notes, free]) : batch.notes
    var count = try await own.count(of: entity, where: meant)
    let spared = batch.sparesLocked ? try await own.count(of: entity, where: .all([batch.notes, locked])) : 0
    guard count > 0 else { return NoteBatchResult(count: 0, locked: spared, changed: 0) }
    let saved: GraphClient.BatchResult
    switch batch.work {
    case .set(let number, let value):
      guard let property = entity.property(number) else {
        preconditionFailure("the built-in model has no property \(number) of notes")
      }
      saved = try await own.batchUpdate(entity, where: meant, set: [(property, .value(value))]) { progress in
        // Other clients may have committed in between, so the count is taken from the server.
        if progress.total > 0 { count = progress.total }
        didProgress(progress)
      }
    case .delete:
      saved = try await own.batchDelete(entity, where: meant) { progress in
        if progress.total > 0 { count = progress.total }
        didProgress(progress)
      }
    }
    if saved.changed == 0 { count = 0 }
    return NoteBatchResult(count: count, locked: spared, changed: saved.changed ?? count)
  }
}
