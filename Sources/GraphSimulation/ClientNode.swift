import GraphModel
import GraphReplica
import GraphWire

/// A client of a simulation: the production context and replica, with a link that the seed delays, cuts and drops.
final class ClientNode {
  let number: Int
  private(set) var context: ObjectContext
  let model: Model
  /// The lens of a client with an older version of the model.
  let lens: ModelLens?
  private var replicas: UInt64 = 0
  /// The current session; nil without a connection.
  var session: UInt64?
  /// Whether the server has sent a close message.
  var closing = false
  /// Bytes in transit to the server and to the client; the hub counts the latter as its backlog.
  var up = [[UInt8]]()
  var down = [[UInt8]]()
  private var decoder = FrameDecoder()
  var queries = [(id: QueryID, entity: Entity, predicate: GraphPredicate)]()

  /// The client's windows, with their expected ranges.
  var windows = [FollowedWindow]()

  /// The answers to this client's transactions, before and after restarts.
  var acknowledged = [(id: TransactionID, revision: Revision)]()
  var refused = [TransactionID]()
  /// The number of times that each transaction was sent.
  private var timesSent = [TransactionID: Int]()
  var lastRevision: Revision = 0
  /// Lines for the trace since it was last written.
  var traceLines = [String]()
  /// Whether the last answer to a save was a refusal.
  var wasRefused = false
  /// Attributes set since the last save, with their values. The entries of an object are removed when another client
  /// deletes it, and stay removed if it is revived.
  var unsavedValues = [(object: ManagedObject, property: String, value: Value)]()
  /// A child context with unsaved edits; nil when none is open.
  var child: ChildContextRecord?
  /// Values of transient attributes.
  var transientEdits = [TransientEdit]()
  private var observation: ObservationToken?
  private var lastRequestID: RequestID = 0
  /// All batches and restores that this client has requested, before and after restarts.
  var batches = [TransactionID: SimulatedBatch]()
  var restores = [TransactionID: RestoreRequest]()
  /// All undos and redos that this client has sent, before and after restarts.
  private(set) var undos = [TransactionID: UndoRequest]()
  /// The number of undo stacks that this client has taken, before and after restarts.
  var scopesMade: UInt64 = 0
  /// The undo states that this client has requested.
  var undoStates = [RequestID: ReportedUndoState]()
  /// The batches that the store has committed, whether or not the client knows.
  var committedBatches = Set<TransactionID>()
  var pendingBatch: PendingBatch?
  /// The queries that prefetch relationships.
  var prefetching = Set<QueryID>()
  var pastReads = [RequestID: PastRead]()
  var finishedPastReads = [PastRead]()
  var fetches = [RequestID: PendingFetch]()
  var finishedFetches = [CompletedFetch]()
  var loads = [LoadID: PendingLoad]()
  var finishedLoads = [CompletedLoad]()
  /// The number of fetches sent.
  private(set) var fetchesSent = 0
  /// Deleted objects, as found in the log.
  var deletedObjects = [ObjectID]()
  var events = CoverageEventCounts()
  /// The user's text edits, before and after restarts.
  var textMerges: TextMergeCheck
  /// The user's ordering edits, before and after restarts.
  private(set) var listOrders = ListOrderCheck()
  /// The revisions that the user's edits are based on, before and after restarts.
  var lostUpdates = LostUpdateCheck()
  /// Past reads and transactions that were refused because the history that they need was pruned.
  var prunedReads = [Revision]()
  var prunedTransactions = [TransactionID]()
  /// The outdated state that the client holds since a restore; nil when there is none.
  var staleState: StaleState?
  /// Acknowledged transactions that a restore has removed, before and after restarts.
  var revertedTransactions = [TransactionID]()
  private let text: Property?
  /// The planted bug of this client.
  private let bug: PlantedBug?
  /// The first violation.
  var failure: String?

  init(number: Int, model: Model, lens: ModelLens? = nil, bug: PlantedBug? = nil) {
    self.number = number
    self.model = model
    self.lens = lens
    self.bug = bug
    textMerges = TextMergeCheck(client: number)
    text = (lens?.new ?? model).entity(named: "Item")?.property(named: "text")
    context = ObjectContext(
      model: model,
      replica: Replica(id: UniqueID(high: UInt64(number) + 1, low: 0), author: "client \(number)", model: model.hash))
  }

