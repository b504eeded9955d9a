import GraphModel
import GraphStore
import GraphTesting
import Testing

/// Reads of visibility classes: their connections, and how SQLite runs them.
@Suite struct VisibleReadTests {
  private let store: TestStore
  private let boards: [ObjectID]

  init() throws {
    store = try TestStore(try ScopedGraph.model()) { $0.maximumVisibleReaders = 2 }
    var boards = [ObjectID]()
    for number in 0..<5 { boards.append(try store.insert("Board", ["title": .string("b\(number)")])) }
    self.boards = boards
    for number in 0..<40 {
      let values: [String: Value] = [
        "x": .integer(Int64(number % 7)), "board": .object(boards[number % 5]), "text": .string("cat n\(number)"),
      ]
      _ = try store.insert("Note", values)
    }
  }

  private func reader(_ boards: ObjectID...) -> Visibility? {
    Visibility(Rights(user: "a", grants: boards.map { Grant(.reader, on: $0.key) }), model: store.model)
  }

  private func count(_ visibility: Visibility?, _ predicate: String = "", at revision: Revision? = nil) throws -> Int {
    let note = try store.entity("Note")
    let condition =
      predicate.isEmpty ? .always : try GraphPredicate(parsing: predicate, entity: note, model: store.model)
    let request = FetchRequest(entity: note.number, predicate: condition, result: .count, at: revision)
    return try store.store.answer(request, seenBy: visibility, while: { true }) { _ in }.count
  }

  /// More classes than connections, in turn, in the present and in the past.
  @Test func connectionsShowOneClassAfterAnother() throws {
    let head = try store.store.head.revision
    _ = try store.insert("Note", ["board": .object(boards[0]), "text": .string("later")])
    for _ in 0..<3 {
      for (index, board) in boards.enumerated() {
        #expect(try count(reader(board)) == (index == 0 ? 9 : 8))
        #expect(try count(reader(board), at: head) == 8)
        #expect(try count(reader(board), "text SEARCH \"cat\"") == 8)
      }
      #expect(try count(reader()) == 0)
      #expect(try count(reader(boards[0], boards[1])) == 17)
      // A read of the whole graph sees none of it.
      #expect(try count(nil) == 41 && count(nil, at: head) == 40)
    }
  }

  /// A rule that SQL can't judge shows nothing: reads of its entity are refused, in the present and in the past.
  @Test func ruleThatCannotBeJudgedRefusesItsReads() throws {
    let rule = (0..<1_100).map { "text CONTAINS 'w\($0)z'" }.joined(separator: " OR ")
    let source = ScopedGraph.source.replacing("x < 8 OR owner == $user OR level == $role", with: rule)
    let store = try TestStore(try Model(parsing: source.utf8))
    let board = try store.insert("Board", ["title": .string("b")])
    _ = try store.insert("Note", ["board": .object(board), "text": .string("w7z")])
    let rights = Rights(user: "a", grants: [Grant(.editor, on: board.key)])
    let visibility = try #require(Visibility(rights, model: store.model))
    func count(_ name: String, at revision: Revision? = nil) throws -> Int {
      let request = FetchRequest(entity: try store.entity(name).number, result: .count, at: revision)
      return try store.store.answer(request, seenBy: visibility, while: { true }) { _ in }.count
    }
    for revision in [nil, try store.store.head.revision] {
      let refusal = #expect(throws: Refusal.self) { try count("Note", at: revision) }
      #expect(refusal?.code == .unavailable && refusal?.message.contains("too complex") == true)
    }
    // The owner of the store sees everything, and can simplify it.
    #expect(try store.all("Note").count == 1)
  }

  @Test func connectionsAreReplacedWithTheStore() throws {
    #expect(try count(reader(boards[1])) == 8)
    try store.reopen()
    #expect(try count(reader(boards[1])) == 8)
  }

