// Tests: SynchronizerTests.swift
import GraphClient
import GraphModel
import GraphReplica
import GraphReplicaStore
import GraphStore
import GraphWire

/// Carries out a run of `SyncRun`: the files, and the requests to the server.
final class ReplicaSynchronizer {
  private let folder: String
  private var client: GraphClient
  private let unsent: UnsentFile
  private let form: IntentForm
  private var mirror: MirrorStore?
  private let limit: MirrorStore.Limit
  /// The scopes that the mirror is to have after this run; nil for everything.
  private var kept: KeptScopes?
  /// The ids under which this replica has sent edits.
  private var ids = Set<UniqueID>()
  private let now: () -> Timestamp
  /// The client of a copy under its new id, which this run has made.
  private var renewed: GraphClient?
  /// The intents to send next.
  private var outgoing = [Intent]()
  /// The numbers of intents that leave for the first time in this run.
  private var marked = Set<Int64>()
  /// The refusals of intents that can't be sent again, whose outcomes are asked for.
  private var asked = [TransactionID: Refusal]()
  /// Outcomes, in the order of their arrival.
  private var arrived = [Answer]()
  /// Those that are taken next, the first one last.
  private var taken = [Answer]()
  /// Has an element after each arrival. A stream of the outcomes themselves would change threads twice for each one.
  private let arrivals: AsyncStream<Void>
  private let arrival: AsyncStream<Void>.Continuation
  /// The objects that intents of this run have inserted, as the server has answered. Without a mirror they have the
  /// numbers that take the place of the provisional ones.
  private var inserted = [ObjectID: ObjectImage]()
  /// The entries of the newest page of the queue, by number.
  private var newestPage = [Int64: UnsentFile.Entry]()
  /// Why no mirror could be loaded.
  private var obstacle: (any Error)?
  /// The user's roles at the welcome. An answer for other roles may lack objects.
  private var grants: [Welcome.GrantEntry]?

  private typealias Answer = (id: TransactionID, outcome: Result<SaveResult, Refusal>)

