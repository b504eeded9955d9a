import GraphModel

/// Which objects have changes that the server does not have: what the status line counts and what quitting asks about.
struct UnsentChanges: Hashable {
  /// Changed since the last save.
  private(set) var touched = Set<ObjectID>()
  /// Saved and not answered, by save.
  private var sent = [Int: Set<ObjectID>]()
  private var lastSave = 0

  /// The objects that have changes which are not on the server.
  var all: Set<ObjectID> { sent.values.reduce(touched) { $0.union($1) } }

  /// How many they are.
  var count: Int { all.count }

  func contains(_ id: ObjectID) -> Bool { touched.contains(id) || isOnItsWay(id) }

  /// Whether a save of it is on its way.
  func isOnItsWay(_ id: ObjectID) -> Bool { sent.values.contains { $0.contains(id) } }

  mutating func touch(_ id: ObjectID) { touched.insert(id) }

  /// An object is gone before it was sent.
  mutating func forget(_ id: ObjectID) { touched.remove(id) }

  /// All that was touched is on its way. Returns the number of the save.
  mutating func send() -> Int {
    lastSave += 1
    sent[lastSave] = touched
    touched = []
    return lastSave
  }

  mutating func confirm(_ save: Int, _ identities: [Committed.Identity]) {
    sent[save] = nil
    func renamed(_ ids: Set<ObjectID>) -> Set<ObjectID> {
      Set(ids.map { id in identities.first { $0.temporary == id }?.permanent ?? id })
    }
    touched = renamed(touched)
    sent = sent.mapValues(renamed)
  }

  /// The save was refused: its changes are unsaved again. Returns them.
  mutating func refuse(_ save: Int) -> Set<ObjectID> {
    let ids = sent.removeValue(forKey: save) ?? []
    touched.formUnion(ids)
    return ids
  }
}
