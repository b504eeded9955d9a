import GraphModel
import GraphStore
import GraphTesting
import Testing

@testable import GraphReplicaStore

/// A replica as a store: a commit is planned, is an unsent edit when it is acknowledged, and is still there afterwards.
@Suite struct ReplicaStoreTests {
  private let fixture: MirrorFixture
  private let note: ObjectID
  private let board: ObjectID

  init() throws {
    let store = try TestStore(try Fixtures.stickies())
    board = try store.insert("Board", ["name": .string("Home")])
    note = try store.insert("Note", ["text": .string("buy milk"), "board": .object(board)])
    fixture = try MirrorFixture(store)
    let replica = UnsentFile.Replica(
      id: UniqueID(high: 1, low: 2), store: try fixture.mirror.head.store, principal: "ann", author: "ann")
    try UnsentFile.create(folder: fixture.folder.path, replica: replica).close()
  }

  private func open() throws -> ReplicaStore {
    var last: UInt64 = 0
    return try ReplicaStore(folder: fixture.folder.path, model: fixture.server.model) {
      last += 1
      return last
    }
  }

  private func commit(
    _ store: ReplicaStore, _ sequence: UInt64, _ changes: [Change], policy: MergePolicy = .error
  ) throws -> WriteResult {
    let id = TransactionID(replica: UniqueID(high: 7, low: 7), sequence: sequence)
    let transaction = Transaction(id: id, policy: policy, changes: changes)
    return try store.commit([.transaction(transaction, author: "ann")], now: 5)[0]
  }

  private func committed(_ result: WriteResult) throws -> CommitResult {
    switch result.outcome {
    case .committed(let result): return result
    case .refused(let refusal): throw refusal
    }
  }

  private func counts(_ store: ReplicaStore) throws -> [Int] {
    let counts = try store.counts()
    return [counts.unsent, counts.parked]
  }

  private func images(_ store: ReplicaStore, _ entity: String) throws -> [ObjectImage] {
    var images = [ObjectImage]()
    _ = try store.fetch(FetchRequest(entity: try fixture.server.entity(entity).number)) { images.append($0) }
    return images
  }

  private func insertion(_ temporary: UInt64, _ text: String) throws -> Change {
    Change(
      .insert, .temporary(temporary, entity: try fixture.server.entity("Note").number),
      edits: [
        try fixture.server.edit("Note.text", .string(text)), try fixture.server.edit("Note.board", .object(board)),
      ])
  }

  @Test func commitIsUnsentEditAndIsThereAfterReopening() throws {
    let store = try open()
    let before = store.head.revision
    let result = try committed(commit(store, 1, [insertion(33, "call Ann")]))
    #expect(result.revision == before + 1)
    // The client's own temporary id is answered.
    #expect(result.identities.map(\.temporary.key.low) == [33])
    #expect(try counts(store) == [1, 0])
    #expect(try images(store, "Note").count == 2)
    try store.close()
    let reopened = try open()
    #expect(try images(reopened, "Note").count == 2)
    #expect(reopened.head.revision == before + 1)
    let new = try #require(try images(reopened, "Note").first { $0.id == result.identities[0].permanent })
    #expect(new[try fixture.server.property("Note.number")] == .integer(ProvisionalNumber.base + 1))
    try reopened.close()
  }

  @Test func repeatedTransactionIsOneEdit() throws {
    let store = try open()
    let first = try committed(commit(store, 1, [insertion(1, "once")]))
    #expect(try committed(commit(store, 1, [insertion(1, "once")])) == first)
    #expect(try store.counts().unsent == 1)
    try store.close()
  }

  @Test func refusedCommitIsNoEdit() throws {
    let store = try open()
    let change = Change(.update, note, base: .max, edits: [try fixture.server.edit("Note.board", .null)])
    guard case .refused(let refusal) = try commit(store, 1, [change]).outcome else {
      Issue.record("a note without a board is accepted")
      return
    }
    #expect(refusal.code == .invalid)
    #expect(try counts(store) == [0, 0])
    try store.close()
  }