  init(
    folder: String, client: GraphClient, unsent: UnsentFile, kept: KeptScopes?, limit: MirrorStore.Limit,
    now: @escaping () -> Timestamp
  ) {
    (self.folder, self.client, self.unsent, self.limit, self.now) = (folder, client, unsent, limit, now)
    self.kept = kept
    form = IntentForm(client.context.model)
    grants = client.welcome?.grants
    (arrivals, arrival) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  /// Performs the run.
  /// - Parameter connect: makes the connection of a copy under its new id.
  /// - Throws: `Refusal` of a server that has another store or user, or that can't answer now; what was not answered is
  ///   sent by the next run.
  func run(connect: OfflineReplica.Connect) async throws -> SyncReport {
    let replica = try unsent.replica
    ids = [replica.id]
    var run = SyncRun(replica, isCopy: try unsent.isCopy, server: try client.server, folder: folder)
    do {
      let report = try await perform(&run, connect)
      await close()
      return report
    } catch {
      await close()
      throw error
    }
  }

  private func close() async {
    mirror?.close()
    if let renewed { await renewed.close() }
  }

  private func perform(_ run: inout SyncRun, _ connect: OfflineReplica.Connect) async throws -> SyncReport {
    var arrivals = arrivals.makeAsyncIterator()
    var action = run.begin()
    while true {
      if case .send = action {} else { try sendOutgoing() }
      switch action {
      case .end(let report): return report
      case .endUnloaded(let report, let waiting): throw try unloaded(report, waiting)
      case .fail(let refusal): throw refusal
      case .awaitAnswer:
        while taken.isEmpty {
          (taken, arrived) = (arrived.reversed(), [])
          if taken.isEmpty, await arrivals.next(isolation: #isolation) == nil { throw GraphClient.unknownOutcome }
        }
        var answer = taken.removeLast()
        if case .failure(let refusal) = answer.outcome, !refusal.isTemporary, let known = asked[answer.id] {
          answer.outcome = .failure(known)
        }
        try keepInserted(answer.outcome)
        action = run.handle(.answered(answer.id, answer.outcome.map(\.committed)))
      case .load: action = run.handle(try await load(verifies: run.isUnverified))
      case .ask, .receive, .renew: action = run.handle(try await performWithServer(action, connect))
      default: action = run.handle(try performInFiles(action))
      }
    }
  }

  /// Keeps what the outcome of an intent says about new objects.
  private func keepInserted(_ outcome: Result<SaveResult, Refusal>) throws {
    if case .success(let saved) = outcome { try keepInserted(saved) }
  }

  private func keepInserted(_ saved: SaveResult) throws {
    let made = Set(saved.committed.identities.map(\.permanent))
    // A mirror that has left the commit out is one of other scopes from now on, so that the next run loads it.
    try keep(new: made.filter(isContainer), before: saved.committed.revision)
    // A mirror of everything has the images itself.
    if mirror == nil || kept != nil || mirror?.kept != nil {
      for image in saved.objects where made.contains(image.id) { inserted[image.id] = image }
    }
  }

  private func forgetInserted(_ finished: [SyncRun.FinishedIntent]) {
    for id in finished.lazy.flatMap(\.committed.ids.values) { inserted[id] = nil }
  }

  // MARK: - Scopes

  private func isContainer(_ id: ObjectID) -> Bool {
    client.context.model.entity(id.entity)?.scope == .container
  }

  /// Adds new containers of this replica to the scopes that it keeps, if these are not all.
  /// - Parameter revision: the commit that has made them.
  private func keep(new containers: Set<ObjectID>, before revision: Revision) throws {
    // A copy of everything has nothing to store, and each write is a sync.
    if containers.isEmpty || kept == nil && mirror?.kept == nil { return }
    let keys = containers.map(\.key)
    _ = try unsent.keep(new: keys)
    kept?.containers.formUnion(keys)
    if let mirror, let scopes = mirror.kept, try mirror.head.revision < revision {
      for key in keys where !scopes.containers.contains(key) { try mirror.keep(key) }
    }
  }

  /// Keeps the containers that this replica has made, before their commits are received: the mirror would leave them
  /// out. The answers may come later than the commits.
  private func keepContainers(of commits: [MirroredCommit], in mirror: MirrorStore) throws {
    for commit in commits where mirror.kept != nil && ids.contains(commit.transaction.replica) {
      var made = Set<ObjectID>()
      for case .inserted(let image) in commit.changes where isContainer(image.id) { made.insert(image.id) }
      try keep(new: made, before: commit.token.revision)
    }
  }

  // MARK: - Loading a mirror

  /// Loads the mirror.
  /// - Parameter verifies: whether its objects are compared with those of the earlier one.
  /// - Throws: an error that another attempt may not meet.
  private func load(verifies: Bool) async throws -> SyncRun.Event {
    var lost: LostObjects?
    if verifies { lost = LostObjects(over: try openedMirror) }
    var parked = 0
    do {
      try await Self.load(folder, client, kept: kept, limit, now: now()) { images in
        try lost?.compare(images)
      } willFinish: {
        // Not before: a choice that can't be loaded must not end the copy that is there.
        if try unsent.replica.kept != kept { try unsent.keep(kept) }
        if let lost { parked = try lost.rebase(unsent, at: now(), form: form) }
      }
    } catch {
      let isLasting = if let refusal = error as? Refusal { !refusal.isTemporary } else { error is StoreFailure }
      if !isLasting { throw error }
      obstacle = error
      return .notLoaded
    }
    try checkRights()
    mirror?.close()
    let loaded = try Self.openMirror(folder, client.context.model)
    mirror = loaded
    obstacle = nil
    return .loaded(try loaded.head.revision, parked: parked)
  }

  /// The reason why there is no new copy, with what became of the edits.
  private func unloaded(_ report: SyncReport, _ waiting: SyncRun.Waiting) throws -> any Error {
    let obstacle = try invariant(obstacle, "a run without a new copy has a reason")
    let unsent = try unsent.counts().unsent
    var parts = [String]()
    if report.sent > 0 { parts.append(report.sent == 1 ? "1 edit was sent" : "\(report.sent) edits were sent") }
    if unsent > 0 {
      let count = unsent == 1 ? "1 edit waits" : "\(unsent) edits wait"
      parts.append("\(count) for the copy\(waiting.reason)")
    }
    if parts.isEmpty { return obstacle }
    let sentence = parts.joined(separator: ", ")
    if var refusal = obstacle as? Refusal {
      refusal.message += "; \(sentence)"
      return refusal
    }
    guard var failure = obstacle as? StoreFailure else { return obstacle }
    failure.sentence += "; \(sentence)"
    return failure
  }

  // MARK: - Files

  /// Performs an action on the replica's files, or sends an intent.
  private func performInFiles(_ action: SyncRun.Action) throws -> SyncRun.Event {
    switch action {
    case .setState(let state): try unsent.setState(state)
    case .openMirror: return try openMirror()
    case .readQueue(let number):
      let page = try unsent.entries(form, .waiting, after: number, limit: SyncRun.page)
      newestPage = Dictionary(page.map { ($0.number, $0) }) { _, newer in newer }
      return .queue(page)
    case .markLeft(let numbers):
      marked.formUnion(numbers)
      return .marked(try unsent.markLeft(numbers, at: now(), form: form, known: newestPage))
    case .send(let intent):
      if let mirror, let refusal = try intent.refusalOfMissingText(in: mirror) {
        if marked.contains(intent.number) { return .answered(intent.transaction, .failure(refusal)) }
        // An earlier run has sent it, and the server may have committed it.
        asked[intent.transaction] = refusal
      }
      outgoing.append(intent)
    case .readStates: return .states(try openedMirror.states())
    case .rebase(let common, let isLoaded):
      // The new mirror does not have the texts of before the restore.
      let text = isLoaded ? nil : mirror?.pastText
      return .rebased(parked: try unsent.rebase(onto: common, at: now(), form: form, text: text))
    case .park(let number, let refusal, let left):
      try unsent.park(number, Parking(refusal, at: now(), left: left), form: form, text: mirror?.pastText)
    case .parkUnreadable(let number, let refusal):
      let parking = Parking(code: Parking.model, message: refusal.message, at: now())
      try unsent.parkUnreadable(number, parking, form: form)
    case .finish(let finished):
      defer { forgetInserted(finished) }
      return .finished(
        parked: try CommittedIntent.finish(
          finished, in: unsent, over: openedMirror, images: inserted, at: now(), form: form))
    case .release(let finished):
      defer { forgetInserted(finished) }
      return .finished(
        parked: try CommittedIntent.release(finished, in: unsent, images: inserted, at: now(), form: form))
    case .ask, .receive, .load, .renew, .awaitAnswer, .end, .endUnloaded, .fail:
      preconditionFailure("an action on files is none that waits or ends: \(action)")
    }
    return .done
  }

  private var openedMirror: MirrorStore {
    get throws { try invariant(mirror, "the mirror of a run is open before it is used") }
  }

  private func openMirror() throws -> SyncRun.Event {
    do {
      let mirror = try Self.openMirror(folder, client.context.model)
      self.mirror = mirror
      return .opened(isPartial: mirror.isPartial, hasOtherScopes: mirror.kept != kept)
    } catch let failure as StoreFailure where failure.isMissingMirror {
      return .noMirror(
        states: MirrorStore.states(at: folder + "/" + ReplicaStore.mirrorName),
        isOfOtherModel: failure.code == .modelDiffers)
    }
  }

  private static func event(of intent: Intent, _ mirror: MirrorStore.Snapshot?) throws -> ReplicaEvent {
    switch intent.content {
    case .undo(let revision, let redo): .undo(UndoRequest(intent.transaction, revision: revision, redo: redo))
    case .undoEdit: preconditionFailure("the undo of an edit is sent as that of its revision: \(intent.number)")
    case .changes: .save(try intent.transaction(over: mirror))
    }
  }

  /// Sends the intents since the last call, together.
  private func sendOutgoing() throws {
    if outgoing.isEmpty { return }
    func events(_ mirror: MirrorStore.Snapshot?) throws -> [(id: TransactionID, event: ReplicaEvent)] {
      try outgoing.map { intent in
        let isQuestion = asked[intent.transaction] != nil
        return (intent.transaction, isQuestion ? .save(intent.question) : try Self.event(of: intent, mirror))
      }
    }
    let events = if let mirror { try mirror.read { try events($0) } } else { try events(nil) }
    outgoing = []
    client.send(events) { [weak self] id, outcome in
      self?.arrived.append((id, outcome))
      self?.arrival.yield()
    }
  }

  // MARK: - The server

  private func performWithServer(
    _ action: SyncRun.Action, _ connect: OfflineReplica.Connect
  ) async throws -> SyncRun.Event {
    switch action {
    case .ask(let token): return try await client.knows(token)
    case .receive: return try await receive()
    case .renew:
      let fresh = GraphClient.newReplica
      try unsent.renew(fresh, form: form)
      ids.insert(fresh)
      let renewed = try await connect(fresh)
      (client, self.renewed, grants) = (renewed, renewed, renewed.welcome?.grants)
      return .renewed(try renewed.server)
    default: preconditionFailure("an action with the server is one that waits for it: \(action)")
    }
  }

  /// The commits that one transaction of the mirror writes, and about how many changes they have.
  private static let appliedCommits = 256
  private static let appliedChanges = 2_000

  private func receive() async throws -> SyncRun.Event {
    let mirror = try openedMirror
    var waiting = [MirroredCommit]()
    var (count, changes) = (0, 0)
    do {
      for try await followed in client.commits(since: try mirror.head, untilNow: true, omitsDamage: true) {
        guard let commit = MirroredCommit(followed.commit, at: followed.token, now: now()) else { return .outdated }
        waiting.append(commit)
        count += 1
        changes += commit.changes.count
        if waiting.count >= Self.appliedCommits || changes >= Self.appliedChanges {
          try apply(waiting, to: mirror)
          (waiting, changes) = ([], 0)
        }
      }
      try apply(waiting, to: mirror)
    } catch let refusal as Refusal where refusal.code == .notFound || refusal.isOfKnownState {
      // The server was restored from a backup, or no longer has what the mirror lacks.
      return .outdated
    } catch is MirrorStore.Outdated {
      return .outdated
    }
    return .received(try mirror.head.revision, commits: count)
  }

  private func apply(_ commits: [MirroredCommit], to mirror: MirrorStore) throws {
    try checkRights()
    if commits.isEmpty { return }
    try keepContainers(of: commits, in: mirror)
    _ = try mirror.apply(commits)
  }

  private func checkRights() throws {
    guard client.welcome?.grants == grants else { throw SyncRun.changedRights }
  }

  /// Opens the mirror of a replica's folder.
  static func openMirror(_ folder: String, _ model: Model) throws -> MirrorStore {
    try MirrorStore(path: folder + "/" + ReplicaStore.mirrorName, model: model)
  }

  /// Loads a mirror of the objects that the user sees on the server.
  /// - Parameters:
  ///   - kept: the scopes that it is to have; nil for everything.
  ///   - received: called with the objects, part by part.
  ///   - willFinish: called before the new mirror takes the place of an earlier one.
  /// - Throws: `Refusal(.limit)` if there are more than a mirror may have.
  static func load(
    _ folder: String, _ client: GraphClient, kept: KeptScopes? = nil, _ limit: MirrorStore.Limit = .init(),
    now: Timestamp, received: ([ObjectImage]) throws -> Void = { _ in }, willFinish: () throws -> Void = {}
  ) async throws {
    let (grants, server) = (client.welcome?.grants, try client.server)
    let graph = try await client.exportGraph(omitsDamage: true)
    let loader = try MirrorLoader(
      path: folder + "/" + ReplicaStore.mirrorName, model: client.context.model, store: graph.at.store,
      isPartial: !server.seesAll, kept: kept, limit: limit)
    do {
      while let objects = try await graph.next() {
        try loader.add(objects)
        try received(objects)
      }
      // It would pass for a mirror of everything.
      guard client.welcome?.grants == grants else { throw SyncRun.changedRights }
      try willFinish()
      try loader.finish(at: graph.at, time: now)
    } catch {
      loader.abandon()
      throw error
    }
  }
}

extension SyncRun.Waiting {
  /// Why edits wait for a copy, behind a sentence that says so.
  fileprivate var reason: String {
    switch self {
    case .none: ""
    case .behindText(let number):
      ", because edit \(number) continues a text that another edit of yours has changed, and later ones follow it"
    case .earlierCopy: ", because the earlier copy would lack them"
    case .restored: ", because the server was restored from a backup"
    case .copied: ", because this replica is a copy of another one"
    }
  }
}

extension Refusal {
  /// Whether a server that refuses the commits since a state has had the state: its history no longer reaches back to
  /// it, or the model has changed since in a way that no commit describes.
  fileprivate var isOfKnownState: Bool { code == .pruned || code == .limit }
}

extension GraphClient {
  /// The facts in the server's welcome.
  var server: SyncRun.Server {
    get throws { SyncRun.Server(try invariant(welcome, "a client that is connected was welcomed"), context.model) }
  }

  /// Asks whether the server has a state. A server that has pruned it does not know.
  func has(_ token: Token) async throws -> Bool {
    if case .isKnown(false) = try await knows(token) { false } else { true }
  }

  fileprivate func knows(_ token: Token) async throws -> SyncRun.Event {
    var commits = commits(since: token, untilNow: true, omitsDamage: true).makeAsyncIterator()
    do {
      _ = try await commits.next()
      return .isKnown(true)
    } catch let refusal as Refusal where refusal.code == .notFound {
      return .isKnown(false)
    } catch let refusal as Refusal where refusal.code == .pruned {
      return .isPruned
    } catch let refusal as Refusal where refusal.isOfKnownState {
      return .isKnown(true)
    }
  }

  /// A replica id that was never used.
  static var newReplica: UniqueID { UniqueID(high: .random(in: 1 ... .max), low: .random(in: 0 ... .max)) }
}
