import GraphModel
import GraphReplica
import StickiesKit

/// Lookups in the model of the notes. The daemon refuses a client that has another model, so a class that the model
/// lacks is an error in this program. `Model.property` looks up properties.
extension Model {
  /// The entity of a class.
  func builtIn(_ type: (some ManagedObject).Type) -> Entity {
    guard let entity = entity(named: type.entityName) else {
      preconditionFailure("the built-in model has no \(type.entityName)")
    }
    return entity
  }

  /// The numbers of a note's position and size.
  var framePropertyNumbers: Set<PropertyNumber> {
    [
      property(Note.self, \.x).number, property(Note.self, \.y).number, property(Note.self, \.z).number,
      property(Note.self, \.width).number, property(Note.self, \.height).number,
    ]
  }
}
