import GraphClient
import GraphModel
import StickiesKit

/// A change of all notes that satisfy a condition, by the server and in one commit.
struct NoteBatch: Hashable {
  /// What becomes of them.
  enum Work: Hashable {
    /// A property gets a value, by its name.
    case set(String, Value)
    case delete
  }

  var notes: GraphPredicate
  var work: Work
  /// Whether locked notes are left as they are.
  var sparesLocked = true
}

/// What became of it.
struct NoteBatchResult: Hashable {
  /// Notes that it was done to, and locked ones that were left as they are.
  var count: Int
  var locked: Int
  /// Objects that the commit changed, with what went along; what an undo has to take back.
  var changed: Int
}

/// Makes such changes, each over a connection of its own: the server gives a batch up with the connection that asked for it, and
/// nothing of it stays, so that whoever waits can do so, too. The main actor protects what is here.
@MainActor
final class NoteBatches {
  /// Told how far a batch is.
  var didProgress: (BatchProgress) -> Void = { _ in }
  private let client: GraphClient
  private let user: String

  /// - Parameter user: the name that the client commits under: undo is of what a name has done.
  init(_ client: GraphClient, user: String) { (self.client, self.user) = (client, user) }

  func perform(_ batch: NoteBatch) async throws -> NoteBatchResult {
    let own = try await GraphClient.connect(
      to: client.address, model: client.context.model, options: GraphClient.Options(author: user))
    let result: Result<NoteBatchResult, any Error>
    do {
      result = .success(
        try await withTaskCancellationHandler {
          try Task.checkCancellation()
          return try await perform(batch, over: own)
        } onCancel: {
          Task { await own.close() }
        })
    } catch {
      result = .failure(error)
    }
    await own.close()
    return try result.get()
  }

  private func perform(_ batch: NoteBatch, over own: GraphClient) async throws -> NoteBatchResult {
    let entity = try own.noteEntity
    let free = GraphPredicate(Note.self) { $0.locked == false }
    let locked = GraphPredicate(Note.self) { $0.locked == true }
    let meant = batch.sparesLocked ? GraphPredicate.all([batch.notes, free]) : batch.notes
    var count = try await own.count(of: entity, where: meant)
    let spared = batch.sparesLocked ? try await own.count(of: entity, where: .all([batch.notes, locked])) : 0
    guard count > 0 else { return NoteBatchResult(count: 0, locked: spared, changed: 0) }
    let saved: GraphClient.BatchSaved
    switch batch.work {
    case .set(let name, let value):
      guard let property = entity.property(named: name) else { throw Refusal(.malformed, "a note has no \(name)") }
      saved = try await own.batchUpdate(entity, where: meant, set: [(property, .value(value))]) { progress in
        // Others may have come in between: the server says to how many it was done.
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
