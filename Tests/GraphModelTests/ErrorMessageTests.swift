import GraphModel
import GraphTesting
import Testing

/// A message about a mistake names the correctable part, at its place, in a sentence.
@Suite struct ErrorMessageTests {
  private static let source = """
    {"format": 1, "name": "Phones", "version": 1, "entities": [
      {"name": "Operator", "attributes": [
        {"name": "name", "type": "string"}, {"name": "born", "type": "date", "optional": true},
        {"name": "nameKey", "type": "string", "minimumLength": 2, "derived": "lowercase(name)"}],
       "relationships": [{"name": "phone", "destination": "Phone", "inverse": "operators"}],
       "unique": [["name"]]},
      {"name": "Phone", "attributes": [{"name": "number", "type": "string", "default": "1"}],
       "relationships": [
         {"name": "operators", "destination": "Operator", "inverse": "phone", "toMany": true}]}
    ]}
    """

  private let graph: MemoryGraph

  init() throws { graph = MemoryGraph(try Model(parsing: Self.source.utf8)) }

  private func refusal(_ changes: [Change]) -> Refusal? {
    #expect(throws: Refusal.self) { try graph.commit(changes) }
  }

  private func insertion(_ entity: String, _ values: [(String, Value)]) -> Change {
    Change(
      .insert, graph.temporary(entity), edits: values.map { Edit(graph.property(entity, $0.0), .set($0.1)) })
  }

  private func mistake(_ text: String) throws -> PredicateSyntaxError? {
    let entity = try #require(graph.model.entity(named: "Operator"))
    return #expect(throws: PredicateSyntaxError.self) {
      try GraphPredicate(parsing: text, entity: entity, model: graph.model)
    }
  }

  // MARK: - Sentences

  @Test func entityNameHasCorrectArticle() throws {
    #expect(try #require(graph.model.entity(named: "Operator")).nameWithArticle == "an Operator")
    #expect(try #require(graph.model.entity(named: "Phone")).nameWithArticle == "a Phone")
    let ann = try graph.commit([insertion("Operator", [("name", .string("Ann"))])]).changes[0].id
    #expect(
      refusal([insertion("Operator", [("name", .string("Bob")), ("phone", .object(ann))])])?.violations.map(\.message)
        == ["phone needs a Phone, but \(ann) is an Operator"])
    #expect(
      refusal([insertion("Operator", [("name", .string("Ann"))])])?.violations.map(\.message)
        == ["there is already an Operator with this name"])
  }

  // MARK: - Derived attributes

  @Test func errorsCausedByOtherErrorsAreNotReported() throws {
    let missing = refusal([insertion("Operator", [])])
    #expect(missing?.violations.map(\.message) == ["Operator.name needs a value"])
    // The name is valid; its derivation is not.
    let short = refusal([insertion("Operator", [("name", .string("A"))])])
    #expect(short?.violations.map(\.property) == [graph.property("Operator", "nameKey")])
    // A mistake in one object does not hide those of another.
    let both = refusal([insertion("Operator", []), insertion("Operator", [("name", .string("A"))])])
    #expect(
      both?.violations.map(\.property) == [graph.property("Operator", "name"), graph.property("Operator", "nameKey")])
  }

  // MARK: - Times

  @Test(arguments: [
    ("born + days(999999999999) > now()", 8, "the time lies outside the range"),
    ("born > date(\"2026-01-01\") + days(10000000)", 27, "the time lies outside the range"),
    ("now() - born > 2 * days(100000000)", 18, "the time lies outside the range"),
    ("born > now() - days(1) / 0", 24, "nothing can be divided by 0"),
    ("born + days(NULL) > now()", 8, "null has no duration"),
  ])
  func invalidTimeReportsItsPosition(text: String, column: Int, reason: String) throws {
    let error = try mistake(text)
    #expect(error?.reason == reason)
    #expect(error?.column == column)
    #expect(error?.pointer == text + "\n" + String(repeating: " ", count: column - 1) + "^")
  }

  @Test func validTimesAreParsed() throws {
    let entity = try #require(graph.model.entity(named: "Operator"))
    for text in [
      "born + days(100000) > now()", "born > date(\"2026-01-01\") - days(1) * 2", "now() - born > days(2) / 2",
      "born == NULL", "ifNull(born, now()) > now() - days(1)",
    ] {
      #expect(throws: Never.self, "\(text)") { try GraphPredicate(parsing: text, entity: entity, model: graph.model) }
    }
  }

  // MARK: - Pointers

  /// The two lines of a pointer: the text, and the caret below it.
  private func lines(_ error: PredicateSyntaxError?) throws -> (shown: String, marked: Character) {
    let lines = try #require(error).pointer.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    try #require(lines.count == 2 && lines[1].last == "^")
    #expect(lines[1].dropLast().allSatisfy { $0 == " " })
    let marked = Array(lines[0]).indices.contains(lines[1].count - 1) ? Array(lines[0])[lines[1].count - 1] : "^"
    return (lines[0], marked)
  }

  @Test func errorInLongTextShowsItsContext() throws {
    let clause = "name == \"a\" OR "
    let filler = String(repeating: clause, count: 200)
    let middle = try lines(mistake(filler + "?" + filler))
    #expect(middle.marked == "?")
    #expect(middle.shown.count == 62 && middle.shown.first == "…" && middle.shown.last == "…")
    let beginning = try lines(mistake("?" + filler))
    #expect(beginning.marked == "?")
    #expect(beginning.shown.count == 61 && beginning.shown.hasPrefix("?name == ") && beginning.shown.last == "…")
    let end = try lines(mistake(filler + "?"))
    #expect(end.marked == "?")
    #expect(end.shown.count == 61 && end.shown.first == "…" && end.shown.last == "?")
    // The caret is after the last character.
    let missing = try lines(mistake(filler + "name =="))
    #expect(missing.marked == "^")
    #expect(missing.shown.hasSuffix("name =="))
  }

  @Test func textOfOneTerminalLineIsShownCompletely() throws {
    let text = "name == \"" + String(repeating: "a", count: 60) + "\" OR ?"
    #expect(try lines(mistake(text)).shown == text)
  }
}
