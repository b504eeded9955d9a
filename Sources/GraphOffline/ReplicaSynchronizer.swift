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
///
/// A long queue is read some at a time, and what was committed is received and removed some at a time, so memory does
/// not grow with it.
final class ReplicaSynchronizer {
  private let folder: String
  private let client: GraphClient
  private let unsent: UnsentFile
  private let form: IntentForm
  private var mirror: MirrorStore
  private let now: () -> Timestamp

  private var queue = SendingQueue()
  /// The intents that were read and not removed.
  private var intents = [Int64: Intent]()
  /// The number of the last intent that was read.
  private var lastRead: Int64 = 0
  /// Whether there may be further ones.
  private var hasMore = true
  /// The committed intents whose commits the mirror may lack.
  private var committed = [CommittedIntent]()
  /// The permanent ids of this run's objects, by the provisional one.
  private var names = [ObjectID: ObjectID]()
  /// The revisions at which the server has made them.
  private var revisions = [ObjectID: Revision]()
  /// The revisions of this run's commits, by intent.
  private var revisionsOfIntents = [Int64: Revision]()
  private let answers: AsyncStream<(TransactionID, Result<SaveResult, Refusal>)>
  private let answer: AsyncStream<(TransactionID, Result<SaveResult, Refusal>)>.Continuation
  private var numbers = [TransactionID: Int64]()
  private(set) var report = SyncReport()

  init(
    folder: String, client: GraphClient, unsent: UnsentFile, mirror: MirrorStore, now: @escaping () -> Timestamp
  ) {
    (self.folder, self.client, self.unsent, self.mirror, self.now) = (folder, client, unsent, mirror, now)
    form = IntentForm(client.context.model)
    (answers, answer) = AsyncStream.makeStream()
  }

  // MARK: - Sending

  /// The intents that are read at once, and the number of waiting ones below which the next are read.
  private static let page = 512
  private static let fewWaiting = 256
  /// The committed intents after which they are received and removed.
  private static let settledAtOnce = 2_000

  /// Sends the queue.
  /// - Parameter onlyLeft: only what may have reached the server under the replica's present id.
  /// - Throws: the refusal of a server that can't answer now; what was not answered is sent by the next run.
  func send(onlyLeft: Bool = false) async throws {
    (lastRead, hasMore) = (0, true)
    var actions = try read(onlyLeft: onlyLeft)
    if queue.isEmpty { return }
    actions += queue.handle(.connected)
    var iterator = answers.makeAsyncIterator()
    while true {
      while !actions.isEmpty { actions += try await perform(actions.removeFirst()) }
      actions = try read(onlyLeft: onlyLeft)
      if !actions.isEmpty { continue }
      if queue.isEmpty { break }
      if committed.count >= Self.settledAtOnce { try await settle() }
      guard let (id, outcome) = await iterator.next(isolation: #isolation) else { break }
      actions = try record(outcome, of: id)
    }
    try await settle()
  }

  /// Reads the next intents, if few wait.
  private func read(onlyLeft: Bool) throws -> [SendingQueue.Action] {
    var actions = [SendingQueue.Action]()
    while hasMore, queue.countOfWaiting < Self.fewWaiting {
      let entries = try unsent.entries(form, .waiting, after: lastRead, limit: Self.page)
      guard let newest = entries.last else {
        hasMore = false
        break
      }
      lastRead = newest.number
      var items = [SendingQueue.Item]()
      for entry in entries {
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
      actions += queue.handle(.queued(items))
    }
    return actions
  }

  private func perform(_ action: SendingQueue.Action) async throws -> [SendingQueue.Action] {
    switch action {
    case .markLeft(let numbers):
      let marked = try unsent.markLeft(numbers.compactMap { intents[$0] }, at: now(), form: form)
      for intent in marked { intents[intent.number] = intent }
      return queue.handle(.marked(marked.map(\.number)))
    case .send(let numbers):
      try await send(numbers)
      return []
    case .park(let number, let refusal):
      let intent = try invariant(intents.removeValue(forKey: number), "an intent that was refused was sent")
      try unsent.park(number, Parking(refusal, at: now(), left: intent.leftTime), form: form)
      report.parked += 1
      return []
    case .pause(let refusal): throw refusal
    }
  }

  private func send(_ numbers: [Int64]) async throws {
    var events = [(id: TransactionID, event: ReplicaEvent)]()
    func flush() {
      if !events.isEmpty { client.send(events) { [answer] id, outcome in answer.yield((id, outcome)) } }
      events = []
    }
    for number in numbers {
      let intent = try invariant(intents[number], "an intent that is sent is in the queue")
        .renamed(names, madeAt: revisions)
      if !intent.texts.isEmpty {
        // Its splices refer to a text that is complete when the mirror has what was sent before.
        flush()
        try await settle()
      }
      self.numbers[intent.transaction] = number
      events.append((intent.transaction, try event(of: intent)))
    }
    flush()
  }

  private func event(of intent: Intent) throws -> ReplicaEvent {
    switch intent.content {
    case .undo(let revision, let redo):
      return .undo(UndoRequest(intent.transaction, revision: revision, redo: redo))
    case .undoEdit(let number):
      // It waits for the answer of that one.
      let revision = try invariant(revisionsOfIntents[number], "an edit whose undo is sent was committed")
      return .undo(UndoRequest(intent.transaction, revision: revision))
    case .changes: return .save(try intent.transaction(over: mirror))
    }
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
      revisionsOfIntents[number] = done.revision
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
    try finishReceived()
  }

  /// Removes the intents whose commits the mirror has, soon after it has them: until then a program that works on the
  /// copy shows both.
  private func finishReceived() throws {
    if committed.isEmpty { return }
    let head = try mirror.head.revision
    let known = committed.filter { $0.revision <= head }
    committed.removeAll { $0.revision <= head }
    if known.isEmpty { return }
    let answers = try known.map { done in
      let intent = intents.removeValue(forKey: done.number).map { $0.renamed(names) }
      return try done.answer(intent, over: mirror, at: now())
    }
    report.parked += answers.count { $0.rest != nil }
    try unsent.finish(answers, form: form)
  }

  /// The commits that one transaction of the mirror writes, and about how many changes they have.
  private static let appliedCommits = 256
  private static let appliedChanges = 2_000

  private func receive() async throws {
    // The commits do not say which objects a change of the user's grants has shown or hidden.
    if !report.isReloaded, client.welcome?.role != Role.owner.rawValue { return try await reload() }
    var waiting = [MirroredCommit]()
    var changes = 0
    do {
      for try await followed in client.commits(since: try mirror.head, untilNow: true, omitsDamage: true) {
        guard let commit = MirroredCommit(followed, now: now()) else { return try await reload() }
        waiting.append(commit)
        changes += commit.changes.count
        if waiting.count >= Self.appliedCommits || changes >= Self.appliedChanges {
          try apply(waiting)
          (waiting, changes) = ([], 0)
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
    try finishReceived()
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
