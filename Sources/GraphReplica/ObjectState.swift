// Tests: ReplicaTests.swift
import GraphModel

/// The state of one object in a context. The object's instance and every query that contains it share it; it is
/// released when none of them exists and nothing is unsaved.
final class ObjectState {
  /// An edit of a property, with the value that the property will have once it is saved.
  struct PropertyEdit {
    var value: Value
    /// For a one-to-one: the edit follows from one of the object at the other end, and need not be sent.
    var isInverseEdit = false
    /// For a to-many: added and removed members, so that edits of other clients merge.
    var added = Set<ObjectID>()
    var removed = Set<ObjectID>()
    /// For an ordered to-many: the moves, in order.
    var moves = [OrderEdit]()
    /// For a text: its content when the edit began, and the splices since.
    var textBase: String?
    var splices: [TextSplice]?

    /// Whether the edit sets, adds or removes a reference to one of these objects.
    func refers(to ids: Set<ObjectID>) -> Bool {
      if let id = value.objectID, ids.contains(id) { return true }
      return !ids.isDisjoint(with: added) || !ids.isDisjoint(with: removed)
    }

    /// This edit and a newer one of the same property, combined.
    func merged(with newer: PropertyEdit) -> PropertyEdit {
      // An explicit edit remains one when an edit of another object sets it to null.
      let isInverseEdit = newer.isInverseEdit && (isInverseEdit || !newer.value.isNull)
      var both = PropertyEdit(
        value: newer.value, isInverseEdit: isInverseEdit, added: added.subtracting(newer.removed).union(newer.added),
        removed: removed.subtracting(newer.added).union(newer.removed), moves: moves, textBase: textBase)
      for id in newer.removed { both.removeMoves(of: id) }
      both.moves += newer.moves
      both.composeSplices(after: self, newer)
      return both
    }
  }

  /// The edits of an unanswered save.
  struct SentEdits {
    let transaction: TransactionID
    var edits: [PropertyNumber: PropertyEdit]
    /// Whether the save deletes the object.
    let isDelete: Bool
  }

  var id: ObjectID
  let entity: Entity
  /// The object as the server has it; nil for a fault and for an object that was never saved.
  var stored: ObjectImage? { didSet { didChange() } }
  /// Texts whose stored value is only assumed from the sent splices. The server's text may contain words of other
  /// clients, so that offsets in it are unknown. These texts are saved as a whole until an image arrives, so that a
  /// conflict is detected.
  var uncertainTexts = Set<PropertyNumber>()
  /// Other clients' edits of texts since the local edits were last rebased, in the order of revisions.
  var textMoves = [PropertyNumber: [CommittedSplices]]()
  /// Byte offsets in a stored text where locally typed text ends. Text that is typed there next continues it.
  var typed = [PropertyNumber: [Int]]()
  /// The revision of the last answered save with edits of this object.
  var typedAt: Revision = 0
  /// Texts of which some moves are unknown.
  var untrackedTexts = Set<PropertyNumber>()
  /// Unsaved edits.
  var edits = [PropertyNumber: PropertyEdit]() { didSet { didChange() } }
  /// The revision at which the edits were begun.
  var base: Revision = 0
  /// The last visible image of another past than the store has; kept until the object is reloaded. Revisions of the
  /// two pasts can't be compared.
  var seenInOtherPast: ObjectImage?
  /// The edits of unanswered saves, oldest first.
  var sent = [SentEdits]() { didSet { didChange() } }
  /// Values of transient attributes; messages from the server do not change them.
  var transients = [PropertyNumber: Value]() { didSet { didChange() } }
  var isInserted = false { didSet { observed?.signalChange() } }
  /// Whether the object is deleted, here or in the parent context.
  var isDeleted: Bool {
    get { isDeletedHere || parentState?.isDeleted == true }
    set { isDeletedHere = newValue }
  }
  private var isDeletedHere = false {
    didSet {
      if isDeletedHere == oldValue { return }
      didChange()
      changeCounter?.signalDeletion(of: entity)
    }
  }
  weak var instance: ManagedObject?
  /// The identity of its instances; nil before one of them is hashed.
  var identity: ObjectIdentity?
  /// In a child context, the parent's state of the object. Nil for an unsaved object that was inserted in the child.
  var parentState: ObjectState? { didSet { observed?.signalChange() } }
  /// The objects that arrived together with this one.
  var batch: FetchBatch?
  /// To-many relationships that are stored at their other ends and whose members were all loaded.
  var loadedMembers = [PropertyNumber: LoadedMembers]() { didSet { observed?.signalChange() } }
  /// The context's change counter; set when the context registers the object.
  var changeCounter: ChangeCounter?
  /// Where observers of the object register; nil before the first read.
  var observed: ObservedPlace?

  init(id: ObjectID, entity: Entity, stored: ObjectImage?) {
    self.id = id
    self.entity = entity
    self.stored = stored
  }

  deinit { if let observed { changeCounter?.released.keep(observed, of: id) } }

  /// Whether the context knows only the object's id.
  var isFault: Bool { !isDeleted && (parentState?.isFault ?? (stored == nil && !isInserted)) }

  /// Whether another client deleted the object, so that nothing is left to edit or save.
  var isGone: Bool { isDeleted && stored == nil && !isInserted }

  private func didChange() {
    changeCounter?.advance(id)
    observed?.signalChange()
    changeCounter?.signalMembers(of: entity)
  }

  /// The value in this context: unsaved over sent over stored.
  func value(_ property: Property) -> Value {
    if property.relationship?.isToMany == true { return .objects(members(property)) }
    if let attribute = property.attribute, attribute.isTransient {
      return transients[property.number] ?? parentState?.value(property) ?? attribute.defaultValue
    }
    if let local = edits[property.number] { return local.value }
    for save in sent.reversed() {
      if let local = save.edits[property.number] { return local.value }
    }
    return storedValue(property)
  }

  /// Whether the only unsaved edit of the property is an inverse edit with this value.
  func hasInverseEdit(_ value: Value, _ property: Property) -> Bool {
    guard let local = edits[property.number] else { return false }
    return local.isInverseEdit && local.value == value
  }

  /// The revision of its values, apart from edits.
  var revision: Revision {
    if let stored { return stored.revision }
    if let parentState { return parentState.revision }
    return 0
  }

  func storedValue(_ property: Property) -> Value {
    if let parentState { return parentState.value(property) }
    if let stored { return stored[property] }
    return property.initialValue
  }

  private func members(_ property: Property) -> [ObjectID] {
    if property.relationship?.isOrdered == true {
      return localEdits(of: property).reduce(storedValue(property).objectIDs) { list, local in local.editing(list) }
    }
    var ids = Set(storedValue(property).objectIDs)
    for local in localEdits(of: property) {
      ids = ids.subtracting(local.removed).union(local.added)
    }
    return ids.sorted()
  }

  /// Replaces temporary ids by permanent ones in all local edits.
  func replace(_ identities: [ObjectID: ObjectID]) {
    func replaced(_ local: PropertyEdit) -> PropertyEdit {
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

extension Property {
  /// The value of an object that was never saved, unless it is set.
  var initialValue: Value { if let attribute { attribute.defaultValue } else { .null } }
}
