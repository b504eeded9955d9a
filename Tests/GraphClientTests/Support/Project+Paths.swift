import GraphModel
import GraphReplica
import GraphTesting

/// The paths of a project, as generated code has them, and changes by their names.
extension Project {
  /// The number of a property; 0 stands for none.
  fileprivate static func number(_ name: String, of entity: String = "Project") -> PropertyNumber {
    let entity = try? Fixtures.company().entity(named: entity)
    return entity?.property(named: name)?.number ?? 0
  }

  fileprivate static let (titleNumber, yearNumber) = (number("title"), number("year"))

  /// The title; an empty text if the value is not a string.
  var title: String { self["title"].stringValue ?? "" }
}

extension ObjectPath where Object: Project {
  var title: TypedExpression<String, Cardinality> { TypedExpression(self, attribute: Project.titleNumber) }
  var year: TypedExpression<Int64, Cardinality> { TypedExpression(self, attribute: Project.yearNumber) }
}

/// A step of a project.
final class Step: ManagedObject {
  override class var entityName: String { "Step" }

  static let (labelNumber, projectNumber) = (
    Project.number("label", of: "Step"), Project.number("project", of: "Step")
  )
}

extension ObjectPath where Object: Step {
  var label: TypedExpression<String, Cardinality> { TypedExpression(self, attribute: Step.labelNumber) }
  var project: ObjectPath<Project, Cardinality.AfterToOne> { ObjectPath<Project, _>(self, toOne: Step.projectNumber) }
}
