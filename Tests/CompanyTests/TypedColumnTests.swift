import Foundation
import GraphModel
import GraphReplica
import Testing

/// Typed columns equal those in text form, and a row becomes a tuple of the columns' types.
@Suite struct TypedColumnTests {
  private let model = CompanyModel.model

  /// The request of typed columns, read back from the texts that the client sends.
  private func request<Object: ManagedObject, each Output>(
    _ row: TypedRow<repeat each Output>, _ type: Object.Type
  ) throws -> RowRequest {
    let (properties, groups) = row.request(in: model)
    let entity = try #require(model.entity(named: type.entityName))
    return try RowRequest(parsing: properties, groups: groups, entity: entity, model: model)
  }

  /// The request of columns in text form.
  private func parsed<Object: ManagedObject>(
    _ type: Object.Type, _ properties: String, by groups: String = ""
  ) throws -> RowRequest {
    let entity = try #require(model.entity(named: type.entityName))
    return try RowRequest(parsing: properties, groups: groups, entity: entity, model: model)
  }

  @Test func columnsEqualTheirTextForm() throws {
    let row = TypedRow(Person.self) { person in
      person.name
      person.department.code
      person.salary * 12
      person.manager
      person.department
      person.hired.year
      person.reports.count
    }
    let typed = try request(row, Person.self)
    let plain = try parsed(
      Person.self, "name, department.code, salary * 12, manager, department, year(hired), reports.@count")
    #expect(typed.columns.map(\.value) == plain.columns.map(\.value))
    #expect(typed.columns.map(\.name) == ["c0", "c1", "c2", "c3", "c4", "c5", "c6"])
    #expect(typed.hasRowPerObject)
  }

  @Test func columnsThatAreNoAggregatesAreGroupedBy() throws {
    let row = TypedRow(Person.self) { person in
      person.department.code
      person.id.count
      person.remote
      person.salary.average
      person.salary.sum
      person.name.minimum
      (person.vacationDays * 8).maximum
      person.remote
    }
    let typed = try request(row, Person.self)
    let plain = try parsed(
      Person.self,
      "department.code, @count, remote, @avg.salary, @sum.salary, @min.name, @max(vacationDays * 8), remote AS again",
      by: "department.code, remote")
    #expect(typed.columns.map(\.value) == plain.columns.map(\.value))
    #expect(typed.groups == plain.groups && typed.groups.count == 2)
  }

  @Test func aggregatesWithoutOtherColumnsAreOneGroup() throws {
    let row = TypedRow(Person.self) { $0.id.count }
    let typed = try request(row, Person.self)
    #expect(typed.groups.isEmpty && typed.isGrouped)
    #expect(try row.tuple(of: [.integer(3)], in: model) == 3)
  }

  @Test func rowBecomesTupleOfItsTypes() throws {
    let row = TypedRow(Project.self) { project in
      project.title
      project.status
      project.due
      project.client.name
      project.department
      project.weight / 2
    }
    let department = ObjectID(key: UniqueID(high: 1, low: 2), entity: 1)
    let values: [Value] = [
      .string("Bridge"), .string("running"), .null, .string("Acme"), .object(department), .double(0.5),
    ]
    let (title, status, due, client, owner, half) = try row.tuple(of: values, in: model)
    // The same columns are optional as in the model. A calculation is optional, too, because it may have no result.
    let types: (String, Status, Date?, String?, ObjectID, Double?) = (title, status, due, client, owner, half)
    #expect(types.0 == "Bridge" && types.1 == .running && types.2 == nil && types.3 == "Acme")
    #expect(types.4 == department && types.5 == 0.5)
  }

  @Test func dateOfRowIsExact() throws {
    let row = TypedRow(Person.self) { person in
      person.hired
      person.hired.minimum
    }
    let time: Timestamp = 1_772_323_200_123_457
    let (hired, first) = try row.tuple(of: [.date(time), .date(time)], in: model)
    let dates: (Date, Date?) = (hired, first)
    #expect(dates.0.microseconds == time && dates.1?.microseconds == time)
  }

  @Test func valueOfAnotherTypeNamesItsColumn() throws {
    let row = TypedRow(Project.self) { project in
      project.title
      project.status
    }
    let missing = #expect(throws: RowValueError.self) {
      _ = try row.tuple(of: [.string("Bridge"), .null], in: model)
    }
    #expect(missing?.column == "status")
    #expect(missing?.description == "the column status has null, and the program expects Status")
    // A newer model may have more cases.
    let unknown = #expect(throws: RowValueError.self) {
      _ = try row.tuple(of: [.string("Bridge"), .string("paused")], in: model)
    }
    #expect(unknown?.description == "the column status has a text, and the program expects Status")
    let short = #expect(throws: RowValueError.self) { _ = try row.tuple(of: [.string("Bridge")], in: model) }
    #expect(short?.description == "the column status has no value, and the program expects Status")
  }

  @Test func groupsAreOrderedByTheirColumns() throws {
    let row = TypedRow(Person.self) { person in
      person.department.code
      person.salary.average
    }
    let keys = [GroupSortKey](
      Person.self, [{ $0.salary.average.descending }, \.department.code.natural.ascending])
    #expect(try row.order(keys, in: model) == "-c1,c0[natural]")
    #expect(try row.order([GroupSortKey](Person.self, [\.department.code]), in: model) == "c0")
    let years = TypedRow(Person.self) { person in
      person.id.count
      person.hired.year
    }
    #expect(try years.order([GroupSortKey](Person.self, [{ $0.hired.year }]), in: model) == "c1")
    let refusal = #expect(throws: Refusal.self) {
      _ = try row.order([GroupSortKey](Person.self, [\.name.ascending]), in: model)
    }
    #expect(refusal?.code == .malformed)
    #expect(refusal?.message.contains("name is not one") == true)
  }
}
