import GraphModel
import GraphReplica
import GraphWire

/// A client of a simulation: the production context and replica, and a link that the seed delays, cuts and drops.
final class ClientNode {
  let number: Int
  private(set) var context: ObjectContext
  let model: Model
  /// What it sees the store through, where its model is an older version.
  let lens: ModelLens?
  private var replicas: UInt64 = 0
  /// The session while there is a connection.
  var session: UInt64?
  /// The server has said goodbye.
  var closing = false
  /// Bytes on their way, each way; the hub counts those down as its backlog.
  var up = [[UInt8]]()
  var down = [[UInt8]]()
  private var decoder = FrameDecoder()
  var queries = [(id: QueryID, entity: Entity, predicate: GraphPredicate)]()

  /// Windows that it follows, and where they are to stand.
  var windows = [FollowedWindow]()

  /// What this client was told, over all its lives.
  var acknowledged = [(id: TransactionID, revision: Revision)]()
  var refused = [TransactionID]()
  /// How often each transaction has left.
  private var timesSent = [TransactionID: Int]()
  var lastRevision: Revision = 0
  /// What it was told since the trace was last written.
  var told = [String]()
  /// The last answer to a save was no.
  var wasRefused = false
  /// Attributes that were set and not saved since, with what they were set to; those of an object that others delete go with
  /// it, and do not come back when it does.
  var kept = [(object: ManagedObject, property: String, value: Value)]()
  /// A child context with what is not confirmed; nil when none is open.
  var pad: Pad?
  /// Values that no store ever hears of.
  var choices = [Choice]()
  private var observation: ObservationToken?
  private var lastQuestion: RequestID = 0
  /// All batches and restores that this client has asked for, over all its lives.
  var batches = [TransactionID: SimulatedBatch]()
  var restores = [TransactionID: RestoreRequest]()
  /// The undos and redos that it has sent, over all its lives.
  private(set) var undos = [TransactionID: UndoRequest]()
  /// Stacks of its own that it has taken, over all its lives.
  var scopesMade: UInt64 = 0
  /// What it was told of its stacks.
  var undoStates = [RequestID: ToldUndoState]()
  /// Batches that are in the store, whether the client knows it or not.
  var committedBatches = Set<TransactionID>()
  var pendingBatch: PendingBatch?
  /// Queries that load something along with their objects.
  var prefetching = Set<QueryID>()
  var pastReads = [RequestID: PastRead]()
  var finishedPastReads = [PastRead]()
  var fetches = [RequestID: AskedFetch]()
  var finishedFetches = [FinishedFetch]()
  var loads = [LoadID: PendingLoad]()
  var finishedLoads = [FinishedLoad]()
  /// Requests for objects that it has sent.
  private(set) var fetchesSent = 0
  /// Objects that were there once, as anybody reads in the log.
  var gone = [ObjectID]()
  var happened = HappeningCounts()
  /// What its user types, over all its lives.
  var typed: TypedText
  /// What its user puts in order, over all its lives.
  private(set) var placed = PlacedMembers()
  /// At which revisions its user read what it edits, over all its lives.
  var edited = EditedBases()
  /// Past reads and transactions that were refused because history does not reach back so far.
  var prunedReads = [Revision]()
  var prunedTransactions = [TransactionID]()
  /// What it has of a time that was taken back by a restore; nil when there is nothing of the kind.
  var astray: Astray?
  /// What was acknowledged and taken back, over all its lives.
  var takenBack = [TransactionID]()
  private let text: Property?
  /// A bug that this client has, to see whether it is noticed.
  private let bug: PlantedBug?
  /// The first thing that must never happen.
  var failure: String?

  init(number: Int, model: Model, lens: ModelLens? = nil, bug: PlantedBug? = nil) {
    self.number = number
    self.model = model
    self.lens = lens
    self.bug = bug
    typed = TypedText(client: number)
    text = (lens?.new ?? model).entity(named: "Item")?.property(named: "text")
    context = ObjectContext(
      model: model,
      replica: Replica(id: UniqueID(high: UInt64(number) + 1, low: 0), author: "client \(number)", model: model.hash))
  }

