import Foundation
import GraphClient
import GraphModel
import GraphTesting
import Testing

@testable import GraphOffline

/// Plays each row of the table in docs/guides/offline.md: an edit without the server, and an edit on the server
/// meanwhile.
@MainActor
@Suite(.timeLimit(.minutes(5))) struct EditPairTests {
  private typealias Row = (name: String, outcome: String)

  private static func rows() throws -> [Row] {
    let page = try #require(String(bytes: try Fixtures.file("docs/guides/offline.md"), encoding: .utf8))
    let table = try #require(page.components(separatedBy: "| my edit |").last?.components(separatedBy: "\n\n").first)
    return table.split(separator: "\n").dropFirst(2).map { line in
      let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      return ("\(cells[0]) × \(cells[1])", cells[2])
    }
  }

  @Test func everyPairEndsAsTheGuideSays() async throws {
    let pairs = EditPair.all
    let rows = try Self.rows()
    #expect(rows.map(\.name).sorted() == (pairs.map(\.name) + RightsPairTests.rows).sorted())
    for row in rows {
      // The others need accounts.
      if let pair = pairs.first(where: { $0.name == row.name }) { try await play(pair, row.outcome) }
    }
  }

  private func play(_ pair: EditPair, _ outcome: String) async throws {
    let scene = try await EditScene()
    let fixture = scene.fixture
    try await fixture.turnOn()
    try await pair.before(scene)
    try await fixture.synchronize()
    let ann = try await fixture.offline()
    try await pair.mine(scene, ann)
    await ann.close()
    try await fixture.other(pair.theirs(scene))
    let report = try await fixture.synchronize()
    #expect((report.parked > 0) == outcome.contains("parked"), "\(pair.name)")
    #expect(try fixture.entries().allSatisfy(\.isParked), "\(pair.name)")
    #expect(try fixture.entries().isEmpty != outcome.contains("parked"), "\(pair.name)")
    let served = try await scene.served()
    #expect(pair.holds(scene, served), "\(pair.name): \(served)")
    await fixture.stop()
  }
}

/// The objects of which the pairs are made.
@MainActor
struct EditScene {
  let fixture: OfflineFixture
  /// A further note of the first board, behind the fixture's.
  let second: ObjectID
  let third: ObjectID
  /// A board without notes.
  let attic: ObjectID
  /// The tag that the first note has.
  let old: ObjectID
  let food: ObjectID
  let drink: ObjectID
  let shelf: ObjectID
  /// The state that the user has seen.
  let seen: Revision

  var board: ObjectID { fixture.board }
  var note: ObjectID { fixture.note }

  /// Boards with an order of notes, and a shelf that can't be deleted while boards are on it.
  private static let source = """
    {"format": 1, "name": "Pairs", "version": 1, "entities": [
      {"name": "Shelf", "attributes": [{"name": "name", "type": "string", "default": ""}], "relationships": [
        {"name": "boards", "destination": "Board", "inverse": "shelf", "toMany": true, "deleteRule": "deny"}]},
      {"name": "Board", "attributes": [{"name": "name", "type": "string"},
        {"name": "color", "type": "string", "default": "gray"}], "relationships": [
        {"name": "notes", "destination": "Note", "inverse": "board", "toMany": true, "ordered": true,
         "deleteRule": "cascade"},
        {"name": "shelf", "destination": "Shelf", "inverse": "boards"}], "unique": [["name"]]},
      {"name": "Note", "attributes": [{"name": "text", "type": "text", "default": ""},
        {"name": "color", "type": "string", "default": "yellow"}, {"name": "x", "type": "double", "default": 0},
        {"name": "pinned", "type": "bool", "default": false}], "relationships": [
        {"name": "board", "destination": "Board", "inverse": "notes", "optional": false},
        {"name": "tags", "destination": "Tag", "inverse": "notes", "toMany": true},
        {"name": "outgoing", "destination": "Link", "inverse": "from", "toMany": true, "deleteRule": "cascade"},
        {"name": "incoming", "destination": "Link", "inverse": "to", "toMany": true, "deleteRule": "cascade"}]},
      {"name": "Tag", "attributes": [{"name": "name", "type": "string"}], "relationships": [
        {"name": "notes", "destination": "Note", "inverse": "tags", "toMany": true}], "unique": [["name"]]},
      {"name": "Link", "attributes": [{"name": "label", "type": "string", "default": ""}], "relationships": [
        {"name": "from", "destination": "Note", "inverse": "outgoing", "optional": false},
        {"name": "to", "destination": "Note", "inverse": "incoming", "optional": false}]}]}
    """

