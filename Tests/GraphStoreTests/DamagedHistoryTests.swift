import Foundation
import GRDB
import GraphModel
import GraphTesting
import Testing

@testable import GraphStore

/// Reads of several commits or of all objects, in a store whose file was changed by something else than a commit: they
/// omit and name the damage, and have everything else.
@Suite struct DamagedHistoryTests {
  private let scene: DamagedNotes
  private var store: TestStore { scene.store }
  private var board: ObjectID { scene.board }
  private var damaged: ObjectID { scene.damaged }
  private var sound: ObjectID { scene.sound }

  init() throws { scene = try DamagedNotes() }

  private func damage(commit revision: Revision) throws {
    try store.damage("UPDATE _commit SET time = time + 1 WHERE revision = ?", [revision])
  }

  // MARK: - Differences

  private func differences(
    _ request: DifferenceRequest
  ) throws -> (ids: Set<ObjectID>, damage: DamageNotice) {
    var found = Set<ObjectID>()
    let end = try store.store.differences(request) { found.insert($0.object.id) }
    #expect(try end.at == store.store.head)
    return (found, end.damage)
  }

  @Test func differencesOmitDamagedObject() throws {
    try scene.damageNote()
    #expect(try differences(DifferenceRequest(from: 3)) == ([sound], DamageNotice(objects: [damaged])))
    #expect(try differences(DifferenceRequest(from: 0)) == ([board, sound], DamageNotice(objects: [damaged])))
    // The damaged note did not change between these states, and neither is read.
    #expect(try differences(DifferenceRequest(from: 4)) == ([sound], DamageNotice()))
    let others = DifferenceRequest(from: 0, entities: [board.entity])
    #expect(try differences(others) == ([board], DamageNotice()))
  }

