import GraphModel
import GraphReplica
import StickiesKit
import StickiesModel

/// The entity `Note` and its properties, by the paths of the class.
enum NoteProperties {
  static let entity = StickiesModel.entity(Note.self)
  static let text = StickiesModel.model.property(Note.self, \.text)
  static let color = StickiesModel.model.property(Note.self, \.color)
  static let x = StickiesModel.model.property(Note.self, \.x)
  static let y = StickiesModel.model.property(Note.self, \.y)
  static let width = StickiesModel.model.property(Note.self, \.width)
  static let height = StickiesModel.model.property(Note.self, \.height)
  static let z = StickiesModel.model.property(Note.self, \.z)
  static let pinned = StickiesModel.model.property(Note.self, \.pinned)
  static let locked = StickiesModel.model.property(Note.self, \.locked)
  static let collapsed = StickiesModel.model.property(Note.self, \.collapsed)
  static let number = StickiesModel.model.property(Note.self, \.number)
  static let created = StickiesModel.model.property(Note.self, \.created)
  static let updated = StickiesModel.model.property(Note.self, \.updated)
  static let origin = StickiesModel.model.property(Note.self, \.origin)
  static let board = StickiesModel.model.property(Note.self, \.board)
  static let tags = StickiesModel.model.property(Note.self, \.tags)
}

/// The entity `Board` and its properties, by the paths of the class.
enum BoardProperties {
  static let entity = StickiesModel.entity(Board.self)
  static let name = StickiesModel.model.property(Board.self, \.name)
  static let color = StickiesModel.model.property(Board.self, \.color)
  static let created = StickiesModel.model.property(Board.self, \.created)
}

/// The entity `Tag` and its properties, by the paths of the class.
enum TagProperties {
  static let entity = StickiesModel.entity(Tag.self)
  static let name = StickiesModel.model.property(Tag.self, \.name)
}

/// The entity `Link` and its properties, by the paths of the class.
enum LinkProperties {
  static let entity = StickiesModel.entity(Link.self)
  static let label = StickiesModel.model.property(Link.self, \.label)
  static let from = StickiesModel.model.property(Link.self, \.from)
  static let to = StickiesModel.model.property(Link.self, \.to)
}

extension StickiesModel {
  /// The entity of a class.
  fileprivate static func entity(_ type: ManagedObject.Type) -> Entity {
    guard let entity = model.entity(named: type.entityName) else {
      preconditionFailure("the built-in model has no \(type.entityName)")
    }
    return entity
  }
}

extension Edit {
  /// Sets a property.
  static func set(_ property: Property, _ value: Value) -> Edit { Edit(property.number, .set(value)) }
}
