import GraphModel
import Testing

/// The view that an older version of a model has of a newer one, and the changes for which there is no lens.
@Suite struct ModelLensTests {
  private static let first = """
    {"name": "Person", "attributes": [
      {"name": "name", "type": "string"}, {"name": "age", "type": "integer", "optional": true},
      {"name": "rank", "type": "integer", "default": 1}, {"name": "mood", "type": "enumeration", "enumeration": "Mood", "default": "calm"},
      {"name": "done", "type": "bool", "default": false}, {"name": "notes", "type": "text", "default": ""}],
     "relationships": [{"name": "team", "destination": "Team", "inverse": "people"},
                       {"name": "skills", "destination": "Skill", "inverse": "people", "toMany": true}],
     "unique": [["name"]]},
    {"name": "Skill", "attributes": [{"name": "title", "type": "string"}],
     "relationships": [{"name": "people", "destination": "Person", "inverse": "skills", "toMany": true}]},
    {"name": "Team", "attributes": [{"name": "title", "type": "string"}],
     "relationships": [{"name": "people", "destination": "Person", "inverse": "team", "toMany": true}]}
    """

  private static let second = """
    {"name": "Person", "attributes": [
      {"name": "active", "type": "bool", "default": true}, {"name": "badge", "type": "string", "optional": true},
      {"name": "fullName", "renamed": "name", "type": "string"}, {"name": "age", "type": "double", "optional": true},
      {"name": "rank", "type": "decimal", "default": 1},
      {"name": "mood", "type": "enumeration", "enumeration": "Mood", "default": "calm"},
      {"name": "done", "type": "bool", "optional": true}, {"name": "notes", "type": "text", "default": ""}],
     "relationships": [{"name": "group", "renamed": "team", "destination": "Group", "inverse": "people"},
                       {"name": "skills", "destination": "Skill", "inverse": "people", "toMany": true},
                       {"name": "home", "destination": "Place", "inverse": "people"}],
     "unique": [["fullName"]]},
    {"name": "Boss", "parent": "Person", "attributes": [{"name": "car", "type": "string", "optional": true}]},
    {"name": "Place", "attributes": [{"name": "street", "type": "string"}],
     "relationships": [{"name": "people", "destination": "Person", "inverse": "home", "toMany": true}]},
    {"name": "Skill", "attributes": [{"name": "title", "type": "string"}],
     "relationships": [{"name": "people", "destination": "Person", "inverse": "skills", "toMany": true}]},
    {"name": "Group", "renamed": "Team", "attributes": [{"name": "title", "type": "string"}],
     "relationships": [{"name": "people", "destination": "Person", "inverse": "group", "toMany": true}]}
    """

  private func model(_ version: Int, _ entities: String, moods: String = #""calm", "cross""#) throws -> Model {
    try Model(
      parsing: """
        {"format": 1, "name": "Club", "version": \(version), "enumerations": [{"name": "Mood", "cases": [\(moods)]}],
         "entities": [\(entities)]}
        """.utf8)
  }

