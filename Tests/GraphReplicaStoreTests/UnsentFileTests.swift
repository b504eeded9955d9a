import Foundation
import GRDB
import GraphModel
import GraphStore
import GraphTesting
import Testing

@testable import GraphReplicaStore

/// The file of unsent edits: each step is durable, and nothing but an answer or the user removes an edit.
@Suite struct UnsentFileTests {
  private let folder: TemporaryDirectory
  private let model: Model
  private let form: IntentForm

  init() throws {
    folder = try TemporaryDirectory()
    model = try Fixtures.stickies()
    form = IntentForm(model)
  }

  private func create() throws -> UnsentFile {
    let replica = UnsentFile.Replica(
      id: UniqueID(high: 1, low: 2), store: UniqueID(high: 3, low: 4), principal: "ann", author: "Ann")
    return try UnsentFile.create(folder: folder.path, replica: replica)
  }

  private func board(_ id: ObjectID? = nil, name: String) throws -> [Change] {
    let board = try #require(model.entity(named: "Board"))
    let edit = Edit(try #require(board.property(named: "name")).number, .set(.string(name)))
    if let id { return [Change(.update, id, edits: [edit])] }
    return [Change(.insert, .temporary(1, entity: board.number), edits: [edit])]
  }

  @discardableResult
  private func append(_ file: UnsentFile, _ changes: [Change]) throws -> Intent {
    let draft = Intent(
      number: 0, transaction: TransactionID(replica: .zero, sequence: 0), model: model, author: "Ann", made: 1,
      content: .changes(changes))
    return try file.append(draft, form: form) { _, _ in [] }
  }

  private func counts(_ file: UnsentFile) throws -> [Int] {
    let counts = try file.counts()
    return [counts.unsent, counts.parked]
  }

  private func numbers(_ file: UnsentFile) throws -> [Int64] { try file.entries(form).map(\.number) }

  @Test func appendedIntentIsThereAfterReopening() throws {
    let file = try create()
    let intent = try append(file, board(name: "Work"))
    #expect(intent.number == 1 && intent.transaction == TransactionID(replica: UniqueID(high: 1, low: 2), sequence: 1))
    file.close()
    let reopened = try #require(try UnsentFile.open(folder: folder.path))
    #expect(try reopened.entries(form).map(\.intent) == [intent])
    #expect(try append(reopened, board(name: "Home")).number == 2)
    let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
    #expect(mode == 0o600)
  }

  @Test func refusedAppendLeavesNothing() throws {
    let file = try create()
    let draft = Intent(
      number: 0, transaction: TransactionID(replica: .zero, sequence: 0), model: model, author: "Ann", made: 1,
      content: .changes(try board(name: "Work")))
    #expect(throws: Refusal.self) {
      try file.append(draft, form: form) { _, _ in throw Refusal(.invalid, "no") }
    }
    #expect(try numbers(file).isEmpty)
    #expect(try append(file, board(name: "Home")).number == 1)
  }

  @Test func answeredIntentGivesItsObjectToLaterOnes() throws {
    let file = try create()
    try append(file, board(name: "Work"))
    let entity = try #require(model.entity(named: "Board")).number
    let provisional = ProvisionalID.make(number: 1, place: 1, entity: entity)
    try append(file, board(provisional, name: "Office"))
    #expect(try file.entries(form).last?.intent?.prerequisites == [1])
    let permanent = ObjectID(key: UniqueID(high: 500, low: 1), entity: entity)
    try file.finish(1, ids: [provisional: permanent], form: form)
    let rest = try file.entries(form)
    #expect(rest.map(\.number) == [2])
    #expect(rest.first?.intent?.changes.map(\.id) == [permanent])
    #expect(rest.first?.intent?.prerequisites.isEmpty == true)
    #expect(try file.madeObjects(model).ids == [provisional: permanent])
  }

