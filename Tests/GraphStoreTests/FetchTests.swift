import GraphModel
import GraphStore
import GraphTesting
import Testing

/// Counts, identifiers, pages, rows and groups of a random company, against naive twins in memory.
@Suite struct FetchTests {
  /// People with many nulls and ties, and robots, who share their table.
  fileprivate struct CompanyFixture {
    let store: TestStore
    let person: Entity
    let people: [ObjectImage]
    let source: RandomGraphTests.ListSource
    var random: SeededGenerator

    init(seed: UInt64, people count: Int = 90) throws {
      random = SeededGenerator(seed: seed)
      store = try TestStore(try Fixtures.company())
      person = try store.entity("Person")
      var managers = [ObjectID]()
      for number in 0..<count {
        if number % 9 == 0 { _ = try store.insert("Robot", ["name": .string("r\(number)")]) }
        var values: [String: Value] = ["name": .string("\(random.pick(["n", "N", "é", "e"]) ?? "")\(number)")]
        values["age"] = random.chance(70) ? .integer(Int64.random(in: 0...4, using: &random)) : .null
        values["score"] = random.chance(70) ? .double(Double(Int.random(in: -3...3, using: &random)) / 2) : .null
        values["salary"] =
          random.chance(70) ? DecimalValue("\(Int.random(in: -9...9, using: &random)).5").map(Value.decimal) : .null
        values["level"] = .string(random.pick(["junior", "senior"]) ?? "junior")
        values["active"] = .bool(random.chance(60))
        values["bio"] = random.chance(60) ? .string(random.pick(["", "a", "é", "a 10", "a 9"]) ?? "") : .null
        values["badge"] =
          random.chance(50) ? .uuid(UniqueID(high: 0, low: UInt64.random(in: 0...3, using: &random))) : .null
        if let manager = random.pick(managers), random.chance(70) { values["manager"] = .object(manager) }
        managers.append(try store.insert("Person", values))
      }
      people = try store.all("Person")
      source = RandomGraphTests.ListSource(people)
    }

    func request(
      _ predicate: String = "", sort: String = "", limit: Int? = nil, result: FetchResult = .objects
    ) throws -> FetchRequest {
      FetchRequest(
        entity: person.number,
        predicate: predicate.isEmpty
          ? .always : try GraphPredicate(parsing: predicate, entity: person, model: store.model),
        sort: sort.isEmpty ? [] : try [SortKey](parsing: sort, entity: person, model: store.model), limit: limit,
        result: result)
    }

    /// The result in memory: the matching objects, in order.
    func expected(_ request: FetchRequest) -> [ObjectImage] {
      let evaluator = PredicateEvaluator(request.predicate, model: store.model)
      return SortOrder(request.sort, model: store.model)
        .sorted(people.filter { evaluator.matches($0, in: source) }, in: source)
    }

    func objects(_ request: FetchRequest) throws -> (objects: [ObjectImage], end: FetchCompletion) {
      var objects = [ObjectImage]()
      let end = try store.store.answer(request) { if case .object(let image) = $0 { objects.append(image) } }
      return (objects, end)
    }

    func rows(_ request: FetchRequest) throws -> (rows: [[Value]], end: FetchCompletion) {
      var rows = [[Value]]()
      let end = try store.store.answer(request) { if case .row(let values) = $0 { rows.append(values) } }
      return (rows, end)
    }

    func rowRequest(
      _ properties: String, groups: String = "", distinct: Bool = false, order: String = ""
    ) throws -> RowRequest {
      try RowRequest(
        parsing: properties, distinct: distinct, groups: groups, order: order, entity: person, model: store.model)
    }
  }

  /// More nested negations than SQL accepts: the predicate is evaluated in memory.
  private static let deep = "NOT NOT NOT NOT NOT NOT NOT NOT NOT NOT (age > 1 OR score < 0)"
  private static let predicates = [
    "", "age > 1", "active == TRUE OR score < 0", "manager.age > 1", "name == \"nobody\"", deep,
  ]

