import GraphModel
import GraphStore
import GraphTesting
import Testing

/// A store whose oldest commits are pruned: the requests that still succeed, and the messages for the others.
@Suite struct PruningTests {
  let store: TestStore
  let board: ObjectID
  let kept: ObjectID
  let gone: ObjectID

  /// Ten commits, the first six pruned: a board (1), two notes (2, 3), one changed (4) and deleted (5), a tag (6), four
  /// moves of the note that stays (7 to 10).
  init() throws {
    store = try TestStore(try Fixtures.stickies()) { $0.prunedCommits = 2 }
    board = try store.insert("Board", ["name": .string("B")])
    kept = try store.insert("Note", ["board": .object(board), "text": .string("the cat")])
    gone = try store.insert("Note", ["board": .object(board), "text": .string("a dog")])
    try store.must([store.update(gone, "Note.x", .double(1))])
    try store.must([Change(.delete, gone)])
    _ = try store.insert("Tag", ["name": .string("t")])
    for x in 7...10 { try store.must([store.update(kept, "Note.x", .double(Double(x)))]) }
    try store.prune(through: 6)
  }

  private let below = Refusal(.pruned, "revision 5 was pruned; the oldest that is kept is 6")
  private let commit = Refusal(.pruned, "the commit of revision 6 was pruned; the oldest that is kept is 7")

  private func token(_ revision: Revision) throws -> Token {
    Token(store: store.store.storeID, revision: revision, fingerprint: 0)
  }

  private func notes(at revision: Revision) throws -> [ObjectImage] {
    var images = [ObjectImage]()
    var request = FetchRequest(entity: try store.entity("Note").number)
    request.at = revision
    _ = try store.store.fetch(request) { images.append($0) }
    return images
  }

  private func log(_ request: LogRequest) throws -> [Revision] {
    var revisions = [Revision]()
    _ = try store.store.log(request) { revisions.append($0.revision) }
    return revisions
  }

  @Test func presentAndFloorAreUnchanged() throws {
    #expect(try store.store.oldestRevision == 6)
    #expect(try store.store.head.revision == 10)
    #expect(try store.value(kept, "Note.x") == .double(10))
    #expect(try notes(at: 6).map(\.id) == [kept])
    #expect(try notes(at: 6).first?.revision == 2)
    #expect(try notes(at: 8).first?[store.property("Note.x")] == .double(8))
    try store.expectSound()
    #expect(try store.store.oldestRevision == 6)
  }

