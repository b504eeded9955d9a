// Tests: SyncRunTests.swift, SynchronizerTests.swift
import GraphModel
import GraphStore

/// Decides the steps of a run that brings a replica and its server together: pure, one event in and one action out.
///
/// A run completes an interrupted reset, opens the mirror, sends the queue as `SendingQueue` decides, receives what
/// others have committed, and removes the intents whose commits the mirror has. A copy of a replica first asks for the
/// outcomes of what has left under its old id, and goes on under a new one.
///
/// A long queue is read some at a time, and what was committed is received and removed some at a time, so memory does
/// not grow with it.
///
/// An intent stays in the file until the mirror has its commit, so that the user's view never lacks it. Each action is
/// one durable step or one message, so a run may end between any two of them: the next run asks for the outcomes of
/// what has left, under the same ids.
package struct SyncRun: Sendable {
  /// The facts in the server's welcome.
  package struct Server: Sendable {
    package var store: UniqueID
    package var principal: String
    /// The shown name of the principal.
    package var author: String
    /// The highest sequence number that the server knows of the replica.
    package var lastSequence: UInt64
    /// Whether the user sees all objects.
    package var seesAll: Bool

    package init(store: UniqueID, principal: String, author: String, lastSequence: UInt64, seesAll: Bool) {
      (self.store, self.principal, self.author) = (store, principal, author)
      (self.lastSequence, self.seesAll) = (lastSequence, seesAll)
    }
  }

  package enum Event: Sendable {
    /// The action is done, and durable.
    case done
    /// The mirror is open. A partial one has only what the user could see when it was loaded.
    case opened(isPartial: Bool)
    /// There is no mirror of this version of the model.
    case noMirror
    /// A new mirror has the server's state of this revision.
    case loaded(Revision)
    /// The mirror has this number of further commits, and with them the server's state of the revision.
    case received(Revision, commits: Int)
    /// The server's commits do not lead from the mirror's state to the present one.
    case outdated
    /// The next waiting intents, at most `page`.
    case queue([UnsentFile.Entry])
    /// The file has these intents as sent. The user has discarded the others that were to be marked.
    case marked([Intent])
    /// The outcome of a transaction that was sent.
    case answered(TransactionID, Result<CommitResult, Refusal>)
    /// The file no longer has the intents, or has the rest of some as parked.
    case finished(parked: Int)
    /// The replica is connected under its new id.
    case renewed(Server)
  }

  package enum Action: Sendable {
    /// Replace the state of the replica; answered by `.done`.
    case setState(SyncState)
    /// Answered by `.opened` or `.noMirror`.
    case openMirror
    /// Load a mirror of what the user sees, and use it in place of an earlier one; answered by `.loaded`.
    case load
    /// Receive the commits since the mirror's state; answered by `.received` or `.outdated`.
    case receive
    /// Read the next intents that wait, behind a number; answered by `.queue`.
    case readQueue(after: Int64)
    /// Make durable that these intents are sent; answered by `.marked`.
    case markLeft([Int64])
    /// Send an intent; answered by `.done`, and its outcome later by `.answered`.
    case send(Intent)
    /// Wait for the next outcome.
    case awaitAnswer
    /// Make durable that the intent, and those that name its objects, wait for the user; answered by `.done`.
    case park(Int64, Refusal, left: Timestamp?)
    /// The same for one that has no meaning in this version of the model.
    case parkUnreadable(Int64, Refusal)
    /// Remove committed intents, in one step; answered by `.finished`.
    case finish([FinishedIntent])
    /// Give the replica a new id, and connect under it; answered by `.renewed`.
    case renew
    /// The run is complete.
    case end(SyncReport)
    /// The run ends here. The next one sends the intents without an answer again.
    case fail(Refusal)
  }

  /// An intent whose commit the mirror has.
  package struct FinishedIntent: Sendable {
    package let committed: CommittedIntent
    /// The intent with permanent ids.
    package let intent: Intent?
  }

  /// The most intents that are read at once.
  package static let page = 512
  /// The number of waiting intents below which the next are read.
  private static let fewWaiting = 256
  /// The committed intents after which they are received and removed.
  private static let receivedAtOnce = 1_000

  private enum Phase {
    /// A copy asks for the outcomes of what has left under the old id.
    case asking
    /// A copy has them, and receives their commits.
    case renewing
    case sending
    /// Everything is answered, and the last commits are received.
    case settling
  }

  private var server: Server
  private var phase: Phase
  /// The next actions, in order.
  private var steps: [Action]
  private var queue = SendingQueue()
  private var intents = [Int64: Intent]()
  /// The number of the last intent that was read, and whether there may be further ones.
  private var read: (last: Int64, hasMore: Bool) = (0, false)
  private var isConnected = false
  /// The number of each intent that was sent.
  private var numbers = [TransactionID: Int64]()
  /// The committed intents whose commits the mirror may lack.
  private var committed = [CommittedIntent]()
  /// The number of those that the mirror did not have at the last time: those of a server that was restored.
  private var unreceived = 0
  /// The permanent ids of this run's objects, by the provisional one, and the revisions at which the server made them.
  private var names = [ObjectID: ObjectID]()
  private var revisions = [ObjectID: Revision]()
  /// The revisions of this run's commits, by intent.
  private var revisionsOfIntents = [Int64: Revision]()
  /// Whether the mirror lacks what the user could not see when it was loaded.
  private var isPartial = false
  private var report = SyncReport()

  /// - Parameters:
  ///   - isCopy: whether the file is not the one that it was made as.
  ///   - folder: the replica's folder, for a message.
  package init(_ replica: UnsentFile.Replica, isCopy: Bool, server: Server, folder: String) {
    self.server = server
    phase = isCopy || server.lastSequence > replica.left ? .asking : .sending
    guard server.store == replica.store, UTF8Comparison.equal(server.principal, replica.principal) else {
      steps = [.fail(Self.otherReplica(server.author, folder))]
      return
    }
    switch replica.state {
    case .on, .off: steps = [.openMirror, .readQueue(after: 0)]
    // A delete of everything is never sent again without being asked for: if the server has it, its commit is received
    // like any other.
    case .deleting: steps = [.setState(.on), .openMirror, .readQueue(after: 0)]
    case .discarding: steps = [.load, .setState(.on), .readQueue(after: 0)]
    }
  }

  private static func otherReplica(_ author: String, _ folder: String) -> Refusal {
    Refusal(
      .notAllowed,
      "the server at this address has another store, or knows you as \(author): what was not sent stays in "
        + "\(folder); stickies sync on makes a replica of this one")
  }

  /// The first action.
  package mutating func begin() -> Action { next() }

  /// Handles the event of the last action.
  /// - Returns: the next action.
  package mutating func handle(_ event: Event) -> Action {
    switch event {
    case .done: break
    case .opened(let isPartial): self.isPartial = isPartial
    case .noMirror, .outdated: steps.insert(.load, at: 0)
    case .loaded(let revision):
      report.isReloaded = true
      finish(upTo: revision)
    case .received(let revision, let commits):
      report.received += commits
      finish(upTo: revision)
    case .queue(let entries): add(entries)
    case .marked(let marked):
      for intent in marked { intents[intent.number] = intent }
      perform(queue.handle(.marked(marked.map(\.number))))
    case .answered(let id, let outcome): record(outcome, of: id)
    case .finished(let parked): report.parked += parked
    case .renewed(let server):
      self.server = server
      steps.append(.readQueue(after: 0))
    }
    return next()
  }

  private mutating func next() -> Action {
    while steps.isEmpty {
      switch phase {
      case .asking, .sending:
        if read.hasMore, queue.countOfWaiting < Self.fewWaiting { return .readQueue(after: read.last) }
        if committed.count >= unreceived + Self.receivedAtOnce, phase == .sending {
          steps = [.receive]
          continue
        }
        if !queue.isEmpty { return .awaitAnswer }
        phase = phase == .asking ? .renewing : .settling
        steps = [.receive]
      case .renewing:
        phase = .sending
        (queue, isConnected) = (SendingQueue(), false)
        return .renew
      case .settling: return .end(report)
      }
    }
    let step = steps.removeFirst()
    // The commits do not say which objects a change of the user's grants has shown or hidden.
    if case .receive = step, !report.isReloaded, !server.seesAll || isPartial { return .load }
    return step
  }

  // MARK: - Sending

  private mutating func add(_ entries: [UnsentFile.Entry]) {
    if let last = entries.last { read.last = last.number }
    read.hasMore = entries.count >= Self.page
    var items = [SendingQueue.Item]()
    for entry in entries where !entry.isParked {
      if let intent = entry.intent {
        if phase == .asking, !intent.hasLeft { continue }
        intents[intent.number] = intent
        items.append(SendingQueue.Item(intent))
      } else if let failure = entry.failure {
        steps.append(.parkUnreadable(entry.number, failure))
        report.parked += 1
      } else {
        preconditionFailure("an intent that can't be read has a failure: \(entry.number)")
      }
    }
    if !items.isEmpty { perform(queue.handle(.queued(items))) }
    if isConnected { return }
    isConnected = true
    perform(queue.handle(.connected))
  }

  private mutating func perform(_ actions: [SendingQueue.Action]) {
    for action in actions {
      switch action {
      case .markLeft(let numbers): steps.append(.markLeft(numbers))
      case .send(let numbers): for number in numbers { send(intent(number)) }
      case .park(let number, let refusal):
        steps.append(.park(number, refusal, left: intent(number).leftTime))
        report.parked += 1
      case .pause(let refusal): steps.append(.fail(refusal))
      }
    }
  }

  private func intent(_ number: Int64) -> Intent {
    guard let intent = intents[number] else { preconditionFailure("an intent that is sent is in the queue: \(number)") }
    return intent
  }

  private mutating func send(_ intent: Intent) {
    var sent = intent.renamed(names, madeAt: revisions)
    if case .undoEdit(let number) = intent.content {
      // It has waited for the answer of that one, unless the user has queued it alone, or has made it too late.
      guard let revision = revisionsOfIntents[number] else {
        return perform(queue.handle(.refused(intent.number, Self.notCommitted(number))))
      }
      sent.content = .undo(revision: revision, redo: false)
    }
    // Its splices refer to a text that is complete when the mirror has what was sent before.
    if !intent.texts.isEmpty { steps.append(.receive) }
    numbers[intent.transaction] = intent.number
    steps.append(.send(sent))
  }

  private static func notCommitted(_ number: Int64) -> Refusal {
    Refusal(
      .conflict,
      "edit \(number), which it undoes, was not committed by this run: discard the undo, or retry edit \(number) first")
  }

  private mutating func record(_ outcome: Result<CommitResult, Refusal>, of id: TransactionID) {
    guard let number = numbers.removeValue(forKey: id) else {
      preconditionFailure("an outcome is that of a transaction that was sent: \(id)")
    }
    switch outcome {
    case .success(let result):
      let done = CommittedIntent(number, result)
      names.merge(done.ids) { $1 }
      for id in done.ids.keys { revisions[id] = done.revision }
      revisionsOfIntents[number] = done.revision
      committed.append(done)
      report.sent += 1
      report.conflicts += result.conflicts.count
      perform(queue.handle(.committed(number)))
    case .failure(let refusal): perform(queue.handle(.refused(number, refusal)))
    }
  }

  // MARK: - Receiving

  /// Removes the intents whose commits the mirror has.
  private mutating func finish(upTo head: Revision) {
    let known = committed.filter { $0.revision <= head }
    committed.removeAll { $0.revision <= head }
    unreceived = committed.count
    if known.isEmpty { return }
    let finished = known.map { done in
      FinishedIntent(committed: done, intent: intents.removeValue(forKey: done.number).map { $0.renamed(names) })
    }
    steps.insert(.finish(finished), at: 0)
  }
}
