import GraphModel
import GraphTesting
import Testing

/// The hidden scope, which moves with the object that gives it.
@Suite struct ScopeTests {
  private let graph: MemoryGraph
  private let boards: [ObjectID]

  init() throws {
    graph = MemoryGraph(try Fixtures.team())
    boards = try graph.insert([("Board", [:]), ("Board", [:])])
  }

  private func scope(_ id: ObjectID) -> UniqueID? { graph.images[id].flatMap { graph.model.scope(of: $0) } }

  /// A note, a link from it to itself, and a remark on the link.
  private func chain(on board: ObjectID?) throws -> (note: ObjectID, link: ObjectID, remark: ObjectID) {
    let (note, link, remark) = (graph.temporary("Note"), graph.temporary("Link"), graph.temporary("Remark"))
    // The remark precedes the objects that it depends on.
    let changes = [
      Change(.insert, remark, edits: [Edit(graph.property("Remark", "link"), .set(.object(link)))]),
      Change(
        .insert, link,
        edits: ["from", "to"].map { Edit(graph.property("Link", $0), .set(.object(note))) }),
      Change(
        .insert, note, edits: [Edit(graph.property("Note", "board"), .set(board.map(Value.object) ?? .null))]),
    ]
    let plan = try graph.commit(changes, author: "ann")
    let ids = Dictionary(uniqueKeysWithValues: plan.identities.map { ($0.temporary, $0.permanent) })
    return (try #require(ids[note]), try #require(ids[link]), try #require(ids[remark]))
  }

  @Test func newObjectsTakeTheScopeOfTheirContainer() throws {
    let chain = try chain(on: boards[0])
    for id in [boards[0], chain.note, chain.link, chain.remark] { #expect(scope(id) == boards[0].key) }
    #expect(scope(boards[1]) == boards[1].key)
  }

  @Test func objectWithoutContainerHasNoScope() throws {
    let chain = try chain(on: nil)
    for id in [chain.note, chain.link, chain.remark] { #expect(scope(id) == nil) }
  }

  @Test func moveTakesEverythingAlongInOneCommit() throws {
    let chain = try chain(on: boards[0])
    let plan = try graph.commit([graph.set(chain.note, "Note", "board", .object(boards[1]))])
    for id in [chain.note, chain.link, chain.remark] { #expect(scope(id) == boards[1].key) }
    // And the counts of both boards.
    #expect(Set(plan.changes.map(\.id)) == Set([chain.note, chain.link, chain.remark] + boards))
    let hidden = plan.changes.first { $0.id == chain.remark }?.edits
    #expect(hidden?.count == 1 && hidden?[0].action == .set(.uuid(boards[1].key)))
  }

  @Test func changedReferenceTakesTheOtherScope() throws {
    let (one, other) = (try chain(on: boards[0]), try chain(on: boards[1]))
    try graph.commit([graph.set(one.link, "Link", "from", .object(other.note))])
    #expect(scope(one.link) == boards[1].key && scope(one.remark) == boards[1].key && scope(one.note) == boards[0].key)
    // One transaction inserts an object, moves the object that it refers to, and moves the object at the next step.
    let remark = graph.temporary("Remark")
    let plan = try graph.commit([
      Change(.insert, remark, edits: [Edit(graph.property("Remark", "link"), .set(.object(other.link)))]),
      graph.set(other.note, "Note", "board", .object(boards[0])),
      graph.set(one.note, "Note", "board", .null),
    ])
    #expect(scope(plan.identities[0].permanent) == boards[0].key && scope(one.link) == boards[0].key)
    #expect(scope(one.note) == nil && scope(other.remark) == boards[0].key)
  }

  @Test func cascadeAndNullifyLeaveNoStaleScope() throws {
    let chain = try chain(on: boards[0])
    try graph.commit([Change(.delete, boards[0], base: .max)])
    #expect(graph.images[chain.note] == nil && graph.images[chain.link] == nil && graph.images[chain.remark] == nil)
    let other = try self.chain(on: boards[1])
    try graph.commit([graph.set(other.note, "Note", "board", .null)])
    #expect([other.note, other.link, other.remark].allSatisfy { scope($0) == nil })
  }

  @Test func clientsCannotWriteTheScope() throws {
    let chain = try chain(on: boards[0])
    guard case .stored(let number, _)? = graph.model.entity(named: "Link")?.scope else {
      Issue.record("a link stores its scope")
      return
    }
    let edit = Edit(number, .set(.uuid(boards[1].key)))
    let refusal = #expect(throws: Refusal.self) {
      try graph.commit([Change(.update, chain.link, base: .max, edits: [edit])])
    }
    #expect(refusal?.violations.map(\.rule) == ["assigned"])
    #expect(scope(chain.link) == boards[0].key)
  }

  @Test func otherEditsTouchNoOtherObject() throws {
    let chain = try chain(on: boards[0])
    let plan = try graph.commit([graph.set(chain.note, "Note", "text", .string("x"))])
    #expect(plan.changes.map(\.id) == [chain.note])
  }

  @Test func creatorIsThePrincipalOfTheInsert() throws {
    let note = try graph.insert([("Note", [:])], author: "ann")[0]
    #expect(graph.value(note, "creator") == .string("ann"))
    try graph.commit([graph.set(note, "Note", "text", .string("x"))], author: "bob")
    #expect(graph.value(note, "creator") == .string("ann"))
    for change in [
      graph.set(note, "Note", "creator", .string("bob")),
      Change(
        .insert, graph.temporary("Note"), edits: [Edit(graph.property("Note", "creator"), .set(.string("bob")))]),
    ] {
      let refusal = #expect(throws: Refusal.self) { try graph.commit([change], author: "bob") }
      #expect(refusal?.violations.map(\.rule) == ["assigned"])
    }
  }
}

extension MemoryGraph {
  /// Inserts objects in one transaction, and returns their ids.
  func insert(
    _ objects: [(entity: String, values: [String: Value])], author: String = "ann", judge: AccessJudge? = nil
  ) throws -> [ObjectID] {
    let changes = objects.map { object in
      Change(
        .insert, temporary(object.entity),
        edits: object.values.sorted { $0.key < $1.key }.map { Edit(property(object.entity, $0.key), .set($0.value)) })
    }
    return try commit(changes, author: author, judge: judge).identities.map(\.permanent)
  }

  /// A change that sets one property, based on the present.
  func set(_ id: ObjectID, _ entity: String, _ name: String, _ value: Value) -> Change {
    Change(.update, id, base: .max, edits: [Edit(property(entity, name), .set(value))])
  }
}