  /// Kills and restarts the client: its unsaved edits and its replica are lost.
  func restart(_ random: inout SeededRandom) {
    replicas += 1
    (child, transientEdits) = (nil, [])
    context = ObjectContext(
      model: model,
      replica: Replica(
        id: UniqueID(high: UInt64(number) + 1, low: replicas), author: "client \(number)", model: model.hash))
    observation = context.observe { [unowned self] change in
      guard !change.deleted.isEmpty else { return }
      lostUpdates.drop(Set(change.deleted))
      child?.drop(Set(change.deleted))
      unsavedValues.removeAll { change.deleted.contains($0.object.id) }
      transientEdits.removeAll { change.deleted.contains($0.object.id) }
    }
    (queries, windows) = ([], [])
    (unsavedValues, wasRefused) = ([], false)
    lostUpdates.restart()
    (pendingBatch, pastReads, loads) = (nil, [:], [:])
    (finishedPastReads, finishedLoads, prefetching) = ([], [], [])
    (fetches, finishedFetches, undoStates) = ([:], [], [:])
    (lastRevision, staleState) = (0, nil)
    // All clients follow the whole graph through one query or several, and parts of it through others.
    follow("Folder", "")
    follow("Crew", "")
    if random.chance(70) { follow("Item", "") }
    if random.chance(50) { follow("Thing", "") }
    if random.chance(60) { follow("Label", "") }
    for _ in 0..<random.below(4) { follow(&random) }
    for _ in 0..<random.below(3) { followWindow(&random) }
  }

  func follow(_ random: inout SeededRandom) {
    guard let (name, text) = SimulationModel.randomQuery(&random) else { return }
    follow(name, text)
  }

  func follow(_ name: String, _ text: String) {
    guard let entity = model.entity(named: name), let predicate = predicate(text, of: entity) else { return }
    guard !queries.contains(where: { $0.entity.number == entity.number && $0.predicate == predicate }) else { return }
    var tree = RelationshipTree.none
    // Chosen by the query's number, so that no random number is consumed.
    if queries.count % 3 == 2, let path = Self.trees[name]?.first {
      tree = (try? RelationshipTree(parsing: path, entity: entity, model: model)) ?? .none
    }
    queries.append((context.follow(entity: entity, predicate: predicate, prefetching: tree), entity, predicate))
    if !tree.isEmpty { prefetching.insert(queries[queries.count - 1].id) }
    perform()
  }

  /// Parses a predicate in the names of the store's model; nil if this client's version cannot express it.
  func predicate(_ text: String, of entity: Entity) -> GraphPredicate? {
    guard let text = inClientVersion(text) else { return nil }
    return try? SimulationModel.predicate(text, entity, model)
  }

  func unfollow(_ random: inout SeededRandom) {
    guard queries.count > 1 else { return }
    context.unfollow(queries.remove(at: random.below(queries.count)).id)
    perform()
  }

  // MARK: - The link

  func connect(as session: UInt64) {
    self.session = session
    closing = false
    (up, down) = ([], [])
    decoder = FrameDecoder()
    context.handle(.connected)
    perform()
  }

  func disconnect() {
    guard session != nil else { return }
    session = nil
    (up, down) = ([], [])
    context.handle(.disconnected)
    perform()
  }

  /// Receives bytes, which may end in the middle of a frame.
  func receive(_ bytes: [UInt8]) {
    decoder.append(bytes)
    do {
      while let bytes = try decoder.next() {
        let message = try ToClient(binary: bytes)
        context.handle(.received(bug == .unnoticedRestore ? Self.withRecognizedState(message) : message))
      }
    } catch {
      failure = failure ?? "client \(number) can't read the server's message: \(error)"
    }
    perform()
  }

  func perform() {
    // An action may cause further actions.
    while case let actions = context.takeActions(), !actions.isEmpty {
      // A refused save returns its edits to the context, and a message sent earlier in the same list may contain them
      // already.
      for case .saved(let id, .failure) in actions {
        lostUpdates.note(refusalOf: id) { context.object($0)?.isDeleted == false }
      }
      for action in actions { perform(action) }
    }
  }

