import GraphClient
import GraphModel
import GraphReplica
import GraphTesting
import GraphWire
import StickiesKit
import Testing

/// The promises of docs/guides/fetching.md to a Swift programmer, against a daemon.
@Suite struct FetchingClientTests {
  /// Twenty-five notes on one board: every fifth is pink, the others are yellow.
  @MainActor
  private func write(_ client: GraphClient) async throws {
    let model = StickiesModel.model
    let (board, note) = (try #require(model.entity(named: "Board")), try #require(model.entity(named: "Note")))
    func edit(_ entity: Entity, _ name: String, _ value: Value) throws -> Edit {
      Edit(try #require(entity.property(named: name)).number, .set(value))
    }
    let home = ObjectID.temporary(1, entity: board.number)
    var changes = [Change(.insert, home, edits: [try edit(board, "name", .string("Home"))])]
    for number in 0..<25 {
      let edits = [
        try edit(note, "text", .string("note \(number)")), try edit(note, "board", .object(home)),
        try edit(note, "color", .string(number % 5 == 0 ? "pink" : "yellow")),
      ]
      changes.append(Change(.insert, .temporary(UInt64(number + 2), entity: note.number), edits: edits))
    }
    _ = try await client.commit(changes, policy: .error)
  }

  @Test @MainActor func clientCountsPagesGroupsAndExplains() async throws {
    let daemon = try Daemon()
    try daemon.start()
    let client = try await Stickies.connect(to: daemon.socket, author: "ann@test", reconnects: false)
    try await write(client)
    let note = try #require(client.context.model.entity(named: "Note"))

    #expect(try await client.count(of: Note.self) == 25)
    #expect(try await client.count(of: Note.self, where: "color == \"pink\"") == 5)
    let ids = try await client.identifiers(of: Note.self, sort: "-number", limit: 3)
    let newest = try await client.fetch(Note.self, where: "TRUEPREDICATE", sort: "-number", limit: 3)
    #expect(ids == newest.map(\.id))
    #expect(try await client.count(of: Note.self, where: { $0.color == .pink }) == 5)
    let oldest = try await client.identifiers(
      of: Note.self, where: { $0.color != .pink }, sort: [\.number.ascending], limit: 1)
    #expect(try await client.fetch(Note.self, where: { $0.text == "note 1" }).map(\.id) == oldest)
    var pink = [String]()
    for try await page in try client.pages(
      of: Note.self, where: { $0.color == .pink }, sort: [\.number.descending], size: 3)
    { pink += page.objects.map(\.text) }
    #expect(pink == [20, 15, 10, 5, 0].map { "note \($0)" })

    var sizes = [Int]()
    var texts = [String]()
    var last: Token?
    for try await page in try client.pages(of: Note.self, sort: "-color,number", size: 10) {
      sizes.append(page.objects.count)
      texts += page.objects.map(\.text)
      last = page.at
    }
    #expect(sizes == [10, 10, 5])
    #expect(Set(texts).count == 25)
    #expect(Array(texts.suffix(5)) == [0, 5, 10, 15, 20].map { "note \($0)" })
    #expect(last?.revision == 1)
    let images = client.pages(of: note, where: .never, size: 10)
    #expect(try await images.nextPage()?.objects.isEmpty == true)
    #expect(try await images.nextPage() == nil)

    let rows = try await client.rows(
      of: Note.self, "color, @count, @max.board.name AS board", groupBy: "color", sort: "-@count")
    #expect(rows.map { $0["color"] } == [.string("yellow"), .string("pink")])
    #expect(rows.map { $0["@count"] } == [.integer(20), .integer(5)])
    #expect(rows.first?["board"] == .string("Home"))
    #expect(rows.first?.columns.map(\.type) == ["enumeration", "integer", "string"])
    #expect(rows.first?["nothing"] == nil)

    let values = client.rows(of: note, "number * 2 AS twice", sort: "number", limit: 2)
    let first = try #require(try await values.nextChunk())
    #expect(first.map { $0["twice"] } == [.integer(2), .integer(4)])
    #expect(try await values.nextChunk() == nil)
    let cursor = try #require(values.next)
    let rest = client.rows(of: note, "number", sort: "number", limit: 100, after: cursor)
    #expect(try await rest.nextChunk()?.first?["number"] == .integer(3))

    let condition = try GraphPredicate(parsing: "number == 3", entity: note, model: client.context.model)
    let explanation = try await client.explain(client.wireFetch(note, condition))
    #expect(explanation.count == 1)
    #expect(explanation.statements.first?.hasPrefix("SELECT ") == true)

    await #expect(throws: Refusal.self) { try await client.rows(of: Note.self, "nope") }
    #expect(try await client.count(of: Note.self) == 25)
    await client.close()
  }
}
