import GraphModel

/// What a context knows of one object. Shared by the object's face and by every query that holds it; when neither
/// does and nothing is unsaved, it goes.
final class ObjectState {
  /// A property as this context will have it once it is saved.
  struct LocalValue {
    var value: Value
    /// Of a one-to-one: it was said of the object at the other end, and the server need not hear it twice.
    var isEcho = false
    /// For a to-many: what was added and taken away, so that edits of others merge.
    var added = Set<ObjectID>()
    var removed = Set<ObjectID>()
    /// For an ordered to-many: what was put where, in turn.
    var moves = [Move]()
    /// For a text: what it said when the edit began, and what was done to it since.
    var textBase: String?
    var splices: [TextSplice]?

    /// Whether it leads to one of these, or did.
    func names(_ ids: Set<ObjectID>) -> Bool {
      value.objectID.map { ids.contains($0) } ?? false || !ids.isDisjoint(with: added) || !ids.isDisjoint(with: removed)
    }

    /// This edit and a newer one of the same property, as one.
    func merged(with newer: LocalValue) -> LocalValue {
      // What was said once is not forgotten because it was taken back by what was said of another object.
      let isEcho = newer.isEcho && (isEcho || !newer.value.isNull)
      var both = LocalValue(
        value: newer.value, isEcho: isEcho, added: added.subtracting(newer.removed).union(newer.added),
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
  /// As the server has it; nil for an object that was never saved, and for a fault.
  var stored: ObjectImage? { didSet { didChange() } }
  /// Texts whose stored value is only what was sent: the server's may hold words of others, so that places in it mean
  /// nothing. They are saved whole until an image comes, and a conflict shows.
  var uncertainTexts = Set<PropertyNumber>()
  /// What others did to texts since the edits of them stood on what is stored, in the order of revisions.
  var textMoves = [PropertyNumber: [TextMove]]()
  /// Where in a stored text what was typed here ends: what is typed there next goes on with it.
  var typed = [PropertyNumber: [Int]]()
  /// The revision of the save that was answered last.
  var typedAt: Revision = 0
  /// Texts of which not every move was heard.
  var untrackedTexts = Set<PropertyNumber>()
  /// Edits that have not been saved.
  var edits = [PropertyNumber: LocalValue]() { didSet { didChange() } }
  /// The revision that the edits were begun at.
  var base: Revision = 0
  /// What was seen before the store turned out to have another past, until the object comes anew. Revisions of the two
  /// can't be compared.
  var seenInOtherPast: ObjectImage?
  /// Oldest first.
  var sent = [SentEdits]() { didSet { didChange() } }
  /// Values of transient attributes: whatever comes from the server leaves them alone.
  var transients = [PropertyNumber: Value]() { didSet { didChange() } }
  var isInserted = false
  /// Deleted here, or in the context below.
  var isDeleted: Bool {
    get { isDeletedHere || under?.isDeleted == true }
    set { isDeletedHere = newValue }
  }
  private var isDeletedHere = false { didSet { didChange() } }
  weak var face: ManagedObject?
  /// In a child context, the parent's state of the object; nil for one that was made there and not saved.
  var under: ObjectState?
  /// What it came together with.
  var batch: FetchBatch?
  /// To-manys that are stored at their other ends and of which all members came.
  var loadedMembers = [PropertyNumber: LoadedMembers]()
  /// The context's; from when it keeps the object.
  var edition: Edition?

  init(id: ObjectID, entity: Entity, stored: ObjectImage?) {
    self.id = id
    self.entity = entity
    self.stored = stored
  }

  private func didChange() { edition?.advance(id) }

  /// The value as this context sees it: unsaved over sent over stored.
  func value(_ property: Property) -> Value {
    if property.relationship?.isToMany == true { return .objects(members(property)) }
    if let attribute = property.attribute, attribute.isTransient {
      return transients[property.number] ?? under?.value(property) ?? attribute.defaultValue
    }
    if let local = edits[property.number] { return local.value }
    for save in sent.reversed() {
      if let local = save.edits[property.number] { return local.value }
    }
    return storedValue(property)
  }

  /// Whether all that was said of the property is that the other end was said to lead here, or no more.
  func isEchoing(_ value: Value, _ property: Property) -> Bool {
    guard let local = edits[property.number] else { return false }
    return local.isEcho && local.value == value
  }

  /// The revision whose values it has, apart from edits.
  var revision: Revision { stored?.revision ?? under?.revision ?? 0 }

  func storedValue(_ property: Property) -> Value {
    if let under { return under.value(property) }
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

  /// Temporary ids became permanent: whatever is unsaved here and names one, names the object now.
  func replace(_ identities: [ObjectID: ObjectID]) {
    func replaced(_ local: LocalValue) -> LocalValue {
      var local = local
      if let permanent = local.value.objectID.flatMap({ identities[$0] }) { local.value = .object(permanent) }
      local.added = Set(local.added.map { identities[$0] ?? $0 })
      local.removed = Set(local.removed.map { identities[$0] ?? $0 })
      local.replaceInMoves(identities)
      return local
    }
    edits = edits.mapValues(replaced)
    for index in sent.indices { sent[index].edits = sent[index].edits.mapValues(replaced) }
  }
}