  private func perform(_ action: ReplicaAction) {
    switch action {
    case .send(let message): send(message)
    case .welcomed: requestBatch()
    case .reply(let requestID, .chunk(let chunk), _):
      if !receivePast(chunk, of: requestID) { _ = receiveFetch(chunk, of: requestID) }
    case .reply(let requestID, let reply, _):
      if !receiveBatch(reply, of: requestID) { _ = receiveUndoState(reply, of: requestID) }
    case .refused(let requestID, let refusal):
      if !refuseBatch(refusal, of: requestID), !refusePast(refusal, of: requestID) {
        _ = refuseFetch(refusal, of: requestID)
      }
    case .filled(let load, let refusal): finish(load, refusal)
    case .saved(let id, .success(let saved)):
      acknowledged.append((id, saved.committed.revision))
      countResent(id)
      countThroughLens(.committedThroughLens)
      textMerges.note(id, saved.committed)
      listOrders.note(id, saved.committed)
      lostUpdates.note(id, saved.committed)
      wasRefused = false
      traceLines.append("transaction \(id.sequence) is revision \(saved.committed.revision)")
    case .saved(let id, .failure(let refusal)):
      if refusal.code == .pruned {
        // The transaction may have been committed long ago.
        prunedTransactions.append(id)
        textMerges.recordPruned(of: id)
      } else if restores[id] != nil {
        // The request may still be in progress on another connection that the server has not closed yet, and may find
        // something to restore by then.
        if refusal.code != .unavailable { events.note(.restoreRefused) }
      } else if refusal.code != .unavailable {
        // A failing server may or may not have committed; any other refusal is definite. But a transaction that was
        // sent twice may still be in progress on a connection that the server has not closed yet, and succeed by
        // then.
        if timesSent[id, default: 1] == 1 { refused.append(id) }
      }
      countViolations(refusal)
      wasRefused = true
      countThroughLens(.refusedThroughLens)
      traceLines.append("transaction \(id.sequence) was refused: \(refusal.message)")
    case .changed(let update):
      if update.revision < lastRevision {
        failure = failure ?? "client \(number) was shown revision \(update.revision) after \(lastRevision)"
      }
      lastRevision = update.revision
    case .diverged: detectRestore()
    case .rejected(let refusal): failure = failure ?? "client \(number) was rejected: \(refusal.message)"
    // The simulation never asks the server to disconnect, and no client is silent for long.
    case .disconnect(let refusal): failure = failure ?? "client \(number) was sent away: \(refusal.message)"
    case .refusedQuery(let query, let refusal):
      failure = failure ?? "client \(number)'s query \(query) was refused: \(refusal.message)"
    default: break
    }
  }

  private func countViolations(_ refusal: Refusal) {
    for violation in refusal.violations {
      switch violation.commonRule {
      case .count where model.property(violation.property)?.relationship?.minimumCount != nil:
        events.note(.refusedTooFew)
      case .minimumLength: events.note(.refusedTooShort)
      default: break
      }
    }
  }

  func newRequestID() -> RequestID {
    lastRequestID += 1
    return lastRequestID
  }

  private func send(_ message: ToServer) {
    guard session != nil else { return }
    switch message.body {
    case .fetch: fetchesSent += 1
    case .commit(let transaction): timesSent[transaction.id, default: 0] += 1
    case .undo(let request):
      timesSent[request.id, default: 0] += 1
      undos[request.id] = request
    default: break
    }
    guard case .commit(var transaction) = message.body, let text else {
      up.append(Frame.encode(message))
      return
    }
    if bug == .forgottenBases { raiseBases(of: &transaction) }
    let translated = inStoreVersion(transaction)
    textMerges.note(translated, text: text.number)
    listOrders.note(translated)
    lostUpdates.note(translated, model: served)
    if isBasedOnRevertedState(transaction) {
      textMerges.exempt(translated, text: text.number)
      lostUpdates.exempt(transaction.id)
    }
    if bug == .unmovedSplices {
      for index in transaction.changes.indices where transaction.changes[index].kind == .update {
        transaction.changes[index].base = .max
      }
    }
    up.append(Frame.encode(ToServer(message.request, .commit(transaction))))
  }

  /// A planted bug: the client sends the newest revision that it has received, not the one that its user saw when
  /// editing.
  private func raiseBases(of transaction: inout Transaction) {
    for index in transaction.changes.indices where transaction.changes[index].base > 0 {
      transaction.changes[index].base = context.object(transaction.changes[index].id)?.revision ?? 0
    }
  }
}
