// Tests: ReplicaStoreTests.swift
import GraphModel
import GraphStore
import Synchronization

import struct GraphModel.FetchRequest

/// A replica as a store for a server in this process: the mirror of the server's objects, with the unsent edits
/// applied. A commit is checked against the rules of the model, appended to the unsent edits, and then acknowledged.
///
/// A program therefore works the same with and without the server: fetches, live queries, pages, searches and conflicts
/// use the same hub and client. Requests that need history are refused with that reason.
///
/// Its revisions are its own: the mirror's newest one, and one more for each unsent edit. A client of the replica never
/// sends them to the server, because an intent has the mirror's.
public final class ReplicaStore: GraphStoring {
  public let model: Model
  /// The replica's folder.
  public let directory: String
  /// Identifies the states of this instance. They become invalid when an edit is sent or discarded.
  let storeID: UniqueID
  let mirror: MirrorStore
  let overlay: MirrorOverlay
  let unsent: UnsentFile
  let form: IntentForm
  /// Guarded by its mutex: reads come from several threads.
  let state: Mutex<State>

  struct State {
    /// The newest state that clients of this store were shown.
    var head: Revision
    /// The mirror's newest revision when the queue was planned.
    var base: Revision
    /// The objects that the server has made of unsent ones, which clients may still name by their provisional ids.
    var made = UnsentFile.MadeObjects()
    /// The version of the file of unsent edits that the queue is of.
    var version: Int64 = 0
    /// The queue, oldest first, with the plans of this instance.
    var queue = [Intent]()
    var plans = [Int64: PlannedEdit]()
    /// The texts that unsent edits change.
    var texts = [ObjectID: Set<PropertyNumber>]()
    /// The outcomes of this instance's commits, by the client's transaction id.
    var outcomes = [TransactionID: CommitResult]()
    /// The commits of this instance, oldest first.
    var records = [CommitRecord]()
    var related: PathQueryMatcher
  }

  /// Opens the replica of a folder.
  /// - Parameter random: returns random numbers, for the id of this instance.
  /// - Throws: `StoreFailure` if there is none, or none of this version of the model.
  package init(folder: String, model: Model, random: () -> UInt64) throws {
    guard let unsent = try UnsentFile.open(folder: folder) else {
      throw StoreFailure(
        .notAStore, "there is no replica in \(folder)",
        advice: "Run stickies sync on while the server can be reached.")
    }
    self.unsent = unsent
    (self.model, directory, form) = (model, folder, IntentForm(model))
    storeID = UniqueID(high: random(), low: random())
    mirror = try MirrorStore(path: folder + "/" + Self.mirrorName, model: model)
    overlay = try mirror.makeOverlay()
    state = Mutex(State(head: 0, base: 0, related: PathQueryMatcher(model: model)))
    try state.withLock { try reload(&$0) }
  }

  /// The name of the mirror in a replica's folder.
  package static let mirrorName = "mirror.sqlite"

  /// Reads the queue and plans it again.
  func reload(_ state: inout State) throws {
    state.version = try unsent.version
    let entries = try unsent.entries(form)
    state.made = try unsent.madeObjects(model)
    state.queue = []
    state.texts = [:]
    var edits = [UnsentEdit]()
    for entry in entries {
      guard var intent = entry.intent, !intent.isParked else { continue }
      intent.rename(state.made.ids, madeAt: state.made.revisions)
      state.queue.append(intent)
      note(intent, &state)
      if let edit = intent.edit(usedNumbers: entry.used) { edits.append(edit) }
    }
    let planned = try overlay.show(edits)
    state.plans = Dictionary(planned.map { ($0.number, $0) }, uniquingKeysWith: { $1 })
    state.base = try mirror.head.revision
    state.head = planned.reduce(max(state.head, state.base)) { max($0, $1.revision) }
  }

  /// Reads the queue again if another process has changed it.
  func refresh(_ state: inout State) throws {
    if try unsent.version != state.version { try reload(&state) }
  }

  /// Records the texts that an intent changes.
  func note(_ intent: Intent, _ state: inout State) {
    for change in intent.changes {
      for edit in change.edits where model.property(edit.property)?.attribute?.kind == .text {
        let id =
          change.id.isTemporary
          ? ProvisionalID.make(number: intent.number, place: change.id.key.low, entity: change.id.entity) : change.id
        state.texts[id, default: []].insert(edit.property)
      }
    }
  }

  /// The refusal of what the replica does not have.
  static func needsServer(_ what: String) -> Refusal {
    Refusal(.unavailable, "\(what) needs the server, which can't be reached")
  }

  /// The revision above which objects have unsent edits.
  package var unsentAfter: Revision { state.withLock { $0.base } }

  func token(_ revision: Revision) -> Token {
    Token(store: storeID, revision: revision, fingerprint: UInt64(bitPattern: revision).mixed)
  }

  /// The number of unsent and of parked edits.
  package func counts() throws -> (unsent: Int, parked: Int) { try unsent.counts() }

  // MARK: - GraphStoring: state

  public var olderModels: [Model] { [] }
  public var maximumDescriptors: Int { 8 }
  public var head: Token { token(state.withLock { $0.head }) }
  public var oldestRevision: Revision { state.withLock { $0.base } }

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
