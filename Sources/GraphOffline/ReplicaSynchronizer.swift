// Tests: SynchronizerTests.swift
import GraphClient
import GraphModel
import GraphReplica
import GraphReplicaStore
import GraphStore
import GraphWire

/// One run that brings a replica and its server together: sends what was not sent, in order, and receives what others
/// have committed.
///
/// `SendingQueue` decides; this carries it out. An intent stays in the file until the mirror has its commit, so that
/// the user's view never lacks it; an end at any point leaves an intent that is asked for again under its id.
final class ReplicaSynchronizer {
  private let folder: String
  private let client: GraphClient
  private let unsent: UnsentFile
  private let form: IntentForm
  private var mirror: MirrorStore
  private let now: () -> Timestamp

  private var queue = SendingQueue()
  private var intents = [Int64: Intent]()
  /// The committed intents whose commits the mirror may lack.
  private var committed = [CommittedIntent]()
  /// The permanent ids of this run's objects, by the provisional one.
  private var names = [ObjectID: ObjectID]()
  /// The revisions at which the server has made them.
  private var revisions = [ObjectID: Revision]()
  private let answers: AsyncStream<(TransactionID, Result<SaveResult, Refusal>)>
  private let answer: AsyncStream<(TransactionID, Result<SaveResult, Refusal>)>.Continuation
  private var numbers = [TransactionID: Int64]()
  private(set) var report = SyncReport()

  init(
    folder: String, client: GraphClient, unsent: UnsentFile, mirror: MirrorStore, now: @escaping () -> Timestamp
  ) throws {
    (self.folder, self.client, self.unsent, self.mirror, self.now) = (folder, client, unsent, mirror, now)
    form = IntentForm(client.context.model)
    (answers, answer) = AsyncStream.makeStream()
    // A client that had the copy open during an earlier run may name objects by the ids that they had then.
    names = try unsent.permanentIDs(form.model)
  }

  // MARK: - Sending