  /// A calculation without a finite result is null, in a row as in a condition, in SQL as in memory.
  @Test func overflowingSumIsNullAndEmptySumIsZero() throws {
    let store = try TestStore(try Fixtures.company())
    let large = try (0..<2).map {
      try store.insert("Person", ["name": .string("p\($0)"), "score": .double(1.5e308)])
    }
    let none = try store.insert("Project", ["title": .string("none"), "year": .integer(1)])
    let full = try store.insert(
      "Project", ["title": .string("full"), "year": .integer(2), "members": .objects(large)])
    #expect(try store.all("Project", "members.@sum.score == NULL").map(\.id) == [full])
    #expect(try store.all("Project", "members.@sum.score == 0").map(\.id) == [none])
  }

  @Test func overflowIsNull() throws {
    let scene = try CompanyFixture(seed: 1, people: 3)
    let store = scene.store
    try store.must([
      store.update(scene.people[0].id, "Person.score", .double(1e308)),
      store.update(scene.people[1].id, "Person.score", .double(-1e308)),
      store.update(scene.people[2].id, "Person.score", .double(2)),
    ])
    let all = try store.all("Person")
    for text in [
      "score * 10 == NULL", "score * 10 > 5", "score * 10 < 5", "ifNull(score * 10, 7) == 7", "0 - score * 10 == NULL",
      "score * 10 + 1 == 21", "power(score, 2) == NULL",
    ] {
      let predicate = try GraphPredicate(parsing: text, entity: scene.person, model: store.model)
      let evaluator = PredicateEvaluator(predicate, model: store.model)
      let wanted = Set(all.filter { evaluator.matches($0) }.map(\.id))
      #expect(Set(try store.all("Person", text).map(\.id)) == wanted, "\(text)")
    }
    #expect(try store.all("Person", "score * 10 == NULL").count == 2)
  }

  @Test(arguments: [UInt64(51), 52, 53])
  func pagesContainEveryObjectOnceInOrder(seed: UInt64) throws {
    var scene = try CompanyFixture(seed: seed)
    for sort in [
      "", "age", "-age", "-age,name", "age,-score", "level,-salary", "-level,bio", "manager.age,-bio[natural]",
      "-manager.name[localized],age", "-reports.@count,score", "bio,-age", "-id", "id", "active,-reports.@avg.age",
      "badge,-bio[localized]", "-salary,-score,-age", "-reports.@sum.salary",
    ] {
      for predicate in Self.predicates {
        let whole = try scene.request(predicate, sort: sort)
        let expected = scene.expected(whole).map(\.id)
        var page = whole
        page.limit = Int.random(in: 1...23, using: &scene.random)
        var reported = [ObjectID]()
        var pages = 0
        repeat {
          let (objects, end) = try scene.objects(page)
          #expect(end.count == objects.count)
          #expect(end.next == nil || objects.count == page.limit)
          reported += objects.map(\.id)
          page.after = try end.next.map { try FetchCursor(bytes: $0.bytes) }
          pages += 1
        } while page.after != nil && pages <= expected.count
        #expect(reported == expected, "seed \(seed), sort \(sort), where \(predicate)")
        // No empty page at the end: the last page states that it is the last.
        #expect(pages == max(1, (expected.count + (page.limit ?? 1) - 1) / (page.limit ?? 1)))
      }
    }
  }

  @Test(arguments: [UInt64(61), 62, 63])
  func insertsAndDeletesBetweenPagesCauseNoRepeatsOrGaps(seed: UInt64) throws {
    for sort in ["", "-age,bio", "age", "-score,-name[natural]"] {
      var scene = try CompanyFixture(seed: seed, people: 50)
      var page = try scene.request(sort: sort, limit: 4)
      var reported = [ObjectID]()
      var gone = Set<ObjectID>()
      var made = 0
      repeat {
        let (objects, end) = try scene.objects(page)
        reported += objects.map(\.id)
        page.after = end.next
        // The object of the cursor is deleted, too.
        let leaves = scene.people.filter { image in
          !gone.contains(image.id) && !scene.people.contains { $0[scene.person, "manager"] == .object(image.id) }
        }
        for id in [objects.last?.id, scene.random.pick(leaves)?.id].compactMap({ $0 })
        where leaves.contains(where: { $0.id == id }) && gone.insert(id).inserted {
          try scene.store.must([Change(.delete, id)])
        }
        made += 1
        _ = try scene.store.insert(
          "Person", ["name": .string("x\(made)"), "age": .integer(Int64.random(in: 0...4, using: &scene.random))])
      } while page.after != nil && made < 100
      #expect(gone.count > 5)
      #expect(Set(reported).count == reported.count, "seed \(seed), sort \(sort)")
      let stayed = scene.people.map(\.id).filter { !gone.contains($0) }
      #expect(Set(reported).isSuperset(of: stayed), "seed \(seed), sort \(sort)")
    }
  }

