import GraphModel
import GraphStore
import GraphTesting
import Testing

/// Long chains of OR and AND, for which SQLite would need time that grows with the square of their length: they become
/// a list, or are evaluated in memory.
@Suite(.timeLimit(.minutes(5))) struct LongChainsTests {
  private static let length = GraphPredicate.maximumSize / 4

  private static func people() throws -> TestStore {
    let store = try TestStore(try Fixtures.company())
    for number in 0..<6 {
      _ = try store.insert(
        "Person", ["name": .string("n\(number)"), "age": number == 5 ? .null : .integer(Int64(number))])
    }
    return store
  }

  private static func chain(_ word: String, of count: Int = length, _ part: (Int) -> String) -> String {
    (0..<count).map(part).joined(separator: " \(word) ")
  }

  private func explain(_ store: TestStore, _ text: String) throws -> FetchExplanation {
    let person = try store.entity("Person")
    let predicate = try GraphPredicate(parsing: text, entity: person, model: store.model)
    let request = FetchRequest(entity: person.number, predicate: predicate, explains: true)
    return try #require(try store.store.answer(request) { _ in }.explanation)
  }

  /// The values of one property become a list, in any form of the chain, and the property's index serves it.
  @Test func chainOfEqualitiesBecomesAList() throws {
    let store = try Self.people()
    for (text, count) in [
      (Self.chain("OR") { "age == \($0 + 3)" }, 2), (Self.chain("OR", of: Self.length / 2) { "age IN {\($0 + 3)}" }, 2),
      (Self.chain("OR") { $0 == 7 ? "age == NULL" : "age == \($0 + 3)" }, 3),
      (Self.chain("AND") { "age != \($0 + 3)" }, 4),
      (Self.chain("AND") { $0 == 7 ? "age != NULL" : "age != \($0 + 3)" }, 3),
    ] {
      let explanation = try explain(store, text)
      #expect(!explanation.checksInMemory, "\(text.prefix(60))")
      #expect(explanation.count == count, "\(text.prefix(60))")
      // Apart from the list, the statement is as short as any.
      #expect(explanation.statements.allSatisfy { !$0.contains(" OR ") || $0.contains("IS NULL OR") })
    }
    // If there are few enough values, the index is used.
    let few = try explain(store, Self.chain("OR", of: 20) { "age == \($0 + 3)" })
    #expect(few.indexes == ["Party.Person.age"])
    // Through a relationship, and without the difference of case, they are lists, too.
    for text in [
      Self.chain("OR") { "ANY reports.age == \($0)" }, Self.chain("OR") { "manager.name == \"n\($0)\"" },
      Self.chain("OR") { "name ==[c] \"N\($0)\"" },
    ] {
      #expect(try !explain(store, text).checksInMemory, "\(text.prefix(60))")
    }
  }

  /// A long list has no arguments, because SQLite's time for each of them grows with their number. Doubles need
  /// arguments; if there are more of them than a statement may compare, they are compared in memory.
  @Test func longListHasNoArguments() throws {
    let store = try Self.people()
    func id(_ number: Int) -> String { "\"\(UniqueID(high: 77, low: UInt64(number)))\"" }
    for text in [
      Self.chain("OR") { "age == \($0)" }, Self.chain("OR") { "name == \"n\($0)\"" },
      Self.chain("AND") { "manager != \(id($0))" }, Self.chain("OR") { "id == \(id($0))" },
    ] {
      let explanation = try explain(store, text)
      #expect(!explanation.checksInMemory && explanation.arguments.count <= 2, "\(text.prefix(60))")
    }
    // Many short lists have as many arguments together as a long one.
    let short = Self.chain("AND", of: 100) { number in
      "age IN {" + (0..<40).map { "\($0 + number)" }.joined(separator: ",") + "}"
    }
    let explanation = try explain(store, short)
    #expect(!explanation.checksInMemory && explanation.arguments.count <= 100)
    #expect(explanation.count == 0)
    for (length, isInMemory) in [(900, false), (1_200, true)] {
      let scores = try explain(store, Self.chain("OR", of: length) { "score == \($0).1" })
      #expect(scores.checksInMemory == isInMemory, "\(length)")
    }
  }

  /// Marks, accents on marks, NUL, and the ends of the integers: each value in a long list means itself.
  @Test func valuesOfLongListMeanThemselves() throws {
    let store = try TestStore(try Fixtures.company())
    let names = ["'", "''", "'\u{301}", "a' OR 1 --", "\u{0}", "a\u{0}b", "\\'", "%'; DROP TABLE x", "é", "e\u{301}"]
    for (number, name) in names.enumerated() {
      _ = try store.insert("Person", ["name": .string("<\(name)>"), "age": .integer(Int64(number))])
    }
    let person = try store.entity("Person")
    let (name, age) = (try #require(person.property(named: "name")), try #require(person.property(named: "age")))
    let others = (0..<200).map { Value.string("other \($0)") }
    for (number, wanted) in names.enumerated() {
      let found = try store.all(person, where: .in(name, others + [.string("<\(wanted)>")]))
      #expect(found.map { $0[age] } == [.integer(Int64(number))], "\(number)")
      let rest = try store.all(person, where: .not(.in(name, others + [.string("<\(wanted)>")])))
      #expect(rest.count == names.count - 1, "\(number)")
    }
    let integers = (100..<300).map { Value.integer($0) } + [.integer(.min), .integer(.max), .integer(-1), .integer(3)]
    #expect(try store.all(person, where: .in(age, integers)).map { $0[age] } == [.integer(3)])
  }

  @Test func everyTypeIsFoundInALongList() throws {
    let store = try TestStore(try Fixtures.company())
    let boss = try store.insert("Person", ["name": .string("boss")])
    let salary = try #require(DecimalValue("-3.5"))
    let salaries = try (0..<200).map { try #require(DecimalValue("\($0)")) }
    let values: [String: Value] = [
      "name": .string("n"), "age": .integer(7), "level": .string("senior"), "salary": .decimal(salary),
      "badge": .uuid(UniqueID(high: 1 << 63, low: 0x27)), "photo": .data([0, 0x27, 255]), "home": .string("a:'b"),
      "score": .double(0.1), "active": .bool(false), "born": .date(-1), "bio": .string("it's"),
      "manager": .object(boss),
    ]
    let id = try store.insert("Person", values)
    let person = try store.entity("Person")
    for (name, value) in values.sorted(by: { $0.key < $1.key }) {
      let property = try #require(person.property(named: name))
      let others = (0..<200).map { number -> Value in
        switch value {
        case .integer: .integer(Int64(1_000 + number))
        case .decimal: .decimal(salaries[number])
        case .uuid: .uuid(UniqueID(high: 9, low: UInt64(number)))
        case .data: .data([1, UInt8(number)])
        case .double: .double(Double(number) + 0.3)
        case .date: .date(Int64(number))
        case .object: .object(ObjectID(key: UniqueID(high: 9, low: UInt64(number)), entity: person.number))
        case .bool: .null
        default: .string(name == "level" ? "junior" : "x:\(number)")
        }
      }
      let found = try store.all(person, where: .in(property, others + [value])).map(\.id)
      // The boss has no value, or the default one.
      #expect(found.contains(id) && found.count <= 2, "\(name)")
      #expect(try !store.all(person, where: .in(property, others)).map(\.id).contains(id), "\(name)")
    }
  }

  /// A chain that is no list is SQL up to a limit, and evaluated in memory beyond it: no statement has more
  /// comparisons.
  @Test func otherChainsAreLimitedInSQL() throws {
    let store = try Self.people()
    for (text, count) in [
      (Self.chain("OR") { "age < \(-$0)" }, 0), (Self.chain("AND") { "age < \($0 + 3)" }, 3),
      (Self.chain("OR") { $0.isMultiple(of: 2) ? "age > \($0 + 3)" : "name BEGINSWITH \"x\($0)\"" }, 1),
      (Self.chain("AND") { "NOT (age > \($0 + 2))" }, 4),
    ] {
      let explanation = try explain(store, text)
      #expect(explanation.checksInMemory, "\(text.prefix(60))")
      #expect(explanation.count == count, "\(text.prefix(60))")
      #expect(explanation.arguments.count <= 1_000, "\(text.prefix(60))")
    }
  }

  /// Lists and their chains mean the same as in memory.
  @Test(arguments: UInt64(1)...6) func randomChainsAgreeInSQLAndMemory(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let store = try Self.people()
    let person = try store.entity("Person")
    let everything = try store.all("Person")
    let boss = try #require(everything.first)
    try store.must([try store.update(everything[1].id, "Person.manager", .object(boss.id))])
    let all = try store.all("Person")
    let source = RandomGraphTests.ListSource(all)
    for _ in 0..<60 {
      let parts = (0..<(14 + random.below(30))).map { _ in
        let subject =
          random.pick(["age", "name", "manager.age", "manager", "name[c]", "ANY reports.age", "id"]) ?? "age"
        let equal = random.pick(["==", "!="]) ?? "=="
        let number = random.below(8)
        let id = all[random.below(all.count)].id.key.description
        return switch subject {
        case "age", "manager.age": "\(subject) \(equal) \(number == 7 ? "NULL" : "\(number)")"
        case "ANY reports.age": number < 4 ? "ANY reports.age == \(number)" : "ANY reports.age IN {\(number), NULL}"
        case "name": number == 7 ? "name \(equal) NULL" : "name \(equal) \"n\(number)\""
        case "name[c]": "name \(equal)[c] \"N\(number)\""
        default: "\(subject) \(equal) \(number == 7 ? "NULL" : "\"\(id)\"")"
        }
      }
      for word in [" OR ", " AND "] {
        let text = parts.joined(separator: word)
        let predicate = try GraphPredicate(parsing: text, entity: person, model: store.model)
        let judge = PredicateEvaluator(predicate, model: store.model)
        let expected = all.filter { judge.matches($0, in: source) }.map(\.id)
        #expect(try store.all(person, where: predicate).map(\.id) == expected, "seed \(seed): \(text)")
        let negated = GraphPredicate.not(predicate)
        #expect(try store.all(person, where: negated).count == all.count - expected.count, "seed \(seed): NOT \(text)")
      }
    }
  }
}
