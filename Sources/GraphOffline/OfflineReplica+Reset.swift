// Tests: SynchronizerTests.swift
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
  /// - Parameter discardingUnsent: whether the unsent edits are written to a file and removed.
  /// - Returns: the path of that file, if there were edits.
  package func reset(
    discardingUnsent: Bool, connect: Connect
  ) async throws -> (file: String?, report: SyncReport) {
    guard let current = folder.current else { throw Self.none }
    let file = try await prepareReset(current, discardingUnsent: discardingUnsent)
    // The state makes the run load the copy, and turns sync on.
    return (file, try await synchronize(connect: connect))
  }

  private func prepareReset(_ current: String, discardingUnsent: Bool) async throws -> String? {
    let unsent = try openUnsent()
    defer { unsent.close() }
    guard let lock = try SenderLock.acquire(folder: current) else {
      throw Refusal(.conflict, "another program is synchronizing this replica now")
    }
    defer { withExtendedLifetime(lock) {} }
    let counts = try unsent.counts()
    guard discardingUnsent, counts.unsent + counts.parked > 0 else {
      try unsent.setState(.discarding(step: 2))
      return nil
    }
    let file = current + "/discarded-\(now()).jsonl"
    try writeAll(of: unsent, to: file)
    try unsent.setState(.discarding(step: 1))
    try unsent.discardAll()
    try unsent.setState(.discarding(step: 2))
    return file
  }

  /// Writes the JSON forms, one in each line; they are on disk when this returns.
  private func writeAll(of unsent: UnsentFile, to file: String) throws {
    guard FileManager.default.createFile(atPath: file, contents: nil, attributes: [.posixPermissions: 0o600]),
      let handle = FileHandle(forWritingAtPath: file)
    else { throw StoreFiles.failure("\(file) can't be written", errno) }
    defer { try? handle.close() }
    var page = try unsent.forms(after: 0, limit: Self.page)
    do {
      while let last = page.last {
        try handle.write(contentsOf: Data(page.map { $0.form + "\n" }.joined().utf8))
        page = try unsent.forms(after: last.number, limit: Self.page)
      }
      try handle.synchronize()
    } catch {
      if error is StoreFailure { throw error }
      throw StoreFailure(.full, "\(file) can't be written", cause: "\(error)", advice: "Free some space.")
    }
    try StoreFiles.synchronize(directory: URL(fileURLWithPath: file).deletingLastPathComponent().path)
  }

  /// The edits that are in memory at a time.
  private static let page = 500

  // MARK: - Deleting everything

  /// The objects that a delete of everything would delete.
  /// - Throws: `Refusal(.denied)` while sync is off or an edit was not sent.
  package func objectsToDelete(model: Model) throws -> [ObjectID] {
    let unsent = try openUnsent()
    defer { unsent.close() }
    let counts = try unsent.counts()
    guard try unsent.replica.state != .off, counts.unsent + counts.parked == 0 else {
      throw Refusal(
        .denied, "everything can be deleted while sync is on, no edit waits and none is in conflict: see stickies sync")
    }
    let mirror = try MirrorStore(path: path + "/" + ReplicaStore.mirrorName, model: model)
    defer { mirror.close() }
    let overlay = try mirror.makeOverlay()
    defer { overlay.close() }
    var ids = [ObjectID]()
    try overlay.export(begin: { _ in }, body: { ids.append($0.id) })
    return ids
  }

  /// The result of a delete of everything.
  package struct DeleteOutcome: Sendable {
    package var deleted = 0
    /// The objects that stay, because others have changed them or objects that depend on them.
    package var kept = [ObjectID]()
  }

  /// Deletes objects here and on the server, in one transaction with the revision that the user saw as its base.
  package func deleteEverywhere(_ objects: [ObjectID], connect: Connect) async throws -> DeleteOutcome {
    guard let current = folder.current else { throw Self.none }
    let unsent = try openUnsent()
    defer { unsent.close() }
    let client = try await connect(try unsent.replica.id)
    do {
      let outcome = try await delete(objects, unsent, client, current)
      await client.close()
      _ = try await synchronize(connect: connect)
      return outcome
    } catch {
      await client.close()
      throw error
    }
  }

  private func delete(
    _ objects: [ObjectID], _ unsent: UnsentFile, _ client: GraphClient, _ current: String
  ) async throws -> DeleteOutcome {
    guard let lock = try SenderLock.acquire(folder: current) else {
      throw Refusal(.conflict, "another program is synchronizing this replica now")
    }
    defer { withExtendedLifetime(lock) {} }
    let mirror = try await openMirror(current, client)
    defer { mirror.close() }
    let seen = try mirror.head.revision
    var outcome = DeleteOutcome()
    var remaining = Set(objects)
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
