import Foundation
import GRDB
import GraphModel
import GraphTesting
import Testing

import struct GraphModel.FetchRequest

@testable import GraphStore

/// Fetches of past states of a store whose file was changed by something else than a commit. They omit and name the
/// objects whose state is unknown, and have all others.
@Suite struct PastDamageTests {
  private let store: TestStore
  private let board: ObjectID
  private let first: ObjectID
  private let second: ObjectID

  /// A board (1) and two notes (2, 3), each edited once (4, 5); then another board (6).
  init() throws {
    // A keyframe would make a state known again whose object is damaged.
    store = try TestStore(try Fixtures.stickies(), wordLimit: 0, keyframeInterval: 0)
    board = try store.insert("Board", ["name": .string("B")])
    first = try store.insert("Note", ["board": .object(board), "text": .string("the cat")])
    second = try store.insert("Note", ["board": .object(board), "text": .string("a dog")])
    try store.must([store.update(first, "Note.x", .double(1))])
    try store.must([store.update(second, "Note.x", .double(2))])
    _ = try store.insert("Board", ["name": .string("C")])
  }

  private func damage(commit revision: Revision) throws {
    try store.damage("UPDATE _commit SET time = time + 1 WHERE revision = ?", [revision])
  }

  private func request(_ entity: String, _ predicate: String = "", limit: Int? = nil) throws -> FetchRequest {
    let entity = try store.entity(entity)
    var request = FetchRequest(
      entity: entity.number,
      predicate: predicate.isEmpty
        ? .always : try GraphPredicate(parsing: predicate, entity: entity, model: store.model), limit: limit)
    request.omitsDamage = true
    return request
  }

  /// The ids of a fetch that omits damage, and the damage.
  private func fetch(
    _ entity: String = "Note", _ predicate: String = "", limit: Int? = nil, at revision: Revision
  ) throws -> (ids: Set<ObjectID>, damage: DamageNotice) {
    let answer = try store.answer(try request(entity, predicate, limit: limit), at: revision)
    let ids = answer.parts.compactMap { if case .object(let image) = $0 { image.id } else { nil } }
    #expect(answer.end.count == ids.count)
    return (Set(ids), answer.end.damage)
  }

  private func expectUnavailable(_ request: FetchRequest, at revision: Revision, _ words: String) {
    var request = request
    request.omitsDamage = false
    let refusal = #expect(throws: Refusal.self) { try store.answer(request, at: revision) }
    #expect(refusal?.code == .unavailable)
    #expect(refusal?.message.contains(words) == true, "\(String(describing: refusal))")
  }

  // MARK: - Objects

  /// The note was changed after revision 3, and not after revision 4.
  @Test(arguments: ["x = x + 1", "text = 'the bat'", "_revision = 3", "_sum = _sum + 1"])
  func damagedObjectIsOmittedAndNamed(assignment: String) throws {
    try store.damage("UPDATE Note SET \(assignment) WHERE _id = ?", [Data(first.key.bytes)])
    for revision: Revision in 3...6 {
      let found = try fetch(at: revision)
      #expect(found.ids == [second], "revision \(revision)")
      #expect(found.damage == DamageNotice(objects: [first]), "revision \(revision)")
    }
    // It was inserted later.
    let before = try fetch(at: 1)
    #expect(before.ids.isEmpty)
    #expect(before.damage.isEmpty)
    let boards = try fetch("Board", at: 3)
    #expect(boards.ids == [board])
    #expect(boards.damage.isEmpty)
  }

  @Test func othersHaveTheirPastValues() throws {
    try store.damage("UPDATE Note SET x = x + 1 WHERE _id = ?", [Data(first.key.bytes)])
    let entity = try store.entity("Note")
    var request = FetchRequest(
      entity: entity.number, predicate: try GraphPredicate(parsing: "x == 2", entity: entity, model: store.model))
    request.omitsDamage = true
    #expect(try store.answer(request, at: 5).end.count == 1)
    #expect(try store.answer(request, at: 4).end.count == 0)
  }

  /// A delete has the complete object.
  @Test func deletedObjectIsKnownUntilDamagedCommit() throws {
    try store.must([Change(.delete, first, base: .max)])
    try damage(commit: 4)
    #expect(try fetch(at: 7) == ([second], DamageNotice()))
    #expect(try fetch(at: 6) == ([first, second], DamageNotice()))
    #expect(try fetch(at: 4) == ([first, second], DamageNotice()))
    #expect(try fetch(at: 3) == ([second], DamageNotice(objects: [first], commits: [4])))
  }

