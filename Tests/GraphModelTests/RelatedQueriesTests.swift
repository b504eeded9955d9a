import GraphTesting
import Synchronization
import Testing

@testable import GraphModel

/// What a commit costs that live queries over paths could hang on: objects that are looked at.
@Suite struct RelatedQueriesTests {
  /// A department of twenty people, and how often somebody asked for one of them.
  private final class Staff: ImageSource {
    let images: [ObjectID: ObjectImage]
    let manager: Property
    let asked = Mutex(0)

    init(_ images: [ObjectImage], manager: Property) {
      self.images = Dictionary(uniqueKeysWithValues: images.map { ($0.id, $0) })
      self.manager = manager
    }

    func image(of id: ObjectID) -> ObjectImage? {
      asked.withLock { $0 += 1 }
      return images[id]
    }

    func referrers(to id: ObjectID, through property: Property) -> [ObjectID] {
      asked.withLock { $0 += 1 }
      return property.number == manager.number
        ? images.values.filter { $0[manager] == .object(id) }.map(\.id).sorted() : []
    }
  }

  private struct Workplace {
    let model: Model
    let person: Entity
    let boss: ObjectImage
    let staff: [ObjectImage]

    init() throws {
      let model = try Fixtures.company()
      let person = try #require(model.entity(named: "Person"))
      self.model = model
      self.person = person
      func image(_ number: UInt64, _ values: [String: Value]) throws -> ObjectImage {
        var image = ObjectImage(
          id: ObjectID(key: UniqueID(high: 1, low: number), entity: person.number), revision: 1,
          values: Array(repeating: .null, count: person.slotCount))
        for (name, value) in values { image[try #require(person.property(named: name))] = value }
        return image
      }
      let boss = try image(1, ["name": .string("b"), "age": .integer(50)])
      self.boss = boss
      staff = try (2...21).map {
        try image(UInt64($0), ["name": .string("n\($0)"), "age": .integer(20), "manager": .object(boss.id)])
      }
    }

    /// Somebody, the boss unless said, is so old from now on, and so many live queries stand about; what is told, and
    /// what was looked at.
    func aging(
      _ one: ObjectImage? = nil, to age: Int64, beside texts: [String]
    ) throws -> (effects: RelatedEffects, asked: Int) {
      try changing(one ?? boss, "age", .integer(age), beside: texts)
    }

    /// The boss has this name from now on.
    func naming(_ name: String, beside texts: [String]) throws -> (effects: RelatedEffects, asked: Int) {
      try changing(boss, "name", .string(name), beside: texts)
    }

    private func changing(
      _ before: ObjectImage, _ name: String, _ value: Value, beside texts: [String]
    ) throws -> (effects: RelatedEffects, asked: Int) {
      var queries = RelatedQueries(model: model)
      for (index, text) in texts.enumerated() {
        let predicate = try GraphPredicate(parsing: text, entity: person, model: model)
        queries.insert(LiveQuery(entity: person.number, predicate: predicate), number: UInt64(index + 1))
      }
      var after = before
      after.revision = 2
      after[try #require(person.property(named: name))] = value
      let source = Staff(
        (staff + [boss]).map { $0.id == after.id ? after : $0 },
        manager: try #require(person.property(named: "manager")))
      let effects = queries.effects(
        of: [ObjectChange(kind: .updated, id: before.id, before: before, after: after)], in: source)
      return (effects, source.asked.withLock { $0 })
    }
  }

  @Test(arguments: [
    "manager.age == %d", "manager.age > %d", "manager.age IN {%d, 1000}", "name == \"x\" OR manager.age == %d",
  ])
  func nobodyIsLookedAtForAValueThatNobodyWaitsFor(text: String) throws {
    let place = try Workplace()
    let texts = (100..<200).map { text.replacing("%d", with: "\($0)") }
    let alone = try place.aging(to: 51, beside: ["name == \"x\" AND manager.name == \"y\""])
    let quiet = try place.aging(to: 51, beside: texts)
    #expect(quiet.effects.effects.isEmpty && quiet.effects.unknown.isEmpty)
    // The boss is judged as well: everybody who changes is. None of the twenty is.
    #expect(quiet.asked <= alone.asked + 4, "\(quiet.asked), \(alone.asked)")
    let awaited = try place.aging(to: 150, beside: texts)
    #expect(awaited.asked >= 20)
    #expect(!awaited.effects.effects.isEmpty)
  }

  @Test(arguments: ["SUBQUERY(reports, $r, $r.age == %d).@count > 0", "ANY reports.age == %d"])
  func whoseReportsOneBelongsToIsNotAskedForAValueThatNobodyWaitsFor(text: String) throws {
    let place = try Workplace()
    let texts = (100..<200).map { text.replacing("%d", with: "\($0)") }
    // Each of them is asked for one's own reports: there are none.
    let quiet = try place.aging(place.staff[0], to: 51, beside: texts)
    #expect(quiet.effects.effects.isEmpty && quiet.asked <= 4, "\(quiet.asked)")
    let awaited = try place.aging(place.staff[0], to: 150, beside: texts)
    #expect(awaited.effects.effects.map(\.changes.count) == [1])
    #expect(awaited.asked > quiet.asked)
  }

  /// Most of what people type into a filter.
  @Test(arguments: [
    "manager.name CONTAINS \"x%d\"", "manager.name ==[c] \"X%d\"", "manager.name LIKE[cd] \"*x%d?\"",
    "manager.name ENDSWITH \"x%d\"", "manager.name BEGINSWITH[c] \"X%d\"",
  ])
  func aPartOfATextThatNobodyWaitsForIsNotLookedAt(text: String) throws {
    let place = try Workplace()
    let texts = (100..<200).map { text.replacing("%d", with: "\($0)") }
    let alone = try place.naming("b", beside: ["name == \"x\" AND manager.name == \"y\""])
    let quiet = try place.naming("bb", beside: texts)
    #expect(quiet.effects.effects.isEmpty && quiet.asked <= alone.asked + 4, "\(quiet.asked), \(alone.asked)")
    let awaited = try place.naming(text.contains("?") ? "x150!" : "x150", beside: texts)
    #expect(awaited.effects.effects.map(\.changes.count) == [20])
  }

  /// Where the value is read a second time, what the index says of the first is not enough.
  @Test func aValueThatIsReadTwiceIsFollowed() throws {
    let place = try Workplace()
    // Filed under 99, which the boss neither was nor is, and under names that do not change.
    let texts = [
      "manager.age == 99 OR (name BEGINSWITH \"n\" AND manager.age * 2 > 130)",
      "manager.age == 99 OR (name BEGINSWITH \"n\" AND NOT (manager.age > 60))",
    ]
    #expect(try place.aging(to: 70, beside: texts).effects.effects.map(\.changes.count) == [20, 20])
  }

  @Test func whatIsTakenOutIsNotFollowed() throws {
    let place = try Workplace()
    var queries = RelatedQueries(model: place.model)
    let texts = [
      "manager.age == 50", "manager.age == 50 OR manager.age == 50", "manager.age > 1 OR name BEGINSWITH \"n\"",
    ]
    for (index, text) in texts.enumerated() {
      let predicate = try GraphPredicate(parsing: text, entity: place.person, model: place.model)
      queries.insert(LiveQuery(entity: place.person.number, predicate: predicate), number: UInt64(index + 1))
    }
    for number in UInt64(1)...3 { queries.remove(number) }
    #expect(queries.isEmpty)
    var after = place.boss
    after[try #require(place.person.property(named: "age"))] = .integer(51)
    let source = Staff(place.staff + [after], manager: try #require(place.person.property(named: "manager")))
    let change = ObjectChange(kind: .updated, id: place.boss.id, before: place.boss, after: after)
    #expect(queries.effects(of: [change], in: source).effects.isEmpty)
    #expect(source.asked.withLock { $0 } == 0)
  }
}
