import GraphModel
import GraphReplica
import GraphTesting

/// The paths of a project, as generated code has them, and changes by their names.
extension Project {
  /// The number of a property; 0 stands for none.
  fileprivate static func number(_ name: String) -> PropertyNumber {
    let project = try? Fixtures.company().entity(named: "Project")
    return project?.property(named: name)?.number ?? 0
  }

  fileprivate static let (titleNumber, yearNumber) = (number("title"), number("year"))

  /// The title; a text without an object for one that is not a string.
  var title: String { self["title"].stringValue ?? "" }
}

extension ObjectPath where Object: Project {
  var title: TypedExpression<String, Cardinality> { TypedExpression(self, attribute: Project.titleNumber) }
  var year: TypedExpression<Int64, Cardinality> { TypedExpression(self, attribute: Project.yearNumber) }
}