  @Test func basesAreThoseOfTheServer() throws {
    let store = try open()
    let base = try fixture.mirror.head.revision
    let blue = try fixture.server.edit("Note.color", .string("blue"))
    _ = try committed(commit(store, 1, [Change(.update, note, base: base, edits: [blue])]))
    let local = store.head.revision
    let pink = try fixture.server.edit("Note.color", .string("pink"))
    _ = try committed(commit(store, 2, [Change(.update, note, base: local, edits: [pink])]))
    let intents = try store.unsent.entries(store.form).compactMap(\.intent)
    #expect(intents.flatMap(\.changes).map(\.base) == [base, base])
    try store.close()
  }

  @Test func laterSplicesKeepTheTextTheyReferTo() throws {
    let store = try open()
    let text = try fixture.server.property("Note.text").number
    let base = try fixture.mirror.head.revision
    func splice(_ offset: Int, _ insertion: String) -> Edit {
      Edit(text, .splice([TextSplice(offset: offset, length: 0, insertion: insertion)]))
    }
    _ = try committed(commit(store, 1, [Change(.update, note, base: base, edits: [splice(8, ", bread")])]))
    _ = try committed(
      commit(store, 2, [Change(.update, note, base: store.head.revision, edits: [splice(15, ", eggs")])]))
    let intents = try store.unsent.entries(store.form).compactMap(\.intent)
    #expect(intents.map(\.texts) == [[:], [note: [text: "buy milk, bread"]]])
    #expect(try images(store, "Note").first?[fixture.server.property("Note.text")] == .string("buy milk, bread, eggs"))
    try store.close()
  }

  /// A run is killed before it removes the edit from the queue.
  @Test func editThatTheMirrorHasIsUndoneAsACommittedStep() throws {
    let (server, form) = (fixture.server, IntentForm(fixture.server.model))
    let first = try open()
    let blue = Change(
      .update, note, base: try fixture.mirror.head.revision, edits: [try server.edit("Note.color", .string("blue"))])
    _ = try committed(commit(first, 1, [blue]))
    let intent = try #require(try first.unsent.markLeft([1], at: 6, form: form).first)
    try first.close()
    let transaction = try intent.transaction(over: fixture.mirror)
    let sent = try committed(server.store.commit([.transaction(transaction, author: "ann")], now: server.now)[0])
    try fixture.receive()
    let store = try open()
    let color = try server.property("Note.color")
    #expect(try images(store, "Note").map { $0[color] } == [.string("blue")])
    let id = TransactionID(replica: UniqueID(high: 7, low: 7), sequence: 2)
    _ = try committed(store.commit([.undo(UndoRequest(id), author: "ann")], now: 7)[0])
    #expect(try images(store, "Note").map { $0[color] } == [.string("yellow")])
    #expect(try store.unsent.entries(form).last?.intent?.content == .undo(revision: sent.revision, redo: false))
    try store.close()
  }

  /// Another program may have changed an edit since it was read.
  @Test func knownEntryIsUsedWhileItsFormIsTheSame() throws {
    let store = try open()
    for number: UInt64 in 1...2 { _ = try committed(commit(store, number, [insertion(number, "note \(number)")])) }
    var known = [Int64: UnsentFile.Entry]()
    for var entry in try store.unsent.entries(store.form) {
      entry.intent?.author = "of the program"
      if entry.number == 2 { entry.form += " " }
      known[entry.number] = entry
    }
    let marked = try store.unsent.markLeft([1, 2, 3], at: 6, form: store.form, known: known)
    #expect(marked.map(\.number) == [1, 2] && marked.map(\.author) == ["of the program", "ann"])
    #expect(marked.allSatisfy { $0.state == .left(6) })
    try store.close()
  }

