import Foundation
import GraphModel
import GraphReplica
import Testing

/// The assignments of a typed batch are the properties and values of the wire.
@Suite struct TypedAssignmentTests {
  private let model = CompanyModel.model

  private func texts(_ assignments: [PropertyAssignment]) throws -> [String] {
    try assignments.map { assignment in
      let property = try #require(model.property(assignment.property))
      return "\(property.name) = \(assignment.value.text(in: model))"
    }
  }

  @Test func assignmentsAreConstantsAndExpressions() throws {
    let assignments = [PropertyAssignment](Person.self) {
      $0.vacationDays.set(to: $0.vacationDays + 2)
      $0.remote.set(to: true)
      $0.email.set(to: nil)
      $0.manager.set(to: nil)
    }
    #expect(
      try texts(assignments) == ["vacationDays = vacationDays + 2", "remote = TRUE", "email = NULL", "manager = NULL"])
  }

  @Test func valuesOfARowAreConstants() throws {
    let entity = try #require(model.entity(named: Department.entityName))
    let department = ObjectID.temporary(1, entity: entity.number)
    let noEmail: String? = nil
    let date = Date(timeIntervalSinceReferenceDate: 0)
    let values = [PropertyValue](Person.self, "Ann") { person, name in
      person.name.set(to: name)
      person.hired.set(to: date)
      person.email.set(to: noEmail)
      person.department.set(to: department)
    }
    #expect(values.map { model.property($0.property)?.name } == ["name", "hired", "email", "department"])
    #expect(values.map(\.value) == [.string("Ann"), date.predicateValue, .null, .object(department)])
  }
}
