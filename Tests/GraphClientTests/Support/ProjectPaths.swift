import GraphModel
import GraphReplica
import GraphTesting

/// The model of the served graph, and the paths that graph-generate would write for `Project`.
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

extension ObjectPath where Object == Project {
  var title: TypedExpression<String, Cardinality> { TypedExpression(self, attribute: FixtureModel.property("title")) }
  var year: TypedExpression<Int64, Cardinality> { TypedExpression(self, attribute: FixtureModel.property("year")) }
  var due: TypedExpression<DateTime, Cardinality.AfterOptional> {
    TypedExpression(self, attribute: FixtureModel.property("due"))
  }
  var steps: ToManyPath<Step, Cardinality> { ToManyPath(self, toMany: FixtureModel.property("steps")) }
}

/// A step of the company's model.
final class Step: ManagedObject {
  override class var entityName: String { "Step" }
}