  @Test func differencesNameDamagedCommitAndHaveTheOthers() throws {
    try damage(commit: 4)
    // The objects that the commit changed are unknown.
    #expect(try differences(DifferenceRequest(from: 3)) == ([sound], DamageNotice(commits: [4])))
    // The note was inserted earlier, so its state at that time can't be computed across the damaged commit.
    #expect(try differences(DifferenceRequest(from: 2, to: 3)) == ([sound], DamageNotice()))
    #expect(
      try differences(DifferenceRequest(from: 1)) == ([sound], DamageNotice(objects: [damaged], commits: [4])))
    #expect(try differences(DifferenceRequest(from: 4)) == ([sound], DamageNotice()))
  }

  @Test func differencesOfDamagedObjectAloneNameIt() throws {
    try scene.damageNote()
    let request = DifferenceRequest(from: 3, object: damaged)
    #expect(try differences(request) == ([], DamageNotice(objects: [damaged])))
    let contents = DifferenceRequest(from: 1, object: board, contents: true)
    #expect(try differences(contents) == ([sound], DamageNotice(objects: [damaged])))
  }

  // MARK: - Following

  private func follow(after revision: Revision, limit: UInt64 = 0) throws -> CommitPage {
    let since = try store.store.read { _, history, head in
      Token(store: head.store, revision: revision, fingerprint: try history.fingerprint(of: revision) ?? 0)
    }
    return try store.store.follow(FollowRequest(since: since, limit: limit))
  }

  @Test func followerReceivesSoundCommitsAndGoesOnBehindDamage() throws {
    try damage(commit: 4)
    let all = try follow(after: 0)
    #expect(all.commits.map(\.revision) == [1, 2, 3, 5])
    #expect(all.at == all.head && all.head.revision == 5)
    // The values of the note's first commit can't be computed across the damaged one.
    #expect(all.damage == DamageNotice(objects: [damaged], commits: [4]))
    #expect(all.commits[1].changes == [ObjectChange(kind: .inserted, id: damaged, before: nil, after: nil)])
    #expect(all.commits[2].changes.first?.after?[try store.property("Note.text")] == .string("a dog"))
    let last = try follow(after: 3)
    #expect(last.commits.map(\.revision) == [5])
    #expect(last.damage == DamageNotice(commits: [4]))
    // The damaged commit is the last one of a part.
    let behind = try follow(after: 4)
    #expect(behind.commits.map(\.revision) == [5])
    #expect(behind.damage.isEmpty)
    try store.must([store.update(sound, "Note.x", .double(3))])
    #expect(try follow(after: 5).commits.map(\.revision) == [6])
  }

  @Test func pageInFrontOfDamageNamesValuesThatItLacks() throws {
    try damage(commit: 4)
    let first = try follow(after: 0, limit: 2)
    #expect(first.commits.map(\.revision) == [1, 2])
    #expect(first.at.revision == 2)
    #expect(first.damage.objects == [damaged])
    #expect(try follow(after: 2, limit: 1).damage.isEmpty)
  }

  @Test func followerReceivesChangesOfDamagedObjectWithoutValues() throws {
    try scene.damageNote()
    let page = try follow(after: 3)
    #expect(page.commits.map(\.revision) == [4, 5])
    #expect(page.commits[0].changes == [ObjectChange(kind: .updated, id: damaged, before: nil, after: nil)])
    #expect(page.damage == DamageNotice(objects: [damaged]))
  }

  // MARK: - Export

  @Test func exportOmitsDamagedObject() throws {
    try scene.damageNote()
    var (ids, announced) = ([ObjectID](), 0)
    let end = try store.store.export { _, count in
      announced = count
    } _: {
      ids.append($0.id)
    }
    #expect(Set(ids) == [board, sound])
    #expect(announced == 3)
    #expect(try end == AnswerCompletion(at: store.store.head, damage: DamageNotice(objects: [damaged])))
  }

  // MARK: - Batches

  /// Each part of a batch has a checksum, because each is read alone: bytes that can't be decoded, those of another
  /// part, and a missing part are found.
  @Test(arguments: [
    "UPDATE _part SET changes = x'0aff' WHERE revision = ?1 AND number = 1",
    "UPDATE _part SET changes = (SELECT changes FROM _part WHERE revision = ?1 AND number = 2) "
      + "WHERE revision = ?1 AND number = 1",
    "DELETE FROM _part WHERE revision = ?1 AND number = 1",
    "UPDATE _part SET low = high WHERE revision = ?1 AND number = 1",
  ]) func changedPartOfBatchIsNamedAsItsCommit(statement: String) throws {
    let model = try Fixtures.stickies()
    let store = try TestStore(model, sliceObjects: 2, keyframeInterval: 0)
    let board = try store.insert("Board", ["name": .string("B")])
    let notes = try (1...5).map { try store.insert("Note", ["board": .object(board), "text": .string("\($0)")]) }
    let assignment = Batch.Assignment(try store.property("Note.x").number, .value(.double(5)))
    _ = try store.batch("Note", .update(.always, [assignment]))
    let head = try store.store.head.revision
    try store.must([store.update(board, "Board.name", .string("C"))])
    var found = Set<ObjectID>()
    let sound = try store.store.differences(DifferenceRequest(from: head - 1)) { found.insert($0.object.id) }
    #expect(sound.damage.commits.isEmpty && found == Set(notes + [board]))

    try store.damage(statement, [head])
    found = []
    let end = try store.store.differences(DifferenceRequest(from: head - 1)) { found.insert($0.object.id) }
    #expect(end.damage.commits == [head])
    #expect(found.contains(board) && found.isDisjoint(with: notes[..<2]))
    // The present, the state after the batch and older commits do not need it.
    #expect(try store.all("Note").count == 5)
    let note = try store.entity("Note")
    let request = FetchRequest(entity: note.number, predicate: .identifiers([notes[0]]))
    #expect(try store.answer(request, at: head).parts.count == 1)
    let refusal = #expect(throws: Refusal.self) { try store.answer(request, at: head - 1) }
    #expect(refusal?.code == .unavailable)
    #expect(refusal?.message.contains("\(head)") == true, "\(String(describing: refusal))")
  }
}
