import GraphModel
import GraphStore
import GraphTesting
import Testing

@testable import GraphReplicaStore

/// The steps of a run: what is durable before what is sent, and what a copy does first.
@Suite struct SyncRunTests {
  private let model: Model
  private let store = UniqueID(high: 5, low: 5)

  init() throws { model = try Fixtures.stickies() }

  private func replica(left: UInt64 = 0, _ state: SyncState = .on) -> UnsentFile.Replica {
    var replica = UnsentFile.Replica(id: UniqueID(high: 1, low: 1), store: store, principal: "ann", author: "ann")
    (replica.left, replica.state) = (left, state)
    return replica
  }

  private func server(
    lastSequence: UInt64 = 0, seesAll: Bool = true, store: UniqueID = UniqueID(high: 5, low: 5)
  ) -> SyncRun.Server {
    SyncRun.Server(store: store, principal: "ann", author: "ann", lastSequence: lastSequence, seesAll: seesAll)
  }

  private func intent(_ number: Int64, _ state: Intent.State = .queued) throws -> Intent {
    let board = try #require(model.entity(named: "Board"))
    let name = try #require(board.property(named: "name"))
    var intent = Intent(
      number: number, transaction: TransactionID(replica: UniqueID(high: 1, low: 1), sequence: UInt64(number)),
      model: model, author: "ann", made: 1,
      content: .changes([
        Change(.insert, .temporary(1, entity: board.number), edits: [Edit(name.number, .set(.string("b\(number)")))])
      ]))
    intent.state = state
    return intent
  }

  private func entry(_ intent: Intent) -> UnsentFile.Entry {
    UnsentFile.Entry(
      number: intent.number, form: "", intent: intent, failure: nil, used: 0, isParked: intent.isParked)
  }

  private func result(at revision: Revision) -> Result<CommitResult, Refusal> {
    .success(CommitResult(revision: revision, fingerprint: 1, identities: [], conflicts: []))
  }

  /// The action as a word.
  private func name(_ action: SyncRun.Action) -> String {
    switch action {
    case .setState(let state): "state \(state.text)"
    case .openMirror: "open"
    case .readStates: "states"
    case .ask(let token): "ask \(token.revision)"
    case .rebase(let common, let isLoaded):
      "rebase \(common.map(String.init) ?? "-")\(isLoaded ? " loaded" : "")"
    case .load: "load"
    case .receive: "receive"
    case .readQueue: "queue"
    case .markLeft(let numbers): "mark \(numbers)"
    case .send(let intent): "send \(intent.number)"
    case .awaitAnswer: "wait"
    case .park(let number, let refusal, _): "park \(number) \(refusal.code)"
    case .parkUnreadable(let number, _): "park \(number)"
    case .finish(let finished): "finish \(finished.map { "\($0.committed.number)" }.joined(separator: " "))"
    case .release(let finished): "release \(finished.map { "\($0.committed.number)" }.joined(separator: " "))"
    case .renew: "renew"
    case .end(let report): "end \(report.sent) \(report.parked)"
    case .endUnloaded(let report, let waiting): "end \(report.sent) \(report.parked) without a copy, waits: \(waiting)"
    case .fail(let refusal): "fail \(refusal.code)"
    }
  }

  /// The states of these revisions.
  private func states(_ revisions: Revision...) -> SyncRun.Event {
    .states(revisions.map { Token(store: store, revision: $0, fingerprint: UInt64($0)) })
  }

  /// Begins a run whose server has the mirror's state, up to the action that follows the queue.
  private func read(_ entries: [UnsentFile.Entry], _ run: inout SyncRun) -> SyncRun.Action {
    _ = run.begin()
    for event: SyncRun.Event in [.opened(isPartial: false), .queue(entries), states(7), .isKnown(true)] {
      _ = run.handle(event)
    }
    return run.handle(.queue(entries))
  }

