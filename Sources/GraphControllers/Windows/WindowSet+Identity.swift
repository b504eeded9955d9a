import GraphModel

/// Objects of this client whose insert is under way. The server tells of a commit before it answers it, so for a moment an
/// object is arranged under its permanent id, and nothing says yet that it is the one whose window is open under a
/// temporary one. New ids of the client's own commits are therefore held back until the answer is there.
struct AwaitedEchoes {
  /// Temporary ids that have been sent and not been answered.
  private var sent = Set<ObjectID>()
  /// Permanent ids that may be one of those, each with its commit.
  private var held = [ObjectID: Revision]()

  /// Whether some window waits.
  var holdsAny: Bool { !held.isEmpty }

  func isSent(_ id: ObjectID) -> Bool { sent.contains(id) }

  mutating func send(_ ids: [ObjectID]) { sent.formUnion(ids.filter(\.isTemporary)) }

  /// Whether a window for the new id must wait.
  mutating func holds(_ id: ObjectID, _ cause: ArrangementCause) -> Bool {
    if held[id] != nil { return true }
    guard cause.isOwn, !id.isTemporary, sent.contains(where: { $0.entity == id.entity }) else { return false }
    held[id] = cause.revision
    return true
  }

  mutating func forget(_ ids: Set<ObjectID>) { for id in ids { held[id] = nil } }

  mutating func keep(only ids: Set<ObjectID>) { held = held.filter { ids.contains($0.key) } }

  /// The answer to a commit is there. Returns what no window waits for after all, in order: objects of a commit that has
  /// been answered, and all of them when nothing is under way any more.
  mutating func settle(_ answered: [ObjectID], upTo revision: Revision) -> [ObjectID] {
    sent.subtract(answered)
    let free = held.filter { $0.value <= revision || sent.isEmpty }.keys.sorted()
    for id in free { held[id] = nil }
    return free
  }

  mutating func claim(_ id: ObjectID) { held[id] = nil }
}

extension WindowSet {
  /// Objects that were made here are on their way to the server: until `identify` or `withdraw` says what became of them,
  /// what this client's own commits bring may be their echo, and their windows stay, arranged or not.
  public mutating func send(_ ids: [ObjectID]) { echoes.send(ids) }

  /// The answer to a commit: temporary ids are permanent now. Their windows keep controller, focus, selection, scroll and
  /// typed text. Called before the arrangement with the new ids is reconciled, or behind it.
  /// - Parameters:
  ///   - identities: of the objects that the commit inserted.
  ///   - revision: the commit.
  /// - Returns: the windows that changed their id; then windows that opened, for objects that were held back as a possible
  ///   echo and are none.
  public mutating func identify(
    _ identities: [Committed.Identity], at revision: Revision
  ) -> [WindowChange<Controller>] {
    var changes = [WindowChange<Controller>]()
    for identity in identities { identify(identity, &changes) }
    openHeld(echoes.settle(identities.map(\.temporary), upTo: revision), &changes)
    return changes
  }

  /// An insert was refused or taken back: nothing will come of the temporary ids. Their windows close with the next
  /// `reconcile`.
  public mutating func withdraw(_ ids: [ObjectID]) -> [WindowChange<Controller>] {
    var changes = [WindowChange<Controller>]()
    openHeld(echoes.settle(ids, upTo: 0), &changes)
    return changes
  }

  private mutating func identify(_ identity: Committed.Identity, _ changes: inout [WindowChange<Controller>]) {
    let (old, new) = (identity.temporary, identity.permanent)
    if shut.remove(old) != nil { shut.insert(new) }
    guard let controller = controllers.removeValue(forKey: old) else { return }
    var loss = losses.removeValue(forKey: old)
    echoes.claim(new)
    // An insert that met an object which has a window already, by a uniqueness constraint: one window is left, the one
    // that is typed in.
    if let other = controllers[new] {
      changes.append(.closed(other, new))
      remove(new)
      order.removeAll { $0 == new }
    }
    shut.remove(new)
    loss?.id = new
    losses[new] = loss
    controllers[new] = controller
    order = order.map { $0 == old ? new : $0 }
    focused = focused.map { $0 == old ? new : $0 }
    controller.objectDidBecome(new)
    changes.append(.identified(controller, new, was: old))
  }

  /// They take their place in the order with the next `reconcile`.
  private mutating func openHeld(_ ids: [ObjectID], _ changes: inout [WindowChange<Controller>]) {
    for id in ids where controllers[id] == nil && !shut.contains(id) {
      changes.append(.opened(open(id), id))
      order.append(id)
    }
  }
}
