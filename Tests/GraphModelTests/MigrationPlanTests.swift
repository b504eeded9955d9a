import GraphModel
import Testing

/// The steps of a migration between two versions of a model, and the differences that are no steps.
@Suite struct MigrationPlanTests {
  private static let first = """
    {"name": "Person", "attributes": [{"name": "name", "type": "string"}, {"name": "age", "type": "integer", "optional": true}],
     "relationships": [{"name": "team", "destination": "Team", "inverse": "people"}]},
    {"name": "Team", "attributes": [{"name": "title", "type": "string"}],
     "relationships": [{"name": "people", "destination": "Person", "inverse": "team", "toMany": true}]}
    """

  private func model(_ version: Int, _ entities: String, _ more: String = "") throws -> Model {
    try Model(
      parsing: #"{"format": 1, "name": "Club", "version": \#(version), \#(more) "entities": [\#(entities)]}"#.utf8)
  }

  private func plan(_ second: String, _ more: String = "", from first: String = first) throws -> MigrationPlan {
    try MigrationPlan.infer(from: try model(1, first), to: try model(2, second, more))
  }

  private func steps(_ second: String, _ more: String = "") throws -> [String] {
    try plan(second, more).steps.map(\.description)
  }

  private func problems(_ second: String, _ more: String = "") throws -> [String] {
    let problems = #expect(throws: MigrationPlan.Problems.self) { try plan(second, more) }
    return try #require(problems).all.map(\.description)
  }

  /// The first version, with one property changed.
  private func changed(_ old: String, _ new: String) -> String { Self.first.replacing(old, with: new) }

  @Test func sameModelNeedsNoSteps() throws {
    #expect(try steps(Self.first).isEmpty)
  }

  @Test func newPropertyIsEmptyOrDefault() throws {
    let more =
      #"{"name": "name", "type": "string"}, {"name": "note", "type": "string", "optional": true}, "#
      + #"{"name": "rank", "type": "integer", "default": 3}, {"name": "badge", "type": "string"}"#
    let second = changed(#"{"name": "name", "type": "string"}"#, more)
    #expect(
      try steps(second) == [
        "Person.note is new, and empty", "Person.rank is new, and 3 for every object",
        "Person.badge is new, required, and has no default",
      ])
    // Only the store knows whether an object lacks the value.
    #expect(try plan(second).unfilled.map(\.name) == ["badge"])
    #expect(try plan(second).tightened.isEmpty)
  }

  @Test func predecessorIsSameNameOrRenamed() throws {
    let second = changed(#"{"name": "name", "type""#, #"{"name": "fullName", "renamed": "name", "type""#)
      .replacing(#""name": "Team", "attributes""#, with: #""name": "Group", "renamed": "Team", "attributes""#)
      .replacing(#""destination": "Team""#, with: #""destination": "Group""#)
    #expect(try steps(second) == ["Group was called Team", "Person.fullName was called name"])
    let plan = try plan(second)
    #expect(plan.endedProperties.isEmpty && plan.removedProperties.isEmpty)
    // Without `renamed`, one property is removed and the other one added; the plan does not guess.
    #expect(
      try steps(second.replacing(#""renamed": "name", "#, with: "")) == [
        "Group was called Team", "Person.fullName is new, required, and has no default",
        "Person.name is removed, with its values",
      ])
  }

  /// Both ends of a one-to-one store it, and several people may have the same team.
  @Test func toOneWithANewToOneInverseIsRefused() throws {
    let single = changed(#""inverse": "people""#, #""inverse": "captain""#)
      .replacing(
        #"{"name": "people", "destination": "Person", "inverse": "team", "toMany": true}"#,
        with: #"{"name": "captain", "destination": "Person", "inverse": "team"}"#)
    #expect(
      try problems(single) == [
        "Person.team: its inverse is the to-one Team.captain now, and several objects may refer to the same one: make "
          + "Team.captain a to-many, or give team another name"
      ])
    // A one-to-one is kept under other names, also as a to-one with many.
    let renamed = single.replacing(#""name": "captain""#, with: #""name": "head", "renamed": "captain""#)
      .replacing(#""inverse": "captain""#, with: #""inverse": "head""#)
    #expect(try plan(renamed, from: single).steps.map(\.description) == ["Team.head was called captain"])
    #expect(try plan(Self.first, from: single).steps.count == 2)
  }

  @Test func inverseOfKeptRelationshipUsesItsNewName() throws {
    let second = changed(#""inverse": "people""#, #""inverse": "staff""#)
      .replacing(#"{"name": "people", "destination""#, with: #"{"name": "staff", "destination""#)
    let reported = try steps(second)
    #expect(reported.contains("Team.staff is new, and is the inverse of Person.team, which is kept"), "\(reported)")
    let other = changed(
      #""inverse": "team", "toMany": true}"#,
      #""inverse": "team", "toMany": true}, {"name": "friends", "destination": "Person", "inverse": "fans", "toMany": true}"#
    )
    .replacing(
      #""inverse": "people"}"#,
      with: #""inverse": "people"}, {"name": "fans", "destination": "Team", "inverse": "friends", "toMany": true}"#)
    #expect(try steps(other) == ["Person.fans is new, and still empty", "Team.friends is new, and still empty"])
  }

  @Test func earlierRenameIsIgnored() throws {
    let renamed = changed(#"{"name": "name", "type""#, #"{"name": "fullName", "renamed": "name", "type""#)
    let plan = try MigrationPlan.infer(from: try model(2, renamed), to: try model(3, renamed))
    #expect(plan.steps.isEmpty)
  }

  @Test(arguments: [
    ("bool", "integer", true), ("string", "text", true), ("text", "string", true), ("uri", "string", true),
    ("json", "text", true), ("string", "uri", true), ("integer", "decimal", false), ("integer", "double", false),
    ("integer", "string", false), ("date", "string", false), ("uuid", "text", false), ("double", "string", false),
  ])
  func someTypeChangesAreInferred(old: String, new: String, isInPlace: Bool) throws {
    func with(_ type: String) -> String {
      changed(#""name": "age", "type": "integer""#, #""name": "age", "type": "\#(type)""#)
    }
    let plan = try plan(with(new), from: with(old))
    #expect(plan.steps.map(\.description) == ["Person.age was \(old), and is \(new) now"])
    #expect(plan.endedProperties.isEmpty == isInPlace)
  }

  @Test func allAmbiguitiesAreReportedTogether() throws {
    let second = """
      {"name": "Being", "abstract": true},
      {"name": "Person", "parent": "Being", "attributes": [
        {"name": "name", "type": "integer"}, {"name": "title", "renamed": "age", "type": "bool", "optional": true},
        {"name": "nick", "renamed": "alias", "type": "string", "optional": true}],
       "relationships": [{"name": "team", "destination": "Team", "inverse": "people"}]},
      {"name": "Team", "attributes": [{"name": "title", "type": "string"}],
       "relationships": [{"name": "people", "destination": "Person", "inverse": "team", "toMany": true}]}
      """
    let properties = [
      "Person.name: its type changes from string to integer: this needs a mapping",
      "Person.title: its type changes from integer to bool: this needs a mapping",
      "Person.nick: is renamed from \"alias\", but version 1 has neither: fix \"renamed\"",
    ]
    let family =
      "Person: its parent changes; objects can't be moved from one table to another: make a new entity, and move them "
      + "yourself"
    #expect(try problems(second) == [family] + properties)
    let third = second.replacing(#""parent": "Being", "#, with: "")
    #expect(try problems(third) == properties)
    // A missing entity is reported once; its properties and the relationships to it are not reported.
    let fourth = third.replacing(#""Team", "attributes""#, with: #""Group", "renamed": "Crew", "attributes""#)
      .replacing(#""destination": "Team""#, with: #""destination": "Group""#)
    #expect(
      try problems(fourth) == [
        "Group: is renamed from \"Crew\", but version 1 has neither: fix \"renamed\""
      ] + properties)
  }

  @Test func twoPropertiesCannotShareAPredecessor() throws {
    let second = changed(
      #"{"name": "name", "type": "string"}"#,
      #"{"name": "name", "type": "string"}, {"name": "nick", "renamed": "name", "type": "string"}"#)
    #expect(
      try problems(second) == [
        "Person.nick: this and name come from name of version 1: remove \"renamed\" from one"
      ])
  }

  @Test func mappingReadsPreviousVersion() throws {
    let second = changed(
      #"{"name": "name", "type": "string"}"#,
      #"{"name": "label", "type": "string"}, {"name": "name", "type": "string"}"#)
    #expect(
      try steps(second, #""mapping": {"Person.label": "concat(name, ' of ', team.title)"},"#) == [
        "Person.label becomes concat(name, ' of ', team.title)"
      ])
    #expect(
      try problems(second, #""mapping": {"Person.label": "label", "Person.name": "age"},"#) == [
        "mapping.Person.label: column 1: Person has no property \"label\"; it has id, name, age, team (in the names of "
          + "version 1)",
        "mapping.Person.name: gives integer, but name is string",
      ])
  }

  @Test func emptyMappingIsModelError() throws {
    let mistakes = #expect(throws: ModelError.self) {
      try model(
        2, Self.first,
        #""mapping": {"Person.size": "age", "age": "1", "Nobody.age": "1", "Person.age": 5},"#)
    }
    #expect(
      mistakes?.mistakes.map(\.description) == [
        "mapping.Person.age: must be a string: an expression over the previous version"
      ])
    let others = #expect(throws: ModelError.self) {
      try model(2, Self.first, #""mapping": {"Person.size": "age", "age": "1", "Nobody.age": "1"},"#)
    }
    #expect(
      others?.mistakes.map(\.description) == [
        "mapping.Person.size: Person declares no attribute \"size\"",
        "mapping.age: must be named ENTITY.ATTRIBUTE, after an attribute of this version",
        "mapping.Nobody.age: must be named ENTITY.ATTRIBUTE, after an attribute of this version",
      ])
  }

  @Test func relationshipCardinalityMayChangeWithoutLoss() throws {
    let ordered = changed(#""inverse": "team", "toMany": true"#, #""inverse": "team", "toMany": true, "ordered": true"#)
    #expect(try steps(ordered) == ["Team.people is ordered now, by id at first"])
    let many = changed(#""inverse": "people"}"#, #""inverse": "people", "toMany": true}"#)
    #expect(try steps(many) == ["Person.team was a to-one; its object becomes the only member"])
    let single = changed(#""inverse": "team", "toMany": true"#, #""inverse": "team""#)
    #expect(
      try problems(single) == [
        "Team.people: can't become a to-one: an object may have several; give it another name"
      ])
  }

  /// The facts on which both programs must agree do not depend on the order of the versions.
  @Test func hashIgnoresOriginsOfParts() throws {
    let renamed = changed(#"{"name": "name", "type""#, #"{"name": "name", "renamed": "title", "type""#)
    #expect(try model(2, renamed).hash == model(1, Self.first).hash)
    #expect(try model(2, Self.first, #""mapping": {"Person.age": "age + 1"},"#).hash == model(1, Self.first).hash)
  }
}
