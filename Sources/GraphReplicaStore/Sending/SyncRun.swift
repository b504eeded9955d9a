// Tests: SyncRunTests.swift, SynchronizerTests.swift
import GraphModel
import GraphStore

/// Decides the steps of a run that brings a replica and its server together: pure, one event in and one action out.
///
/// A run completes an interrupted reset, opens the mirror, sends the queue as `SendingQueue` decides, receives what
/// others have committed, and removes the intents whose commits the mirror has. A copy of a replica first asks for the
/// outcomes of what has left under its old id, and goes on under a new one.
///
/// Before the first intent leaves, and before the mirror is replaced, the run asks whether the server still has the
/// mirror's state. If it was restored from a backup, the bases of the intents are those of states that it has lost or
/// has others of, so the queue is adapted (`UnsentFile.rebase`) and the mirror is loaded again.
///
/// A long queue is read some at a time, and what was committed is received and removed some at a time, so memory does
/// not grow with it.
///
/// An intent stays in the file until the mirror has its commit, so that the user's view never lacks it. Each action is
/// one durable step or one message, so a run may end between any two of them: the next run asks for the outcomes of
/// what has left, under the same ids.
///
/// If the mirror can't be loaded, for example because the graph is too large for one, the run sends the edits anyway,
/// and removes what was committed: the user finds it on the server.
package struct SyncRun: Sendable {
  /// The most intents that are read at once.
  package static let page = 128
  /// The number of waiting intents below which the next are read.
  private static let fewWaiting = 64
  /// The committed intents after which they are received and removed.
  private static let receivedAtOnce = 250

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
  /// Compares the mirror's history with the server's; nil before it begins.
  private var search: CommonStateSearch?
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
  /// The mirror that is open.
  private var mirror = Mirror.none
  /// Whether it is unknown if the server has had the mirror's state.
  package private(set) var isUnverified = false
  /// Whether no new mirror can be made.
  private var isUnloaded = false
  /// Whether the mirror is replaced at the end, when all edits are sent over it.
  private var isReplacedAtEnd = false
  /// The intents that wait for a new mirror.
  private var waiting = Waiting.none
  private var report = SyncReport()

  private enum Mirror {
    case none
    /// One that the server's commits can be added to.
    case following
    /// One of a part: it lacks what the user could not see when it was loaded.
    case partial
    /// The server's commits do not lead to the present from its state.
    case outdated
  }

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
    case .discarding: steps = [.openMirror, .readStates, .load, .setState(.on), .readQueue(after: 0)]
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
    case .opened(let isPartial, let hasOtherScopes):
      (mirror, isReplacedAtEnd) = (isPartial ? .partial : .following, hasOtherScopes)
    case .noMirror(let states, let isOfOtherModel):
      steps.removeAll { if case .readStates = $0 { true } else { false } }
      if isOfOtherModel { report.notices.append(.otherModel) }
      load()
      compare(CommonStateSearch(states))
    case .outdated:
      mirror = .outdated
      load()
      beginComparison()
    case .states(let states): compare(CommonStateSearch(states))
    case .isKnown(let isKnown):
      guard var search else { preconditionFailure("a state is asked for during a search") }
      search.record(isKnown)
      compare(search)
    case .isPruned:
      guard var search else { preconditionFailure("a state is asked for during a search") }
      // The newest state usually is the server's. An older one of a mirror with lost states may be lost, too.
      isUnverified = search.isFirst && mirror != .none
      if isUnverified { report.notices.append(.prunedServer) }
      search.record(search.isFirst)
      compare(search)
      if isUnverified { load() }
    case .rebased(let parked): report.parked += parked
    case .notLoaded: continueWithoutLoading()
    case .loaded(let revision, let parked):
      (mirror, isUnloaded, isUnverified) = (server.seesAll ? .following : .partial, false, false)
      isReplacedAtEnd = false
      report.isReloaded = true
      report.parked += parked
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
      report.notices.append(.copiedReplica)
      steps.append(.readQueue(after: 0))
    }
    return next()
  }

  private mutating func load() {
    steps.removeAll { if case .load = $0 { true } else { false } }
    steps.insert(.load, at: 0)
  }

  /// Compares the mirror's history with the server's, once, before anything is sent and before the mirror is replaced.
  private mutating func beginComparison() {
    if search == nil { steps.insert(.readStates, at: 0) }
  }

  /// Continues a comparison of the mirror's history with the server's.
  ///
  /// Other processes may append edits on the old mirror until the new one is loaded, so the queue is adapted twice.
  private mutating func compare(_ search: CommonStateSearch) {
    self.search = search
    if let token = search.question {
      steps.insert(.ask(token), at: 0)
    } else if search.hasDiverged {
      report.notices.append(.restoredServer)
      load()
      steps.insert(.rebase(onto: search.revision, isLoaded: true), at: 1)
      steps.insert(.rebase(onto: search.revision, isLoaded: false), at: 0)
    }
  }

  private mutating func next() -> Action {
    while steps.isEmpty {
      switch phase {
      case .asking, .sending:
        if read.hasMore, queue.countOfWaiting < Self.fewWaiting { return .readQueue(after: read.last) }
        if committed.count >= unreceived + Self.receivedAtOnce, phase == .sending {
          receiveCommitted()
          continue
        }
        if !queue.isEmpty { return .awaitAnswer }
        phase = phase == .asking ? .renewing : .settling
        receiveCommitted()
      case .renewing:
        phase = .sending
        (queue, isConnected) = (SendingQueue(), false)
        return .renew
      case .settling where isReplacedAtEnd && !isUnloaded:
        steps = [.load]
        beginComparison()
      case .settling: return isUnloaded ? .endUnloaded(report, waiting) : .end(report)
      }
    }
    if case .receive? = steps.first, !report.isReloaded, !follows {
      steps[0] = .load
      beginComparison()
    }
    return steps.removeFirst()
  }

  /// Whether the server's commits bring the mirror up to date. They do not say which objects a change of the user's
  /// grants has shown or hidden.
  private var follows: Bool { server.seesAll && mirror == .following }

  /// Receives the commits, or removes the committed intents without them.
  private mutating func receiveCommitted() {
    if isUnloaded, !follows { release() } else { steps = [.receive] }
  }

  // MARK: - Without a new mirror

  /// Goes on with what needs no new mirror: the earlier one follows the commits, or there is none.
  ///
  /// Otherwise edits would wait for as long as the graph is larger than a mirror may be. They do wait
  /// - on an earlier mirror that does not follow the commits: it would lack what was sent, and later edits on it would
  ///   overwrite that, because a replica has no conflict with itself;
  /// - if the server was restored, because other processes may append on the mirror of the lost past;
  /// - if a copy of a replica takes another id, because what was sent under the old one is removed first.
  private mutating func continueWithoutLoading() {
    isUnloaded = true
    let mayHaveDiverged = search?.hasDiverged == true || isUnverified
    if mayHaveDiverged || phase == .asking || phase == .renewing {
      waiting = mayHaveDiverged ? .restored : .copied
      return settle()
    }
    if mirror != .none, !follows {
      waiting = .earlierCopy
      return settle()
    }
    // A reset is not complete.
    steps.removeAll { if case .setState = $0 { true } else { false } }
    if phase == .sending { return }
    settle()
    release()
  }

  private mutating func settle() {
    steps = []
    phase = .settling
  }

  /// Removes the committed intents, whose commits no mirror has.
  private mutating func release() {
    let known = committed
    (committed, unreceived) = ([], 0)
    if !known.isEmpty { steps.append(.release(finished(known))) }
  }

  /// The intents of a page that need no mirror, up to the first one that does: none is overtaken.
  private mutating func sendable(_ entries: [UnsentFile.Entry]) -> [UnsentFile.Entry] {
    guard isUnloaded, !follows,
      let first = entries.firstIndex(where: { $0.intent.map { !$0.isParked && !$0.texts.isEmpty } == true })
    else { return entries }
    waiting = .behindText(entries[first].number)
    return Array(entries[..<first])
  }

  // MARK: - Sending

  private mutating func add(_ entries: [UnsentFile.Entry]) {
    if search == nil, !entries.isEmpty {
      // The queue is read again, because the comparison may change it.
      steps.insert(.readQueue(after: 0), at: 0)
      return beginComparison()
    }
    if let last = entries.last { read.last = last.number }
    let sendable = sendable(entries)
    read.hasMore = entries.count >= Self.page && sendable.count == entries.count
    var items = [SendingQueue.Item]()
    for entry in sendable where !entry.isParked {
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
    if !known.isEmpty { steps.insert(.finish(finished(known)), at: 0) }
  }

  private mutating func finished(_ known: [CommittedIntent]) -> [FinishedIntent] {
    known.map { done in
      FinishedIntent(committed: done, intent: intents.removeValue(forKey: done.number).map { $0.renamed(names) })
    }
  }
}
