import GraphModel
import GraphReplica
import GraphWire

/// A client of a run with accounts: the production context and replica of one user.
///
/// It commits transactions without the context, also with objects that its user does not see. The simulation compares
/// its results with the graph that its user sees.
final class AccessClient {
  struct Query {
    let id: QueryID
    let entity: Entity
    let predicate: GraphPredicate
    /// The window of the query; nil for a query without one.
    var window: Window?
  }

  struct Window {
    let sort: [SortKey]
    var offset: Int
    var limit: Int
  }

  /// A request and the part of its answer that has arrived.
  struct Pending {
    let request: AccessRequest
    var answer = AccessAnswer()
  }

  let number: Int
  let model: AccessModel
  /// The number of its user; nil for the machine's owner.
  let user: Int?
  private(set) var context: ObjectContext
  var link = ClientLink()
  private(set) var queries = [Query]()
  private(set) var pending = [RequestID: Pending]()
  /// The objects of its fetches, which the program keeps.
  private(set) var held = [ObjectID: ManagedObject]()
  /// The number of changes of its roles on this connection.
  private var rightsChanges = 0
  /// The number of these changes before the shown result of a query was loaded, or resumed.
  private(set) var loadedAfter = [QueryID: Int]()
  /// Answers that are complete, to be checked.
  private var finished = [(request: AccessRequest, answer: AccessAnswer)]()
  /// The acknowledged commits, and the ids of their transactions for this client.
  private var acknowledged = [(id: TransactionID, revision: Revision)]()
  /// The secret of the user.
  private(set) var credential = ""
  /// The author of the client's commits in history.
  private(set) var principalName = ""
  /// Queries with changes since they were last checked.
  var touched = Set<QueryID>()
  /// The newest revision that the context has shown.
  private(set) var shownRevision: Revision = 0
  /// The revision of the newest commit that the context has shown.
  private var changedRevision: Revision = 0
  /// Whether the server has rejected the client permanently, so that its replica has ended.
  private(set) var isRejected = false
  /// Whether the client must reconnect.
  var wantsReconnect = false
  /// Whether the server has reported that the replica is a copy of another one.
  private var wasCopied = false
  /// Whether the replica held objects of two connections, one of them unconfirmed, before the message being received.
  private var wasInconsistent = false
  private(set) var failure: String?
  private(set) var lastRefusal: Refusal?
  private var lastRequest: RequestID = 0
  private var ids: UInt64 = 0

  init(number: Int, user: Int?, model: AccessModel) {
    (self.number, self.user, self.model) = (number, user, model)
    context = Self.context(UniqueID(high: UInt64(number) + 1, low: 1), number, model)
  }

  private static func context(_ id: UniqueID, _ number: Int, _ model: AccessModel) -> ObjectContext {
    ObjectContext(
      model: model.model, replica: Replica(id: id, author: "client \(number)", model: model.model.hash))
  }

  var replica: UniqueID { context.replica.id }

  func fail(_ reason: String) { failure = failure ?? "client \(number): \(reason)" }

  /// A replica id that no client has used.
  private func newID() -> UniqueID {
    ids += 1
    return UniqueID(high: UInt64(number) + 1, low: ids)
  }

  /// Starts the client again without its state.
  /// - Parameters:
  ///   - credential: the secret of its user; empty for the machine's owner.
  ///   - name: the name of its principal.
  ///   - replica: the id of another replica of the user, of which this one is a copy from before its first commit; nil
  ///     for a new id.
  func restart(credential: String, name: String, as replica: UniqueID? = nil, _ random: inout SeededRandom) {
    context = Self.context(replica ?? newID(), number, model)
    (self.credential, principalName) = (credential, name)
    (queries, pending, finished, acknowledged, touched, held) = ([], [:], [], [], [], [:])
    (shownRevision, changedRevision) = (0, 0)
    (isRejected, wantsReconnect) = (false, false)
    context.handle(.credential(credential))
    for name in ["Folder", "Item"] { follow(name, "") }
    if random.chance(50) { follow("Remark", "") }
    if random.chance(50) { follow("Tag", "") }
    for _ in 0..<(1 + random.below(3)) { follow(&random) }
    if random.chance(60) { followWindow(&random) }
    perform()
  }

  // MARK: - Queries

  func follow(_ random: inout SeededRandom) {
    let query = random.element(of: AccessModel.queries)
    follow(query.entity, query.predicate)
  }

  private func follow(_ name: String, _ text: String) {
    let entity = model.entity(name)
    let predicate = model.predicate(text, of: entity)
    let isKnown = queries.contains {
      $0.window == nil && $0.entity.number == entity.number && $0.predicate == predicate
    }
    if isKnown { return }
    let id = context.follow(entity: entity, predicate: predicate)
    queries.append(Query(id: id, entity: entity, predicate: predicate))
    perform()
  }

  func followWindow(_ random: inout SeededRandom) {
    let choice = random.element(of: AccessModel.sorts.filter(\.isOwn))
    let text = random.element(of: AccessModel.queries.filter { $0.entity == choice.entity }).predicate
    let entity = model.entity(choice.entity)
    let predicate = model.predicate(text, of: entity)
    let sort = model.sort(choice.sort, of: entity)
    let window = Window(sort: sort, offset: random.below(3), limit: 1 + random.below(5))
    let id = context.follow(
      entity: entity, predicate: predicate, sort: sort, offset: window.offset, limit: window.limit)
    queries.append(Query(id: id, entity: entity, predicate: predicate, window: window))
    perform()
  }

