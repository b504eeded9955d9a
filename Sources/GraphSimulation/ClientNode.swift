import GraphModel
import GraphReplica
import GraphWire

/// A client of a simulation: the production context and replica, with a link that the seed delays, cuts and drops.
///
/// Each part owns its state and contains the user's acts of one kind, such as batches, windows, or reads of the past.
/// `ClientNode` connects them with the link and passes the replica's actions on.
final class ClientNode {
  let number: Int
  let version: ClientVersion
  private(set) var context: ObjectContext
  private var replicas: UInt64 = 0
  var link = ClientLink()
  private(set) var queries = [(id: QueryID, entity: Entity, predicate: GraphPredicate)]()
  private(set) lazy var windows = ClientWindows(self)
  private(set) lazy var loads = ClientLoads(self)
  private(set) lazy var fetches = ClientFetches(self)
  private(set) lazy var past = ClientPast(self)
  private(set) lazy var batches = ClientBatches(self)
  private(set) lazy var undo = ClientUndo(self)
  private(set) lazy var childEditor = ChildContextEditor(self)
  private(set) lazy var restores = RestoreObserver(self)
  private(set) lazy var counters = ClientCounters(self)
  var outcomes = TransactionOutcomes()
  var unsaved = UnsavedValues()
  var checks: EditChecks
  var lastRevision: Revision = 0
  private var observation: ObservationToken?
  private var lastRequestID: RequestID = 0
  /// Lines for the trace since it was last written.
  var traceLines = [String]()
  var events = CoverageEventCounts()
  /// The planted bug of this client.
  private let bug: PlantedBug?
  /// The first violation.
  private(set) var failure: String?

  init(number: Int, version: ClientVersion, bug: PlantedBug? = nil) {
    self.number = number
    self.version = version
    self.bug = bug
    checks = EditChecks(client: number, model: version.served)
    context = ObjectContext(
      model: version.model,
      replica: Replica(
        id: UniqueID(high: UInt64(number) + 1, low: 0), author: "client \(number)", model: version.model.hash))
  }

  var model: Model { version.model }

  /// Records the first violation.
  func fail(_ reason: String) { failure = failure ?? reason }

  /// Kills and restarts the client: its unsaved edits and its replica are lost.
  func restart(_ random: inout SeededRandom, _ recorder: ReplicaRecorder?) {
    replicas += 1
    childEditor.restart()
    unsaved = UnsavedValues()
    context = ObjectContext(
      model: model,
      replica: Replica(
        id: UniqueID(high: UInt64(number) + 1, low: replicas), author: "client \(number)", model: model.hash))
    recorder?.begin(context, named: "client-\(number)-\(replicas)")
    observation = context.observe { [unowned self] change in
      if !change.deleted.isEmpty {
        let deleted = Set(change.deleted)
        checks.lostUpdates.drop(deleted)
        childEditor.drop(deleted)
        unsaved.drop(deleted)
      }
    }
    (queries, outcomes.wasRefused, lastRevision) = ([], false, 0)
    checks.lostUpdates.restart()
    windows.restart()
    loads.restart()
    fetches.restart()
    past.restart()
    batches.restart()
    undo.restart()
    restores.forget()
    counters.restart()
    // All clients follow the whole graph through one query or several, and parts of it through others.
    follow("Folder", "")
    follow("Crew", "")
    follow(CounterCheck.entity, "")
    if random.chance(70) { follow("Item", "") }
    if random.chance(50) { follow("Thing", "") }
    if random.chance(60) { follow("Label", "") }
    for _ in 0..<random.below(4) { follow(&random) }
    for _ in 0..<random.below(3) { windows.follow(&random) }
  }

  func follow(_ random: inout SeededRandom) {
    if let (name, text) = SimulationModel.randomQuery(&random) {
      follow(name, text)
    }
  }

  func follow(_ name: String, _ text: String) {
    // An older version of the model may lack what the query names.
    if let entity = model.entity(named: name), let predicate = version.predicate(text, of: entity) {
      follow(name, entity, predicate)
    }
  }

  private func follow(_ name: String, _ entity: Entity, _ predicate: GraphPredicate) {
    if queries.contains(where: { $0.entity.number == entity.number && $0.predicate == predicate }) { return }
    var tree = RelationshipTree.none
    // Chosen by the query's number, so that no random number is consumed.
    if queries.count % 3 == 2, let path = ClientLoads.trees[name]?.first {
      tree = (try? RelationshipTree(parsing: path, entity: entity, model: model)) ?? .none
    }
    queries.append((context.follow(entity: entity, predicate: predicate, prefetch: tree), entity, predicate))
    if !tree.isEmpty { loads.record(prefetching: queries[queries.count - 1].id) }
    perform()
  }

  func unfollow(_ random: inout SeededRandom) {
    if queries.count > 1 {
      context.unfollow(queries.remove(at: random.below(queries.count)).id)
      perform()
    }
  }

  // MARK: - The link

  func connect(as session: UInt64) {
    link.connect(as: session)
    context.handle(.connected)
    perform()
  }

  func disconnect() {
    if link.session != nil {
      link.disconnect()
      context.handle(.disconnected)
      perform()
    }
  }

