import GraphModel

/// The objects with changes that the server does not have, for the status line and for quitting.
struct UnsentChanges: Hashable {
  /// Objects changed since the last save.
  private(set) var touched = Set<ObjectID>()
  /// Objects of unanswered saves, by save.
  private var sent = [Int: Set<ObjectID>]()
  private var lastSave = 0

  /// All objects with changes that are not on the server.
  var all: Set<ObjectID> { sent.values.reduce(touched) { $0.union($1) } }

  /// The number of these objects.
  var count: Int { all.count }

  func contains(_ id: ObjectID) -> Bool { touched.contains(id) || isOnItsWay(id) }

  /// Whether a save of the object is unanswered.
  func isOnItsWay(_ id: ObjectID) -> Bool { sent.values.contains { $0.contains(id) } }

  mutating func touch(_ id: ObjectID) { touched.insert(id) }

  /// Removes an object that was discarded before it was sent.
  mutating func forget(_ id: ObjectID) { touched.remove(id) }

  /// Moves all touched objects into a new save.
  /// - Returns: the number of the save.
  mutating func send() -> Int {
    lastSave += 1
    sent[lastSave] = touched
    touched = []
    return lastSave
  }

  mutating func confirm(_ save: Int, _ identities: [CommitResult.IDAssignment]) {
    let ids = sent.removeValue(forKey: save)
    assert(ids != nil, "save \(save) is unanswered")
    rename { id in identities.first { $0.temporary == id }?.permanent ?? id }
  }

  /// Names objects by other ids.
  mutating func rename(_ name: (ObjectID) -> ObjectID) {
    touched = Set(touched.map(name))
    sent = sent.mapValues { Set($0.map(name)) }
  }

  /// Marks the changes of a refused save as unsaved again.
  mutating func refuse(_ save: Int) {
    guard let ids = sent.removeValue(forKey: save) else {
      return assertionFailure("save \(save) is unanswered")
    }
    touched.formUnion(ids)
  }
}