  /// Sends the queue.
  /// - Parameter onlyLeft: only what may have reached the server under the replica's present id.
  /// - Throws: the refusal of a server that can't answer now; what was not answered is sent by the next run.
  func send(onlyLeft: Bool = false) async throws {
    var items = [SendingQueue.Item]()
    for entry in try unsent.entries(form) where !entry.isParked {
      guard let intent = entry.intent else {
        let failure = try invariant(entry.failure, "an intent that can't be read has a failure")
        try unsent.parkUnreadable(
          entry.number, Parking(code: Parking.model, message: failure.message, at: now()))
        report.parked += 1
        continue
      }
      if onlyLeft, !intent.hasLeft { continue }
      intents[intent.number] = intent
      items.append(SendingQueue.Item(intent))
    }
    if items.isEmpty { return }
    var actions = queue.handle(.queued(items)) + queue.handle(.connected)
    var iterator = answers.makeAsyncIterator()
    while true {
      while !actions.isEmpty { actions += try await perform(actions.removeFirst()) }
      if queue.isEmpty { break }
      guard let (id, outcome) = await iterator.next(isolation: #isolation) else { break }
      actions = try record(outcome, of: id)
    }
    try await settle()
  }

  private func perform(_ action: SendingQueue.Action) async throws -> [SendingQueue.Action] {
    switch action {
    case .markLeft(let numbers):
      let marked = try unsent.markLeft(numbers, at: now(), form: form)
      for intent in marked { intents[intent.number] = intent }
      return queue.handle(.marked(marked.map(\.number)))
    case .send(let numbers):
      for number in numbers { try await send(number) }
      return []
    case .park(let number, let refusal):
      let intent = try invariant(intents[number], "an intent that was refused was sent")
      try unsent.park(number, Parking(refusal, at: now(), left: intent.leftTime), form: form)
      report.parked += 1
      return []
    case .pause(let refusal): throw refusal
    }
  }

  private func send(_ number: Int64) async throws {
    let intent = try invariant(intents[number], "an intent that is sent is in the queue")
      .renamed(names, madeAt: revisions)
    // Its splices refer to a text that is complete when the mirror has what was sent before.
    if !intent.texts.isEmpty { try await settle() }
    numbers[intent.transaction] = number
    let event: ReplicaEvent
    switch intent.content {
    case .undo(let revision, let redo):
      event = .undo(UndoRequest(intent.transaction, revision: revision, redo: redo))
    case .changes: event = .save(try intent.transaction(over: mirror))
    }
    client.send([(intent.transaction, event)]) { [answer] id, outcome in answer.yield((id, outcome)) }
  }

  private func record(
    _ outcome: Result<SaveResult, Refusal>, of id: TransactionID
  ) throws -> [SendingQueue.Action] {
    let number = try invariant(numbers.removeValue(forKey: id), "an answer is that of a transaction that was sent")
    switch outcome {
    case .success(let result):
      let done = CommittedIntent(number, result.committed)
      names.merge(done.ids) { $1 }
      for id in done.ids.keys { revisions[id] = done.revision }
      committed.append(done)
      report.sent += 1
      report.conflicts += result.committed.conflicts.count
      return queue.handle(.committed(number))
    case .failure(let refusal): return queue.handle(.refused(number, refusal))
    }
  }

  // MARK: - Receiving

  /// Receives the commits up to now, and removes the intents whose commits the mirror has.
  func settle() async throws {
    try await receive()
    let head = try mirror.head.revision
    let known = committed.filter { $0.revision <= head }
    committed.removeAll { $0.revision <= head }
    for done in known {
      let intent = intents.removeValue(forKey: done.number).map { $0.renamed(names) }
      if try done.finish(intent, in: unsent, over: mirror, at: now(), form: form) { report.parked += 1 }
    }
  }

  /// The commits that one transaction of the mirror writes.
  private static let appliedCommits = 256

  private func receive() async throws {
    // The commits do not say which objects a change of the user's grants has shown or hidden.
    if !report.isReloaded, client.welcome?.role != Role.owner.rawValue { return try await reload() }
    var waiting = [MirroredCommit]()
    do {
      for try await followed in client.commits(since: try mirror.head, untilNow: true, omitsDamage: true) {
        guard let commit = MirroredCommit(followed, now: now()) else { return try await reload() }
        waiting.append(commit)
        if waiting.count >= Self.appliedCommits {
          try apply(waiting)
          waiting = []
        }
      }
      try apply(waiting)
    } catch let refusal as Refusal where refusal.code == .notFound || refusal.code == .pruned {
      // The server was restored from a backup, or no longer has what the mirror lacks.
      try await reload()
    }
  }

  private func apply(_ commits: [MirroredCommit]) throws {
    if commits.isEmpty { return }
    _ = try mirror.apply(commits)
    report.received += commits.count
  }

  /// Loads a new mirror, and uses it in place of the earlier one.
  private func reload() async throws {
    try await Self.load(folder, client, now: now())
    mirror.close()
    mirror = try MirrorStore(path: mirror.path, model: client.context.model)
    report.isReloaded = true
  }

  /// Loads a mirror of the objects that the user sees on the server.
  static func load(_ folder: String, _ client: GraphClient, now: Timestamp) async throws {
    let graph = try await client.exportGraph(omitsDamage: true)
    let loader = try MirrorLoader(
      path: folder + "/" + ReplicaStore.mirrorName, model: client.context.model, store: graph.at.store)
    do {
      while let objects = try await graph.next() { try loader.add(objects) }
      try loader.finish(at: graph.at, time: now)
    } catch {
      loader.abandon()
      throw error
    }
  }

  func close() { mirror.close() }
}

/// The result of a run of the synchronizer.
public struct SyncReport: Sendable, Equatable {
  /// The number of edits that the server has committed.
  public var sent = 0
  /// The number of edits that were parked.
  public var parked = 0
  /// The number of conflicts that a merge policy has resolved.
  public var conflicts = 0
  /// The number of commits that were received.
  public var received = 0
  /// Whether the copy of the server's objects was loaded as a whole.
  public var isReloaded = false

  init() {}

  /// Adds what another run did.
  mutating func add(_ other: SyncReport) {
    sent += other.sent
    parked += other.parked
    conflicts += other.conflicts
    received += other.received
    isReloaded = isReloaded || other.isReloaded
  }
}
