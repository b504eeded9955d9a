import GraphModel
import GraphStore
import GraphTesting
import Testing

/// Every legal query is answered, however deep it is: SQL calculates expressions that are too deep for SQLite's parser
/// in one call, or memory evaluates them, and a query that neither can execute is refused with `limit`. It is never
/// reported as a failure of the disk.
@Suite(.timeLimit(.minutes(5))) struct DeepQueriesTests {
  /// One step of every function and operator, with its operand's own type as the result, so that it can be taken again.
  static let steps: [(name: String, start: String, step: @Sendable (String) -> String)] = [
    ("lowercase", "name", { "lowercase(\($0))" }), ("uppercase", "name", { "uppercase(\($0))" }),
    ("canonical", "name", { "canonical(\($0))" }), ("trimmed", "name", { "trimmed(\($0))" }),
    ("length", "name", { "string(length(\($0)))" }), ("concat", "name", { "concat(\($0), \"a\")" }),
    ("concat in front", "name", { "concat(\"a\", string(age), \($0))" }),
    ("abs", "age", { "abs(\($0))" }), ("ceiling", "score", { "ceiling(\($0))" }),
    ("floor", "score", { "floor(\($0))" }), ("round", "salary", { "round(\($0))" }),
    ("trunc", "salary", { "trunc(\($0))" }), ("sqrt", "score", { "sqrt(\($0))" }),
    ("power", "score", { "power(\($0), 1)" }), ("modulus", "age", { "modulus(\($0), 7)" }),
    ("integer", "age", { "integer(string(\($0)))" }), ("double", "score", { "double(string(\($0)))" }),
    ("decimal", "salary", { "decimal(string(\($0)))" }), ("string", "name", { "string(\($0))" }),
    ("date", "born", { "date(string(\($0)))" }), ("uuid", "badge", { "uuid(string(\($0)))" }),
    ("data", "photo", { "data(\($0))" }), ("startOfDay", "born", { "startOfDay(\($0))" }),
    ("year", "age", { "year(date(\"2001-05-06T07:08:09Z\") + days(\($0)))" }),
    ("month", "age", { "month(date(\"2001-05-06T07:08:09Z\") + weeks(\($0)))" }),
    ("day", "age", { "day(date(\"2001-05-06T07:08:09Z\") + hours(\($0)))" }),
    ("weekday", "age", { "weekday(date(\"2001-05-06T07:08:09Z\") + minutes(\($0)))" }),
    ("hour", "age", { "hour(date(\"2001-05-06T07:08:09Z\") + seconds(\($0)))" }),
    ("minute", "age", { "minute(date(\"2001-05-06T07:08:09Z\") - microseconds(\($0)))" }),
    ("second", "age", { "second(date(\"2001-05-06T07:08:09Z\") + seconds(\($0)))" }),
    ("now", "age", { "year(now() + days(\($0)))" }),
    ("ifNull", "age", { "ifNull(\($0), 3)" }), ("ifNull in front", "age", { "ifNull(NULL, \($0))" }),
    ("given", "age", { "given(manager, \($0))" }), ("oneOf", "name", { "oneOf(\($0), \"other\", \"n1\", \"n2\")" }),
    ("oneOf of a path", "name", { "oneOf(manager.name, \($0), \"n1\", string(level))" }),
    ("+", "age", { "(\($0) + manager.age)" }), ("-", "age", { "(3 - \($0))" }), ("*", "score", { "(\($0) * 0.5)" }),
    ("/", "salary", { "(\($0) / 3)" }), ("- of dates", "born", { "hired + (\($0) - born)" }),
    ("subquery", "age", { "SUBQUERY(reports, $r, $r.age < 5).@count + \($0)" }),
  ]

  /// The edges: the deepest expressions in SQL, those just beyond, and the deepest legal ones.
  private static let depths = [1, 3, 4, 90]

  private static func nested(_ start: String, _ depth: Int, _ step: (String) -> String) -> String {
    (0..<depth).reduce(start) { text, _ in step(text) }
  }

  private static func people() throws -> TestStore {
    let store = try TestStore(try Fixtures.company())
    var boss: ObjectID?
    for number in 0..<8 {
      var values: [String: Value] = [
        "name": .string("n\(number)"), "age": number == 5 ? .null : .integer(Int64(number)),
        "score": .double(Double(number) / 2 - 1), "born": .date(Int64(number) * 90_000_000_000),
        "hired": .date(1_000_000), "badge": .uuid(UniqueID(high: 0, low: UInt64(number))),
        "photo": .data([UInt8(number)]),
      ]
      values["salary"] = DecimalValue("\(number).25").map(Value.decimal)
      if let boss { values["manager"] = .object(boss) }
      let id = try store.insert("Person", values)
      if number.isMultiple(of: 3) { boss = id }
    }
    return store
  }

  /// The people, and the evaluator of conditions over them in memory.
  private struct People {
    let store: TestStore
    let person: Entity
    let everything: [ObjectImage]
    let source: RandomGraphTests.ListSource

    init() throws {
      store = try DeepQueriesTests.people()
      person = try store.entity("Person")
      everything = try store.all("Person")
      source = RandomGraphTests.ListSource(everything)
    }
  }

  private static func request(
    _ entity: Entity, _ rows: RowRequest, where predicate: GraphPredicate = .always
  ) -> FetchRequest {
    FetchRequest(entity: entity.number, predicate: predicate, result: .rows(rows))
  }

  /// Every place of an expression, at every depth: the result equals the evaluator's.
  @Test func nestedCalculationsAreEvaluatedInEveryClause() throws {
    let people = try People()
    for (_, start, step) in Self.steps { try evaluateInEveryClause(start, step, people) }
  }

  private func evaluateInEveryClause(_ start: String, _ step: (String) -> String, _ people: People) throws {
    let (store, person, everything, source) = (people.store, people.person, people.everything, people.source)
    let head = try store.store.head.revision
    for depth in Self.depths {
      let text = Self.nested(start, depth, step)
      let parsed: GraphExpression
      do {
        parsed = try GraphExpression(parsing: text, entity: person, model: store.model).bound(now: store.now)
      } catch {
        // The language has its own limits, and their refusals name them.
        #expect(
          depth >= 60 && (error.reason.contains("nested deeper") || error.reason.contains("operations")), "\(text)")
        continue
      }
      let evaluator = ExpressionEvaluator(parsed, model: store.model)
      let values = everything.map { evaluator.value(of: $0, in: source) }
      // Conditions: alone, within others, among others, and of the past.
      for condition in [
        "\(text) == \(start)", "NOT (NOT (\(text) != \(start) OR age > 100) AND (name != \"x\" OR age < 100))",
        "\(start) IN {\(text), NULL}", "name != \"x\" AND \(text) == \(text)",
      ] {
        let predicate: GraphPredicate
        do {
          predicate = try GraphPredicate(parsing: condition, entity: person, model: store.model).bound(now: store.now)
        } catch {
          #expect(depth >= 60, "\(condition): \(error)")
          continue
        }
        let judge = PredicateEvaluator(predicate, model: store.model)
        let expected = everything.filter { judge.matches($0, in: source) }.map(\.id)
        #expect(try store.all(person, where: predicate).map(\.id) == expected, "\(condition)")
        var request = FetchRequest(entity: person.number, predicate: predicate, result: .count)
        #expect(try store.answer(request).end.count == expected.count, "count of \(condition)")
        request.result = .identifiers
        #expect(try store.answer(request, at: head).end.count == expected.count, "past of \(condition)")
      }
      // Columns, groups, distinct rows and aggregates.
      let column = RowRequest.Column(name: "x", value: .expression(parsed))
      let each = Self.request(person, RowRequest(columns: [column]))
      for revision in [nil, head] {
        #expect(try store.answer(each, at: revision).parts == values.map { .row([$0]) }, "column \(text)")
      }
      let distinct = RowRequest(columns: [column], isDistinct: true)
      let groups = RowRequest(
        columns: [column, RowRequest.Column(name: "n", value: .count)], groups: [parsed])
      for (rows, name) in [(distinct, "distinct"), (groups, "group")] {
        for revision in [nil, head] {
          let parts = try store.answer(Self.request(person, rows), at: revision).parts
          #expect(parts.count == Set(values).count, "\(name) \(text)")
        }
      }
      let least = RowRequest(columns: [.init(name: "x", value: .aggregate(.minimum, parsed))])
      let expected = GraphPredicate.Aggregate.minimum.value(of: values, type: parsed.type(in: store.model))
      #expect(try store.answer(Self.request(person, least)).parts == [.row([expected])], "least \(text)")
    }
  }

  @Test func nestedCalculationsAreEvaluatedAcrossRelationships() throws {
    let people = try People()
    for (function, start, step) in Self.steps { try evaluateAcrossRelationships(function, start, step, people) }
  }

  private func evaluateAcrossRelationships(
    _ function: String, _ start: String, _ step: (String) -> String, _ people: People
  ) throws {
    let (store, person, everything, source) = (people.store, people.person, people.everything, people.source)
    // Inside a subquery a path begins with its object's name: steps that read more than their operand are left out.
    let readsMore = ["concat in front", "given", "oneOf of a path", "+", "- of dates", "subquery"].contains(function)
    for depth in Self.depths {
      let (inner, outer) = (Self.nested("$r." + start, depth, step), Self.nested(start, depth, step))
      var texts = ["ANY reports.\(start) == \(outer)", "ALL reports.\(start) != \(outer)"]
      if !readsMore {
        texts += [
          "SUBQUERY(reports, $r, \(inner) == $r.\(start)).@count > 0",
          "NOT (SUBQUERY(reports, $r, $r.age > 1 AND NOT (\(inner) != $r.\(start))).@count == 1)",
        ]
      }
      for text in texts {
        guard let parsed = try? GraphPredicate(parsing: text, entity: person, model: store.model) else {
          #expect(depth >= 60, "\(text)")
          continue
        }
        let predicate = parsed.bound(now: store.now)
        let judge = PredicateEvaluator(predicate, model: store.model)
        let expected = everything.filter { judge.matches($0, in: source) }.map(\.id)
        #expect(try store.all(person, where: predicate).map(\.id) == expected, "\(text)")
      }
    }
  }

  /// Nested calls would otherwise multiply a text until no memory is left.
  @Test func concatOfTooMuchTextIsNullInSQLAndMemory() throws {
    let store = try TestStore(try Fixtures.company())
    _ = try store.insert("Person", ["name": .string("n"), "bio": .string(String(repeating: "b", count: 1 << 20))])
    let person = try store.entity("Person")
    let everything = try store.all("Person")
    func copies(_ text: String, _ count: Int) -> String {
      "concat(\(Array(repeating: text, count: count).joined(separator: ", ")))"
    }
    for (text, isNull) in [
      (copies("bio", 16), false), (copies("bio", 17), true), (copies(copies("bio", 8), 2), false),
      (copies(copies(copies(copies("bio", 3), 3), 3), 3), true),
    ] {
      let predicate = try GraphPredicate(parsing: "\(text) == NULL", entity: person, model: store.model)
      #expect(try store.all(person, where: predicate).count == (isNull ? 1 : 0))
      let evaluator = PredicateEvaluator(predicate, model: store.model)
      #expect(everything.contains { evaluator.matches($0, in: RandomGraphTests.ListSource(everything)) } == isNull)
    }
  }

  /// A batch selects its objects with the same predicates.
  @Test func batchAcceptsEveryFetchPredicate() throws {
    let store = try Self.people()
    let person = try store.entity("Person")
    let bio = try store.property("Person.bio").number
    for depth in [1, 8, 30, 90] {
      for (name, step): (String, (String) -> String) in [
        ("integer", { "integer(string(\($0)))" }), ("sum", { "(\($0) + 0)" }),
      ] {
        let condition = try GraphPredicate(
          parsing: "\(Self.nested("age", depth, step)) > 3", entity: person, model: store.model)
        let text = "\(name) \(depth)"
        let result = try store.batch("Person", .update(condition, [Batch.Assignment(bio, .value(.string(text)))]))
        guard case .committed = result.outcome else {
          Issue.record("\(text): \(result.outcome)")
          continue
        }
        #expect(try store.all("Person", "bio == \"\(text)\"").count == 3)
      }
    }
  }

  // MARK: - Orders

  /// The translated order of an older client: a bracket for each version, a hundred at most.
  @Test func sortWithMaximumBracketsIsAccepted() throws {
    let people = try People()
    for count in [1, 3, 4, 7, 8, 9, 20, EnumerationFallback.maximumDepth] { try sortWithBrackets(count, people) }
  }

  private func sortWithBrackets(_ count: Int, _ people: People) throws {
    let (store, person, all, source) = (people.store, people.person, people.everything, people.source)
    let names = (0..<count).map { "[n\($0 % 3)?n0|n1|n2|n\($0 + 3)]" }.joined()
    for text in ["name" + names, "-name\(names),age", "name\(names)[natural],-manager.name\(names)[localized]"] {
      let order = try [SortKey](parsing: text, entity: person, model: store.model)
      let expected = SortOrder(order, model: store.model).sorted(all, in: source).map(\.id)
      #expect(try store.all("Person", sort: text).map(\.id) == expected, "\(text)")
      #expect(try pages(store, FetchRequest(entity: person.number, predicate: .always, sort: order)) == expected)
      // Together with a condition that does not fit into the same statement.
      let deep = Self.nested("age", 60) { "integer(string(\($0)))" }
      let some = try store.all("Person", "\(deep) < 100", sort: text).map(\.id)
      let ageless = try store.all("Person", "age == NULL").map(\.id)
      #expect(some == expected.filter { !ageless.contains($0) })
    }
  }

  private func pages(_ store: TestStore, _ request: FetchRequest) throws -> [ObjectID] {
    var request = request
    request.limit = 2
    var ids = [ObjectID]()
    while ids.count < 100 {
      let (parts, end) = try store.answer(request)
      for case .object(let image) in parts { ids.append(image.id) }
      guard let next = end.next else { break }
      request.after = next
    }
    return ids
  }

  /// Sixteen keys are as many as an order has, and a page behind a cursor compares them all.
  @Test func cursorWithSixteenKeysIsAccepted() throws {
    let people = try People()
    for shown in ["", "[other?n1|n2|n3]"] { try fetchPagesBySixteenKeys(shown, people) }
  }

  private func fetchPagesBySixteenKeys(_ shown: String, _ people: People) throws {
    let (store, person) = (people.store, people.person)
    let keys =
      (0..<[SortKey].maximumCount - 1).map { "\($0.isMultiple(of: 2) ? "-" : "")manager.name\(shown)" } + ["-name"]
    let order = try [SortKey](parsing: keys.joined(separator: ","), entity: person, model: store.model)
    let request = FetchRequest(entity: person.number, predicate: .always, sort: order)
    let expected = SortOrder(order, model: store.model).sorted(people.everything, in: people.source).map(\.id)
    #expect(try pages(store, request) == expected)
  }

  /// An order and a column with paths of the maximum length.
  @Test func sortPathMayHaveMaximumLength() throws {
    let people = try People()
    let (store, person) = (people.store, people.person)
    for hops in [8, 9, GraphPredicate.maximumPathLength] {
      let path = String(repeating: "manager.", count: hops) + "name"
      #expect(try store.all("Person", sort: "\(path),name").count == 8)
      let column = RowRequest.Column(
        name: "x", value: .expression(try GraphExpression(parsing: path, entity: person, model: store.model)))
      #expect(try store.answer(Self.request(person, RowRequest(columns: [column]))).parts.count == 8)
    }
  }

  // MARK: - Conditions

  /// Brackets, AND, OR and NOT in each other, to the depth that the language has.
  @Test func deepConditionsAreEvaluated() throws {
    let people = try People()
    for depth in [7, 8, 9, 10, 20, 40, 66] { try evaluateConditions(depth, people) }
  }

  private func evaluateConditions(_ depth: Int, _ people: People) throws {
    let (store, person, everything, source) = (people.store, people.person, people.everything, people.source)
    for text in [
      Self.nested("age > 3", depth) { "(\($0) AND age < 90) OR name == \"n0\"" },
      Self.nested("age > 3", depth) { "age != 77 AND (name == \"n0\" OR \($0))" },
      Self.nested("age > 3", depth) { "NOT (\($0))" },
      Self.nested("age > 3", depth) { "NOT (\($0) OR ANY reports.age == 2)" },
    ] {
      guard let predicate = try? GraphPredicate(parsing: text, entity: person, model: store.model) else {
        #expect(depth >= 40)
        continue
      }
      let judge = PredicateEvaluator(predicate, model: store.model)
      let expected = everything.filter { judge.matches($0, in: source) }.map(\.id)
      #expect(try store.all(person, where: predicate).map(\.id) == expected, "\(text)")
      let column = RowRequest.Column(name: "x", value: .expression(.path(.init(end: .identifier))))
      let rows = Self.request(person, RowRequest(columns: [column]), where: predicate)
      #expect(try store.answer(rows).parts.count == expected.count, "\(text)")
    }
  }

  /// Random trees of every function, far deeper than the limit of SQLite's parser. SQL and the evaluator agree on each,
  /// and none is reported as a failure of the disk.
  @Test func randomDeepCalculationsAgreeInSQLAndMemory() throws {
    let people = try People()
    for seed in SeedSweep.seeds(4) { try evaluateRandomTrees(seed + 1, people) }
  }

  private func evaluateRandomTrees(_ seed: UInt64, _ people: People) throws {
    var random = SeededGenerator(seed: seed)
    let (store, person, everything, source) = (people.store, people.person, people.everything, people.source)
    var answered = 0
    for _ in 0..<120 {
      // Steps of one type lie on each other in any order.
      let first = Self.steps[random.below(Self.steps.count)]
      let fitting = Self.steps.filter { $0.start == first.start }
      var text = first.start
      for _ in 0..<random.below(24) { text = random.pick(fitting)?.step(text) ?? text }
      guard let parsed = try? GraphExpression(parsing: text, entity: person, model: store.model) else { continue }
      let expression = parsed.bound(now: store.now)
      let evaluator = ExpressionEvaluator(expression, model: store.model)
      let expected = everything.map { FetchElement.row([evaluator.value(of: $0, in: source)]) }
      let column = RowRequest.Column(name: "x", value: .expression(expression))
      let request = Self.request(person, RowRequest(columns: [column]))
      #expect(try store.answer(request).parts == expected, "seed \(seed): \(text)")
      answered += 1
    }
    #expect(answered > 60, "seed \(seed)")
  }
}
