// Tests: ResetTests.swift
import Foundation
import GraphClient
import GraphModel
import GraphReplica
import GraphReplicaStore
import GraphStore

/// *Delete local and resync*, and *delete local and remote*.
///
/// Each step is durable before the next one, and a start completes or reverts an interrupted command: a kill at any
/// point leaves a complete copy, and every unsent edit in the queue or in the file that the command has named.
extension OfflineReplica {
  /// Loads the copy again. It makes no delete on the server.
  ///
  /// Nothing happens unless the server answers. If it is lost afterwards, the error names their file, and
  /// the next run completes the reset.
  /// - Parameter discardingUnsent: whether the unsent edits are written to a file and removed.
  /// - Returns: the path of that file, if there were edits.
  package func reset(
    discardingUnsent: Bool, connect: Connect
  ) async throws -> (file: String?, report: SyncReport) {
    guard let current = folder.current else { throw Self.none }
    // Without the server nothing changes: a copy that is off stays off.
    let client = try await connect(nil)
    await client.close()
    let file = try prepareReset(current, discardingUnsent: discardingUnsent)
    do {
      // The state makes the run load the copy, and turns sync on.
      return (file, try await synchronize(connect: connect))
    } catch {
      guard let file else { throw error }
      throw Self.failure(error, removed: file)
    }
  }

  /// An error of a run after edits were removed.
  private static func failure(_ error: any Error, removed file: String) -> Refusal {
    let place = "the removed edits are in \(file)"
    guard var refusal = error as? Refusal else { return Refusal(.unavailable, "\(error); \(place)") }
    refusal.message += "; \(place)"
    return refusal
  }

  private func prepareReset(_ current: String, discardingUnsent: Bool) throws -> String? {
    let unsent = try openUnsent()
    defer { unsent.close() }
    guard let lock = try SenderLock.acquire(folder: current) else { throw Self.isSynchronizing }
    defer { withExtendedLifetime(lock) {} }
    let counts = try unsent.counts()
    guard discardingUnsent, counts.unsent + counts.parked > 0 else {
      try unsent.setState(.discarding(step: 2))
      return nil
    }
    let file = current + "/discarded-\(now()).jsonl"
    do {
      try discardAll(of: unsent, into: file)
    } catch {
      // The edits are still in the queue.
      try? FileManager.default.removeItem(atPath: file)
      throw error
    }
    return file
  }

  /// Moves the JSON forms to a file, one in each line; they are on disk before they leave the queue.
  private func discardAll(of unsent: UnsentFile, into file: String) throws {
    guard FileManager.default.createFile(atPath: file, contents: nil, attributes: [.posixPermissions: 0o600]),
      let handle = FileHandle(forWritingAtPath: file)
    else { throw StoreFiles.failure("\(file) can't be written", errno) }
    defer { try? handle.close() }
    func write(_ body: () throws -> Void) throws {
      do {
        try body()
      } catch {
        throw StoreFailure(.full, "\(file) can't be written", cause: "\(error)", advice: "Free some space.")
      }
    }
    try unsent.discardAll(
      keep: { forms in
        try write { try handle.write(contentsOf: Data(forms.map { $0 + "\n" }.joined().utf8)) }
      },
      finish: {
        try write { try handle.synchronize() }
        try StoreFiles.synchronize(directory: URL(fileURLWithPath: file).deletingLastPathComponent().path)
      })
  }

  // MARK: - Deleting everything

  /// The objects that a user is asked to delete, and the state in which the user sees them.
  public struct Everything: Sendable, Equatable {
    /// The objects, also boards and tags.
    public let objects: [ObjectID]
    /// The base of the delete: what others change after it stays.
    package let seen: Token

    package init(_ objects: [ObjectID], seen: Token) { (self.objects, self.seen) = (objects, seen) }

    /// The number of objects.
    public var count: Int { objects.count }
    /// Whether there is nothing to delete.
    public var isEmpty: Bool { objects.isEmpty }
  }

  /// The objects that a delete of everything would delete. In a copy of some scopes these are the objects of the
  /// scopes: those that all scopes share are in use outside of it.
  /// - Throws: `Refusal(.denied)` while sync is off or an edit was not sent.
  package func objectsToDelete(model: Model) throws -> Everything {
    try checkNothingWaits()
    let mirror = try MirrorStore(path: path + "/" + ReplicaStore.mirrorName, model: model)
    defer { mirror.close() }
    let overlay = try mirror.makeOverlay()
    defer { overlay.close() }
    var ids = [ObjectID]()
    // Before the objects: a change that another program receives meanwhile is one that the user has not seen.
    let seen = try mirror.head
    try overlay.export(begin: { _ in }) { image in
      if mirror.kept?.contains(image, of: model) != false { ids.append(image.id) }
    }
    return Everything(ids, seen: seen)
  }