  /// Receives bytes, which may end in the middle of a frame.
  func receive(_ bytes: [UInt8]) {
    link.receive(bytes)
    do {
      while let message = try link.next() {
        let isBlind = bug == .unnoticedRestore
        context.handle(.received(isBlind ? RestoreObserver.withRecognizedState(message) : message))
      }
    } catch {
      fail("client \(number) can't read the server's message: \(error)")
    }
    perform()
  }

  func perform() {
    // An action may cause further actions.
    while case let actions = context.takeActions(), !actions.isEmpty {
      // A refused save returns its edits to the context, and a message sent earlier in the same list may contain them
      // already.
      for case .saved(let id, .failure) in actions {
        checks.lostUpdates.record(refusalOf: id) { context.object($0)?.isDeleted == false }
      }
      for action in actions { perform(action) }
    }
  }

  private func perform(_ action: ReplicaAction) {
    switch action {
    case .send(let message): send(message)
    case .welcomed: batches.request()
    case .reply(let requestID, .chunk(let chunk), _):
      if !past.receive(chunk, of: requestID) { _ = fetches.receive(chunk, of: requestID) }
    case .reply(let requestID, let reply, _):
      if !batches.receive(reply, of: requestID) { _ = undo.receive(reply, of: requestID) }
    case .refused(let requestID, let refusal):
      if !batches.refuse(refusal, of: requestID), !past.refuse(refusal, of: requestID) {
        _ = fetches.refuse(refusal, of: requestID)
      }
    case .filled(let load, let refusal): loads.finish(load, refusal)
    case .saved(let id, .success(let saved)):
      outcomes.acknowledged.append((id, saved.committed.revision))
      restores.countResent(id)
      countThroughLens(.committedThroughLens)
      checks.record(id, saved.committed)
      counters.record(id, nil)
      outcomes.wasRefused = false
      traceLines.append("transaction \(id.sequence) is revision \(saved.committed.revision)")
    case .saved(let id, .failure(let refusal)):
      if refusal.code == .pruned {
        // The transaction may have been committed long ago.
        outcomes.pruned.append(id)
        checks.textMerges.recordPruned(of: id)
      } else if past.restores[id] != nil {
        // The request may still be in progress on another connection that the server has not closed yet, and may find
        // something to restore by then.
        if refusal.code != .unavailable { events.record(.restoreRefused) }
      } else if refusal.code != .unavailable {
        // A failing server may or may not have committed; any other refusal is definite.
        outcomes.record(refused: id)
      }
      countViolations(refusal)
      counters.record(id, refusal)
      outcomes.wasRefused = true
      countThroughLens(.refusedThroughLens)
      traceLines.append("transaction \(id.sequence) was refused: \(refusal.message)")
    case .changed(let update):
      if update.revision < lastRevision {
        fail("client \(number) was shown revision \(update.revision) after \(lastRevision)")
      }
      lastRevision = update.revision
    case .diverged: restores.detect()
    // Each of the simulation's clients takes a new id when it restarts.
    case .copied: fail("client \(number) was taken for a copy")
    case .rejected(let refusal): fail("client \(number) was rejected: \(refusal.message)")
    // The simulation never asks the server to disconnect, and no client is silent for long.
    case .disconnect(let refusal): fail("client \(number) was sent away: \(refusal.message)")
    case .refusedQuery(let query, let refusal):
      fail("client \(number)'s query \(query) was refused: \(refusal.message)")
    default: break
    }
  }

  private func countViolations(_ refusal: Refusal) {
    for violation in refusal.violations {
      switch violation.commonRule {
      case .count where model.property(violation.property)?.relationship?.minimumCount != nil:
        events.record(.refusedTooFew)
      case .minimumLength: events.record(.refusedTooShort)
      default: break
      }
    }
  }

  func newRequestID() -> RequestID {
    lastRequestID += 1
    return lastRequestID
  }

  private func send(_ message: ToServer) {
    let isLost = link.session == nil
    if isLost { return }
    switch message.body {
    case .commit(let transaction):
      outcomes.record(sent: transaction.id)
      let sent = prepared(transaction)
      link.send(ToServer(message.request, .commit(sent)))
    case .undo(let request):
      outcomes.record(sent: request.id)
      undo.record(sent: request)
      link.send(message)
    default: link.send(message)
    }
  }

  /// Records a transaction, and plants the client's bug in it.
  private func prepared(_ original: Transaction) -> Transaction {
    var transaction = original
    if bug == .forgottenBases { raiseBases(of: &transaction) }
    let isReverted = restores.isBasedOnRevertedState(transaction)
    checks.record(sent: version.inStoreVersion(transaction), isReverted: isReverted)
    if isReverted { counters.exempt(transaction.id) }
    // A precondition is a change of its own, without edits.
    if bug == .ignoredPreconditions { transaction.changes.removeAll { $0.onlyIf != nil } }
    if bug == .unmovedSplices {
      for index in transaction.changes.indices where transaction.changes[index].kind == .update {
        transaction.changes[index].base = .max
      }
    }
    return transaction
  }

  /// A planted bug: the client sends the newest revision that it has received, not the one that its user saw when
  /// editing.
  private func raiseBases(of transaction: inout Transaction) {
    for index in transaction.changes.indices where transaction.changes[index].base > 0 {
      transaction.changes[index].base = context.object(transaction.changes[index].id)?.revision ?? 0
    }
  }

  /// Counts an event if this client has an older version of the model.
  func countThroughLens(_ event: CoverageEvent) {
    if version.isOlder { events.record(event) }
  }
}