  @Test(arguments: [UInt64(71), 72])
  func countsAndIDsMatchObjects(seed: UInt64) throws {
    let scene = try CompanyFixture(seed: seed)
    for predicate in Self.predicates {
      for (limit, offset) in [(nil, 0), (7, 0), (7, 5), (nil, 80), (1_000, 3)] as [(Int?, Int)] {
        var request = try scene.request(predicate, sort: "-age", limit: limit)
        request.offset = offset
        let (objects, _) = try scene.objects(request)
        #expect(try scene.store.store.count(request).count == objects.count, "\(predicate) \(limit ?? 0) \(offset)")
        request.result = .identifiers
        #expect(try scene.objects(request).objects == objects.map(\.identifier))
      }
    }
  }

  // MARK: - Rows

  @Test(arguments: [UInt64(81), 82])
  func rowsContainValuesInOrder(seed: UInt64) throws {
    let scene = try CompanyFixture(seed: seed)
    let properties =
      "id, name, manager, manager.name, age * 12 AS yearly, salary + 1, level, active, badge, length(bio), "
      + "reports.@count, reports.@sum.salary, ifNull(age, 0) / 2.0 AS half"
    let rows = try scene.rowRequest(properties)
    #expect(rows.hasRowPerObject)
    for predicate in Self.predicates {
      let request = try scene.request(predicate, sort: "-age,name", result: .rows(rows))
      let evaluators = rows.columns.compactMap { column in
        if case .expression(let expression) = column.value {
          ExpressionEvaluator(expression, model: scene.store.model)
        } else {
          nil
        }
      }
      let expected = scene.expected(request).map { image in evaluators.map { $0.value(of: image, in: scene.source) } }
      #expect(try scene.rows(request).rows == expected, "seed \(seed), where \(predicate)")
      var page = request
      page.limit = 11
      var reported = [[Value]]()
      repeat {
        let (rows, end) = try scene.rows(page)
        reported += rows
        page.after = end.next
      } while page.after != nil && reported.count < 1_000
      #expect(reported == expected)
    }
    let description = rows.description(in: scene.store.model)
    #expect(description.map(\.name).contains("salary + 1"))
    #expect(description.map(\.type).prefix(5) == ["object", "string", "object", "string", "integer"])
  }

  @Test(arguments: [UInt64(91), 92, 93])
  func groupsMatchReferenceModel(seed: UInt64) throws {
    let scene = try CompanyFixture(seed: seed)
    for groups in ["", "level", "age", "manager", "manager.level, active", "salary", "length(bio), score"] {
      let keys = groups.isEmpty ? [] : try scene.rowRequest(groups).columns
      let aggregates =
        "@count, @sum.age, @avg.age, @min.name, @max.salary, @sum.salary, @sum(score * 2) AS twice, @avg.score"
      let rows = try scene.rowRequest(groups.isEmpty ? aggregates : groups + ", " + aggregates, groups: groups)
      for predicate in Self.predicates {
        let request = try scene.request(predicate, result: .rows(rows))
        let found = try scene.rows(request)
        let twin = Twin(keys, scene).rows(of: scene.expected(request))
        #expect(found.rows == twin, "seed \(seed), by \(groups), where \(predicate)")
        #expect(found.end.count == twin.count)
      }
    }
  }

  @Test func groupsAndDistinctRowsAreSortedSeparately() throws {
    let scene = try CompanyFixture(seed: 5)
    let groups = try scene.rowRequest("bio, @count AS people", groups: "bio", order: "-people, bio[natural]")
    let found = try scene.rows(try scene.request(result: .rows(groups))).rows
    #expect(found.count > 3)
    let counts = found.compactMap { if case .integer(let count) = $0[1] { count } else { nil } }
    #expect(counts == counts.sorted(by: >))
    #expect(counts.reduce(0, +) == Int64(scene.people.count))
    var part = try scene.request(limit: 2, result: .rows(groups))
    part.offset = 1
    #expect(try scene.rows(part).rows == Array(found[1...2]))
    let distinct = try scene.rowRequest("level, age", distinct: true, order: "-age")
    let pairs = try scene.rows(try scene.request(result: .rows(distinct))).rows
    let all = Set(scene.people.map { [$0[scene.person, "level"], $0[scene.person, "age"]] })
    #expect(Set(pairs) == all)
    #expect(pairs.count == all.count)
    #expect(pairs.last?[1] == .null)
  }