  func moveWindow(_ random: inout SeededRandom) {
    guard let index = queries.indices.filter({ queries[$0].window != nil }).randomElement(using: &random),
      var window = queries[index].window
    else { return followWindow(&random) }
    (window.offset, window.limit) = (random.below(6), 1 + random.below(5))
    queries[index].window = window
    context.moveWindow(of: queries[index].id, offset: window.offset, limit: window.limit)
    perform()
  }

  func unfollow(_ random: inout SeededRandom) {
    if queries.count <= 3 { return }
    let query = queries.remove(at: random.below(queries.count))
    touched.remove(query.id)
    context.unfollow(query.id)
    perform()
  }

  // MARK: - Requests

  func request(_ request: AccessRequest) {
    lastRequest += 1
    pending[lastRequest] = Pending(request: request)
    context.handle(.request(lastRequest, request.body))
    perform()
  }

  /// Commits changes without the context.
  func commit(_ changes: [Change], policy: MergePolicy) -> TransactionID {
    let id = context.newTransactionID()
    context.handle(.save(Transaction(id: id, policy: policy, changes: changes)))
    perform()
    return id
  }

  func undo(redo: Bool) {
    context.undo(UndoRequest(context.newTransactionID(), redo: redo))
    perform()
  }

  func restore(_ scope: RestoreRequest.Scope, at revision: Revision?) {
    context.restore(RestoreRequest(context.newTransactionID(), scope, at: revision))
    perform()
  }

  func publishPresence(_ state: [UInt8]) {
    context.handle(.presence(state))
    perform()
  }

  func removeAcknowledged() -> [(id: TransactionID, revision: Revision)] {
    defer { acknowledged = [] }
    return acknowledged
  }

  /// Whether the server has reported a copied replica since the last call.
  func takeCopied() -> Bool {
    defer { wasCopied = false }
    return wasCopied
  }

  func removeFinished() -> [(request: AccessRequest, answer: AccessAnswer)] {
    defer { finished = [] }
    return finished
  }

  // MARK: - The link

  func connect(as session: UInt64) {
    link.connect(as: session)
    (wantsReconnect, rightsChanges, loadedAfter) = (false, 0, [:])
    context.handle(.connected)
    perform()
  }

  func disconnect() {
    (link.closing, wantsReconnect) = (false, false)
    if link.session == nil { return }
    link.disconnect()
    context.handle(.disconnected)
    perform()
  }

  /// Receives messages that the simulation has already checked.
  func receive(_ message: ToClient) {
    wasInconsistent = context.replica.heldState.isInconsistent
    context.handle(.received(message))
    perform()
  }

  private func perform() {
    while case let actions = context.takeActions(), !actions.isEmpty { for action in actions { perform(action) } }
  }

  private func perform(_ action: ReplicaAction) {
    switch action {
    case .send(let message): if link.session != nil { link.send(message) }
    case .reply(let id, let body, let isLast): receive(body, of: id, isLast: isLast)
    case .refused(let id, let refusal):
      if var request = pending.removeValue(forKey: id) {
        request.answer.refusal = refusal
        finished.append((request.request, request.answer))
      }
    case .saved(let id, .success(let saved)): acknowledged.append((id, saved.committed.revision))
    case .saved(_, .failure(let refusal)): lastRefusal = refusal
    case .loaded(let query, _, let at), .loadedWindow(let query, _, let at):
      loadedAfter[query] = rightsChanges
      show(at.revision, [query])
    case .resumed(let query, _): loadedAfter[query] = rightsChanges
    case .rights: rightsChanges += 1
    case .changed(let update):
      if update.revision < changedRevision {
        fail("was shown revision \(update.revision) after \(changedRevision)")
      }
      changedRevision = update.revision
      show(update.revision, update.changes.map(\.query))
    case .copied:
      wasCopied = true
      context.handle(.renew(newID()))
    case .rejected: isRejected = true
    case .disconnect: wantsReconnect = true
    case .diverged:
      // It takes even the same store for another one then.
      if !wasInconsistent { fail("does not find its past in the store") }
    case .refusedQuery(let query, let refusal): fail("query \(query) was refused: \(refusal.message)")
    default: break
    }
  }

  private func show(_ revision: Revision, _ changed: [QueryID]) {
    shownRevision = max(shownRevision, revision)
    touched.formUnion(changed)
  }

  private func receive(_ body: ToClient.Body, of id: RequestID, isLast: Bool) {
    guard var request = pending.removeValue(forKey: id) else { return fail("has an answer to no request: \(body)") }
    request.answer.add(body)
    if isLast {
      hold(request)
      finished.append((request.request, request.answer))
    } else {
      pending[id] = request
      if body.awaitsMore { context.handle(.more(id)) }
    }
  }

  /// Keeps the objects of a fetch of the present.
  private func hold(_ request: Pending) {
    if case .fetch(let fetch) = request.request.body, fetch.at == nil, let at = request.answer.at {
      let batch = FetchBatch(readAt: at.revision)
      for object in context.register(request.answer.objects, in: batch) { held[object.id] = object }
    }
  }
}