  /// The process dies and is started again: what was unsaved is gone, and so is the replica.
  func restart(_ random: inout SeededRandom) {
    replicas += 1
    (pad, choices) = (nil, [])
    context = ObjectContext(
      model: model,
      replica: Replica(
        id: UniqueID(high: UInt64(number) + 1, low: replicas), author: "client \(number)", model: model.hash))
    observation = context.observe { [unowned self] change in
      guard !change.deleted.isEmpty else { return }
      edited.drop(Set(change.deleted))
      pad?.drop(Set(change.deleted))
      kept.removeAll { change.deleted.contains($0.object.id) }
      choices.removeAll { change.deleted.contains($0.object.id) }
    }
    (queries, windows) = ([], [])
    (kept, wasRefused) = ([], false)
    edited.restart()
    (pendingBatch, pastReads, loads) = (nil, [:], [:])
    (finishedPastReads, finishedLoads, prefetching) = ([], [], [])
    (fetches, finishedFetches, undoStates) = ([:], [], [:])
    (lastRevision, astray) = (0, nil)
    // Everyone sees the whole graph through one query or several, and parts of it through others.
    follow("Folder", "")
    follow("Crew", "")
    if random.chance(70) { follow("Item", "") }
    if random.chance(50) { follow("Thing", "") }
    if random.chance(60) { follow("Label", "") }
    for _ in 0..<random.below(4) { follow(&random) }
    for _ in 0..<random.below(3) { followWindow(&random) }
  }

  func follow(_ random: inout SeededRandom) {
    guard let (name, text) = SimulationModel.question(&random) else { return }
    follow(name, text)
  }

  func follow(_ name: String, _ text: String) {
    guard let entity = model.entity(named: name), let predicate = predicate(text, of: entity) else { return }
    guard !queries.contains(where: { $0.entity.number == entity.number && $0.predicate == predicate }) else { return }
    var tree = RelationshipTree.none
    // By the number of the query: chance has its say elsewhere.
    if queries.count % 3 == 2, let path = Self.trees[name]?.first {
      tree = (try? RelationshipTree(parsing: path, entity: entity, model: model)) ?? .none
    }
    queries.append((context.follow(entity: entity, predicate: predicate, prefetching: tree), entity, predicate))
    if !tree.isEmpty { prefetching.insert(queries[queries.count - 1].id) }
    perform()
  }

