import GraphModel

/// The to-many relationships of some objects that are not part of their images: the other end stores them.
package struct ToManyMembers {
  /// The members by property and owner; an owner without members has no entry.
  private var members = [PropertyNumber: [ObjectID: [ObjectID]]]()

  /// No members of any relationship.
  package init() {}

  package var isEmpty: Bool { members.isEmpty }

  /// Whether the members of some owners were read.
  package func contains(_ property: Property) -> Bool { members[property.number] != nil }

  /// Adds the members of more owners.
  package mutating func add(_ owners: [ObjectID: [ObjectID]], of property: Property) {
    members[property.number, default: [:]].merge(owners) { $1 }
  }

  /// The members of an object, whose relationship was read.
  package func ids(of property: Property, in owner: ObjectID) -> [ObjectID] {
    guard let owners = members[property.number] else {
      preconditionFailure("members that are shown were read: \(property.name)")
    }
    return if let ids = owners[owner] { ids } else { [] }
  }
}
