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
    ("Boolean", "YES", .bool(true)), ("Boolean", "0", .bool(false)),
    ("String", " a ", .string(" a ")), ("URI", "https://example.org/", .string("https://example.org/")),
  ])
  func defaultIsKept(type: String, text: String, expected: Value) throws {
    let (attribute, lines) = try attribute("attributeType=\"\(type)\" defaultValueString=\"\(text)\"")
    #expect(attribute.defaultValue == expected && lines == [])
  }

  /// `graph import --print-model` writes this for a default or an expression that it does not read.
  @Test func archivedPartsOfAStoresModelAreReported() throws {
    for type in ["Decimal", "Transformable", "URI", "UUID"] {
      let (attribute, lines) = try attribute(
        "attributeType=\"\(type)\" defaultDateTimeInterval=\"(archived in the store)\"")
      #expect(attribute.defaultValue.isNull)
      #expect(
        lines.last == "left out: A.x: the default \"(archived in the store)\": it is not a value of the type \(type)")
    }
    let (_, date) = try attribute("attributeType=\"Date\" defaultValueString=\"(archived in the store)\"")
    #expect(date == ["left out: A.x: the default \"(archived in the store)\": it is not a value of the type Date"])
    let (_, derived) = try attribute(
      "attributeType=\"Integer 64\" derived=\"YES\" derivationExpression=\"(archived in the store)\"")
    #expect(
      derived == [
        "left out: A.x: the derivation (archived in the store): it has no counterpart; the attribute keeps its values and "
          + "programs set it"
      ])
  }

  @Test func floatIsReported() throws {
    let (attribute, lines) = try attribute("attributeType=\"Float\" defaultValueString=\"3\"")
    #expect(attribute.defaultValue == .double(3))
    #expect(
      lines == [
        "changed: A.x: attributeType=\"Float\": a Float of 32 bits becomes a double of 64 bits: it keeps more digits, and a "
          + "program converts it"
      ])
  }

  @Test(arguments: [
    ("Integer 16", Int64(Int16.min), Int64(Int16.max)), ("Integer 32", Int64(Int32.min), Int64(Int32.max)),
  ])
  func integerKeepsTheRangeOfItsType(type: String, least: Int64, most: Int64) throws {
    let (plain, lines) = try attribute("attributeType=\"\(type)\"")
    #expect(plain.minimum == .integer(least) && plain.maximum == .integer(most) && lines == [])
    let (limited, _) = try attribute("attributeType=\"\(type)\" minValueString=\"1\"")
    #expect(limited.minimum == .integer(1) && limited.maximum == .integer(most))
    let (wide, changes) = try attribute("attributeType=\"\(type)\" maxValueString=\"99999999999\"")
    #expect(wide.maximum == .integer(most))
    #expect(changes == ["changed: A.x: the maximum 99999999999 is not one of the type's values: it is \(most)"])
    let (without, losses) = try attribute("attributeType=\"\(type)\" defaultValueString=\"3000000000\"")
    #expect(without.defaultValue.isNull)
    #expect(losses == ["left out: A.x: the default 3000000000: is more than \(most) (maximum)"])
    let (large, _) = try attribute("attributeType=\"Integer 64\"")
    #expect(large.minimum.isNull && large.maximum.isNull)
  }

  @Test func lossesOfAttributesAndRulesAreReported() throws {
    let (_, lines) = try model(
      "<attribute name=\"x\" optional=\"YES\" attributeType=\"String\" derived=\"NO\" "
        + "derivationExpression=\"uppercase:(y)\" preserveAfterDeletion=\"YES\"/><relationship name=\"r\" "
        + "optional=\"YES\" toMany=\"YES\" destinationEntity=\"A\" inverseName=\"s\" deletionRule=\"No Action\"/>"
        + "<relationship name=\"s\" optional=\"YES\" destinationEntity=\"A\" inverseName=\"r\"/>")
    #expect(
      lines == [
        "left out: A.x: derivationExpression=\"uppercase:(y)\": the attribute is not derived",
        "left out: A.x: preserveAfterDeletion=\"YES\": there are no tombstones; history keeps every deleted object, with all "
          + "its values",
        "changed: A.r: deletionRule=\"No Action\": Core Data deletes the object, and leaves the references of others to it; "
          + "here a delete that would leave one is refused",
      ])
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

  @Test(arguments: ["-63114076800", "1e12"])
  func defaultDateOutsideOfYearsIsReported(seconds: String) throws {
    let (attribute, lines) = try attribute("attributeType=\"Date\" defaultDateTimeInterval=\"\(seconds)\"")
    #expect(attribute.defaultValue.isNull)
    let reason = "the default \"\(seconds)\", in seconds since 2001: it is outside of the years 0001 to 9999"
    #expect(lines.count == 1 && lines[0].contains(reason))
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

  @Test func nameIsConvertedOnlyWhereItConflicts() throws {
    let both = "<attribute name=\"name\" optional=\"YES\" attributeType=\"String\"/>"
    let conversion = try convert(
      "<entity name=\"A\">\(both)\(both.replacing("\"name\"", with: "\"Name\""))</entity><entity name=\"B\">\(both)</entity>"
        + "<entity name=\"C\" parentEntity=\"A\"/><fetchRequest name=\"b\" entity=\"B\" predicateString=\"name == 'x'\"/>"
        + "<fetchRequest name=\"c\" entity=\"C\" predicateString=\"name == Name\"/>")
    let version = conversion.versions[0]
    #expect(version.entity(named: "A")?.properties.map(\.name) == ["name_", "Name"])
    #expect(version.entity(named: "B")?.properties.map(\.name) == ["name"])
    #expect(version.model.fetchRequests.map(\.predicate) == ["name == 'x'", "name_ == Name"])
    #expect(
      conversion.lines == [
        "renamed: A.name: is called name_, because a model file does not allow the name here"
      ])
  }

  @Test func entityNamesDifferIgnoringCase() throws {
    let conversion = try convert(
      "<entity name=\"Ab\"/><entity name=\"AB\"/><entity name=\"sqlite_x\"/><entity name=\"Ünder\"/><composite name=\"ab\">"
        + "<attribute name=\"x\" attributeType=\"String\"/></composite>")
    #expect(conversion.versions[0].entities.map(\.name) == ["Ab__2", "AB", "xsqlite_x", "Under"])
    #expect(conversion.versions[0].model.composites.map(\.name) == ["ab__3"])
  }

  /// The files are valid; only the classes would not compile.
  @Test func namesThatClassesCannotHaveAreReported() throws {
    let conversion = try convert("<entity name=\"AppModel\"/><entity name=\"Self\"/><entity name=\"App\"/>")
    #expect(conversion.versions[0].entities.map(\.name) == ["AppModel", "Self", "App"])
    #expect(
      conversion.lines == [
        "changed: AppModel: graph-classes can't generate it, because the type of the whole model has this name: give the "
          + "model another one with --name",
        "changed: Self: graph-classes can't generate it, because Swift reserves Self",
      ])
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

  /// A path after a subquery's variable starts at the objects of the subquery.
  @Test(arguments: [
    ("SUBQUERY(books, $b, $b.id != nil).@count > 0", "SUBQUERY(books, $b, $b.id_ != nil).@count > 0"),
    (
      "#any == 'a' AND SUBQUERY(books,$b,$b.author.any == #any).@count > 0 OR #any == $b",
      "any_ == 'a' AND SUBQUERY(books,$b,$b.author.any_ == any_).@count > 0 OR any_ == $b"
    ),
    (
      "SUBQUERY(books, $b, SUBQUERY($b.pages, $p, $p.id == $b.id).@count > 1).@count > 0",
      "SUBQUERY(books, $b, SUBQUERY($b.pages, $p, $p.id_ == $b.id_).@count > 1).@count > 0"
    ),
    ("SUBQUERY(books, $b, $b.pages.@sum.id > 1).@count > 0", "SUBQUERY(books, $b, $b.pages.@sum.id_ > 1).@count > 0"),
    ("books.@max.id > 5", "books.@max.id_ > 5"), ("ANY books.id > 5", "ANY books.id_ > 5"),
  ])
  func pathOfSubqueryHasTheNamesOfItsObjects(text: String, expected: String) throws {
    let id = "<attribute name=\"id\" optional=\"YES\" attributeType=\"Integer 64\"/>"
    let ends = { (name: String, far: String, back: String, isToMany: Bool) in
      "<relationship name=\"\(name)\" optional=\"YES\" toMany=\"\(isToMany ? "YES" : "NO")\" destinationEntity=\"\(far)\" "
        + "inverseName=\"\(back)\"/>"
    }
    let predicate = text.replacing(">", with: "&gt;")
    let conversion = try convert(
      "<entity name=\"Author\"><attribute name=\"any\" optional=\"YES\" attributeType=\"String\"/>\(ends("books", "Book", "author", true))</entity><entity name=\"Book\">\(id)"
        + ends("author", "Author", "books", false) + ends("pages", "Page", "book", true)
        + "</entity><entity name=\"Page\">"
        + id + ends("book", "Book", "pages", false) + "</entity>"
        + "<fetchRequest name=\"f\" entity=\"Author\" predicateString=\"\(predicate)\"/>")
    #expect(conversion.versions[0].model.fetchRequests.map(\.predicate) == [expected], "\(conversion.lines)")
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
