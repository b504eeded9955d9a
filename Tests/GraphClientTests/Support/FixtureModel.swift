import GraphModel
import GraphReplica
import GraphTesting

/// The model of the served graph, as generated code has it.
enum FixtureModel {
  static let model: Model = {
    do { return try Fixtures.company() } catch { preconditionFailure("\(error)") }
  }()

  static func property(_ name: String) -> PropertyNumber {
    guard let property = model.entity(named: "Project")?.property(named: name) else {
      preconditionFailure("a project has no \(name)")
    }
    return property.number
  }
}

/// More paths of a project, as generated code has them.
extension ObjectPath where Object: Project {
  var due: TypedExpression<DateTime, Cardinality.AfterOptional> {
    TypedExpression(self, attribute: FixtureModel.property("due"))
  }
  var steps: ToManyPath<Step, Cardinality> { ToManyPath(self, toMany: FixtureModel.property("steps")) }
}