  init() async throws {
    let fixture = try await OfflineFixture(model: Model(parsing: Self.source.utf8))
    self.fixture = fixture
    let bob = try await fixture.connect("bob")
    func named(_ temporary: UInt64, _ entity: String, _ name: String) -> Change {
      Change(
        .insert, .temporary(temporary, entity: fixture.entity(entity).number),
        edits: [fixture.edit("\(entity).name", .string(name))])
    }
    let made = try await bob.commit(
      [
        fixture.insertion(1, "second", on: fixture.board), fixture.insertion(2, "third", on: fixture.board),
        named(3, "Board", "Attic"), named(4, "Tag", "old"), named(5, "Tag", "food"), named(6, "Tag", "drink"),
        named(7, "Shelf", "kitchen"),
      ], policy: .error
    ).committed.identities
    func id(_ temporary: UInt64) throws -> ObjectID {
      try #require(made.first { $0.temporary.key.low == temporary }).permanent
    }
    (second, third, attic) = (try id(1), try id(2), try id(3))
    (old, food, drink, shelf) = (try id(4), try id(5), try id(6), try id(7))
    let tagged = Change(
      .update, fixture.note, base: .max,
      edits: [Edit(fixture.property("Note.tags").number, .members(added: [old], removed: []))])
    seen = try await bob.commit([tagged], policy: .error).committed.revision
    await bob.close()
  }

  // MARK: - Changes

  /// An update of the user, at the state that was seen; of another user if `isMine` is false.
  func update(_ id: ObjectID, _ edits: [Edit], isMine: Bool = true) -> Change {
    Change(.update, id, base: isMine ? seen : .max, edits: edits)
  }

  func theirUpdate(_ id: ObjectID, _ edits: [Edit]) -> [Change] { [update(id, edits, isMine: false)] }

  func edit(_ path: String, _ value: Value) -> Edit { fixture.edit(path, value) }

  func color(_ name: String) -> Edit { edit("Note.color", .string(name)) }

  func splice(_ offset: Int, _ insertion: String, removing length: Int = 0) -> Edit {
    Edit(
      fixture.property("Note.text").number,
      .splice([TextSplice(offset: offset, length: length, insertion: insertion)]))
  }

  func tags(added: [ObjectID] = [], removed: [ObjectID] = []) -> Edit {
    Edit(fixture.property("Note.tags").number, .members(added: added, removed: removed))
  }

  /// Places a note at the beginning of the board.
  func first(_ note: ObjectID) -> Edit { Edit(fixture.property("Board.notes").number, .place([note], after: nil)) }

  func work() -> Change {
    Change(
      .insert, .temporary(1, entity: fixture.entity("Board").number),
      edits: [edit("Board.name", .string("Work"))])
  }

  // MARK: - The server

  /// All objects of the server, by id.
  func served() async throws -> ServedObjects {
    let bob = try await fixture.connect("bob")
    var objects = [ObjectID: ObjectImage]()
    for entity in fixture.model.entities {
      for try await chunk in bob.images(of: entity) {
        for image in chunk { objects[image.id] = image }
      }
    }
    await bob.close()
    return ServedObjects(objects: objects)
  }

  func value(_ path: String, of id: ObjectID, in served: ServedObjects) -> Value? {
    served.objects[id].map { $0[fixture.property(path)] }
  }

  func color(in served: ServedObjects) -> String? { value("Note.color", of: note, in: served)?.stringValue }

  func text(in served: ServedObjects) -> String? { value("Note.text", of: note, in: served)?.stringValue }

  func isPinned(in served: ServedObjects) -> Bool { value("Note.pinned", of: note, in: served) == .bool(true) }

  /// The notes of the board, in their order.
  func order(in served: ServedObjects) throws -> [ObjectID] {
    let relationship = try #require(fixture.property("Board.notes").relationship)
    let position = fixture.model.ownProperty(try #require(relationship.position))
    func place(_ id: ObjectID) -> Int64 {
      if case .integer(let number)? = served.objects[id].map({ $0[position] }) { number } else { .max }
    }
    return [note, second, third].sorted { place($0) < place($1) }
  }
}

/// The objects of a server.
struct ServedObjects: CustomStringConvertible {
  var objects: [ObjectID: ObjectImage]

  var description: String { "\(objects.values.map(\.values))" }

  func has(_ id: ObjectID) -> Bool { objects[id] != nil }
}