  @Test func parkedIntentTakesThoseOfItsObjectsAlong() throws {
    let file = try create()
    let entity = try #require(model.entity(named: "Board")).number
    try append(file, board(name: "Work"))
    try append(file, board(ProvisionalID.make(number: 1, place: 1, entity: entity), name: "Office"))
    try append(file, board(name: "Home"))
    let refusal = Refusal(.unique, "another board is called Work")
    try file.park(1, Parking(refusal, at: 5, left: 4), form: form)
    #expect(try file.entries(form).map(\.isParked) == [true, true, false])
    #expect(try counts(file) == [1, 2])
    guard case .parked(let parking)? = try file.entries(form)[1].intent?.state else {
      Issue.record("the dependent intent is not parked")
      return
    }
    #expect(parking.code == Parking.waits && parking.waitsFor == 1)
    let retried = try file.retry(1, policy: .objectTrump, base: 9, form: form)
    #expect(retried == [1, 2])
    let first = try #require(try file.entries(form).first?.intent)
    #expect(first.policy == .objectTrump && first.state == .queued)
    // The refused id is not used again.
    #expect(first.transaction.sequence == 4)
  }

  @Test func discardTakesDependentsAndNotWhatIsOnItsWay() throws {
    let file = try create()
    let entity = try #require(model.entity(named: "Board")).number
    try append(file, board(name: "Work"))
    try append(file, board(ProvisionalID.make(number: 1, place: 1, entity: entity), name: "Office"))
    #expect(try file.dependents(of: 1, form: form) == [1, 2])
    _ = try file.markLeft([1], at: 3, form: form)
    let refusal = #expect(throws: Refusal.self) { try file.discard(1, form: form) }
    #expect(refusal?.code == .conflict)
    #expect(try numbers(file) == [1, 2])
    #expect(try file.discard(2, form: form).count == 1)
    #expect(try numbers(file) == [1])
    #expect(throws: Refusal.self) { try file.discard(7, form: form) }
  }

  @Test func copiedFileGetsAnIDOfItsOwn() throws {
    let file = try create()
    try append(file, board(name: "sent"))
    try append(file, board(name: "queued"))
    _ = try file.markLeft([1], at: 3, form: form)
    #expect(try !file.isCopy && file.replica.left == 1)
    file.close()
    let other = try TemporaryDirectory()
    try Data(contentsOf: URL(fileURLWithPath: file.path))
      .write(to: URL(fileURLWithPath: other.path + "/" + UnsentFile.name))
    let copy = try #require(try UnsentFile.open(folder: other.path))
    #expect(try copy.isCopy)
    let fresh = UniqueID(high: 8, low: 8)
    try copy.renew(fresh, form: form)
    #expect(try !copy.isCopy)
    let intents = try copy.entries(form).compactMap(\.intent)
    // The server may have committed the first one under its old id.
    #expect(intents.map(\.transaction.replica) == [UniqueID(high: 1, low: 2), fresh])
    #expect(intents.last?.transaction.sequence == 1)
  }

  @Test func intentWithoutMeaningIsParkedInItsOwnNames() throws {
    let file = try create()
    try append(file, board(name: "Work"))
    let other = IntentForm(try Fixtures.company())
    try file.parkUnreadable(1, Parking(code: Parking.model, message: "no entity Board", at: 1), form: other)
    let entry = try #require(try file.entries(other).first)
    #expect(entry.intent == nil && entry.isParked && entry.failure != nil)
    #expect(entry.form.contains("\"code\":\"model\"") && entry.form.contains("Board/new:1.1"))
  }