  private func lens() throws -> ModelLens {
    try ModelLens(over: [model(1, Self.first), model(2, Self.second, moods: #""calm", "cross", "merry""#)])
  }

  private func problems(_ second: String, moods: String = #""calm", "cross""#) throws -> [String] {
    let (old, new) = (try model(1, Self.first), try model(2, second, moods: moods))
    let problems = #expect(throws: MigrationPlan.Problems.self) { try ModelLens(over: [old, new]) }
    return try #require(problems).all.map(\.description)
  }

  private func number(_ name: String, _ entity: String = "Person", in model: Model) throws -> PropertyNumber {
    try #require(model.entity(named: entity)?.property(named: name)).number
  }

  /// An object with values by name, all else as a new object has it.
  private func image(_ entity: String, _ values: [String: Value], in model: Model) throws -> ObjectImage {
    let entity = try #require(model.entity(named: entity))
    var image = ObjectImage(
      id: ObjectID(key: UniqueID(high: 1, low: 1), entity: entity.number), revision: 7, values: entity.initialValues)
    for (name, value) in values { image[try #require(entity.property(named: name))] = value }
    return image
  }

  // MARK: - Values

  @Test func lensShowsOlderNamesAndTypes() throws {
    let lens = try lens()
    let group = ObjectID(
      key: UniqueID(high: 1, low: 2), entity: try #require(lens.new.entity(named: "Group")).number)
    let stored = try image(
      "Person",
      [
        "fullName": .string("Ann"), "age": .double(41.9), "rank": .decimal(try #require(DecimalValue("2.5"))),
        "mood": .string("merry"), "done": .null, "badge": .string("b"), "group": .object(group),
      ], in: lens.new)
    let seen = try #require(lens.downgraded(stored))
    let expected = try image(
      "Person",
      [
        "name": .string("Ann"), "age": .integer(41), "rank": .integer(2), "mood": .string("calm"),
        "team": .object(group),
      ], in: lens.old)
    #expect(seen == expected)
    #expect(seen.id.entity == expected.id.entity)
    let team = try #require(lens.old.entity(named: "Team")?.number)
    let reference = seen.values.compactMap { if case .object(let id) = $0 { id.entity } else { nil } }
    #expect(reference == [team])
  }

  @Test func newSubentityIsShownAsAncestorOrHidden() throws {
    let lens = try lens()
    let boss = try image("Boss", ["fullName": .string("Bea"), "car": .string("c")], in: lens.new)
    let seen = try #require(lens.downgraded(boss))
    #expect(seen.id.entity == lens.old.entity(named: "Person")?.number)
    #expect(seen.values == (try image("Person", ["name": .string("Bea")], in: lens.old)).values)
    #expect(lens.downgraded(try image("Place", ["street": .string("s")], in: lens.new)) == nil)
  }

  @Test func numberTooLargeForIntegerIsClamped() throws {
    let lens = try lens()
    let (age, rank) = (try number("age", in: lens.new), try number("rank", in: lens.new))
    #expect(lens.downgraded(.double(1e300), of: age) == .integer(.max))
    #expect(lens.downgraded(.double(-1e300), of: age) == .integer(.min))
    #expect(lens.downgraded(.double(-0.5), of: age) == .integer(0))
    for (text, whole) in [
      ("9223372036854775807.9", Int64.max), ("9223372036854775808", .max), ("-9223372036854775808", .min),
      ("1e30", .max), ("-1e30", .min), ("0.004", 0), ("120", 120), ("-12.99", -12),
    ] {
      #expect(lens.downgraded(.decimal(try #require(DecimalValue(text))), of: rank) == .integer(whole), "\(text)")
    }
  }

  @Test func integerNotRepresentableAsDoubleIsRefused() throws {
    let lens = try lens()
    let (age, rank) = (try number("age", in: lens.old), try number("rank", in: lens.old))
    #expect(try lens.upgraded(.integer(1 << 53), of: age) == .double(9_007_199_254_740_992))
    #expect(try lens.upgraded(.integer(.max), of: rank) == .decimal(try #require(DecimalValue("\(Int64.max)"))))
    let refusal = #expect(throws: Refusal.self) { try lens.upgraded(.integer(1 << 53 + 1), of: age) }
    #expect(refusal?.message.hasPrefix("Person.age is a double in version 2 of the model") == true)
    #expect(throws: Refusal.self) { try lens.upgraded(.integer(.max), of: age) }
  }

  // MARK: - Changes

  @Test func transactionIsTranslatedToNewerNumbers() throws {
    let lens = try lens()
    let person = try #require(lens.old.entity(named: "Person")).number
    let transaction = Transaction(
      id: TransactionID(replica: .zero, sequence: 1),
      changes: [
        Change(
          .insert, .temporary(1, entity: person),
          edits: [
            Edit(try number("name", in: lens.old), .set(.string("Ann"))),
            Edit(try number("age", in: lens.old), .set(.integer(3))),
          ])
      ])
    let later = try lens.upgraded(transaction)
    #expect(later.changes.first?.id.entity == lens.new.entity(named: "Person")?.number)
    #expect(
      later.changes.first?.edits == [
        Edit(try number("fullName", in: lens.new), .set(.string("Ann"))),
        Edit(try number("age", in: lens.new), .set(.double(3))),
      ])
    let unseen = Set(
      ["active", "badge", "home"].map { try? number($0, in: lens.new) } + [
        try? number("car", "Boss", in: lens.new), try? number("street", "Place", in: lens.new),
      ])
    #expect(Set(later.unseen.map { Optional($0) }) == unseen)
    let unknown = Transaction(
      id: transaction.id, changes: [Change(.insert, .temporary(1, entity: 99), edits: [])])
    #expect(throws: Refusal.self) { try lens.upgraded(unknown) }
  }

  /// If the translation lost a precondition, the server would accept a change that it must refuse.
  @Test func preconditionIsTranslatedToNewerNumbers() throws {
    let lens = try lens()
    let person = ObjectID(
      key: UniqueID(high: 1, low: 1), entity: try #require(lens.old.entity(named: "Person")).number)
    let read = Precondition(revision: 7, properties: [try number("name", in: lens.old)])
    let later = try lens.upgraded(
      Transaction(
        id: TransactionID(replica: .zero, sequence: 1),
        changes: [Change(.update, person, base: 7, onlyIf: read), Change(.delete, person, base: 7)]))
    #expect(
      later.changes.map(\.onlyIf) == [
        Precondition(revision: 7, properties: [try number("fullName", in: lens.new)]), nil,
      ])
    let unknown = Precondition(revision: 7, properties: [999])
    let change = Change(.update, person, base: 7, onlyIf: unknown)
    #expect(throws: Refusal.self) {
      try lens.upgraded(Transaction(id: TransactionID(replica: .zero, sequence: 1), changes: [change]))
    }
  }

  @Test func commitOfHiddenObjectIsNoChange() throws {
    let lens = try lens()
    let stored = try image("Person", ["fullName": .string("Ann"), "badge": .string("b")], in: lens.new)
    let badge = Edit(try number("badge", in: lens.new), .set(.string("b")))
    let name = Edit(try number("fullName", in: lens.new), .set(.string("Ann")))
    #expect(lens.downgraded(.updated(stored, edits: [badge], previous: 3)) == nil)
    guard
      case .updated(let image, let edits, 3)? = lens.downgraded(.updated(stored, edits: [badge, name], previous: 3))
    else {
      Issue.record("the name was not seen")
      return
    }
    #expect(edits == [Edit(try number("name", in: lens.old), .set(.string("Ann")))])
    #expect(image.revision == 7)
  }

  @Test func refusalUsesNamesOfOlderVersion() throws {
    let lens = try lens()
    let refusal = Refusal(violations: [
      Violation(
        id: .temporary(1, entity: 1), property: try number("fullName", in: lens.new), rule: "required",
        message: "Person.fullName is required."),
      Violation(
        id: .temporary(1, entity: 1), property: try number("people", "Group", in: lens.new), rule: "count",
        message: "this Group can't be deleted while 2 of its people remain"),
      Violation(
        id: .temporary(1, entity: 1), property: try number("fullName", in: lens.new), rule: "unique",
        others: [.init(try number("fullName", in: lens.new), .string("Ann"))],
        message: "there is already a Person with this fullName"),
    ])
    let seen = lens.downgraded(refusal)
    #expect(seen.message == "Person.name is required. (and 2 more)")
    #expect(
      seen.violations.map(\.message) == [
        "Person.name is required.", "this Team can't be deleted while 2 of its people remain",
        "there is already a Person with this name",
      ])
    #expect(seen.violations.last?.others == [.init(try number("name", in: lens.old), .string("Ann"))])
    #expect(seen.violations.first?.property == (try number("name", in: lens.old)))
  }

  // MARK: - Questions

  @Test func conditionsOrdersAndColumnsAreTranslated() throws {
    let lens = try lens()
    let person = try #require(lens.old.entity(named: "Person")).number
    func later(_ text: String) throws -> String { try lens.upgraded(predicate: text, of: person) }
    #expect(try later(#"name BEGINSWITH[c] "a""#) == #"fullName BEGINSWITH[c] "a""#)
    #expect(
      try later(#"team.title == "x" AND ANY skills.title == "y""#) == #"group.title == "x" AND ANY skills.title == "y""#
    )
    #expect(try later("age / 2 == 20") == "integer(age) / 2 == 20")
    #expect(try later("rank > 1") == "integer(rank) > 1")
    #expect(try later("done == FALSE") == "ifNull(done, FALSE) == FALSE")
    // A case that the older version does not know is seen as the default, and found as such.
    #expect(try later("mood == 'calm'") == #"oneOf(mood, "calm", "calm", "cross") == "calm""#)
    #expect(try later("mood IN {'cross'} AND mood != 'cross'") == #"mood IN {"cross"} AND mood != "cross""#)
    #expect(try later("mood < 'cross'") == #"oneOf(mood, "calm", "calm", "cross") < "cross""#)
    #expect(try lens.upgraded(sort: "-mood[natural],name", of: person) == "-mood[calm?calm|cross][natural],fullName")
    #expect(try later("") == "")
    let refusal = #expect(throws: Refusal.self) { try later("fullName == 'a'") }
    #expect(refusal?.message.contains("can't be read at column 1") == true)
    #expect(try lens.upgraded(sort: "-name,team.title", of: person) == "-fullName,group.title")
    let rows = try lens.upgraded(
      rows: "name, team.title, @count", distinct: false, groups: "name, team.title", order: "name", of: person)
    #expect(rows.properties == #"fullName AS "name", group.title AS "team.title", @count AS "@count""#)
    #expect(rows.groups == "fullName, group.title" && rows.order == "name")
    let entity = try #require(lens.new.entity(named: "Person"))
    _ = try RowRequest(
      parsing: rows.properties, groups: rows.groups, order: rows.order, entity: entity, model: lens.new)
  }

  /// A path without an object has no value; the default does not replace it.
  @Test func missingObjectHasNoDefault() throws {
    func person(_ more: String) -> String {
      #"""
      {"name": "Person", "attributes": [
        {"name": "rank", "type": "integer", "default": 4\#(more)},
        {"name": "mood", "type": "enumeration", "enumeration": "Mood", "default": "calm"\#(more)}],
       "relationships": [
        {"name": "boss", "destination": "Person", "inverse": "people"},
        {"name": "people", "destination": "Person", "inverse": "boss", "toMany": true}]}
      """#
    }
    let old = try model(1, person(""))
    let new = try model(2, person(#", "optional": true"#), moods: #""calm", "cross", "merry""#)
    let lens = try ModelLens(over: [old, new])
    let entity = try #require(old.entity(named: "Person")).number
    let pairs = [
      ("boss.rank == NULL", "ifNull(boss.rank, given(boss, 4)) == NULL"),
      ("boss.boss.rank > 3", "ifNull(boss.boss.rank, given(boss.boss, 4)) > 3"),
      (
        "boss.mood == 'calm'",
        #"ifNull(oneOf(boss.mood, "calm", "calm", "cross"), given(boss, "calm")) == "calm""#
      ),
      ("rank == 4", "ifNull(rank, 4) == 4"),
    ]
    for (seen, stored) in pairs { #expect(try lens.upgraded(predicate: seen, of: entity) == stored) }
  }

  @Test func filtersAndSortsUseShownValues() throws {
    let lens = try lens()
    let (old, new) = (lens.old, lens.new)
    let person = try #require(old.entity(named: "Person"))
    let later = try #require(new.entity(named: "Person"))
    let stored = try ["merry", "calm", "cross", "merry", "cross"].enumerated().map { index, mood in
      let image = try image("Person", ["fullName": .string("\(index)"), "mood": .string(mood)], in: new)
      return ObjectImage(
        id: ObjectID(key: UniqueID(high: 1, low: UInt64(index)), entity: image.id.entity), revision: 7,
        values: image.values)
    }
    let seen = try stored.map { try #require(lens.downgraded($0)) }
    func names(_ images: [ObjectImage], _ model: Model) -> [UInt64] { images.map(\.id.key.low) }
    for text in [
      "mood == 'calm'", "mood != 'calm'", "mood == 'cross'", "mood IN {'calm', 'cross'}", "mood IN {'cross'}",
      "mood >= 'cross'",
      "length(mood) == 4", "mood BEGINSWITH[c] 'CA'", "NOT mood == 'calm'", "mood != NULL",
    ] {
      let shown = PredicateEvaluator(try GraphPredicate(parsing: text, entity: person, model: old), model: old)
      let asked = PredicateEvaluator(
        try GraphPredicate(parsing: lens.upgraded(predicate: text, of: person.number), entity: later, model: new),
        model: new)
      #expect(
        names(stored.filter { asked.matches($0) }, new) == names(seen.filter { shown.matches($0) }, old), "\(text)")
    }
    for text in ["mood,-name", "-mood,name", "mood[localized],name"] {
      let shown = SortOrder(try [SortKey](parsing: text, entity: person, model: old), model: old)
      let keys = try [SortKey](parsing: lens.upgraded(sort: text, of: person.number), entity: later, model: new)
      #expect(names(SortOrder(keys, model: new).sorted(stored), new) == names(shown.sorted(seen), old), "\(text)")
    }
    let brackets = String(repeating: "[calm?calm]", count: EnumerationFallback.maximumDepth)
    #expect(try [SortKey](parsing: "mood\(brackets)", entity: later, model: new).first?.fallbacks.count == 100)
    for wrong in [
      "mood[calm?calm]\(brackets)", "mood[calm|cross]", "mood[calm?a b]x", "mood[?]", "rank[calm?calm]",
      "mood[natural][calm?calm]",
    ] {
      #expect(throws: PredicateSyntaxError.self, "\(wrong)") {
        try [SortKey](parsing: wrong, entity: later, model: new)
      }
    }
  }

  // MARK: - Where there is none

  @Test func untranslatablePartsAreReported() throws {
    func changed(_ old: String, _ new: String) -> String { Self.first.replacing(old, with: new) }
    let rank = #"{"name": "rank", "type": "integer", "default": 1}, "#
    #expect(try problems(changed(rank, "")) == ["Person.rank: was removed"])
    let required = changed(
      #"{"name": "name", "type": "string"}"#,
      #"{"name": "name", "type": "string"}, {"name": "badge", "type": "string"}"#)
    #expect(try problems(required) == ["Person.badge: is new, required, and has no default"])
    #expect(try problems(changed(#""integer", "optional": true"#, #""integer""#)) == ["Person.age: is required now"])
    #expect(
      try problems(
        changed(#"{"name": "name", "type": "string"}"#, #"{"name": "name", "type": "string", "optional": true}"#))
        == ["Person.name: may be null now, and has no default to show instead"])
    #expect(
      try problems(changed(#""unique": [["name"]]"#, #""unique": []"#)) == ["Person: name need not be unique now"])
    #expect(
      try problems(changed(#""name": "age", "type": "integer""#, #""name": "age", "type": "string""#)) == [
        "Person.age: was integer, and is string now"
      ])
    #expect(try problems(Self.first, moods: #""calm""#) == ["Person.mood: no longer allows cross"])
    #expect(
      try problems(changed(#""inverse": "people"},"#, #""inverse": "people", "optional": false},"#))
        == ["Person.team: is required now"])
  }

  @Test func severalVersionsAreTranslatedStepwise() throws {
    let third = try model(
      3,
      Self.second.replacing(#""name": "fullName", "renamed": "name""#, with: #""name": "label", "renamed": "fullName""#)
        .replacing("fullName\"]]", with: "label\"]]"), moods: #""calm", "cross", "merry""#)
    let (first, second) = (try model(1, Self.first), try model(2, Self.second, moods: #""calm", "cross", "merry""#))
    let lenses = ModelLenses(to: third, from: [second, first])
    guard case .lens(let lens) = lenses[first.hash] else {
      Issue.record("there is no lens over two steps")
      return
    }
    let stored = try image("Person", ["label": .string("Ann"), "age": .double(2.5)], in: third)
    #expect(lens.downgraded(stored) == (try image("Person", ["name": .string("Ann"), "age": .integer(2)], in: first)))
    let person = try #require(first.entity(named: "Person")).number
    #expect(try lens.upgraded(predicate: "name == 'a'", of: person) == #"label == "a""#)
    #expect(lens.unseen.count == 5)
    if case .unknown = lenses[third.hash] {} else { Issue.record("the served version needs no lens") }
  }
}
