import GraphModel

/// This client's inserts without a reply. The server sends a commit's delta before its reply. Until the reply
/// arrives, an object is arranged under its permanent id, but nothing connects it to the window that is open under
/// its temporary id. New ids in the client's own commits are therefore held back until the reply.
struct UnconfirmedInserts {
  /// Temporary ids that have been sent and not answered.
  private var sent = Set<ObjectID>()
  /// Permanent ids that may belong to one of those, each with the revision of its commit.
  private var held = [ObjectID: Revision]()

  /// Whether any id is held back.
  var holdsAny: Bool { !held.isEmpty }

  func isSent(_ id: ObjectID) -> Bool { sent.contains(id) }

  mutating func send(_ ids: [ObjectID]) { sent.formUnion(ids.filter(\.isTemporary)) }

  /// Whether the window for a new id must wait.
  mutating func holds(_ id: ObjectID, _ cause: ArrangementCause) -> Bool {
    if held[id] != nil { return true }
    guard cause.isOwn, !id.isTemporary, sent.contains(where: { $0.entity == id.entity }) else { return false }
    held[id] = cause.revision
    return true
  }

  mutating func forget(_ ids: Set<ObjectID>) { for id in ids { held[id] = nil } }

  mutating func keep(only ids: Set<ObjectID>) { held = held.filter { ids.contains($0.key) } }

  /// Releases held ids after a reply, in order: those of answered commits, or all of them if no insert is unanswered.
  /// - Returns: the ids whose windows may open now.
  mutating func settle(_ answered: [ObjectID], upTo revision: Revision) -> [ObjectID] {
    sent.subtract(answered)
    let free = held.filter { $0.value <= revision || sent.isEmpty }.keys.sorted()
    for id in free { held[id] = nil }
    return free
  }

  mutating func claim(_ id: ObjectID) { held[id] = nil }
}

extension WindowSet {
  /// Registers inserts as sent. Until `identify` or `withdraw` reports their outcome, new objects in this client's
  /// own commits may be their echoes, and their windows stay, arranged or not.
  public mutating func send(_ ids: [ObjectID]) { echoes.send(ids) }

  /// Replaces temporary ids by permanent ones after the reply to a commit. The windows keep controller, focus,
  /// selection, scroll position and typed text. Call it before or after reconciling the arrangement with the new ids.
  /// - Parameters:
  ///   - identities: the ids of the objects that the commit inserted.
  ///   - revision: the commit's revision.
  /// - Returns: the windows that changed their id, then the windows that opened for objects that were held back and
  ///   are no echoes.
  public mutating func identify(
    _ identities: [CommitResult.IDAssignment], at revision: Revision
  ) -> [WindowChange<Controller>] {
    var changes = [WindowChange<Controller>]()
    for identity in identities { identify(identity, &changes) }
    openHeld(echoes.settle(identities.map(\.temporary), upTo: revision), &changes)
    return changes
  }

  /// Unregisters inserts that were refused or withdrawn. The next `reconcile` closes the windows of these temporary
  /// ids.
  public mutating func withdraw(_ ids: [ObjectID]) -> [WindowChange<Controller>] {
    var changes = [WindowChange<Controller>]()
    openHeld(echoes.settle(ids, upTo: 0), &changes)
    return changes
  }

  private mutating func identify(_ identity: CommitResult.IDAssignment, _ changes: inout [WindowChange<Controller>]) {
    let (old, new) = (identity.temporary, identity.permanent)
    if shut.remove(old) != nil { shut.insert(new) }
    guard let controller = controllers.removeValue(forKey: old) else { return }
    var loss = losses.removeValue(forKey: old)
    echoes.claim(new)
    // A uniqueness constraint mapped the insert to an object that already has a window. Keep only the window in which
    // the user types.
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

  /// Opens windows for released ids. The next `reconcile` sorts them into the order.
  private mutating func openHeld(_ ids: [ObjectID], _ changes: inout [WindowChange<Controller>]) {
    for id in ids where controllers[id] == nil && !shut.contains(id) {
      changes.append(.opened(open(id), id))
      order.append(id)
    }
  }
}
