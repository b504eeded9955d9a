import GraphModel

/// This client's inserts without a reply. The server sends a commit's delta before its reply. Until the reply
/// arrives, an object is arranged under its permanent id, but nothing connects it to the window that is open under
/// its temporary id. New ids in the client's own commits are therefore held back until the reply.
struct UnconfirmedInserts {
  /// Temporary ids that have been sent and not answered.
  private var unanswered = Set<ObjectID>()
  /// Permanent ids that may belong to one of those, each with the revision of its commit.
  private var heldIDs = [ObjectID: Revision]()

  /// Whether any id is held back.
  var hasHeldIDs: Bool { !heldIDs.isEmpty }

  func isSent(_ id: ObjectID) -> Bool { unanswered.contains(id) }

  mutating func send(_ ids: [ObjectID]) { unanswered.formUnion(ids.filter(\.isTemporary)) }

  /// Whether the window for a new id must wait.
  mutating func shouldHold(_ id: ObjectID, _ cause: ArrangementCause) -> Bool {
    if heldIDs[id] != nil { return true }
    guard cause.isOwn, !id.isTemporary, unanswered.contains(where: { $0.entity == id.entity }) else { return false }
    heldIDs[id] = cause.revision
    return true
  }

  mutating func removeHeld(_ ids: Set<ObjectID>) { for id in ids { heldIDs[id] = nil } }

  mutating func retainHeld(only ids: Set<ObjectID>) { heldIDs = heldIDs.filter { ids.contains($0.key) } }

  /// Releases held ids after a reply, in order: the ids of answered commits, or all held ids if no insert is
  /// unanswered.
  /// - Returns: the ids whose windows may open now.
  mutating func releaseHeld(_ answered: [ObjectID], upTo revision: Revision) -> [ObjectID] {
    unanswered.subtract(answered)
    let free = heldIDs.filter { $0.value <= revision || unanswered.isEmpty }.keys.sorted()
    for id in free { heldIDs[id] = nil }
    return free
  }

  mutating func removeHeld(_ id: ObjectID) { heldIDs[id] = nil }
}

extension WindowSet {
  /// Registers inserts as sent. Until `identify` or `withdraw` reports their outcome, new objects in this client's
  /// own commits may be their echoes, and their windows stay, arranged or not.
  public mutating func send(_ ids: [ObjectID]) { unconfirmedInserts.send(ids) }

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
    openReleased(unconfirmedInserts.releaseHeld(identities.map(\.temporary), upTo: revision), &changes)
    return changes
  }

  /// Unregisters inserts that were refused or withdrawn. The next `reconcile` closes the windows of these temporary
  /// ids.
  public mutating func withdraw(_ ids: [ObjectID]) -> [WindowChange<Controller>] {
    var changes = [WindowChange<Controller>]()
    openReleased(unconfirmedInserts.releaseHeld(ids, upTo: 0), &changes)
    return changes
  }

  private mutating func identify(_ identity: CommitResult.IDAssignment, _ changes: inout [WindowChange<Controller>]) {
    let (old, new) = (identity.temporary, identity.permanent)
    if closedByUser.remove(old) != nil { closedByUser.insert(new) }
    guard let controller = controllers.removeValue(forKey: old) else { return }
    let reason = removalReasons.removeValue(forKey: old)
    unconfirmedInserts.removeHeld(new)
    // A uniqueness constraint mapped the insert to an object that already has a window. Keep only the window in which
    // the user types.
    if let other = controllers[new] {
      changes.append(.closed(other, new))
      remove(new)
      order.removeAll { $0 == new }
    }
    closedByUser.remove(new)
    removalReasons[new] = nil
    if var reason {
      reason.id = new
      removalReasons[new] = reason
    }
    controllers[new] = controller
    order = order.map { $0 == old ? new : $0 }
    focused = focused.map { $0 == old ? new : $0 }
    controller.objectDidBecome(new)
    changes.append(.identified(controller, new, was: old))
  }

  /// Opens windows for released ids. The next `reconcile` sorts them into the order.
  private mutating func openReleased(_ ids: [ObjectID], _ changes: inout [WindowChange<Controller>]) {
    for id in ids where controllers[id] == nil && !closedByUser.contains(id) {
      changes.append(.opened(open(id), id))
      order.append(id)
    }
  }
}