  @Test func undoRemovesTheNewestUnsentEdit() throws {
    let store = try open()
    let before = try images(store, "Note").map(\.values)
    _ = try committed(commit(store, 1, [insertion(1, "first")]))
    let blue = try fixture.server.edit("Note.color", .string("blue"))
    _ = try committed(
      commit(store, 2, [Change(.update, note, base: .max, edits: [blue])], policy: .objectTrump))
    for sequence: UInt64 in [3, 4] {
      let id = TransactionID(replica: UniqueID(high: 7, low: 7), sequence: sequence)
      #expect(try store.undoState(of: "ann", scope: nil).undo != nil)
      let result = try store.commit([.undo(UndoRequest(id), author: "ann")], now: 6)[0]
      _ = try committed(result)
      #expect(result.record?.undoes != nil)
    }
    #expect(try images(store, "Note").map(\.values) == before)
    #expect(try store.counts().unsent == 0)
    #expect(try store.undoState(of: "ann", scope: nil).undo == nil)
    try store.close()
  }

  @Test func historyNeedsTheServer() throws {
    let store = try open()
    var refusals = [Refusal?]()
    refusals.append(#expect(throws: Refusal.self) { try store.origin(of: 1, of: note) })
    refusals.append(
      #expect(throws: Refusal.self) { _ = try store.log(LogRequest()) { _ in } })
    refusals.append(
      #expect(throws: Refusal.self) {
        var request = FetchRequest(entity: try fixture.server.entity("Note").number)
        request.at = 1
        _ = try store.fetch(request) { _ in }
      })
    for refusal in refusals {
      #expect(refusal?.code == .unavailable && refusal?.message.contains("needs the server") == true)
    }
    try store.close()
  }

  /// An intent of another replica.
  private func other(_ number: Int64, _ changes: [Change]) -> Intent {
    Intent(
      number: number, transaction: TransactionID(replica: UniqueID(high: 9, low: 9), sequence: 1),
      model: fixture.server.model, author: "ann", made: 3, content: .changes(changes))
  }

  @Test func takenIntentsGetNumbersOfTheirOwn() throws {
    let store = try open()
    _ = try committed(commit(store, 1, [insertion(1, "mine")]))
    let entity = try fixture.server.entity("Note").number
    let name = ProvisionalID.make(number: 40, place: 1, entity: entity)
    let pink = try fixture.server.edit("Note.color", .string("pink"))
    let taken = try store.take(
      [other(40, [insertion(1, "theirs")]), other(41, [Change(.update, name, edits: [pink])])], now: 6)
    #expect(taken == ReplicaStore.Taken(numbers: [2, 3]))
    let note = try #require(
      try images(store, "Note").first { $0.id == ProvisionalID.make(number: 2, place: 1, entity: entity) })
    #expect(note[try fixture.server.property("Note.color")] == .string("pink"))
    try store.close()
  }

  @Test func fileIsTakenAsAWhole() throws {
    let base = try fixture.mirror.head.revision
    try fixture.server.by("bob") {
      try fixture.server.must([try fixture.server.update(note, "Note.color", .string("red"))])
    }
    try fixture.receive()
    let store = try open()
    let pink = try fixture.server.edit("Note.color", .string("pink"))
    var undo = other(41, [])
    undo.content = .undo(revision: base, redo: false)
    let taken = try store.take(
      [other(40, [Change(.update, note, base: base, edits: [pink])]), undo, other(42, [insertion(1, "later")])], now: 6)
    #expect(taken == ReplicaStore.Taken(numbers: [1, 2], parked: [1], undos: 1))
    guard case .parked(let parking)? = try store.unsent.entries(store.form).first?.intent?.state else {
      Issue.record("the conflict is not parked")
      return
    }
    #expect(parking.code == Refusal.Code.conflict.rawValue && parking.left == nil)
    #expect(try images(store, "Note").count == 2)
    try store.close()
  }

  @Test func fileThatLacksTheMakerOfAnObjectIsNotTaken() throws {
    let store = try open()
    // Here edit 1 has made another object.
    _ = try committed(commit(store, 1, [insertion(1, "mine")]))
    let name = ProvisionalID.make(number: 1, place: 1, entity: try fixture.server.entity("Note").number)
    let pink = try fixture.server.edit("Note.color", .string("pink"))
    let refusal = #expect(throws: Refusal.self) {
      try store.take([other(40, [insertion(1, "theirs")]), other(41, [Change(.update, name, edits: [pink])])], now: 6)
    }
    #expect(refusal?.code == .malformed)
    #expect(try counts(store) == [1, 0])
    try store.close()
  }
}