  @Test func intentIsMarkedBeforeItLeavesAndStaysUntilTheMirrorHasItsCommit() throws {
    var run = SyncRun(replica(), isCopy: false, server: server(), folder: "here")
    let intent = try intent(1)
    var left = intent
    left.state = .left(1)
    var names = [name(run.begin())]
    for event: SyncRun.Event in [
      .opened(isPartial: false), .queue([entry(intent)]), states(5, 6), .isKnown(true), .queue([entry(intent)]),
      .marked([left]), .done, .answered(intent.transaction, result(at: 7)), .received(7, commits: 1),
      .finished(parked: 0),
    ] {
      names.append(name(run.handle(event)))
    }
    #expect(
      names == [
        "open", "queue", "states", "ask 6", "queue", "mark [1]", "send 1", "wait", "receive", "finish 1", "end 1 0",
      ])
  }

  @Test func queueIsAdaptedToARestoredServerBeforeAnythingLeaves() throws {
    var run = SyncRun(replica(), isCopy: false, server: server(), folder: "here")
    let entry = entry(try intent(1))
    var names = [name(run.begin())]
    for event: SyncRun.Event in [
      .opened(isPartial: false), .queue([entry]), states(90, 95, 100, 120, 140), .isKnown(false), .isKnown(true),
      .isKnown(false), .rebased(parked: 1), .loaded(130), .rebased(parked: 0), .queue([]),
    ] {
      names.append(name(run.handle(event)))
    }
    #expect(
      names == [
        "open", "queue", "states", "ask 140", "ask 100", "ask 120", "rebase 100", "load", "rebase 100 loaded", "queue",
        "receive",
      ])
    #expect(name(run.handle(.received(130, commits: 0))) == "end 0 1")
  }

  /// Parked edits are adapted, too.
  @Test func emptyQueueIsComparedIfTheMirrorIsReplaced() throws {
    var run = SyncRun(replica(), isCopy: false, server: server(), folder: "here")
    var names = [name(run.begin())]
    for event: SyncRun.Event in [
      .opened(isPartial: false), .queue([]), .outdated, states(100, 140), .isKnown(false), .isKnown(true),
      .rebased(parked: 0), .loaded(130), .rebased(parked: 0),
    ] {
      names.append(name(run.handle(event)))
    }
    #expect(
      names == [
        "open", "queue", "receive", "states", "ask 140", "ask 100", "rebase 100", "load", "rebase 100 loaded",
        "end 0 0",
      ])
  }

  /// A run ends with messages about a restored or pruned server, a copied replica, and another model.
  @Test func runSaysWhatItHasMet() throws {
    func notices(_ isCopy: Bool, _ events: [SyncRun.Event]) -> [SyncReport.Notice]? {
      var run = SyncRun(replica(), isCopy: isCopy, server: server(), folder: "here")
      var action = run.begin()
      for event in events { action = run.handle(event) }
      if case .end(let report) = action { return report.notices }
      Issue.record("the run has not ended: \(name(action))")
      return nil
    }
    let outdated: [SyncRun.Event] = [.opened(isPartial: false), .queue([]), .outdated]
    #expect(notices(false, [.opened(isPartial: false), .queue([]), .received(7, commits: 0)]) == [])
    #expect(notices(false, outdated + [states(7), .isKnown(true), .loaded(9)]) == [])
    #expect(
      notices(
        false,
        outdated + [
          states(7, 8), .isKnown(false), .isKnown(true), .rebased(parked: 0), .loaded(9), .rebased(parked: 0),
        ])
        == [.restoredServer])
    #expect(notices(false, outdated + [states(7), .isPruned, .loaded(9)]) == [.prunedServer])
    let token = Token(store: store, revision: 7, fingerprint: 7)
    #expect(
      notices(
        false,
        [
          .noMirror(states: [token], isOfOtherModel: true), .isKnown(true), .loaded(9), .queue([]),
          .received(9, commits: 0),
        ])
        == [.otherModel])
    #expect(
      notices(
        true,
        [
          .opened(isPartial: false), .queue([]), .received(7, commits: 0), .renewed(server()), .queue([]),
          .received(7, commits: 0),
        ])
        == [.copiedReplica])
  }

  @Test func prunedServerIsLoadedAgainWithoutAdaptingTheQueue() throws {
    var run = SyncRun(replica(), isCopy: false, server: server(), folder: "here")
    var names = [name(run.begin())]
    for event: SyncRun.Event in [
      .opened(isPartial: false), .queue([]), .outdated, states(140), .isKnown(true), .loaded(150),
    ] {
      names.append(name(run.handle(event)))
    }
    #expect(names == ["open", "queue", "receive", "states", "ask 140", "load", "end 0 0"])
  }

  /// The server can't say whether it has had the state: it may have been restored and pruned since.
  @Test func prunedStateIsComparedWithANewMirrorBeforeAnythingLeaves() throws {
    var run = SyncRun(replica(), isCopy: false, server: server(), folder: "here")
    let entry = entry(try intent(1))
    var names = [name(run.begin())]
    for event: SyncRun.Event in [.opened(isPartial: false), .queue([entry]), states(5, 6), .isPruned] {
      names.append(name(run.handle(event)))
    }
    #expect(run.isUnverified)
    var other = run
    for event: SyncRun.Event in [.loaded(9, parked: 1), .queue([])] { names.append(name(run.handle(event))) }
    #expect(names == ["open", "queue", "states", "ask 6", "load", "queue", "receive"])
    #expect(!run.isUnverified)
    #expect(name(run.handle(.received(9, commits: 0))) == "end 0 1")
    // Without a new mirror nothing leaves.
    guard case .endUnloaded(_, .restored) = other.handle(.notLoaded) else {
      Issue.record("the edits are sent without a comparison")
      return
    }
  }

  /// An older state of a mirror whose newest one is lost may be lost, too.
  @Test func prunedStateOfALostMirrorIsNotACommonOne() throws {
    var run = SyncRun(replica(), isCopy: false, server: server(), folder: "here")
    var names = [name(run.begin())]
    for event: SyncRun.Event in [
      .opened(isPartial: false), .queue([]), .outdated, states(90, 100, 140), .isKnown(false), .isPruned, .isPruned,
      .rebased(parked: 0), .loaded(130),
    ] {
      names.append(name(run.handle(event)))
    }
    #expect(
      names == [
        "open", "queue", "receive", "states", "ask 140", "ask 100", "ask 90", "rebase -", "load", "rebase - loaded",
      ])
  }

  /// A mirror of another version of the model can't be used, but its states are known.
  @Test func queueIsAdaptedWithoutAUsableMirror() throws {
    var run = SyncRun(replica(), isCopy: false, server: server(), folder: "here")
    var names = [name(run.begin())]
    let token = Token(store: store, revision: 140, fingerprint: 140)
    for event: SyncRun.Event in [.noMirror(states: [token]), .isKnown(false), .rebased(parked: 0), .loaded(130)] {
      names.append(name(run.handle(event)))
    }
    #expect(names == ["open", "ask 140", "rebase -", "load", "rebase - loaded"])
  }

  // MARK: - A mirror that can't be loaded

  @Test func editsLeaveAlthoughNoMirrorCanBeLoaded() throws {
    var run = SyncRun(replica(), isCopy: false, server: server(), folder: "here")
    let intent = try intent(1)
    var left = intent
    left.state = .left(1)
    var names = [name(run.begin())]
    for event: SyncRun.Event in [
      .noMirror(states: []), .notLoaded, .queue([entry(intent)]), .marked([left]), .done,
      .answered(intent.transaction, result(at: 7)), .finished(parked: 0),
    ] {
      names.append(name(run.handle(event)))
    }
    #expect(
      names == [
        "open", "load", "queue", "mark [1]", "send 1", "wait", "release 1", "end 1 0 without a copy, waits: none",
      ])
  }

  /// A copy of a part does not follow the commits. Without the edit, it would show the state of before it, and a later
  /// edit of the same replica would overwrite it without a conflict.
  @Test func committedIntentsStayUntilThePartCanBeLoadedAgain() throws {
    var run = SyncRun(replica(), isCopy: false, server: server(seesAll: false), folder: "here")
    let left = try intent(1, .left(1))
    #expect(name(read([entry(left)], &run)) == "send 1")
    #expect(name(run.handle(.done)) == "wait")
    #expect(name(run.handle(.answered(left.transaction, result(at: 8)))) == "load")
    #expect(name(run.handle(.notLoaded)) == "end 1 0 without a copy, waits: earlierCopy")
  }

  /// Only a mirror has the text that its splices refer to. The intents behind it do not overtake it.
  @Test func intentThatContinuesATextWaitsForTheMirror() throws {
    var run = SyncRun(replica(), isCopy: false, server: server(), folder: "here")
    var typed = try intent(2, .left(1))
    typed.texts = [ObjectID(key: UniqueID(high: 9, low: 9), entity: 1): [1: "buy milk"]]
    let first = try intent(1, .left(1))
    let entries = [first, typed, try intent(3, .left(1))].map(entry)
    var names = [name(run.begin())]
    for event: SyncRun.Event in [
      .noMirror(states: []), .notLoaded, .queue(entries), .done, .answered(first.transaction, result(at: 7)),
      .finished(parked: 0),
    ] {
      names.append(name(run.handle(event)))
    }
    #expect(
      names == [
        "open", "load", "queue", "send 1", "wait", "release 1", "end 1 0 without a copy, waits: behindText(2)",
      ])
  }

  /// The earlier mirror follows the commits. The reset stays due.
  @Test func resetThatCannotLoadGoesOnWithTheEarlierMirror() throws {
    var run = SyncRun(replica(.discarding(step: 2)), isCopy: false, server: server(), folder: "here")
    let left = try intent(1, .left(1))
    var names = [name(run.begin())]
    for event: SyncRun.Event in [
      .opened(isPartial: false), states(7), .isKnown(true), .notLoaded, .queue([entry(left)]), .done,
      .answered(left.transaction, result(at: 8)), .received(8, commits: 1), .finished(parked: 0),
    ] {
      names.append(name(run.handle(event)))
    }
    #expect(
      names == [
        "open", "states", "ask 7", "load", "queue", "send 1", "wait", "receive", "finish 1",
        "end 1 0 without a copy, waits: none",
      ])
  }

  /// Other processes may append edits with bases that the server has lost.
  @Test func nothingLeavesForARestoredServerWithoutANewMirror() throws {
    var run = SyncRun(replica(), isCopy: false, server: server(), folder: "here")
    var names = [name(run.begin())]
    for event: SyncRun.Event in [
      .opened(isPartial: false), .queue([entry(try intent(1))]), states(100, 140), .isKnown(false), .isKnown(true),
      .rebased(parked: 0), .notLoaded,
    ] {
      names.append(name(run.handle(event)))
    }
    #expect(
      names == [
        "open", "queue", "states", "ask 140", "ask 100", "rebase 100", "load",
        "end 0 0 without a copy, waits: restored",
      ])
  }

  @Test func copyOfAReplicaTakesNoOtherIDWithoutANewMirror() throws {
    var run = SyncRun(replica(left: 1), isCopy: true, server: server(), folder: "here")
    #expect(name(run.begin()) == "open")
    #expect(name(run.handle(.noMirror(states: []))) == "load")
    #expect(name(run.handle(.notLoaded)) == "end 0 0 without a copy, waits: copied")
  }

  @Test func refusedIntentIsParkedAndTheOthersContinue() throws {
    var run = SyncRun(replica(), isCopy: false, server: server(), folder: "here")
    let intents = try [intent(1), intent(2)]
    #expect(name(read(intents.map(entry), &run)) == "mark [1, 2]")
    #expect(name(run.handle(.marked(intents))) == "send 1")
    #expect(name(run.handle(.done)) == "send 2")
    #expect(name(run.handle(.done)) == "wait")
    let refusal = Refusal(.conflict, "bob was first")
    #expect(name(run.handle(.answered(intents[0].transaction, .failure(refusal)))) == "park 1 conflict")
    #expect(name(run.handle(.done)) == "wait")
    #expect(name(run.handle(.answered(intents[1].transaction, result(at: 3)))) == "receive")
    #expect(name(run.handle(.received(3, commits: 1))) == "finish 2")
    #expect(name(run.handle(.finished(parked: 0))) == "end 1 1")
  }

  @Test func undoOfAnEditBecomesThatOfItsRevision() throws {
    var run = SyncRun(replica(), isCopy: false, server: server(), folder: "here")
    let first = try intent(1, .left(1))
    var undo = try intent(2, .left(1))
    undo.content = .undoEdit(1)
    #expect(name(read([first, undo].map(entry), &run)) == "send 1")
    #expect(name(run.handle(.done)) == "wait")
    guard case .send(let sent) = run.handle(.answered(first.transaction, result(at: 3))) else {
      Issue.record("the undo is not sent")
      return
    }
    #expect(sent.content == .undo(revision: 3, redo: false))
  }

  /// The user may have queued it again while the edit is still parked.
  @Test func undoOfAnEditThatWasNotCommittedIsParked() throws {
    var run = SyncRun(replica(), isCopy: false, server: server(), folder: "here")
    var undo = try intent(2, .left(1))
    undo.content = .undoEdit(1)
    let last = try intent(3, .left(1))
    #expect(name(read([undo, last].map(entry), &run)) == "park 2 conflict")
    #expect(name(run.handle(.done)) == "send 3")
    #expect(name(run.handle(.done)) == "wait")
    #expect(name(run.handle(.answered(last.transaction, result(at: 3)))) == "receive")
    #expect(name(run.handle(.received(3, commits: 1))) == "finish 3")
    #expect(name(run.handle(.finished(parked: 0))) == "end 1 1")
  }

  @Test func copyAsksForWhatHasLeftBeforeItTakesAnotherID() throws {
    var run = SyncRun(replica(left: 1), isCopy: false, server: server(lastSequence: 2), folder: "here")
    let left = try intent(1, .left(1))
    #expect(name(read([entry(left), entry(try intent(2))], &run)) == "send 1")
    #expect(name(run.handle(.done)) == "wait")
    #expect(name(run.handle(.answered(left.transaction, result(at: 4)))) == "receive")
    #expect(name(run.handle(.received(4, commits: 2))) == "finish 1")
    #expect(name(run.handle(.finished(parked: 0))) == "renew")
    #expect(name(run.handle(.renewed(server()))) == "queue")
    #expect(name(run.handle(.queue([entry(try intent(2))]))) == "mark [2]")
  }

  @Test func interruptedResetIsCompletedAndADeleteIsNotRepeated() throws {
    var reset = SyncRun(replica(.discarding(step: 2)), isCopy: false, server: server(), folder: "here")
    #expect(name(reset.begin()) == "open")
    #expect(name(reset.handle(.opened(isPartial: false))) == "states")
    #expect(name(reset.handle(states(2))) == "ask 2")
    #expect(name(reset.handle(.isKnown(true))) == "load")
    #expect(name(reset.handle(.loaded(3))) == "state on")
    #expect(name(reset.handle(.done)) == "queue")
    var delete = SyncRun(
      replica(.deleting(sequence: 4, revision: 3)), isCopy: false, server: server(), folder: "here")
    #expect(name(delete.begin()) == "state on")
    #expect(name(delete.handle(.done)) == "open")
  }

  @Test func mirrorOfAPartIsLoadedAgain() throws {
    for (seesAll, isPartial) in [(false, false), (true, true)] {
      var run = SyncRun(replica(), isCopy: false, server: server(seesAll: seesAll), folder: "here")
      _ = run.begin()
      _ = run.handle(.opened(isPartial: isPartial))
      #expect(name(run.handle(.queue([]))) == "states")
      #expect(name(run.handle(states(7))) == "ask 7")
      #expect(name(run.handle(.isKnown(true))) == "load")
      #expect(name(run.handle(.loaded(9))) == "end 0 0")
    }
  }

  @Test func anotherStoreGetsNothing() throws {
    let other = UniqueID(high: 6, low: 6)
    var run = SyncRun(replica(.discarding(step: 2)), isCopy: false, server: server(store: other), folder: "here")
    #expect(name(run.begin()) == "fail notAllowed")
  }

  @Test func serverThatCantAnswerParksNothing() throws {
    var run = SyncRun(replica(left: 1), isCopy: false, server: server(), folder: "here")
    let left = try intent(1, .left(1))
    _ = read([entry(left)], &run)
    #expect(name(run.handle(.done)) == "wait")
    let refusal = Refusal(.unavailable, "the disk is full")
    #expect(name(run.handle(.answered(left.transaction, .failure(refusal)))) == "fail unavailable")
  }
}
