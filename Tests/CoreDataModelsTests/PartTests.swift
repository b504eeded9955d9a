import CoreDataModels
import GraphModel
import Testing

/// Single parts of a model, and the names that they get.
@Suite struct PartTests {
  /// The model of an entity `A` with these properties.
  private func model(_ properties: String) throws -> (entity: Entity, lines: [String]) {
    let conversion = try convert("<entity name=\"A\">\(properties)</entity>")
    return (try #require(conversion.versions[0].model.entity(named: "A")), conversion.lines)
  }

  private func attribute(_ more: String) throws -> (attribute: Attribute, lines: [String]) {
    let (entity, lines) = try model("<attribute name=\"x\" optional=\"YES\" \(more)/>")
    return (try #require(entity.property(named: "x")?.attribute), lines)
  }

  @Test(arguments: [
    ("Integer 16", "-7", Value.integer(-7)), ("Integer 32", "1e3", .integer(1_000)),
    ("Integer 64", "9223372036854775807", .integer(.max)), ("Double", "-0.5", .double(-0.5)),
    ("Float", "3", .double(3)), ("Boolean", "YES", .bool(true)), ("Boolean", "0", .bool(false)),
    ("String", " a ", .string(" a ")), ("URI", "https://example.org/", .string("https://example.org/")),
  ])
  func defaultIsKept(type: String, text: String, expected: Value) throws {
    let (attribute, lines) = try attribute("attributeType=\"\(type)\" defaultValueString=\"\(text)\"")
    #expect(attribute.defaultValue == expected && lines == [])
  }

  @Test func decimalKeepsItsDigits() throws {
    let (attribute, lines) = try attribute(
      "attributeType=\"Decimal\" defaultValueString=\"12345678901234567890.0123456789\" minValueString=\"-0.10\"")
    #expect(attribute.defaultValue == .decimal(try #require(DecimalValue("12345678901234567890.0123456789"))))
    #expect(attribute.minimum == .decimal(try #require(DecimalValue("-0.1"))) && lines == [])
  }

  @Test(arguments: [
    ("0", "2001-01-01"), ("-978307200", "1970-01-01"), ("0.25", "2001-01-01T00:00:00.25Z"),
    ("-63113904000", "0001-01-01"), ("694224000", "2023-01-01"),
  ])
  func dateCountsFrom2001(seconds: String, expected: String) throws {
    let (attribute, lines) = try attribute("attributeType=\"Date\" defaultDateTimeInterval=\"\(seconds)\"")
    #expect(attribute.defaultValue == .date(try #require(RFC3339.timestamp(expected))) && lines == [])
  }

  @Test(arguments: [
    ("Integer 16", "1.5"), ("Integer 64", "9223372036854775808"), ("Double", "inf"), ("Decimal", "ten"),
    ("Boolean", "on"), ("UUID", "1234"), ("Binary", "AA=="), ("Transformable", "x"), ("Date", "2001-01-01"),
  ])
  func defaultOfAnotherTypeIsReported(type: String, text: String) throws {
    let (attribute, lines) = try attribute("attributeType=\"\(type)\" defaultValueString=\"\(text)\"")
    #expect(attribute.defaultValue.isNull)
    #expect(lines.contains("left out: A.x: the default \"\(text)\": it is not a value of the type \(type)"))
  }

  @Test(arguments: [
    ("lookahead", "(?=a)b"), ("a back reference", "(a)\\1"), ("a class within a class", "[[a-z]&amp;&amp;[b]]"),
    ("a POSIX class", "[[:alpha:]]"),
  ])
  func patternWithOtherMeaningIsReported(kind: String, pattern: String) throws {
    let (attribute, lines) = try attribute("attributeType=\"String\" regularExpressionString=\"\(pattern)\"")
    #expect(attribute.pattern == nil, "\(kind)")
    #expect(lines.count == 1 && lines[0].hasPrefix("left out: A.x: the pattern "), "\(kind)")
  }

  /// The converted length limit accepts every text that Core Data accepts.
  @Test(arguments: ["aaa", "äää", "東東東", "😀a"])
  func textOfMaximumLengthIsAccepted(text: String) throws {
    #expect(text.utf16.count == 3)
    let (attribute, _) = try attribute("attributeType=\"String\" maxValueString=\"3\" minValueString=\"3\"")
    #expect(attribute.violations(of: .string(text)).isEmpty)
    #expect(!attribute.violations(of: .string(text + text + text + text)).isEmpty)
  }

  @Test func everyDeleteRuleHasItsCounterpart() throws {
    let rules = [
      ("Nullify", Relationship.DeleteRule.nullify), ("Cascade", .cascade), ("Deny", .deny), ("No Action", .noAction),
    ]
    for (source, expected) in rules {
      let (entity, _) = try model(
        "<relationship name=\"r\" optional=\"YES\" destinationEntity=\"A\" deletionRule=\"\(source)\"/>")
      #expect(entity.property(named: "r")?.relationship?.deleteRule == expected)
    }
  }

  @Test func relationshipWithoutInverseGetsOne() throws {
    let (entity, lines) = try model("<relationship name=\"r\" destinationEntity=\"A\" maxCount=\"1\"/>")
    let toOne = try #require(entity.property(named: "r"))
    let back = try #require(entity.property(named: "rOfA"))
    #expect(!toOne.isOptional && toOne.relationship?.inverse == back.number)
    #expect(back.relationship?.isToMany == true && back.relationship?.inverse == toOne.number)
    #expect(
      lines == [
        "added: A.r: the inverse A.rOfA, because each relationship has one; deleting an A is refused while a required "
          + "reference to it exists"
      ])
  }

  @Test func addedInverseAvoidsExistingNames() throws {
    let (entity, _) = try model(
      "<attribute name=\"ROFA\" optional=\"YES\" attributeType=\"String\"/><relationship name=\"r\" optional=\"YES\" "
        + "destinationEntity=\"A\"/>")
    #expect(entity.property(named: "rOfA_") != nil)
  }

  @Test func invalidNamesAreConverted() throws {
    let names = ["id", "Any", "größe", "2nd", "a-b", "日", "ok", "OK", "id_"]
    let long = String(repeating: "x", count: 70)
    let attributes = (names + [long]).map { "<attribute name=\"\($0)\" optional=\"YES\" attributeType=\"String\"/>" }
    let conversion = try convert("<entity name=\"A\">\(attributes.joined())</entity>")
    let converted = conversion.versions[0].entities[0].properties.map(\.name)
    #expect(
      converted == [
        "id__2", "Any_", "gro_e", "x2nd", "a_b", "x_", "ok_", "OK", "id_", String(repeating: "x", count: 56),
      ])
    #expect(conversion.lines.count { $0.hasPrefix("renamed: ") } == 8)
    #expect(conversion.versions[0].entities[0].properties.map(\.source) == names + [long])
  }