  /// An update of a note with a value and a splice.
  private func update(base: Revision) throws -> Change {
    let note = try #require(model.entity(named: "Note"))
    let splice = TextSplice(offset: 8, length: 0, insertion: ", bread")
    return Change(
      .update, ObjectID(key: UniqueID(high: 500, low: 1), entity: note.number), base: base,
      edits: [
        Edit(try #require(note.property(named: "color")).number, .set(.string("blue"))),
        Edit(try #require(note.property(named: "text")).number, .splice([splice])),
      ])
  }

  @Test func retryKeepsTheBaseOfSplices() throws {
    let file = try create()
    try append(file, [update(base: 3)])
    try file.park(1, Parking(Refusal(.conflict, "bob was first"), at: 5, left: 4), form: form)
    _ = try file.retry(1, policy: .objectTrump, base: 9, form: form)
    let changes = try #require(try file.entries(form).first?.intent?.changes)
    #expect(changes.map(\.base) == [3, 9])
    #expect(changes.map(\.edits) == [[try update(base: 3).edits[1]], [try update(base: 3).edits[0]]])
  }

  @Test func retryBehindPrunedHistoryUsesTheKnownText() throws {
    let file = try create()
    try append(file, [update(base: 3)])
    try file.park(1, Parking(Refusal(.pruned, "too old"), at: 5, left: 4), form: form) { _, _, base in
      base == 3 ? "buy milk" : nil
    }
    _ = try file.retry(1, base: 9, form: form)
    let intent = try #require(try file.entries(form).first?.intent)
    #expect(intent.changes == [try update(base: 9)])
    #expect(intent.texts.values.flatMap(\.values) == ["buy milk"])
  }

  @Test func editInALostStateIsParkedAndCantBeRetried() throws {
    let file = try create()
    try append(file, [update(base: 140)])
    try append(file, [update(base: 90)])
    let parked = try file.rebase(onto: 100, at: 5, form: form, text: nil)
    #expect(parked == 1)
    #expect(try file.entries(form).map(\.isParked) == [true, false])
    #expect(try file.replica.restores == 1)
    let refusal = #expect(throws: Refusal.self) { try file.retry(1, base: 130, form: form) }
    #expect(refusal?.code == .conflict)
    let intent = try #require(try file.entries(form).first?.intent)
    let other = #expect(throws: Refusal.self) { try file.replace(1, by: intent, base: 130, form: form) }
    #expect(other?.code == .conflict)
    // The whole text needs no lost state.
    var whole = intent
    let text = try update(base: 1).edits[1].property
    let bread = Edit(text, .set(.string("bread")))
    whole.content = .changes([Change(.update, intent.changes[0].id, base: 140, edits: [bread])])
    try file.replace(1, by: whole, base: 150, form: form)
    #expect(try file.entries(form).map(\.isParked) == [false, false])
  }

  @Test func withoutACommonStateEditsAreParkedUntilTheyAreRetried() throws {
    let file = try create()
    try append(file, [update(base: 140)])
    try append(file, [update(base: 140)])
    try append(file, board(name: "Work"))
    _ = try file.markLeft([1], at: 3, form: form)
    #expect(try file.rebase(onto: nil, at: 5, form: form) { _, _, _ in "buy milk" } == 1)
    // The server may have committed the first before the backup, and knows it by its id. The last refers to no state.
    #expect(try file.entries(form).map(\.isParked) == [false, true, false])
    #expect(try file.retry(2, base: 130, form: form) == [2])
    #expect(try file.entries(form).compactMap(\.intent).map { $0.changes.map(\.base) } == [[1], [130], [0]])
  }

  @Test func statesSurviveReopening() throws {
    let file = try create()
    for state in [SyncState.off, .discarding(step: 2), .deleting(sequence: 7, revision: 41), .on] {
      try file.setState(state)
      let other = try #require(try UnsentFile.open(folder: folder.path))
      #expect(try other.replica.state == state)
      other.close()
    }
    #expect(try file.beginDelete(at: 12).sequence == 1)
    #expect(try file.replica.state == .deleting(sequence: 1, revision: 12))
    #expect(try file.replica.left == 1)
  }

  @Test func undoOfAnIntentOnItsWayBecomesThatOfItsRevision() throws {
    let file = try create()
    try append(file, board(name: "Work"))
    let sent = try file.markLeft([1], at: 3, form: form)
    #expect(try file.entries(form).map(\.intent) == sent)
    let draft = Intent(
      number: 0, transaction: TransactionID(replica: .zero, sequence: 0), model: model, author: "Ann", made: 4,
      content: .undoEdit(1))
    _ = try file.append(draft, form: form) { _, _ in [] }
    #expect(try file.dependents(of: 1, form: form) == [1, 2])
    try file.finish(1, ids: [:], revision: 41, form: form)
    #expect(try file.entries(form).map { $0.intent?.content } == [.undo(revision: 41, redo: false)])
    // It no longer depends on anything.
    #expect(try file.dependents(of: 1, form: form) == [1])
  }

  @Test func undoOfARefusedIntentWaitsWithIt() throws {
    let file = try create()
    try append(file, board(name: "Work"))
    let draft = Intent(
      number: 0, transaction: TransactionID(replica: .zero, sequence: 0), model: model, author: "Ann", made: 4,
      content: .undoEdit(1))
    _ = try file.append(draft, form: form) { _, _ in [] }
    try file.park(1, Parking(Refusal(.unique, "another board is called Work"), at: 5, left: 4), form: form)
    #expect(try counts(file) == [0, 2])
    #expect(try file.discard(1, form: form).count == 2)
  }

  @Test func pagesAndSelectionsHaveTheIntentsInOrder() throws {
    let file = try create()
    for number in 1...5 { try append(file, board(name: "\(number)")) }
    try file.park(3, Parking(Refusal(.unique, "taken"), at: 5, left: 4), form: form)
    #expect(try file.entries(form, .waiting, after: 1, limit: 2).map(\.number) == [2, 4])
    #expect(try file.entries(form, .parked).map(\.number) == [3])
    #expect(try file.newest(form, limit: 3).map(\.number) == [5, 4, 2])
    #expect(try file.forms(after: 3, limit: 1).map(\.number) == [4])
    #expect(try file.entry(6, form: form)?.number == nil)
  }

  @Test func editThatIsAppendedWhileOthersAreDiscardedStays() throws {
    let file = try create()
    let other = try #require(try UnsentFile.open(folder: folder.path))
    try append(file, board(name: "given up"))
    let draft = Intent(
      number: 0, transaction: TransactionID(replica: .zero, sequence: 0), model: model, author: "Ann", made: 1,
      content: .changes(try board(name: "meanwhile")))
    let (began, ended) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    var kept = [String]()
    try file.discardAll(
      keep: { kept += $0 },
      finish: {
        Thread.detachNewThread { [form] in
          began.signal()
          _ = try? other.append(draft, form: form) { _, _ in [] }
          ended.signal()
        }
        began.wait()
      })
    ended.wait()
    #expect(kept.count == 1 && kept[0].contains("given up"))
    #expect(try numbers(file) == [2])
    #expect(try file.replica.state == .discarding(step: 2))
  }

  @Test func editsStayIfTheirFileCantBeWritten() throws {
    let file = try create()
    try append(file, board(name: "Work"))
    #expect(throws: Refusal.self) { try file.discardAll(keep: { _ in }, finish: { throw Refusal(.unavailable, "no") }) }
    #expect(try numbers(file) == [1])
    #expect(try file.replica.state == .on)
  }

  @Test func fileOfAnotherProcessIsNotReplaced() throws {
    let file = try create()
    try append(file, board(name: "Work"))
    let draft = folder.path + "/draft"
    try Data("half made".utf8).write(to: URL(fileURLWithPath: draft))
    try UnsentFile.give(draft, file.path)
    let reopened = try #require(try UnsentFile.open(folder: folder.path))
    #expect(try numbers(reopened) == [1])
    reopened.close()
    // The drafts are gone.
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(!names.contains { $0.contains(".new") })
  }

  @Test func oneProcessSendsAtATime() throws {
    let first = try #require(try SenderLock.acquire(folder: folder.path))
    #expect(try SenderLock.acquire(folder: folder.path) == nil)
    withExtendedLifetime(first) {}
  }

  /// A file of version 2 has no scopes, and may be of a build that had fewer columns.
  @Test(arguments: [true, false])
  func fileOfAnEarlierVersionIsUpgraded(hasRestores: Bool) throws {
    let file = try create()
    let intent = try append(file, board(name: "Work"))
    file.close()
    let queue = try DatabaseQueue(path: file.path)
    try queue.inDatabase { database in
      try database.execute(sql: "ALTER TABLE replica DROP COLUMN kept; PRAGMA user_version = 2")
      if !hasRestores {
        try database.execute(
          sql: "ALTER TABLE replica DROP COLUMN restores; ALTER TABLE name DROP COLUMN revision")
      }
    }
    try queue.close()
    let upgraded = try #require(try UnsentFile.open(folder: folder.path))
    let again = try #require(try UnsentFile.open(folder: folder.path))
    #expect(try upgraded.entries(form).map(\.intent) == [intent])
    #expect(try upgraded.replica.kept == nil && upgraded.replica.restores == 0)
    let kept = KeptScopes([UniqueID(high: 5, low: 6)])
    try upgraded.keep(kept)
    #expect(try again.replica.kept == kept)
    #expect(try upgraded.keep(new: [UniqueID(high: 5, low: 6), UniqueID(high: 7, low: 8)]).count == 1)
    #expect(try again.replica.kept?.containers.count == 2)
    try upgraded.keep(nil)
    #expect(try upgraded.keep(new: [UniqueID(high: 7, low: 8)]).isEmpty && upgraded.replica.kept == nil)
    upgraded.close()
    again.close()
  }

  @Test func changeOfAnotherConnectionIsNoticed() throws {
    let file = try create()
    let other = try #require(try UnsentFile.open(folder: folder.path))
    let version = try file.version
    try append(other, board(name: "Work"))
    #expect(try file.version != version)
  }
}
