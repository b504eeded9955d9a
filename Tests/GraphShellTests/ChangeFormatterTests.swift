import GraphModel
import GraphTesting
import GraphWire
import Testing

@testable import GraphShell

@MainActor
@Suite struct ChangeFormatterTests {
  private struct PersonVocabulary: ChangeVocabulary {
    func name(of image: ObjectImage, _ entity: Entity) -> String? { nil }
    func owners(of image: ObjectImage, _ entity: Entity, _ formatter: ChangeFormatter) -> String {
      "  (a \(entity.name))"
    }
    func clauses(
      from before: ObjectImage?, to after: ObjectImage, _ entity: Entity, _ changed: [Property],
      _ formatter: ChangeFormatter
    ) -> (clauses: [String], properties: Set<PropertyNumber>) {
      changed.first { $0.name == "age" }.map { (["aged"], [$0.number]) } ?? ([], [])
    }
  }

  private let company: Company
  private let before: ObjectImage

  init() throws {
    company = try Company()
    before = try company.image("Person", 1, ["name": .string("Ann"), "age": .integer(30)])
  }

  /// An update that sets these properties of `before`.
  private func update(_ values: KeyValuePairs<String, Value>) throws -> Delta.Change {
    var after = before
    var edits = [Edit]()
    for (name, value) in values {
      let property = try company.property("Person", name)
      after[property] = value
      edits.append(Edit(property.number, .set(value)))
    }
    return Delta.Change(kind: .updated, id: before.id, object: after, edits: edits)
  }

  @Test func knownObjectIsDescribedByOldAndNewValues() throws {
    var formatter = ChangeFormatter(model: company.model)
    formatter.record([before])
    #expect(formatter.words(try update(["age": .integer(31)])) == "age 30 → 31")
    #expect(formatter.words(try update(["name": .string("Eve"), "age": .null])) == "name Ann → Eve; age 30 → null")
  }

  @Test func unknownObjectIsDescribedByNewValues() throws {
    var formatter = ChangeFormatter(model: company.model)
    #expect(formatter.words(try update(["age": .integer(31)])) == "age → 31")
    formatter.record([before])
    formatter.forget(before.id)
    #expect(formatter.words(try update(["age": .integer(31)])) == "age → 31")
  }

  @Test func relatedObjectHasItsNameIfItIsKnown() throws {
    var formatter = ChangeFormatter(model: company.model)
    let manager = try company.image("Person", 2, ["name": .string("Bob")])
    formatter.record([before])
    let change = try update(["manager": .object(manager.id)])
    #expect(formatter.words(change) == "manager null → \(manager.shortID)")
    formatter.record([manager])
    #expect(formatter.words(change) == "manager null → Bob")
  }

  @Test func vocabularyReplacesPropertiesThatItDescribes() throws {
    var formatter = ChangeFormatter(model: company.model, vocabulary: PersonVocabulary())
    formatter.record([before])
    let change = try update(["age": .integer(31), "name": .string("Eve")])
    #expect(formatter.words(change) == "aged; name Ann → Eve")
    #expect(formatter.owners(before) == "  (a Person)")
    #expect(ChangeFormatter(model: company.model).owners(before).isEmpty)
  }

  @Test func differenceOfResultsCountsEachKind() throws {
    let (gone, new) = (
      try company.image("Person", 2, ["name": .string("Bob")]), try company.image("Person", 3, ["name": .string("Cid")])
    )
    var older = before
    older[try company.property("Person", "age")] = .integer(31)
    let difference = ResultDifference(from: [before, gone], to: [older, new], model: company.model)
    #expect(difference.changes.map(\.kind) == [.updated, .inserted, .removed])
    #expect(difference.counts == "1 inserted, 1 changed (age), 1 removed")
    #expect(ResultDifference(from: [before], to: [before], model: company.model).changes.isEmpty)
  }

  @Test func changeOfTextShowsWholeWords() {
    #expect(TextChange.between("red paint", "blue paint") == .replaced("red", "blue"))
    #expect(TextChange.between("hello", "") == .removed("hello"))
    #expect(TextChange.between("", "hello") == .inserted("hello"))
    #expect(TextChange.between("same", "same") == nil)
    #expect(TextChange.quoted("a\nb") == "\"a⏎b\"")
    #expect(TextChange.quoted(String(repeating: "x", count: 41)) == "\"\(String(repeating: "x", count: 40))…\"")
  }

  @Test func longTextsAreComparedByFirstLineThatDiffers() throws {
    let bio = try company.property("Person", "bio")
    let change = ValueText.change(from: .string("a\nb"), to: .string("a\nc"), bio)
    #expect([change.was, change.is] == ["line 2: b", "line 2: c"])
    let shorter = ValueText.change(from: .string("a\nb"), to: .string("a"), bio)
    #expect([shorter.was, shorter.is] == ["line 2: b", "1 line"])
    #expect(ValueText.change(from: .null, to: .string("a"), bio).was == "null")
  }

  @Test func programNamesObjectsOfItsModel() throws {
    let output = Output(json: false, ansi: .never, model: company.model, program: CompanyProgram())
    #expect(output.line(before) == "Person \(before.shortID) Ann")
    #expect(output.line(try company.image("Robot", 4, [:])) == "robot of plain metal")
    let colored = Output(json: false, ansi: .always, model: company.model, program: CompanyProgram())
    #expect(colored.line(try company.image("Robot", 4, [:])) == "robot of colored metal")
  }
}