  @Test func entityNamesDifferIgnoringCase() throws {
    let conversion = try convert(
      "<entity name=\"Ab\"/><entity name=\"AB\"/><entity name=\"sqlite_x\"/><entity name=\"Ünder\"/><composite name=\"ab\">"
        + "<attribute name=\"x\" attributeType=\"String\"/></composite>")
    #expect(conversion.versions[0].entities.map(\.name) == ["Ab_2", "AB", "xsqlite_x", "Under"])
    #expect(conversion.versions[0].model.composites.map(\.name) == ["ab_3"])
  }

  @Test func modelNameIsConverted() throws {
    let bundle = CoreDataBundle(
      name: "My App", path: "My App.xcdatamodeld",
      versions: [.init(name: "My App", file: "f", bytes: Array("<model><entity name=\"A\"/></model>".utf8))])
    let conversion = try CoreDataConversion(bundle)
    #expect(conversion.name == "My_App" && conversion.versions[0].model.name == "My_App")
    #expect(conversion.lines == ["renamed: the model is called My_App, because a model file does not allow My App"])
    #expect(try CoreDataConversion(bundle, name: "Mine").name == "Mine")
  }

  @Test func unknownPartsAreReported() throws {
    let (_, lines) = try model(
      "words<uniquenessConstraints x=\"1\"><key/></uniquenessConstraints><compoundIndexes><compoundIndex y=\"2\"><part/>"
        + "</compoundIndex></compoundIndexes><fetchIndex name=\"f\"><part/></fetchIndex><note a=\"b\"/>")
    let unknown = "this converter does not know it"
    #expect(
      lines.sorted() == [
        "left out: A: <key>: \(unknown)", "left out: A: <note>: \(unknown)", "left out: A: <part>: \(unknown)",
        "left out: A: <part>: \(unknown)", "left out: A: x=\"1\": \(unknown)", "left out: A: y=\"2\": \(unknown)",
        "left out: the text \"words\" in <entity>",
      ])
  }

  @Test func predicateHasTheConvertedNames() throws {
    let conversion = try convert(
      "<entity name=\"A\"><attribute name=\"id\" optional=\"YES\" attributeType=\"String\"/><relationship name=\"any\" "
        + "optional=\"YES\" toMany=\"YES\" destinationEntity=\"B\" inverseName=\"a\"/></entity>"
        + "<entity name=\"B\"><attribute name=\"id\" optional=\"YES\" attributeType=\"Integer 64\"/><relationship name=\"a\" "
        + "optional=\"YES\" destinationEntity=\"A\" inverseName=\"any\"/></entity>"
        + "<fetchRequest name=\"one\" entity=\"A\" predicateString=\"id == $id OR id == 'id \\' id' OR #any.@count &gt; 3\"/>"
        + "<fetchRequest name=\"two\" entity=\"B\" predicateString=\"a.id BEGINSWITH[cd] &quot;id&quot; AND id IN $ids\"/>"
    )
    #expect(
      conversion.versions[0].model.fetchRequests.map(\.predicate) == [
        "id_ == $id OR id_ == 'id \\' id' OR any_.@count > 3", "a.id_ BEGINSWITH[cd] \"id\" AND id_ IN $ids",
      ])
  }
}