  private func checkNothingWaits() throws {
    let unsent = try openUnsent()
    defer { unsent.close() }
    let counts = try unsent.counts()
    guard try unsent.replica.state != .off, counts.unsent + counts.parked == 0 else {
      throw Refusal(
        .denied, "everything can be deleted while sync is on, no edit waits and none is in conflict: see stickies sync")
    }
  }

  /// The result of a delete of everything.
  public struct DeleteOutcome: Sendable {
    /// The number of deleted objects.
    public var deleted = 0
    /// The objects that stay, because others have changed them or objects that depend on them.
    public var kept = [ObjectID]()
  }

  /// Deletes objects here and on the server, in one transaction with the state that the user saw as its base.
  ///
  /// The replica is synchronized first, so that a copy of it has an id of its own, and another store or user is
  /// noticed.
  /// - Throws: `Refusal(.denied)` while sync is off or an edit was not sent, `Refusal(.conflict)` if the server no
  ///   longer has the state that the user saw.
  package func deleteEverywhere(_ everything: Everything, connect: Connect) async throws -> DeleteOutcome {
    guard let current = folder.current else { throw Self.none }
    try checkNothingWaits()
    _ = try await synchronize(connect: connect)
    let unsent = try openUnsent()
    defer { unsent.close() }
    let client = try await connect(try unsent.replica.id)
    do {
      let outcome = try await delete(everything, unsent, client, current)
      await client.close()
      _ = try await synchronize(connect: connect)
      return outcome
    } catch {
      await client.close()
      throw error
    }
  }

  private func delete(
    _ everything: Everything, _ unsent: UnsentFile, _ client: GraphClient, _ current: String
  ) async throws -> DeleteOutcome {
    guard let lock = try SenderLock.acquire(folder: current) else { throw Self.isSynchronizing }
    defer { withExtendedLifetime(lock) {} }
    try checkNothingWaits()
    let (replica, server) = (try unsent.replica, try client.server)
    // Otherwise the server would answer with the outcome of another transaction.
    guard server.store == replica.store, UTF8Comparison.equal(server.principal, replica.principal),
      server.lastSequence <= replica.left
    else { throw Refusal(.conflict, "another copy of this replica has been used meanwhile: try again") }
    guard try await client.has(everything.seen) else {
      throw Refusal(
        .conflict, "the server no longer has the state that you saw: it was restored from a backup; look at it again")
    }
    let mirror = try await openMirror(current, client, kept: replica.kept)
    defer { mirror.close() }
    let seen = everything.seen.revision
    var outcome = DeleteOutcome()
    var remaining = Set(everything.objects)
    while !remaining.isEmpty {
      let id = try unsent.beginDelete(at: seen)
      let changes = remaining.sorted().map { Change(.delete, $0, base: seen) }
      do {
        let transaction = Transaction(id: id, policy: .error, changes: changes)
        _ = try await client.sendAlone(transaction)
        outcome.deleted = remaining.count
        break
      } catch let refusal as Refusal where refusal.code == .conflict && !refusal.conflicts.isEmpty {
        let kept = try closure(of: Set(refusal.conflicts.map(\.id)), in: mirror).intersection(remaining)
        try invariant(!kept.isEmpty, "a delete conflicts about objects that it deletes")
        remaining.subtract(kept)
        outcome.kept += kept.sorted()
      }
    }
    try unsent.setState(.on)
    return outcome
  }

  /// The objects, and all that they refer to: a delete of those would delete them, too.
  private func closure(of ids: Set<ObjectID>, in mirror: MirrorStore) throws -> Set<ObjectID> {
    var (found, waiting) = (ids, Array(ids))
    while let id = waiting.popLast() {
      guard let image = try mirror.image(of: id) else { continue }
      for other in image.values.flatMap(\.objectIDs) where found.insert(other).inserted { waiting.append(other) }
    }
    return found
  }
}

extension GraphClient {
  /// Sends a transaction under its own id, and waits for its outcome.
  fileprivate func sendAlone(_ transaction: Transaction) async throws -> SaveResult {
    let (outcomes, outcome) = AsyncStream<Result<SaveResult, Refusal>>.makeStream()
    send([(transaction.id, .save(transaction))]) { outcome.yield($1) }
    var iterator = outcomes.makeAsyncIterator()
    guard let result = await iterator.next(isolation: #isolation) else { throw GraphClient.unknownOutcome }
    return try result.get()
  }
}