  /// A condition in the names of the store's model; nil for one that this client's version does not have.
  func predicate(_ text: String, of entity: Entity) -> GraphPredicate? {
    guard let text = own(text) else { return nil }
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

  /// Takes bytes that came down; they may end in the middle of a frame.
  func receive(_ bytes: [UInt8]) {
    decoder.append(bytes)
    do {
      while let bytes = try decoder.next() {
        let message = try ToClient(binary: bytes)
        context.handle(.received(bug == .unnoticedRestore ? Self.believing(message) : message))
      }
    } catch {
      failure = failure ?? "client \(number) can't read what the server says: \(error)"
    }
    perform()
  }

  func perform() {
    // What is asked for an answer's sake makes actions of its own.
    while case let actions = context.takeActions(), !actions.isEmpty {
      // What goes out takes along what was refused, though its user is told of that behind it.
      for case .saved(let id, .failure) in actions {
        edited.note(refusalOf: id) { context.object($0)?.isDeleted == false }
      }
      for action in actions { perform(action) }
    }
  }

  private func perform(_ action: ReplicaAction) {
    switch action {
    case .send(let message): send(message)
    case .welcomed: askForBatch()
    case .answer(let question, let answer):
      if !takeBatch(answer, of: question) { _ = takeUndoState(answer, of: question) }
    case .chunk(let question, let chunk):
      if !takePast(chunk, of: question) { _ = takeFetch(chunk, of: question) }
    case .refused(let question, let refusal):
      if !refuseBatch(refusal, of: question), !refusePast(refusal, of: question) {
        _ = refuseFetch(refusal, of: question)
      }
    case .filled(let load, let refusal): finish(load, refusal)
    case .saved(let id, .success(let saved)):
      acknowledged.append((id, saved.committed.revision))
      keepLanding(id)
      keepThroughLens(.committedThroughLens)
      typed.note(id, saved.committed)
      placed.note(id, saved.committed)
      edited.note(id, saved.committed)
      wasRefused = false
      told.append("transaction \(id.sequence) is revision \(saved.committed.revision)")
    case .saved(let id, .failure(let refusal)):
      if refusal.code == .pruned {
        // It may have been committed long ago.
        prunedTransactions.append(id)
        typed.losePast(of: id)
      } else if restores[id] != nil {
        // It may be under way once more on a connection that the server believes in, and there may be something to
        // restore by then.
        if refusal.code != .unavailable { happened.note(.restoreRefused) }
      } else if refusal.code != .unavailable {
        // A server that fails may or may not have committed; everything else is a promise. One that was sent twice may
        // still be under way on a connection that the server believes in, and nothing stand in its way by then.
        if timesSent[id] ?? 1 == 1 { refused.append(id) }
      }
      keepViolations(refusal)
      wasRefused = true
      keepThroughLens(.refusedThroughLens)
      told.append("transaction \(id.sequence) was refused: \(refusal.message)")
    case .changed(let update):
      if update.revision < lastRevision {
        failure = failure ?? "client \(number) was shown revision \(update.revision) after \(lastRevision)"
      }
      lastRevision = update.revision
    case .diverged: noticeRestore()
    case .rejected(let refusal): failure = failure ?? "client \(number) was rejected: \(refusal.message)"
    // Nobody here asks the server to go away, and no client is silent for so long.
    case .disconnect(let refusal): failure = failure ?? "client \(number) was sent away: \(refusal.message)"
    case .refusedQuery(let query, let refusal):
      failure = failure ?? "client \(number)'s query \(query) was refused: \(refusal.message)"
    default: break
    }
  }

  private func keepViolations(_ refusal: Refusal) {
    for violation in refusal.violations {
      switch violation.commonRule {
      case .count where model.property(violation.property)?.relationship?.minimumCount != nil:
        happened.note(.refusedTooFew)
      case .minimumLength: happened.note(.refusedTooShort)
      default: break
      }
    }
  }

  func newQuestion() -> RequestID {
    lastQuestion += 1
    return lastQuestion
  }

  private func send(_ message: ToServer) {
    guard session != nil else { return }
    switch message.body {
    case .fetch: fetchesSent += 1
    case .commit(let transaction, _): timesSent[transaction.id, default: 0] += 1
    case .undo(let request):
      timesSent[request.id, default: 0] += 1
      undos[request.id] = request
    default: break
    }
    guard case .commit(var transaction, let acknowledged) = message.body, let text else {
      up.append(Frame.encode(message))
      return
    }
    if bug == .forgottenBases { raiseBases(of: &transaction) }
    let said = inStoreWords(transaction)
    typed.note(said, text: text.number)
    placed.note(said)
    edited.note(said, model: served)
    if isOfLostTime(transaction) {
      typed.exempt(said, text: text.number)
      edited.forget(transaction.id)
    }
    if bug == .unmovedSplices {
      for index in transaction.changes.indices where transaction.changes[index].kind == .update {
        transaction.changes[index].base = .max
      }
    }
    up.append(Frame.encode(ToServer(message.request, .commit(transaction, acknowledged: acknowledged))))
  }

  /// A planted bug: what it says was seen is what it was shown last, not what its user saw when it edited.
  private func raiseBases(of transaction: inout Transaction) {
    for index in transaction.changes.indices where transaction.changes[index].base > 0 {
      transaction.changes[index].base = context.object(transaction.changes[index].id)?.revision ?? 0
    }
  }
}
