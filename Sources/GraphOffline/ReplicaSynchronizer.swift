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
  private let now: () -> Timestamp
  /// The client of a copy under its new id, which this run has made.
  private var renewed: GraphClient?
  /// Outcomes, in the order of their arrival.
  private let answers: AsyncStream<(TransactionID, Result<SaveResult, Refusal>)>
  private let answer: AsyncStream<(TransactionID, Result<SaveResult, Refusal>)>.Continuation
  /// The user's roles at the welcome. An answer for other roles may lack objects.
  private var grants: [Welcome.GrantEntry]?

  init(folder: String, client: GraphClient, unsent: UnsentFile, now: @escaping () -> Timestamp) {
    (self.folder, self.client, self.unsent, self.now) = (folder, client, unsent, now)
    form = IntentForm(client.context.model)
    grants = client.welcome?.grants
    (answers, answer) = AsyncStream.makeStream()
  }

  /// Performs the run.
  /// - Parameter connect: makes the connection of a copy under its new id.
  /// - Throws: `Refusal` of a server that has another store or user, or that can't answer now; what was not answered is
  ///   sent by the next run.
  func run(connect: OfflineReplica.Connect) async throws -> SyncReport {
    let replica = try unsent.replica
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
    var answered = answers.makeAsyncIterator()
    var action = run.begin()
    while true {
      switch action {
      case .end(let report): return report
      case .fail(let refusal): throw refusal
      case .awaitAnswer:
        guard let (id, outcome) = await answered.next(isolation: #isolation) else { throw GraphClient.unknownOutcome }
        action = run.handle(.answered(id, outcome.map(\.committed)))
      case .receive, .load, .renew: action = run.handle(try await performWithServer(action, connect))
      default: action = run.handle(try performInFiles(action))
      }
    }
  }

  // MARK: - Files

  /// Performs an action on the replica's files, or sends an intent.
  private func performInFiles(_ action: SyncRun.Action) throws -> SyncRun.Event {
    switch action {
    case .setState(let state): try unsent.setState(state)
    case .openMirror: return try openMirror()
    case .readQueue(let number):
      return .queue(try unsent.entries(form, .waiting, after: number, limit: SyncRun.page))
    case .markLeft(let numbers): return .marked(try unsent.markLeft(numbers, at: now(), form: form))
    case .send(let intent): try send(intent)
    case .park(let number, let refusal, let left):
      try unsent.park(number, Parking(refusal, at: now(), left: left), form: form)
    case .parkUnreadable(let number, let refusal):
      let parking = Parking(code: Parking.model, message: refusal.message, at: now())
      try unsent.parkUnreadable(number, parking, form: form)
    case .finish(let finished):
      return .finished(
        parked: try CommittedIntent.finish(finished, in: unsent, over: openedMirror, at: now(), form: form))
    case .receive, .load, .renew, .awaitAnswer, .end, .fail:
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
      return .opened(isPartial: mirror.isPartial)
    } catch let failure as StoreFailure where failure.isMissingMirror {
      return .noMirror
    }
  }

  private func send(_ intent: Intent) throws {
    let event: ReplicaEvent
    switch intent.content {
    case .undo(let revision, let redo):
      event = .undo(UndoRequest(intent.transaction, revision: revision, redo: redo))
    case .undoEdit: preconditionFailure("the undo of an edit is sent as that of its revision: \(intent.number)")
    case .changes: event = .save(try intent.transaction(over: openedMirror))
    }
    client.send([(intent.transaction, event)]) { [answer] id, outcome in answer.yield((id, outcome)) }
  }

  // MARK: - The server

  private func performWithServer(
    _ action: SyncRun.Action, _ connect: OfflineReplica.Connect
  ) async throws -> SyncRun.Event {
    switch action {
    case .receive: return try await receive()
    case .load:
      try await Self.load(folder, client, now: now())
      try checkRights()
      mirror?.close()
      let loaded = try Self.openMirror(folder, client.context.model)
      mirror = loaded
      return .loaded(try loaded.head.revision)
    case .renew:
      let fresh = GraphClient.newReplica
      try unsent.renew(fresh, form: form)
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
    } catch let refusal as Refusal where refusal.code == .notFound || refusal.code == .pruned {
      // The server was restored from a backup, or no longer has what the mirror lacks.
      return .outdated
    } catch is MirrorStore.Outdated {
      return .outdated
    }
    return .received(try mirror.head.revision, commits: count)
  }

  private func apply(_ commits: [MirroredCommit], to mirror: MirrorStore) throws {
    try checkRights()
    if !commits.isEmpty { _ = try mirror.apply(commits) }
  }

  private func checkRights() throws {
    guard client.welcome?.grants == grants else { throw SyncRun.changedRights }
  }

  /// Opens the mirror of a replica's folder.
  static func openMirror(_ folder: String, _ model: Model) throws -> MirrorStore {
    try MirrorStore(path: folder + "/" + ReplicaStore.mirrorName, model: model)
  }

  /// Loads a mirror of the objects that the user sees on the server.
  static func load(_ folder: String, _ client: GraphClient, now: Timestamp) async throws {
    let (grants, server) = (client.welcome?.grants, try client.server)
    let graph = try await client.exportGraph(omitsDamage: true)
    let loader = try MirrorLoader(
      path: folder + "/" + ReplicaStore.mirrorName, model: client.context.model, store: graph.at.store,
      isPartial: !server.seesAll)
    do {
      while let objects = try await graph.next() { try loader.add(objects) }
      // It would pass for a mirror of everything.
      guard client.welcome?.grants == grants else { throw SyncRun.changedRights }
      try loader.finish(at: graph.at, time: now)
    } catch {
      loader.abandon()
      throw error
    }
  }
}

extension GraphClient {
  /// The facts in the server's welcome.
  var server: SyncRun.Server {
    get throws { SyncRun.Server(try invariant(welcome, "a client that is connected was welcomed"), context.model) }
  }

  /// A replica id that was never used.
  static var newReplica: UniqueID { UniqueID(high: .random(in: 1 ... .max), low: .random(in: 0 ... .max)) }
}
