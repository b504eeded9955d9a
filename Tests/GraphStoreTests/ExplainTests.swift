import GraphModel
import GraphStore
import GraphTesting
import Logging
import Synchronization
import Testing

/// What a store tells of how it finds things, asked and unasked.
@Suite struct ExplainTests {
  private func explain(
    _ store: TestStore, _ predicate: String, sort: String = "", limit: Int? = nil, result: FetchResult = .objects
  ) throws -> FetchExplanation {
    let person = try store.entity("Person")
    let request = FetchRequest(
      entity: person.number,
      predicate: predicate.isEmpty
        ? .always : try GraphPredicate(parsing: predicate, entity: person, model: store.model),
      sort: sort.isEmpty ? [] : try [SortKey](parsing: sort, entity: person, model: store.model), limit: limit,
      result: result, explains: true)
    let end = try store.store.answer(request) { part in Issue.record("an explanation came with \(part)") }
    #expect(end.count == 0)
    #expect(end.next == nil)
    return try #require(end.explanation)
  }

  private func store() throws -> TestStore {
    let store = try TestStore(try Fixtures.company())
    for number in 0..<20 {
      _ = try store.insert("Person", ["name": .string("person \(number)"), "age": .integer(Int64(number % 5))])
    }
    return store
  }

  @Test func theIndexThatLeadsIsNamed() throws {
    let explanation = try explain(try store(), "age == 3")
    #expect(explanation.indexes == ["Party.Person.age"])
    #expect(explanation.plan.first == "finds objects of Party by the index Party.Person.age (Person.age=?)")
    #expect(!explanation.checksInMemory)
    #expect(explanation.count == 4)
    #expect(explanation.arguments == ["integer"])
    #expect(explanation.advice == [])
    #expect(explanation.statements.count == 1)
    #expect(explanation.statements[0].hasPrefix("SELECT "))
  }

  @Test func aRangeIsFoundByItsIndexWhenItIsSortedByIt() throws {
    let explanation = try explain(try store(), "age > 2", sort: "-age", limit: 5)
    #expect(explanation.plan.first == "finds objects of Party by the index Party.Person.age (Person.age>?)")
    #expect(explanation.plan.last == "sorts among equals")
    #expect(explanation.count == 5)
  }

  @Test func whatIsReadWholeIsSaidWithWhatWouldHelp() throws {
    let store = try store()
    let explanation = try explain(store, "bio == \"a secret\" AND score > 1")
    #expect(explanation.plan.first == "reads all 20 objects of Party, in the order of their ids")
    #expect(explanation.advice == ["Person.bio", "Person.score"])
    #expect(!"\(explanation)".contains("secret"))
    #expect(try explain(store, "bio CONTAINS \"x\"").advice == [])
    #expect(try explain(store, "", sort: "score", limit: 3).advice == ["Person.score"])
    #expect(try explain(store, "", sort: "score", limit: 3).plan.contains("sorts what it has found"))
  }

  @Test func whatMemoryHasToJudgeIsSaid() throws {
    let store = try store()
    let deep = String(repeating: "NOT ", count: 10) + "(age == 3 OR score == 1)"
    #expect(try explain(store, deep).checksInMemory)
    #expect(try explain(store, deep).count == 4)
    let rows = try RowRequest(
      parsing: "age, @count", groups: "age", entity: try store.entity("Person"), model: store.model)
    let explanation = try explain(store, deep, result: .rows(rows))
    #expect(explanation.checksInMemory)
    #expect(explanation.statements.count == 2)
    #expect(explanation.count == 1)
    #expect(explanation.plan.contains { $0.hasSuffix("takes the rows that were judged in memory") })
  }

  @Test func fullTextAndSubqueriesAreSteps() throws {
    let store = try store()
    #expect(try explain(store, "bio SEARCH \"cat\"").indexes.contains("Person.bio.words"))
    let plan = try explain(store, "reports.@count > 1").plan
    #expect(plan.contains("for each of them"))
    #expect(plan.contains { $0.hasPrefix("  finds objects of Party by the index Party.Person.manager") })
  }

  // MARK: - The log

  /// `lines` is guarded by the mutex: any thread may log.
  private final class Lines: Sendable {
    let lines = Mutex([String]())
  }

  private struct Recorder: LogHandler {
    let lines: Lines
    var metadata = Logger.Metadata()
    var logLevel = Logger.Level.trace

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      let fields = (event.metadata ?? [:]).sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
      lines.lines.withLock { $0.append(([event.message.description] + fields).joined(separator: " | ")) }
    }
  }

  @Test func aFetchThatReadsAWholeTableIsLoggedOnceForItsShape() throws {
    let directory: TemporaryDirectory
    do {
      let made = try store()
      try made.store.close()
      directory = made.directory
    }
    let lines = Lines()
    var options = SQLiteStore.Options()
    options.longScan = 15
    let model = try Fixtures.company()
    let store = try SQLiteStore(
      directory: directory.path, model: model, options: options,
      log: Logger(label: "test") { _ in Recorder(lines: lines) })
    let person = try #require(model.entity(named: "Person"))
    func fetch(_ predicate: String) throws {
      let condition = try predicate.isEmpty ? .always : GraphPredicate(parsing: predicate, entity: person, model: model)
      _ = try store.fetch(FetchRequest(entity: person.number, predicate: condition)) { _ in }
    }
    func told() -> [String] { lines.lines.withLock { lines in lines.filter { $0.contains("reads all of") } } }
    try fetch("age == 3")
    try fetch("")
    #expect(told() == [])
    for score in 1...5 { try fetch("score == \(score) AND bio == \"secret\"") }
    #expect(told().count == 1)
    #expect(
      told().first
        == "a fetch of Person reads all of Party; with \"indexed\": true on Person.score and Person.bio in the model it "
        + "would not | sort= | where=score == ? AND bio == ?")
    try fetch("bio CONTAINS \"x\"")
    #expect(told().last?.contains("no index helps such a condition") == true)
    // A hundred other shapes later the first is news again.
    for number in 1...100 { try fetch((0..<number).map { _ in "score == 1" }.joined(separator: " OR ")) }
    let before = told().count
    #expect(before >= 100)
    try fetch("score == 1 AND bio == \"secret\"")
    #expect(told().count == before + 1)
    try store.close()
  }
}
