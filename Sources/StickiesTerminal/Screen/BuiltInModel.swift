import GraphModel
import GraphReplica
import StickiesKit

/// Lookups in the model of the notes. The daemon refuses a client that has another model, so a class or property that
/// the model lacks is an error in this program.
extension Model {
  /// The entity of a class.
  func builtIn(_ type: (some ManagedObject).Type) -> Entity {
    guard let entity = entity(named: type.entityName) else {
      preconditionFailure("the built-in model has no \(type.entityName)")
    }
    return entity
  }

  /// A property of a class.
  func builtIn(_ type: (some ManagedObject).Type, _ name: String) -> Property {
    guard let property = builtIn(type).property(named: name) else {
      preconditionFailure("the built-in model has no \(type.entityName).\(name)")
    }
    return property
  }
}