  @Test func everyReaderReportsPrunedHistory() throws {
    #expect(throws: below) { try notes(at: 5) }
    #expect(throws: below) {
      _ = try store.store.differences(DifferenceRequest(from: 5, to: 8)) { _ in }
    }
    #expect(throws: below) { try store.store.commits(after: 5, through: nil, maximumChanges: 100) }
    #expect(throws: commit) { try log(LogRequest(after: 5)) }
    #expect(throws: commit) { try log(LogRequest(through: 6)) }
    let followed = #expect(throws: Refusal.self) { _ = try store.store.follow(FollowRequest(since: token(5))) }
    #expect(followed?.code == .pruned)
    #expect(followed?.message.hasPrefix(below.message) == true)
    #expect(try store.refused(store.restore(.everything, at: 5)) == below)
    let undo = Refusal(.pruned, "the commit of revision 4 was pruned; the oldest that is kept is 7")
    #expect(try store.refused(store.undo(4)) == undo)
    let revival = Refusal(.pruned, "the commit of revision 5 was pruned; the oldest that is kept is 7")
    #expect(try store.refused(store.restore(.object(gone))) == revival)
    let why = Refusal(.pruned, "the commit that set text was pruned; the oldest revision that is kept is 6")
    #expect(throws: why) { _ = try store.store.origin(of: store.property("Note.text").number, of: kept) }
  }

  @Test func readsWithoutRevisionReturnKeptHistory() throws {
    #expect(try log(LogRequest()) == [10, 9, 8, 7])
    #expect(try log(LogRequest(after: 6, oldestFirst: true)) == [7, 8, 9, 10])
    let origin = try store.store.origin(of: store.property("Note.x").number, of: kept)
    #expect(origin.revision == 10 && origin.replaced == .double(9))
  }

  @Test func onlyKeptStepsAreUndone() throws {
    for x in [9, 8, 7, 0] {
      try store.taken(store.undo())
      #expect(try store.value(kept, "Note.x") == .double(Double(x)))
    }
    #expect(try store.refused(store.undo()).code == .notFound)
    try store.taken(store.redo())
    #expect(try store.value(kept, "Note.x") == .double(7))
    try store.expectSound()
  }

  /// The undo is kept, but the commit that it reverted is pruned: the refusal names that commit.
  @Test func undoWithPrunedTargetNamesTheTarget() throws {
    let store = try TestStore(try Fixtures.stickies())
    let tag = try store.insert("Tag", ["name": .string("a")])
    try store.must([store.update(tag, "Tag.name", .string("b"))])
    try store.taken(store.undo())
    try store.taken(store.redo())
    _ = try store.insert("Tag", ["name": .string("c")])
    try store.prune(through: 2)
    for revision in [3, 4] as [Revision] {
      let step = Refusal(.pruned, "the commit of revision 2 was pruned; the oldest that is kept is 3")
      #expect(try store.refused(store.undo(revision)) == step)
      #expect(try store.refused(store.redo(revision)) == step)
    }
    try store.prune(through: 3)
    let undo = Refusal(.pruned, "the commit of revision 3 was pruned; the oldest that is kept is 4")
    #expect(try store.refused(store.undo(4)) == undo)
    #expect(try store.refused(store.undo(6)) == Refusal(.notFound, "there is no revision 6"))
  }

  @Test func tokenAtFloorIsKnownAndBelowUnknown() throws {
    let store = try TestStore(try Fixtures.stickies())
    var tokens = [Token]()
    for number in 1...6 {
      _ = try store.insert("Tag", ["name": .string("t\(number)")])
      tokens.append(try store.store.head)
    }
    try store.prune(through: 3)
    for reopens in [false, true] {
      if reopens { try store.reopen() }
      for token in tokens {
        #expect(try store.store.recognizes(token) == (token.revision >= 3), "\(token.revision)")
      }
      #expect(try store.store.follow(FollowRequest(since: tokens[2])).commits.map(\.revision) == [4, 5, 6])
      var forged = tokens[2]
      forged.fingerprint ^= 1
      #expect(try !store.store.recognizes(forged))
    }
  }

  // MARK: - Transactions that are sent again

  @Test func oldTransactionIsNeverCommittedTwice() throws {
    let store = try TestStore(try Fixtures.stickies())
    func transaction(_ sequence: UInt64, replica: UInt64 = 7) throws -> WriteRequest {
      let id = TransactionID(replica: UniqueID(high: replica, low: replica), sequence: sequence)
      let change = try store.insertion("Tag", ["name": .string("\(replica) \(sequence)")])
      return .transaction(Transaction(id: id, changes: [change]), author: "ann")
    }
    let sent = try (1...5).map { try transaction(UInt64($0) * 2) }
    let first = try sent.map { try store.store.commit([$0], now: 1)[0].outcome }
    try store.prune(through: 3)
    for reopens in [false, true] {
      if reopens { try store.reopen() }
      for (place, request) in sent.enumerated() {
        let again = try store.store.commit([request], now: 1)[0].outcome
        guard place < 3 else {
          #expect(again == first[place])
          continue
        }
        guard case .refused(let refusal) = again else {
          Issue.record("transaction \(place) was committed twice")
          continue
        }
        #expect(refusal.code == .pruned)
        #expect(refusal.message.contains("the oldest revision that is kept is 3"))
      }
      // A late transaction that was overtaken can't be distinguished from a pruned one.
      guard case .refused(let late) = try store.store.commit([transaction(5)], now: 1)[0].outcome else {
        Issue.record("it was committed")
        return
      }
      #expect(late.code == .pruned)
    }
    #expect(try store.all("Tag").count == 5)
    #expect(try store.store.commit([transaction(11)], now: 1)[0].record?.revision == 6)
    #expect(try store.store.commit([transaction(1, replica: 8)], now: 1)[0].record?.revision == 7)
    try store.expectSound()
  }

  @Test func newestCommitIsAlwaysKept() throws {
    try store.prune(through: .max)
    #expect(try store.store.oldestRevision == 9)
    #expect(try store.store.head.revision == 10)
    try store.must([store.update(kept, "Note.x", .double(11))])
    #expect(try log(LogRequest()) == [11, 10])
    try store.expectSound()
  }

  @Test func emptyAndUnprunedStoresAreUnchanged() throws {
    let empty = try TestStore(try Fixtures.stickies())
    try empty.prune(through: 5)
    #expect(try empty.store.oldestRevision == 0)
    try empty.expectSound()
    _ = try empty.insert("Tag", ["name": .string("t")])
    try empty.prune(through: 0)
    try empty.prune(through: 1)
    #expect(try empty.store.oldestRevision == 0)
    try empty.expectSound()
  }

  @Test func batchPartsArePrunedWithTheirCommit() throws {
    let store = try TestStore(try Fixtures.company()) { $0.prunedCommits = 1 }
    let rows = (0..<10).map { [Value.string("r\($0)")] }
    let name = try store.property("Robot.name").number
    try store.taken(store.batch("Robot", .insert([name], rows: rows.count), rows: rows))
    let volts = try store.property("Robot.volts").number
    try store.taken(store.batch("Robot", .update(.always, [Batch.Assignment(volts, .value(.integer(5)))])))
    _ = try store.insert("Robot", ["name": .string("last")])
    try store.prune(through: 1)
    #expect(try store.store.oldestRevision == 1)
    try store.expectSound()
    try store.prune(through: 2)
    try store.expectSound()
    #expect(try store.all("Robot", "volts == 5").count == 10)
    #expect(try store.refused(store.undo(2)).code == .pruned)
  }

  @Test func overwrittenValuesArePrunedWithTheirCommits() throws {
    let store = try TestStore(try Fixtures.stickies())
    let tag = try store.insert("Tag", ["name": .string("a")])
    try store.must([store.update(tag, "Tag.name", .string("b"))])
    store.replica = UniqueID(high: 2, low: 2)
    try store.must([store.update(tag, "Tag.name", .string("c"), base: 1)], policy: .storeTrump)
    #expect(try store.store.origin(of: store.property("Tag.name").number, of: tag).overwrittenValues.count == 1)
    _ = try store.insert("Tag", ["name": .string("other")])
    try store.prune(through: 3)
    try store.expectSound()
    #expect(throws: Refusal.self) { _ = try store.store.origin(of: store.property("Tag.name").number, of: tag) }
  }
}
