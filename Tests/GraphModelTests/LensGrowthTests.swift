import GraphModel
import GraphTesting
import Testing

/// An enumeration that gets a case in each of many versions: the client of the first one asks as deeply and as long as
/// before.
@Suite(.timeLimit(.minutes(1))) struct LensGrowthTests {
  /// A version whose moods are `calm`, `cross`, `m2`, `m3` and so on.
  private static func model(_ version: Int, default standIn: String = "calm", optional: Bool = false) throws -> Model {
    let moods = ["calm", "cross"] + (0..<version).dropFirst().map { "m\($0 + 1)" }
    let mood = optional ? #""optional": true"# : #""default": "\#(standIn)""#
    return try Model(
      parsing: """
        {"format": 1, "name": "Club", "version": \(version),
         "enumerations": [{"name": "Mood", "cases": [\(moods.map { "\"\($0)\"" }.joined(separator: ", "))]}],
         "entities": [{"name": "Person", "attributes": [
           {"name": "name", "type": "string"}, {"name": "mood", "type": "enumeration", "enumeration": "Mood", \(mood)}],
          "relationships": [
            {"name": "boss", "destination": "Person", "inverse": "reports", "optional": true},
            {"name": "reports", "destination": "Person", "inverse": "boss", "toMany": true}]}]}
        """.utf8)
  }

  private static func lens(defaults: [String]) throws -> ModelLens {
    try ModelLens(over: defaults.enumerated().map { try model($0.offset + 1, default: $0.element) })
  }

  private static func person(_ lens: ModelLens) throws -> EntityNumber {
    try #require(lens.old.entity(named: "Person")).number
  }

  @Test(arguments: [2, 9, 120]) func growingEnumerationHasOneMapping(versions: Int) throws {
    let lens = try Self.lens(defaults: Array(repeating: "calm", count: versions))
    let person = try Self.person(lens)
    func later(_ text: String) throws -> String { try lens.upgraded(predicate: text, of: person) }
    #expect(try later("mood == 'calm'") == #"oneOf(mood, "calm", "calm", "cross") == "calm""#)
    #expect(
      try later("SUBQUERY(reports, $r, $r.mood == 'calm').@count > 1")
        == #"SUBQUERY(reports, $x1, oneOf($x1.mood, "calm", "calm", "cross") == "calm").@count > 1"#)
    #expect(
      try lens.upgraded(sort: "-mood,boss.mood", of: person) == "-mood[calm?calm|cross],boss.mood[calm?calm|cross]")
    let rows = try lens.upgraded(
      rows: "mood, @count", distinct: false, groups: "mood", order: "mood", of: person)
    #expect(rows.groups == #"oneOf(mood, "calm", "calm", "cross")"#)
  }

  /// The mappings are evaluated in their order where one of them can't be left out.
  @Test(arguments: [
    ["calm", "calm", "calm", "calm"], ["calm", "cross", "calm", "cross"], ["cross", "calm", "m2", "m3"],
    ["calm", "m2", "m3", "m2"], ["cross", "m2", "m2", "calm"],
  ]) func conditionsAndOrdersUseShownNames(defaults: [String]) throws {
    let lens = try Self.lens(defaults: defaults)
    let person = try #require(lens.old.entity(named: "Person"))
    let later = try #require(lens.new.entity(named: "Person"))
    let mood = try #require(later.property(named: "mood"))
    let moods = ["calm", "cross", "m2", "m3", "m4"]
    let stored = moods.enumerated().map { index, name in
      var image = ObjectImage(
        id: ObjectID(key: UniqueID(high: 1, low: UInt64(index)), entity: later.number), revision: 7,
        values: later.initialValues)
      image[mood] = .string(name)
      return image
    }
    let seen = try stored.map { try #require(lens.downgraded($0)) }
    func places(_ images: [ObjectImage]) -> [UInt64] { images.map(\.id.key.low) }
    for text in [
      "mood == 'calm'", "mood != 'calm'", "mood == 'cross'", "mood IN {'cross'}", "mood > 'calm'",
      "oneOf(mood, 'cross', 'calm') == 'cross'", "oneOf(mood, NULL, 'calm') == NULL", "length(mood) == 4",
      "oneOf(mood, 'calm', 'calm', 'cross', 'm2', 'm3', 'm4') == 'calm'",
    ] {
      let shown = PredicateEvaluator(
        try GraphPredicate(parsing: text, entity: person, model: lens.old), model: lens.old)
      let translated = try lens.upgraded(predicate: text, of: person.number)
      let asked = PredicateEvaluator(
        try GraphPredicate(parsing: translated, entity: later, model: lens.new), model: lens.new)
      #expect(
        places(stored.filter { asked.matches($0) }) == places(seen.filter { shown.matches($0) }),
        "\(text) became \(translated)")
    }
    let shown = SortOrder(try [SortKey](parsing: "mood", entity: person, model: lens.old), model: lens.old)
    let keys = try [SortKey](parsing: lens.upgraded(sort: "mood", of: person.number), entity: later, model: lens.new)
    #expect(places(SortOrder(keys, model: lens.new).sorted(stored)) == places(shown.sorted(seen)))
  }

  private static func condition(_ terms: Int, _ term: (Int) -> String) -> String {
    (0..<terms).map(term).joined(separator: " OR ")
  }

  @Test func longConditionsAreTranslatedWithinTheirLimit() throws {
    let lens = try Self.lens(defaults: Array(repeating: "calm", count: 12))
    let person = try Self.person(lens)
    for long in [
      Self.condition(100) { "lowercase(mood) == 'x\($0)'" },
      Self.condition(300) { "mood == 'cross' OR name == '\($0)'" },
      "name IN {" + (0..<1_000).map { "'\($0)'" }.joined(separator: ", ") + "}",
      // One token.
      "name == '" + String(repeating: "(, \\'", count: 40_000) + "'",
    ] {
      #expect(try lens.upgraded(predicate: long, of: person).utf8.count < GraphPredicate.maximumTextSize)
    }
  }

  /// The event loop translates, so other clients wait for it.
  @Test func longTranslationIsRefusedBeforeItIsMade() throws {
    let lens = try Self.lens(defaults: Array(repeating: "calm", count: 12))
    let wide = try ModelLens(over: [Self.model(900), Self.model(901)])
    // The one has too many terms, the other's names make it too long.
    for (lens, terms) in [(lens, 6_000), (wide, 300)] {
      let text = Self.condition(terms) { "lowercase(mood) == 'x\($0)'" }
      let person = try Self.person(lens)
      let refusal = #expect(throws: Refusal.self) { try lens.upgraded(predicate: text, of: person) }
      #expect(refusal?.code == .limit)
    }
    let person = try Self.person(lens)
    let sum = (0..<20_000).map { "length(name) + \($0)" }.joined(separator: " + ")
    let column = #expect(throws: Refusal.self) {
      try lens.upgraded(rows: sum + " AS x", distinct: false, groups: "", order: "", of: person)
    }
    let expression = #expect(throws: Refusal.self) { try lens.upgraded(expression: sum, of: person) }
    #expect(column?.code == .limit && expression?.code == .limit)
  }

  /// A batch may have an expression for each of many properties.
  @Test func workOfAllTextsOfARequestIsCounted() throws {
    let lens = try Self.lens(defaults: ["calm", "calm"])
    let person = try Self.person(lens)
    let text = Self.condition(500) { "name == '\($0)'" }
    var work = TranslationWork()
    var count = 0
    let refusal = #expect(throws: Refusal.self) {
      while count < 100 {
        _ = try lens.upgraded(predicate: text, of: person, &work)
        count += 1
      }
    }
    #expect(refusal?.code == .limit)
    #expect(2...20 ~= count)
  }

  /// The text that the client sent is legal, its translation is not.
  @Test func translationBeyondALimitIsRefusedAsLimit() throws {
    let lens = try Self.lens(defaults: ["calm", "cross", "calm", "cross", "calm", "cross"])
    let person = try Self.person(lens)
    let deep = (0..<200).reduce("mood") { text, _ in "lowercase(\(text))" }
    let long = (0..<6_000).map { "lowercase(mood) == 'x\($0)'" }.joined(separator: " OR ")
    for text in ["\(deep) == 'a'", long] {
      _ = try GraphPredicate(parsing: text, entity: try #require(lens.old.entity(person)), model: lens.old)
      let refusal = #expect(throws: Refusal.self) { try lens.upgraded(predicate: text, of: person) }
      #expect(refusal?.code == .limit, "\(refusal?.message ?? "none")")
      #expect(refusal?.message.contains("from version 1 of the model to version 6: ") == true)
    }
    for (columns, order) in [("\(deep) AS x", ""), ("name", String(repeating: "mood,", count: 16) + "name")] {
      let refusal = #expect(throws: Refusal.self) {
        try lens.upgraded(rows: columns, distinct: false, groups: "", order: order, of: person)
      }
      #expect(refusal?.code == (order.isEmpty ? .limit : .malformed), "\(refusal?.message ?? "none")")
    }
    let refusal = #expect(throws: Refusal.self) { try lens.upgraded(expression: deep, of: person) }
    #expect(refusal?.code == .limit)
  }
}
