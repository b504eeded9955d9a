#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif
import GraphJSON
import GraphModel
import GraphTesting
import Testing

@testable import GraphShell

@Suite struct LinePlannerTests {
  private let company: Company

  init() throws { company = try Company() }

  private func lines(_ texts: String...) -> [InputLine] {
    LineBuffer.lines(of: Array(texts.joined(separator: "\n").utf8))
  }

  @Test func lineRefersToObjectByLabel() throws {
    var planner = LinePlanner(model: company.model, entity: try company.entity("Person"))
    // The label is defined by a later line.
    let batch = planner.plan(lines(#"{"name": "Bob", "manager": "a"}"#, #"{"$id": "a", "name": "Ann"}"#))
    #expect(batch.mistakes.isEmpty)
    try #require(batch.changes.count == 2)
    let manager = try company.property("Person", "manager").number
    let edit = try #require(batch.changes[0].edits.first { $0.property == manager })
    #expect(edit.action == .set(.object(batch.changes[1].id)))
    #expect(batch.lines.map(\.label) == [nil, "a"])
  }

  @Test func labelOfCommittedBatchStaysKnown() throws {
    var planner = LinePlanner(model: company.model, entity: try company.entity("Person"))
    let first = planner.plan(lines(#"{"$id": "a", "name": "Ann"}"#))
    let permanent = try company.image("Person", 1, [:]).id
    planner.resolveLabels(
      [CommitResult.IDAssignment(temporary: try #require(first.changes.first).id, permanent: permanent)], of: first)
    let second = planner.plan(lines(#"{"name": "Bob", "manager": {"$ref": "a"}}"#))
    let manager = try company.property("Person", "manager").number
    #expect(second.changes.first?.edits.first { $0.property == manager }?.action == .set(.object(permanent)))
    #expect(
      planner.plan(lines(#"{"$id": "a", "name": "Eve"}"#)).mistakes.map(\.reason) == [
        "the label \"a\" is used by an earlier line"
      ])
  }

  @Test func mistakesOfAllLinesAreReported() throws {
    var planner = LinePlanner(model: company.model, entity: try company.entity("Person"))
    let mistakes = planner.plan(lines(#"{"nam": "Ann"}"#, #"{"name": "Bob", "age": "old"}"#, "[1]")).mistakes
    #expect(mistakes.map(\.line) == [1, 2, 3])
    #expect(
      mistakes.map(\.reason) == [
        "Person has no property \"nam\". Did you mean \"name\"?",
        "Person.age takes a whole number of 64 bits, and not \"old\"", "a JSON object is expected",
      ])
  }

  @Test func violationsOfOtherLinesAreReportedWithMistakes() throws {
    var planner = LinePlanner(model: company.model, entity: try company.entity("Person"))
    let mistakes = planner.plan(lines("{", #"{"name": "Bob", "age": 200}"#)).mistakes
    #expect(mistakes.map(\.line) == [1, 2])
  }

  @Test func abstractEntityIsRefusedWithItsSubentities() throws {
    var planner = LinePlanner(model: company.model, entity: try company.entity("Party"))
    #expect(
      planner.plan(lines(#"{"name": "Ann"}"#)).mistakes.map(\.reason) == [
        "Party is abstract: name Person or Robot"
      ])
    #expect(planner.plan(lines(#"{"$entity": "Robot", "name": "R2"}"#)).mistakes.isEmpty)
  }

  @Test func blankLinesAreSkippedAndCounted() {
    #expect(lines("{}", " \r", "", "{}", "").map(\.number) == [1, 4])
  }

  @Test func valuesAreParsedByTypeOfProperty() throws {
    let person = try company.entity("Person")
    #expect(try PropertyInput(parsing: "age=30", entity: person).content == .value(.integer(30)))
    #expect(try PropertyInput(parsing: "age=", entity: person).content == .value(.null))
    #expect(try PropertyInput(parsing: "active=no", entity: person).content == .value(.bool(false)))
    #expect(
      try PropertyInput(parsing: "projects=a,b", entity: person).content
        == .members([.text("a"), .text("b")], of: company.entity("Project").number))
    let error = #expect(throws: InvalidInputError.self) { try PropertyInput(parsing: "level=senor", entity: person) }
    #expect(
      error?.description == "Person.level takes one of junior, senior, and not senor. Did you mean \"senior\"?")
  }
}

@MainActor
@Suite struct PlacedRowsTests {
  /// Numbers the rows in their property `age`.
  private final class AgePlacement: InsertPlacement {
    let age: Property
    private var last: Int64 = 0

    init(_ age: Property) { self.age = age }

    func place(_ changes: inout [Change]) async throws {}

    func appendedProperties(to properties: [Property], of entity: Entity) -> [Property] {
      properties.contains { $0.number == age.number } ? [] : [age]
    }

    func place(rows: inout [[Value]], of properties: [Property]) async throws {
      for index in rows.indices {
        last += 1
        rows[index].append(.integer(last))
      }
    }
  }

  /// A reader of a pipe with these lines.
  private func reader(_ text: String, _ entity: Entity) async throws -> BatchRowReader {
    var ends: [Int32] = [0, 0]
    try #require(pipe(&ends) == 0)
    defer { close(ends[0]) }
    #expect(write(ends[1], text, text.utf8.count) == text.utf8.count)
    close(ends[1])
    return try #require(try await BatchRowReader(LineReader(descriptor: ends[0]), entity))
  }

  @Test func placementAppendsItsValuesToEachRow() async throws {
    let company = try Company()
    let person = try company.entity("Person")
    let lines = try await reader("{\"name\": \"Ann\"}\n\n{\"name\": \"Bob\"}\n", person)
    let rows = PlacedRows(lines, person, AgePlacement(try company.property("Person", "age")))
    #expect(rows.properties.map(\.name) == ["name", "age"])
    #expect(try await rows.next() == [.string("Ann"), .integer(1)])
    #expect(try await rows.next() == [.string("Bob"), .integer(2)])
    #expect(try await rows.next() == nil)
    #expect(lines.numbers == [1, 3])
  }

  @Test func placedRowsAreLeftAlone() async throws {
    let company = try Company()
    let person = try company.entity("Person")
    let lines = try await reader("{\"age\": 7, \"name\": \"Ann\"}\n", person)
    let rows = PlacedRows(lines, person, AgePlacement(try company.property("Person", "age")))
    #expect(rows.properties.map(\.name) == ["age", "name"])
    #expect(try await rows.next() == [.integer(7), .string("Ann")])
    #expect(try await rows.next() == nil)
  }

  @Test func lineWithOtherMembersIsRefusedWithItsNumber() async throws {
    let company = try Company()
    let person = try company.entity("Person")
    let lines = try await reader("{\"name\": \"Ann\"}\n{\"age\": 7}\n", person)
    _ = try await lines.next()
    do {
      _ = try await lines.next()
      Issue.record("the line was read")
    } catch let error as InvalidLinesError {
      #expect(error.mistakes.map(\.line) == [2])
      #expect(error.done == "nothing is committed")
    }
  }
}
