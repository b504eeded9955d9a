import GraphModel

/// What a context knows of one object. Shared by the object's face and by every query that holds it; when neither
/// does and nothing is unsaved, it goes.
final class ObjectState {
  /// A property as this context will have it once it is saved.
  struct LocalValue {
    var value: Value
    /// For a to-many: what was added and taken away, so that edits of others merge.
    var added = Set<ObjectID>()
    var removed = Set<ObjectID>()
  }

  var id: ObjectID
  let entity: Entity
  /// As the server has it; nil for an object that was never saved.
  var stored: ObjectImage?
  /// Edits that have not been saved.
  var edits = [PropertyNumber: LocalValue]()
  /// The revision that the edits were begun at.
  var base: Revision = 0
  /// Edits that are on their way to the server, oldest first.
  var sent = [(transaction: TransactionID, edits: [PropertyNumber: LocalValue])]()
  var isInserted = false
  var isDeleted = false
  weak var face: ManagedObject?

  init(id: ObjectID, entity: Entity, stored: ObjectImage?) {
    self.id = id
    self.entity = entity
    self.stored = stored
  }

  /// The value as this context sees it: unsaved over sent over stored.
  func value(_ property: Property) -> Value {
    if property.relationship?.isToMany == true { return .objects(members(property)) }
    if let local = edits[property.number] { return local.value }
    for save in sent.reversed() {
      if let local = save.edits[property.number] { return local.value }
    }
    return storedValue(property)
  }

  func storedValue(_ property: Property) -> Value {
    if let stored { return stored[property] }
    return property.attribute?.defaultValue ?? .null
  }

  private func members(_ property: Property) -> [ObjectID] {
    var ids = Set(storedValue(property).objectIDs)
    for local in sent.compactMap({ $0.edits[property.number] }) + [edits[property.number]].compactMap({ $0 }) {
      ids = ids.subtracting(local.removed).union(local.added)
    }
    return ids.sorted()
  }
}
