// Tests: SyncCallsTests.swift
import Foundation
import GraphClient
import GraphModel
import GraphReplicaStore

/// The commands of `stickies sync` for a client that keeps a replica and reconnects (`options.reconnects`).
///
/// The client disconnects while a call works on the files of the replica, and each call returns when it is connected
/// again: to the server if it answers and sync is on, otherwise to the copy. Objects keep their instances. Without a
/// replica that the client moves to and from, each call throws `Refusal(.notFound)`.
extension GraphClient {
  /// Turns sync on: makes a copy if there is none, sends the edits that wait, and receives what others have committed.
  /// If there is a copy and no server answers, the edits are sent when it does.
  /// - Parameter contents: the part of the graph that the copy is to have from now on; nil for that of before, at first
  ///   everything that the user sees. With another part, the copy is loaded again.
  /// - Returns: what was sent and received; nil if no server answers.
  /// - Throws: `ConnectFailure` without a server if there is no copy or `contents` are given, `Refusal(.limit)` if the
  ///   copy would be too large, or the server's `Refusal`.
  @discardableResult
  public func turnSyncOn(keeping contents: OfflineReplica.Contents? = nil) async throws -> SyncReport? {
    try await withoutConnection { replica, connect in
      if contents == nil { return try await replica.turnOnIfReached(connect: connect) }
      return try await replica.turnOn(keeping: contents, connect: connect)
    }
  }

  /// Turns sync off: the client uses the copy from now on, also if the server answers. Edits wait until sync is on.
  public func turnSyncOff() async throws {
    try await withoutConnection { replica, connect in
      // The copy is to have all that the client has shown.
      _ = try? await replica.synchronize(connect: connect)
      try replica.turnOff()
    }
  }

  /// Sends the edits that wait, and receives what others have committed.
  /// - Throws: `ConnectFailure` if no server answers, `Refusal(.conflict)` while sync is off or another program
  ///   synchronizes, or the server's `Refusal`.
  @discardableResult
  public func synchronize() async throws -> SyncReport {
    try await withoutConnection { try await $0.synchronize(connect: $1) }
  }

  /// Loads the copy again, and turns sync on. Nothing is deleted on the server.
  /// - Parameter discardingUnsent: whether edits that wait or are in conflict are written to a file and removed;
  ///   otherwise they stay, and are sent.
  /// - Throws: `ConnectFailure` if no server answers: then nothing has changed.
  @discardableResult
  public func resetCopy(discardingUnsent: Bool = false) async throws -> OfflineReplica.ResetResult {
    try await withoutConnection {
      let (file, report) = try await $0.reset(discardingUnsent: discardingUnsent, connect: $1)
      return OfflineReplica.ResetResult(removedEdits: file.map { URL(fileURLWithPath: $0) }, report: report)
    }
  }

  /// The objects that `deleteEverywhere` would delete, for a question to the user: all that the user sees, after the
  /// copy was brought up to date.
  /// - Throws: `Refusal(.denied)` while sync is off or an edit waits or is in conflict.
  public func objectsToDeleteEverywhere() async throws -> OfflineReplica.Everything {
    let model = context.model
    return try await withoutConnection { replica, connect in
      _ = try await replica.synchronize(connect: connect)
      return try replica.objectsToDelete(model: model)
    }
  }

  /// Deletes objects here and on the server, in one transaction. Objects that others have changed since
  /// `objectsToDeleteEverywhere` stay.
  /// - Throws: `Refusal(.denied)` while sync is off or an edit waits or is in conflict, `Refusal(.conflict)` if the
  ///   server no longer has the state that the user saw.
  public func deleteEverywhere(_ everything: OfflineReplica.Everything) async throws -> OfflineReplica.DeleteOutcome {
    try await withoutConnection { try await $0.deleteEverywhere(everything, connect: $1) }
  }

  // MARK: - Edits that wait

  /// Queues an edit in conflict again, with the server's present values as its base.
  /// - Parameter policy: nil for the edit's own.
  /// - Throws: `Refusal(.notFound)` without such an edit, `Refusal(.conflict)` if it is not in conflict.
  public func retryConflict(_ number: Int64, policy: MergePolicy? = nil) async throws {
    let model = context.model
    try await withoutConnection { replica, _ in try replica.retry(number, policy: policy, model: model) }
  }

  /// Replaces an edit in conflict by another JSON form of it (`ParkedEdit.form`), and queues it again.
  /// - Throws: `Refusal(.malformed)` for a form that is none of this edit.
  public func replaceConflict(_ number: Int64, byForm form: String) async throws {
    let model = context.model
    try await withoutConnection { replica, _ in try replica.replace(number, by: form, model: model) }
  }

  /// Removes an edit that has not left or is in conflict, and later edits of objects that only it makes.
  /// - Returns: the JSON forms of the removed edits.
  @discardableResult
  public func discardEdit(_ number: Int64) async throws -> [String] {
    let model = context.model
    return try await withoutConnection { replica, _ in try replica.discard(number, model: model) }
  }

  /// Takes edits that another replica or a browser has exported, each with a number of its own here.
  /// - Parameter forms: the JSON forms. Undos are left out.
  /// - Returns: the numbers of the edits; those that the copy does not allow are in conflict.
  /// - Throws: `Refusal(.malformed)` for a form that can't be read: then none is taken.
  public func takeEdits(_ forms: [String]) async throws -> [Int64] {
    let model = context.model
    return try await withoutConnection { replica, _ in try replica.take(forms, model: model).numbers }
  }
}

extension OfflineReplica {
  /// The result of a reset.
  public struct ResetResult: Sendable {
    /// The file of the removed edits, one JSON form in each line; nil if there were none.
    public let removedEdits: URL?
    /// The counts of sent and received edits.
    public let report: SyncReport
  }

  /// The JSON forms of the edits that wait or are in conflict, in order (docs/guides/offline.md).
  /// - Throws: `Refusal(.notFound)` without a replica, `StoreFailure` if its file can't be read.
  public func exportedEdits() throws -> [String] {
    let unsent = try openUnsent()
    defer { unsent.close() }
    return try unsent.forms(after: 0, limit: .max).map(\.form)
  }
}
