import GraphModel
import GraphTesting
import Testing

/// Attributes of the type `json`: which documents they take, and that they are compared as they are written, by SQL and
/// in memory.
@Suite struct DocumentTests {
  let store: TestStore

  init() throws { store = try TestStore(try Fixtures.company()) }

  private static let documents = [
    "5", "5.0", "-0", "0", "0.10", "0.1", "12345678901234567890", "12345678901234567891", "1e2", "100", "[1.50]",
    "{\"\u{E9}\":1,\"e\u{301}\":2}", "{\"\u{E9}\":1}", "{\"e\u{301}\":1}", "\"null\"", "[null]", "{}",
  ]

  @Test(arguments: ["null", " null ", "\u{FEFF}null\n"])
  func nullDocumentIsRefused(text: String) throws {
    let person = try store.insert("Person", ["name": .string("p"), "extra": .string("{}")])
    for changes in [
      [try store.insertion("Person", ["name": .string("q"), "extra": .string(text)])],
      [try store.update(person, "Person.extra", .string(text))],
    ] {
      let refusal = try #require(try store.refusal(changes))
      #expect(refusal.code == .invalid)
      #expect(refusal.violations.map(\.rule) == ["type"])
      #expect(refusal.violations.first?.message.contains("json (any document but null)") == true)
    }
    let rows = try store.batch(
      "Person", .insert(try batchProperties(), rows: 1), rows: [[.string("r"), .string(text)]])
    guard case .refused(let refusal) = rows.outcome else {
      Issue.record("\(rows.outcome)")
      return
    }
    #expect(refusal.code == .invalid)
    #expect(try store.value(person, "Person.extra") == .string("{}"))
    // A missing value is different from JSON's null.
    try store.must([store.update(person, "Person.extra", .null)])
    #expect(try store.value(person, "Person.extra") == .null)
  }

  private func batchProperties() throws -> [PropertyNumber] {
    [try store.property("Person.name").number, try store.property("Person.extra").number]
  }

  @Test func documentsRoundTrip() throws {
    for (index, text) in Self.documents.enumerated() {
      let person = try store.insert("Person", ["name": .string("p\(index)"), "extra": .string(text)])
      #expect(try store.value(person, "Person.extra") == .string(text))
      #expect(try store.value(person, "Person.extra").json(kind: .json).text == text)
    }
    try store.reopen()
    #expect(try Set(store.all("Person").map { try $0[store.property("Person.extra")] }).count == Self.documents.count)
    try store.expectSound()
  }

  @Test func documentsAreComparedByBytesInSQLAndInMemory() throws {
    for (index, text) in Self.documents.enumerated() {
      _ = try store.insert("Person", ["name": .string("p\(index)"), "extra": .string(text)])
    }
    _ = try store.insert("Person", ["name": .string("none")])
    let people = try store.all("Person")
    let entity = try store.entity("Person")
    for text in Self.documents {
      let literal = JSON.string(text).text
      for condition in [
        "extra == \(literal)", "extra != \(literal)", "extra IN {\(literal), \"0\"}", "extra BEGINSWITH \(literal)",
        "extra CONTAINS[c] \(literal)",
      ] {
        let predicate = try GraphPredicate(parsing: condition, entity: entity, model: store.model)
        let evaluator = PredicateEvaluator(predicate, model: store.model)
        let found = try store.all("Person", condition)
        #expect(Set(found.map(\.id)) == Set(people.filter { evaluator.matches($0) }.map(\.id)), "\(condition)")
        if condition.hasPrefix("extra ==") { #expect(found.count == 1, "\(condition)") }
      }
    }
  }
}