  @Test func fetchByIDIsRefused() throws {
    try store.damage("UPDATE Note SET x = x + 1 WHERE _id = ?", [Data(first.key.bytes)])
    for revision: Revision in [3, 4] {
      expectUnavailable(try request("Note", "id == \"\(first)\""), at: revision, "\(first.key)")
      expectUnavailable(try request("Note", "id == \"\(first)\" AND x < 9"), at: revision, "\(first.key)")
    }
    let other = try fetch("Note", "id == \"\(second)\" AND x < 9", at: 3)
    #expect(other == ([second], DamageNotice()))
    #expect(try fetch("Note", "id != \"\(first)\"", at: 3) == ([second], DamageNotice()))
    expectUnavailable(try request("Note"), at: 3, "\(first.key)")
  }

  // MARK: - Commits

  @Test func damagedCommitHidesItsObjectsAtEarlierRevisionsOnly() throws {
    try damage(commit: 4)
    let hidden = DamageNotice(objects: [first], commits: [4])
    #expect(try fetch(at: 6) == ([first, second], DamageNotice()))
    #expect(try fetch(at: 4) == ([first, second], DamageNotice()))
    #expect(try fetch(at: 3) == ([second], hidden))
    #expect(try fetch(at: 2) == ([], hidden))
    #expect(try fetch(at: 1) == ([], DamageNotice()))
    #expect(try fetch("Board", at: 3) == ([board], DamageNotice()))
    expectUnavailable(try request("Note", "id == \"\(first)\""), at: 3, "revision 4")
    expectUnavailable(try request("Note", "id == \"\(first)\" AND x < 9"), at: 3, "revision 4")
    // A later commit of the note changes nothing about that.
    try store.must([store.update(first, "Note.x", .double(7))])
    #expect(try fetch(at: 3) == ([second], hidden))
    #expect(try fetch(at: 4) == ([first, second], DamageNotice()))
  }

  /// No readable commit has touched the note since.
  @Test func newestCommitOfObjectIsDamaged() throws {
    try damage(commit: 5)
    #expect(try fetch(at: 5) == ([first, second], DamageNotice()))
    #expect(try fetch(at: 4) == ([first], DamageNotice(objects: [second], commits: [5])))
    #expect(try fetch(at: 3) == ([first], DamageNotice(objects: [second], commits: [5])))
  }

  /// Whether the note existed before the damaged commit is unknown.
  @Test func insertIsDamaged() throws {
    try damage(commit: 2)
    #expect(try fetch(at: 2).ids == [first])
    let before = try fetch(at: 1)
    #expect(before.ids.isEmpty)
    #expect(before.damage == DamageNotice(objects: [first], commits: [2]))
  }

  @Test func deleteIsDamaged() throws {
    try store.must([Change(.delete, second, base: .max)])
    _ = try store.insert("Board", ["name": .string("D")])
    try damage(commit: 7)
    #expect(try fetch(at: 7) == ([first], DamageNotice()))
    #expect(try fetch(at: 6) == ([first], DamageNotice(objects: [second], commits: [7])))
    // The note was inserted by commit 3.
    #expect(try fetch(at: 2) == ([first], DamageNotice()))
  }

  /// References to an object without a known state stay. A predicate that reads it names it.
  @Test func boardOfReadableNotesIsUnknown() throws {
    try store.must([store.update(board, "Board.name", .string("D"))])
    _ = try store.insert("Board", ["name": .string("E")])
    try damage(commit: 7)
    let hidden = DamageNotice(objects: [board], commits: [7])
    let answer = try store.answer(try request("Note"), at: 4)
    let images = answer.parts.compactMap { if case .object(let image) = $0 { image } else { nil } }
    #expect(Set(images.map(\.id)) == [first, second])
    let property = try store.property("Note.board")
    #expect(images.allSatisfy { $0[property] == .object(board) })
    #expect(answer.end.damage.isEmpty)
    #expect(try fetch("Note", "board.name == \"B\"", at: 4).damage == hidden)
    #expect(try fetch("Board", at: 4) == ([], hidden))
  }

  @Test func countAndPageAreWithoutUnknownObjects() throws {
    try damage(commit: 4)
    var count = try request("Note")
    count.result = .count
    let counted = try store.answer(count, at: 3).end
    #expect(counted.count == 1)
    #expect(counted.damage == DamageNotice(objects: [first], commits: [4]))
    #expect(try fetch(limit: 1, at: 3).ids == [second])
    #expect(try fetch("Note", "text SEARCH \"dog\"", at: 3).ids == [second])
    #expect(try fetch("Note", "text SEARCH \"cat\"", at: 3) == ([], DamageNotice(objects: [first], commits: [4])))
  }
}