  @Test(arguments: ["x == 3", "x == 3 AND text != \"cat\""]) func indexesAreUsed(predicate: String) throws {
    let note = try store.entity("Note")
    let condition = try GraphPredicate(parsing: predicate, entity: note, model: store.model)
    let request = FetchRequest(entity: note.number, predicate: condition, limit: 20, explains: true)
    let end = try store.store.answer(request, seenBy: reader(boards[1]), while: { true }) { _ in }
    let explanation = try #require(end.explanation)
    let whole = try #require(try store.store.answer(request) { _ in }.explanation)
    #expect(!explanation.checksInMemory && Set(explanation.indexes).isSuperset(of: whole.indexes))
  }

  @Test func referenceToInvisibleObjectReadsAsNull() throws {
    let hidden = try store.insert("Note", ["board": .object(boards[2])])
    let shown = try store.insert("Note", ["board": .object(boards[1]), "next": .object(hidden)])
    let next = try store.property("Note.next")
    let visibility = reader(boards[1])
    let note = try store.entity("Note")
    for (predicate, expected) in [
      ("next == NULL", 9), ("next != NULL", 0), ("next.x == NULL", 9), ("next.board.title == \"b2\"", 0),
      ("next.previous.@count > 0", 0),
    ] {
      #expect(try count(visibility, predicate) == expected, "\(predicate)")
    }
    let request = FetchRequest(entity: note.number, predicate: .identifiers([shown]))
    var images = [ObjectImage]()
    _ = try store.store.answer(request, seenBy: visibility, while: { true }) {
      if case .object(let image) = $0 { images.append(image) }
    }
    #expect(images.count == 1 && images.first?[next] == .null)
  }

  /// Both ends of the path are visible, the object between them is not: values and predicates are those of a null
  /// reference.
  @Test func pathsEndBeforeAnInvisibleObject() throws {
    let end = try store.insert("Note", ["board": .object(boards[1]), "x": .integer(6), "text": .string("end")])
    let middle = try store.insert(
      "Note", ["board": .object(boards[2]), "next": .object(end), "text": .string("middle")])
    _ = try store.insert("Note", ["board": .object(boards[1]), "next": .object(middle), "text": .string("start")])
    let head = try store.store.head.revision
    for predicate in [
      "next.next.text == \"end\"", "next.next.x == 6", "next.next != NULL", "next.next == '\(end)'",
      "next == '\(middle)'", "next.text MATCHES \"mid.*\"", "next.board.title == \"b2\"",
      "SUBQUERY(previous, $p, $p.text == \"middle\").@count > 0",
    ] {
      for revision in [nil, head] {
        #expect(try count(nil, predicate, at: revision) == 1, "\(predicate)")
        #expect(try count(reader(boards[1]), predicate, at: revision) == 0, "\(predicate)")
      }
    }
    // Like notes without a next one: eight of the board, the start and the end.
    #expect(try count(reader(boards[1]), "next == NULL") == 10)
    #expect(try count(reader(boards[1]), "next.next == NULL AND previous.@count == 0", at: head) == 10)
    #expect(try count(reader(boards[1], boards[2]), "next.next.text == \"end\"") == 1)
  }

  /// Values that a text of SQL must not take for its own.
  @Test func valuesOfRulesAreNoSQL() throws {
    for user in ["a' OR '1'='1", "\"", "?1", "É"] {
      let secret = try store.insert("Note", ["board": .object(boards[1]), "x": .integer(9), "owner": .string(user)])
      func seen(_ user: String) throws -> Bool {
        let rights = Rights(user: user, grants: [Grant(.editor, on: boards[1].key)])
        let request = FetchRequest(entity: secret.entity, predicate: .identifiers([secret]), result: .count)
        return try store.store.answer(request, seenBy: Visibility(rights, model: store.model), while: { true }) { _ in }
          .count == 1
      }
      #expect(try seen(user), "\(user)")
      #expect(try !seen(user + "x") && !seen("a"), "\(user)")
    }
  }
}
