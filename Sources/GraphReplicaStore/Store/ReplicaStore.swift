// Tests: ReplicaStoreTests.swift
import GraphModel
import GraphStore
import Synchronization

import struct GraphModel.FetchRequest

/// A replica as a store that a server in this process serves: the mirror with the unsent edits over it. A commit is
/// planned by the rules, and is an unsent edit when it is acknowledged.
///
/// Programs therefore work without the server as they do with it: fetches, live queries, pages, searches and conflicts
/// take the same way through hub and client. Requests that need history are refused, with that reason.
///
/// Its revisions are its own, above all of a server (`ProvisionalRevision`). A client of the replica never sends them
/// to the server, because an intent has the mirror's. The queue is not held in memory.
public final class ReplicaStore: GraphStoring {
  public let model: Model
  /// The replica's folder.
  public let directory: String
  /// Names the states of this instance: an edit that is sent or discarded ends them.
  let storeID: UniqueID
  let mirror: MirrorStore
  let overlay: MirrorOverlay
  let unsent: UnsentFile
  let form: IntentForm
  /// The restores of the server before the mirror was opened.
  let restores: Int64
  /// The shown name of the user on the server.
  let owner: String
  /// The user's account on the server; nil without one. Then each program says who its user is.
  let account: Principal?
  /// Guarded by its mutex: reads come from several threads.
  let state: Mutex<State>

  struct State {
    /// The newest state that clients of this store were shown.
    var head: Revision
    /// The newest outcomes of this instance's commits, by the client's transaction id.
    var outcomes = [TransactionID: CommitResult]()
    /// The newest commits of this instance, oldest first.
    var records = [CommitRecord]()
    var related: PathQueryMatcher

    /// The commits whose outcomes are kept.
    private static let maximumRecords = 200

    mutating func keep(_ record: CommitRecord, _ result: CommitResult) {
      outcomes[record.transaction] = result
      records.append(record)
      if records.count <= Self.maximumRecords { return }
      for old in records.prefix(Self.maximumRecords / 2) { outcomes[old.transaction] = nil }
      records.removeFirst(Self.maximumRecords / 2)
    }
  }

  /// Opens the replica of a folder.
  /// - Parameters:
  ///   - file: the file of unsent edits if it is open already; the store closes it.
  ///   - random: returns random numbers, for the id of this instance.
  /// - Throws: `StoreFailure` if there is none, or none of this version of the model.
  package init(folder: String, model: Model, file: UnsentFile? = nil, random: () -> UInt64) throws {
    guard let unsent = try file ?? UnsentFile.open(folder: folder) else {
      throw StoreFailure(
        .notAStore, "there is no replica in \(folder)",
        advice: "Run stickies sync on while the server can be reached.")
    }
    self.unsent = unsent
    (self.model, directory, form) = (model, folder, IntentForm(model))
    storeID = UniqueID(high: random(), low: random())
    // Before the mirror: it may be that of the server before the restore.
    let replica = try unsent.replica
    (restores, owner, account) = (replica.restores, replica.author, replica.account)
    mirror = try MirrorStore(path: folder + "/" + Self.mirrorName, model: model)
    overlay = try mirror.makeOverlay(
      of: UnsentQueue(unsent, form: form, account: account), file: MirrorStore.plans(beside: mirror.path))
    state = Mutex(State(head: try overlay.newestRevision(), related: PathQueryMatcher(model: model)))
  }

  /// The name of the mirror in a replica's folder.
  package static let mirrorName = "mirror.sqlite"

  /// The refusal of what the replica does not have.
  static func needsServer(_ what: String) -> Refusal {
    Refusal(.unavailable, "\(what) needs the server, which can't be reached")
  }

  /// The revision above which objects have unsent edits.
  package var unsentAfter: Revision { ProvisionalRevision.base }

  func token(_ revision: Revision) -> Token {
    Token(store: storeID, revision: revision, fingerprint: UInt64(bitPattern: revision).mixed)
  }

  /// The number of unsent and of parked edits.
  package func counts() throws -> (unsent: Int, parked: Int) { try unsent.counts() }

  /// The number of the newest edit that was made here; numbers are never used again.
  package var newestEdit: Int64 { get throws { try unsent.replica.number } }

  // MARK: - GraphStoring: state

  public var olderModels: [Model] { [] }
  public var maximumDescriptors: Int { 8 }
  public var head: Token { token(state.withLock { $0.head }) }
  public var oldestRevision: Revision { ProvisionalRevision.base }

  public func recognizes(_ token: Token) throws -> Bool {
    token == self.token(token.revision) && token.revision <= head.revision
  }

  public func replica(_ id: UniqueID) throws -> KnownReplica? { nil }

  public func watch(_ query: LiveQuery, number: UInt64, seenBy visibility: Visibility?) {
    state.withLock { $0.related.insert(query, number: number, seenBy: visibility) }
  }

  public func unwatch(_ number: UInt64) { state.withLock { $0.related.remove(number) } }

  /// Nothing depends on references: every client of a replica sees all of it.
  public func recordReferences(_ isWanted: Bool) {}

  public func fileFailure() -> StoreFailure? { nil }

  public func settle() {}

  public func close() throws {
    overlay.close()
    mirror.close()
    unsent.close()
  }

  public func statistics() throws -> StoreStatistics {
    StoreStatistics(
      head: head, location: directory, size: MirrorStore.size(of: mirror.path), sequences: [])
  }
}