  // MARK: - Refusals

  @Test func cursorOfOtherFetchIsRefused() throws {
    let scene = try CompanyFixture(seed: 6)
    var request = try scene.request(sort: "-age", limit: 3)
    let cursor = try #require(try scene.objects(request).end.next)
    func refusal(_ request: FetchRequest) -> String? {
      do {
        _ = try scene.store.store.answer(request) { _ in }
        return nil
      } catch { return (error as? Refusal)?.message }
    }
    request.after = cursor
    #expect(refusal(request) == nil)
    for sort in ["age", "-age,name", ""] {
      var other = try scene.request(sort: sort, limit: 3)
      other.after = cursor
      #expect(refusal(other) == "the cursor belongs to a fetch of another entity or order")
    }
    request.offset = 1
    #expect(refusal(request) == "a fetch continues after a cursor or at an offset, not both")
    request.offset = 0
    request.result = .count
    #expect(refusal(request) == "a count can't have a cursor")
    request.result = .rows(try scene.rowRequest("level", distinct: true))
    #expect(refusal(request)?.contains("page them by limit and offset") == true)
  }
}

/// The naive groups, made one object at a time.
private struct Twin {
  private let keys: [ExpressionEvaluator]
  private let isOne: Bool
  private let person: Entity
  private let source: RandomGraphTests.ListSource

  init(_ columns: [RowRequest.Column], _ scene: FetchTests.CompanyFixture) {
    keys = columns.compactMap { column in
      if case .expression(let expression) = column.value {
        ExpressionEvaluator(expression, model: scene.store.model)
      } else {
        nil
      }
    }
    isOne = columns.isEmpty
    person = scene.person
    source = scene.source
  }

  func rows(of objects: [ObjectImage]) -> [[Value]] {
    var groups = [[Value]: [ObjectImage]]()
    if isOne { groups[[]] = [] }
    for object in objects { groups[keys.map { $0.value(of: object, in: source) }, default: []].append(object) }
    return groups.map { key, members in key + aggregates(members) }.sorted { left, right in
      for (a, b) in zip(left, right) {
        switch Value.order(a, b) {
        case .same: continue
        case .ascending: return true
        case .descending: return false
        }
      }
      return false
    }
  }

  private func aggregates(_ members: [ObjectImage]) -> [Value] {
    func values(_ name: String) -> [Value] { members.map { $0[person, name] }.filter { !$0.isNull } }
    let ages = values("age").compactMap { if case .integer(let age) = $0 { age } else { nil } }
    let scores = values("score").compactMap { if case .double(let score) = $0 { score } else { nil } }
    let salaries = values("salary").compactMap { if case .decimal(let salary) = $0 { salary } else { nil } }
    let names = values("name").compactMap(\.stringValue)
    let most = salaries.max()
    var total = DecimalValue(isNegative: false, digits: [], exponent: 0)
    for salary in salaries { total = total?.adding(salary) }
    return [
      .integer(Int64(members.count)), .integer(ages.reduce(0, +)),
      ages.isEmpty ? .null : .double(Double(ages.reduce(0, +)) / Double(ages.count)),
      names.min { UTF8Comparison.order($0, $1) == .ascending }.map(Value.string) ?? .null,
      most.map(Value.decimal) ?? .null, total.map(Value.decimal) ?? .null,
      // Halves: their sum is exact in any order.
      .double(scores.reduce(0) { $0 + 2 * $1 }),
      scores.isEmpty ? .null : .double(scores.reduce(0, +) / Double(scores.count)),
    ]
  }
}

extension ObjectImage {
  /// A property by its name.
  fileprivate subscript(entity: Entity, name: String) -> Value {
    entity.property(named: name).map { self[$0] } ?? .null
  }
}
