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
    /// For an ordered to-many: what was put where, in turn.
    var moves = [Move]()
    /// For a text: what it said when the edit began, and what was done to it since.
    var textBase: String?
    var splices: [TextSplice]?

    /// This edit and a newer one of the same property, as one.
    func merged(with newer: LocalValue) -> LocalValue {
      var both = LocalValue(
        value: newer.value, added: added.subtracting(newer.removed).union(newer.added),
        removed: removed.subtracting(newer.added).union(newer.removed), moves: moves, textBase: textBase)
      for id in newer.removed { both.forgetMoves(of: id) }
      both.moves += newer.moves
      both.follow(self, newer)
      return both
    }
  }

  /// Edits that were saved and not answered.
  struct SentEdits {
    let transaction: TransactionID
    var edits: [PropertyNumber: LocalValue]
    /// The save deletes the object.
    let isDelete: Bool
  }

  var id: ObjectID
  let entity: Entity
  /// As the server has it; nil for an object that was never saved.
  var stored: ObjectImage?
  /// Texts whose stored value is only what was sent: the server's may hold words of others, so that places in it mean
  /// nothing. They are saved whole until an image comes, and a conflict shows.
  var uncertainTexts = Set<PropertyNumber>()
  /// What others did to texts since the edits of them stood on what is stored, in the order of revisions.
  var textMoves = [PropertyNumber: [TextMove]]()
  /// Texts of which not every move was heard.
  var untrackedTexts = Set<PropertyNumber>()
  /// Edits that have not been saved.
  var edits = [PropertyNumber: LocalValue]()
  /// The revision that the edits were begun at.
  var base: Revision = 0
  /// Oldest first.
  var sent = [SentEdits]()
  /// Values of transient attributes: whatever comes from the server leaves them alone.
  var transients = [PropertyNumber: Value]()
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
    if let attribute = property.attribute, attribute.isTransient {
      return transients[property.number] ?? attribute.defaultValue
    }
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
    if property.relationship?.isOrdered == true {
      return locals(of: property).reduce(storedValue(property).objectIDs) { list, local in local.editing(list) }
    }
    var ids = Set(storedValue(property).objectIDs)
    for local in locals(of: property) {
      ids = ids.subtracting(local.removed).union(local.added)
    }
    return ids.sorted()
  }

  /// A temporary id became permanent: whatever is unsaved here and names it, names the object now.
  func replace(_ temporary: ObjectID, by permanent: ObjectID) {
    func replaced(_ local: LocalValue) -> LocalValue {
      var local = local
      if local.value.objectID == temporary { local.value = .object(permanent) }
      if local.added.remove(temporary) != nil { local.added.insert(permanent) }
      local.replaceInMoves(temporary, by: permanent)
      if local.removed.remove(temporary) != nil { local.removed.insert(permanent) }
      return local
    }
    edits = edits.mapValues(replaced)
    for index in sent.indices { sent[index].edits = sent[index].edits.mapValues(replaced) }
  }
}
