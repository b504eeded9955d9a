import GraphModel
import GraphStore
import GraphTesting
import Logging
import Synchronization
import Testing

/// Explanations of a store's fetches, on request and in the log.
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

  @Test func usedIndexIsReported() throws {
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

  /// The steps of a path are joined side by side at any length; they do not nest in SQLite's parser or in the enclosing
  /// query.
  @Test(arguments: [4, 5, 8, 31]) func pathComparisonIsResolvedFromItsEnd(hops: Int) throws {
    let store = try store()
    let ways = [
      "ANY " + (0..<hops).map { $0.isMultiple(of: 2) ? "projects." : "members." }.joined()
        + (hops.isMultiple(of: 2) ? "age == 3" : "members.age == 3"),
      String(repeating: "manager.", count: hops) + "age == 3",
      "ANY " + String(repeating: "reports.", count: hops) + "age IN {3, 4}",
    ]
    for way in ways {
      for predicate in [
        way, way.hasPrefix("ANY") ? "NONE" + way.dropFirst(3) : "NOT " + way,
        "NOT (NOT (\(way) AND age > 1) OR age < 9)",
      ] {
        let explanation = try explain(store, predicate)
        #expect(explanation.indexes.contains("Party.Person.age"), "\(predicate)")
        #expect(!explanation.checksInMemory, "\(predicate)")
        #expect(
          explanation.count == (predicate.hasPrefix("NO") && !predicate.hasPrefix("NOT (") ? 20 : 0), "\(predicate)")
      }
    }
  }

  @Test func unorderedFetchIsNotSorted() throws {
    let store = try store()
    let person = try store.entity("Person")
    var request = FetchRequest(
      entity: person.number, predicate: try GraphPredicate(parsing: "age == 3", entity: person, model: store.model))
    func answer() throws -> (ids: [ObjectID], plan: [String]) {
      var ids = [ObjectID]()
      _ = try store.store.fetch(request) { ids.append($0.id) }
      request.explains = true
      defer { request.explains = false }
      return (ids, try #require(try store.store.answer(request) { _ in }.explanation).plan)
    }
    let ordered = try answer()
    #expect(ordered.ids == ordered.ids.sorted())
    #expect(ordered.plan.count == 2, "\(ordered.plan)")
    request.isUnordered = true
    let unordered = try answer()
    #expect(unordered.ids.sorted() == ordered.ids)
    #expect(unordered.plan == Array(ordered.plan.prefix(1)))
    // A limited result depends on the order.
    request.limit = 2
    #expect(try answer().ids == Array(ordered.ids.prefix(2)))
  }

  @Test func rangeSortedByItsIndexUsesIt() throws {
    let explanation = try explain(try store(), "age > 2", sort: "-age", limit: 5)
    #expect(explanation.plan.first == "finds objects of Party by the index Party.Person.age (Person.age>?)")
    #expect(explanation.plan.last == "sorts rows with equal keys")
    #expect(explanation.count == 5)
  }

  @Test func indexUsedForOrderIsReported() throws {
    let explanation = try explain(try store(), "", sort: "age,name", limit: 3)
    #expect(
      explanation.plan.first
        == "goes through objects of Party in the order of the index Party.Person.age, 20 at most")
    #expect(explanation.indexes == ["Party.Person.age"])
    #expect(explanation.count == 3)
  }

  @Test func tableScanIsReportedWithAdvice() throws {
    let store = try store()
    let explanation = try explain(store, "bio == \"a secret\" AND score > 1")
    #expect(explanation.plan.first == "reads all 20 objects of Party, in the order of their ids")
    #expect(explanation.advice == ["Person.bio", "Person.score"])
    #expect(!"\(explanation)".contains("secret"))
    #expect(try explain(store, "bio CONTAINS \"x\"").advice == [])
    // One part of an OR without an index makes the query read all rows, although the other parts have one.
    #expect(try explain(store, "bio != \"x\" OR manager.score IN {1}").advice == [])
    #expect(try explain(store, "bio == \"x\" OR manager.score IN {1}").advice == ["Person.bio", "Person.score"])
    #expect(try explain(store, "score > 1").advice == [])
    #expect(try explain(store, "", sort: "score", limit: 3).advice == ["Person.score"])
    #expect(try explain(store, "", sort: "score", limit: 3).plan.contains("sorts the rows found"))
  }

  @Test func inMemoryEvaluationIsReported() throws {
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
    #expect(explanation.plan.contains { $0.hasSuffix("reads the rows that were matched in memory") })
  }

  @Test func fullTextAndSubqueriesAreSteps() throws {
    let store = try store()
    #expect(try explain(store, "bio SEARCH \"cat\"").indexes.contains("Person.bio.words"))
    let plan = try explain(store, "reports.@count > 1").plan
    #expect(plan.contains("for each of them"))
    #expect(plan.contains { $0.hasPrefix("  finds objects of Party by the index Party.Person.manager") })
  }

  @Test func searchReadsOnlyRowsOfItsTerms() throws {
    let store = try store()
    // Some words are in the index; the newest are in texts that the index lacks.
    for number in 1...5 {
      _ = try store.insert("Person", ["name": .string("cat person \(number)"), "bio": .string("a cat")])
      let explanation = try explain(store, "bio SEARCH \"cat\"")
      #expect(explanation.count == number)
      #expect(explanation.indexes == ["Person.bio.words"])
      #expect(!explanation.plan.contains { $0.contains("reads all") }, "\(explanation.plan)")
    }
  }

  @Test func selectiveReferencesAreUsedBeforeConditionIndex() throws {
    let store = try store()
    for predicate in [
      "SUBQUERY(reports, $r, $r.age == 3).@count > 0", "ANY reports.age == age", "ANY reports.age == age + 1",
    ] {
      let explanation = try explain(store, predicate)
      #expect(explanation.indexes == ["Party.Person.manager"], "\(predicate): \(explanation.plan)")
    }
  }

  /// The company of the documentation: keys of subentities, of one part and of two, that may be null.
  @Test func uniqueKeyServesAsIndex() throws {
    let store = try TestStore(try Model(parsing: try Fixtures.file("Schema/Company/1.json")))
    let department = try store.insert("Department", ["code": .string("ENG")])
    func person(_ name: String, _ entity: String = "Person", _ values: [String: Value] = [:]) throws -> ObjectID {
      var values = values
      values["name"] = .string(name)
      values["hired"] = .date(1_600_000_000_000_000)
      values["department"] = .object(department)
      return try store.insert(entity, values)
    }
    let ann = try person("Ann", "Person", ["email": .string("ann@example.org")])
    let ben = try person("Ben", "Person", ["email": .string("ben@example.org"), "manager": .object(ann)])
    let cleo = try person("Cleo")
    let dan = try person("Dan", "Contractor", ["agency": .string("A"), "badge": .string("7")])
    let eve = try person("Eve", "Contractor", ["agency": .string("A")])

    func found(_ entity: String, _ predicate: String) throws -> (ids: Set<ObjectID>, indexes: [String]) {
      let entity = try store.entity(entity)
      var request = FetchRequest(
        entity: entity.number, predicate: try GraphPredicate(parsing: predicate, entity: entity, model: store.model))
      var ids = Set<ObjectID>()
      _ = try store.store.fetch(request) { ids.insert($0.id) }
      request.explains = true
      return (ids, try #require(try store.store.answer(request) { _ in }.explanation).indexes)
    }
    let email = "Person.unique.Person.email"
    let badge = "Contractor.unique.Contractor.agency.Contractor.badge"
    for (entity, predicate, ids, index) in [
      ("Person", "email == \"ann@example.org\"", [ann], email),
      ("Contractor", "email == \"ann@example.org\"", [], email),
      ("Person", "email IN {\"ann@example.org\", \"x\"}", [ann], email),
      ("Person", "manager.email == \"ann@example.org\"", [ben], email),
      ("Department", "ANY staff.email == \"ben@example.org\"", [department], email),
      ("Contractor", "agency == \"A\" AND badge == \"7\"", [dan], badge),
      ("Contractor", "agency == \"A\" AND badge IN {\"7\", \"8\"}", [dan], badge),
    ] as [(String, String, Set<ObjectID>, String)] {
      let answer = try found(entity, predicate)
      #expect(answer.ids == ids, "\(predicate)")
      #expect(answer.indexes.contains(index), "\(predicate): \(answer.indexes)")
    }
    // A condition that rows without a key can satisfy does not use the index of that key.
    for (predicate, ids) in [
      ("email == NULL", [cleo, dan, eve]), ("email != \"ann@example.org\"", [ben, cleo, dan, eve]),
      ("NOT email == \"ann@example.org\"", [ben, cleo, dan, eve]), ("email IN {NULL}", [cleo, dan, eve]),
      ("NOT email IN {\"ann@example.org\"}", [ben, cleo, dan, eve]), ("email != NULL", [ann, ben]),
      ("NONE reports.email == \"ben@example.org\"", [ben, cleo, dan, eve]),
      ("manager.email != \"ann@example.org\"", [ann, cleo, dan, eve]),
    ] as [(String, Set<ObjectID>)] {
      #expect(try found("Person", predicate).ids == ids, "\(predicate)")
    }
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

  @Test func tableScanIsLoggedOncePerShape() throws {
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
    func fetch(
      _ predicate: String, sort: String = "", limit: Int? = nil, of entity: String = "Person",
      result: FetchResult = .objects
    ) throws {
      let person = try #require(model.entity(named: entity))
      let condition = try predicate.isEmpty ? .always : GraphPredicate(parsing: predicate, entity: person, model: model)
      let order = try sort.isEmpty ? [] : [SortKey](parsing: sort, entity: person, model: model)
      let request = FetchRequest(
        entity: person.number, predicate: condition, sort: order, limit: limit, result: result)
      _ = try store.answer(request) { _ in }
    }
    func reported() -> [String] { lines.lines.withLock { lines in lines.filter { $0.contains("reads all of") } } }
    try fetch("age == 3")
    try fetch("")
    #expect(reported() == [])
    for score in 1...5 { try fetch("score == \(score) AND bio == \"secret\"") }
    #expect(reported().count == 1)
    #expect(
      reported().first
        == "a fetch of Person reads all of Party; with \"indexed\": true on Person.score and Person.bio in the model it "
        + "would not | sort= | where=score == ? AND bio == ?")
    try fetch("bio CONTAINS \"x\"")
    #expect(reported().last?.contains("no index helps such a condition") == true)
    // The index is used already.
    try fetch("ALL reports.age > 90", sort: "age", limit: 50)
    #expect(
      reported().last?.contains(
        "it follows the index Party.Person.age for its order, and no index helps its condition") == true)
    // An index alone does not serve a range that is open at one end.
    try fetch("score > 3")
    #expect(
      reported().last?.contains(
        "with \"indexed\": true on Person.score in the model a fetch sorted by it would not") == true)
    try fetch("score > 3 AND score < 9")
    #expect(reported().last?.contains("with \"indexed\": true on Person.score in the model it would not") == true)
    // An index serves an OR only if it serves each of its parts.
    try fetch("bio != \"x\" OR manager.score IN {1}")
    #expect(reported().last?.contains("no index helps such a condition | ") == true)
    try fetch("bio != \"x\" OR manager.age IN {1}")
    #expect(reported().last?.contains("no index helps such a condition | ") == true)
    try fetch("bio == \"x\" OR score > 3")
    #expect(reported().last?.contains("no index helps such a condition | ") == true)
    try fetch("bio == \"x\" OR manager.score IN {1}")
    #expect(
      reported().last?.contains("with \"indexed\": true on Person.bio and Person.score in the model it would not")
        == true)
    // A count uses an index, and no order.
    try fetch("name != \"x\"", of: "Party", result: .count)
    #expect(
      reported().last?.contains("a fetch of Party reads all of Party; no index helps such a condition | ") == true)
    try fetch("bio CONTAINS \"x\"", sort: "score", limit: 5)
    #expect(
      reported().last?.contains(
        "with \"indexed\": true on Person.score in the model it would stop after the last wanted row") == true)
    let shapes = reported()
    #expect(Set(shapes).count == shapes.count && shapes.count == 11)
    // After a hundred other shapes, the first one is reported again.
    for number in 1...100 { try fetch((0..<number).map { _ in "score == 1" }.joined(separator: " OR ")) }
    let before = reported().count
    #expect(before >= 100)
    try fetch("score == 1 AND bio == \"secret\"")
    #expect(reported().count == before + 1)
    try store.close()
  }

  /// A batch selects its objects as a fetch does, and other commits wait for it.
  @Test func tableScanOfBatchIsLogged() throws {
    let made = try store()
    try made.store.close()
    let lines = Lines()
    var options = SQLiteStore.Options()
    options.longScan = 15
    let store = try SQLiteStore(
      directory: made.directory.path, model: made.model, options: options,
      log: Logger(label: "test") { _ in Recorder(lines: lines) })
    let person = try made.entity("Person")
    let year = Batch.Assignment(try made.property("Person.salary").number, .value(.null))
    var sequence: UInt64 = 0
    func batch(_ operation: (GraphPredicate) -> Batch.Operation, _ predicate: String) throws {
      sequence += 1
      let condition = try GraphPredicate(parsing: predicate, entity: person, model: made.model)
      let batch = Batch(
        id: TransactionID(replica: UniqueID(high: 9, low: 9), sequence: sequence), policy: .error,
        entity: person.number, operation: operation(condition))
      let result = try store.commit([.batch(BatchJob(batch, author: "ann"))], now: 1)[0]
      guard case .committed = result.outcome else { throw Refusal(.malformed, "\(result.outcome)") }
    }
    func reported() -> [String] { lines.lines.withLock { lines in lines.filter { $0.contains("reads all of") } } }
    func update(_ condition: GraphPredicate) -> Batch.Operation { .update(condition, [year]) }
    try batch(update, "age == 3")
    try batch(update, "TRUEPREDICATE")
    #expect(reported() == [])
    for score in 1...5 { try batch(update, "score == \(score) AND bio == \"secret\"") }
    #expect(
      reported() == [
        "a batch of Person reads all of Party; with \"indexed\": true on Person.score and Person.bio in the model it "
          + "would not | sort= | where=score == ? AND bio == ?"
      ])
    try batch(Batch.Operation.delete, "bio CONTAINS \"x\"")
    #expect(reported().last?.contains("a batch of Person reads all of Party; no index helps such a condition") == true)
    try batch(Batch.Operation.delete, "score > 3")
    #expect(reported().last?.contains("no index helps a range that is open at one end") == true)
    #expect(reported().count == 3)
    try store.close()
  }

  /// With the daemon's options: reports about small stores would be noise.
  @Test func tenThousandObjectsMakeALargeStore() throws {
    let made = try TestStore(try Fixtures.company(), sliceObjects: 1_000)
    let name = try made.property("Person.name").number
    func add(_ numbers: Range<Int>, to store: TestStore) throws {
      let rows = numbers.map { [Value.string("person \($0)")] }
      let result = try store.batch("Person", .insert([name], rows: rows.count), rows: rows)
      guard case .committed = result.outcome else { throw Refusal(.malformed, "\(result.outcome)") }
      try store.store.close()
    }
    func reported() throws -> [String] {
      let lines = Lines()
      let store = try SQLiteStore(
        directory: made.directory.path, model: made.model, log: Logger(label: "test") { _ in Recorder(lines: lines) })
      let person = try made.entity("Person")
      let condition = try GraphPredicate(parsing: "score == 1", entity: person, model: made.model)
      _ = try store.fetch(FetchRequest(entity: person.number, predicate: condition)) { _ in }
      try store.close()
      return lines.lines.withLock { lines in lines.filter { $0.contains("reads all of") } }
    }
    try add(0..<10_000, to: made)
    #expect(try reported() == [])
    let larger = try TestStore(made.model, directory: made.directory, sliceObjects: 1_000)
    larger.replica = UniqueID(high: 2, low: 2)
    try add(10_000..<10_010, to: larger)
    #expect(
      try reported() == [
        "a fetch of Person reads all of Party; with \"indexed\": true on Person.score in the model it would not | sort= | "
          + "where=score == ?"
      ])
  }
}
