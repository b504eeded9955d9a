import GraphModel

/// The windows of one client: a controller for each arranged object, opened and closed by reconciling with the
/// arranged ids. The ids come from a results controller or a context; `reconcile` returns the changes in order.
///
/// A window opens when its id is first arranged and closes when its id is no longer arranged. If an editor is open in
/// it, the window stays as a *lost* window until the user has decided about the text. The set remembers the ids of
/// windows that the user closed, so the next commit does not open them again.
///
/// Position and stacking order belong to the object (`WindowShapeSource`). Focus, selection and scroll position belong
/// to this client. The set holds the focus, and the controller holds the other two for the lifetime of the window.
public struct WindowSet<Controller: WindowControlling> {
  private let make: (ObjectID) -> Controller
  /// The controllers by id. The accessors that a front end calls for every window in each turn are inlinable:
  /// unspecialized, they take as long as drawing the windows.
  @usableFromInline var controllers = [ObjectID: Controller]()
  /// The reasons of lost windows, which are still open.
  var removalReasons = [ObjectID: WindowRemovalReason]()
  /// The keys of `controllers`: the arranged ids in their order, then the others.
  @usableFromInline var order = [ObjectID]()
  /// Windows that the user closed; they stay closed until their object is deleted.
  var closedByUser = Set<ObjectID>()
  /// The windows that had the focus, the newest last.
  @usableFromInline var focused = [ObjectID]()
  /// This client's inserts without a reply.
  var unconfirmedInserts = UnconfirmedInserts()

  /// Creates a set without windows.
  /// - Parameter make: creates the controller of a window, once for each window.
  public init(make: @escaping (ObjectID) -> Controller) {
    self.make = make
  }

  /// The objects with a window: the arranged ones in their order, then lost ones and unanswered inserts.
  @inlinable public var ids: [ObjectID] { order }

  /// The number of windows.
  @inlinable public var count: Int { order.count }

  /// The controller of an object's window; nil without a window.
  @inlinable public subscript(id: ObjectID) -> Controller? { controllers[id] }

  /// Returns the reason why an open window is lost; nil if it is not.
  public func removalReason(of id: ObjectID) -> WindowRemovalReason? { removalReasons[id] }

  // MARK: - Reconciling

  /// Opens and closes windows so that each arranged object has one.
  /// - Parameters:
  ///   - arranged: the objects to show, in order; a repeated id counts once.
  ///   - cause: the cause of this arrangement, including the deleted objects.
  /// - Returns: the changes: closed and lost windows in the old order, then opened and returned ones in the new
  ///   order.
  public mutating func reconcile(
    _ arranged: [ObjectID], after cause: ArrangementCause = .here
  ) -> [WindowChange<Controller>] {
    closedByUser.subtract(cause.deleted)
    unconfirmedInserts.removeHeld(cause.deleted)
    // Objects may have changed, but the arrangement did not.
    if removalReasons.isEmpty, !unconfirmedInserts.hasHeldIDs, arranged == order { return [] }
    let wanted = Set(arranged)
    unconfirmedInserts.retainHeld(only: wanted)
    var changes = [WindowChange<Controller>]()
    var rest = [ObjectID]()
    for id in order where !wanted.contains(id) {
      if unconfirmedInserts.isSent(id) || closeOrRecordRemoval(id, cause, &changes) { rest.append(id) }
    }

    var seen = Set<ObjectID>()
    var next = [ObjectID]()
    for id in arranged where seen.insert(id).inserted && !closedByUser.contains(id) {
      if let controller = controllers[id] {
        if removalReasons.removeValue(forKey: id) != nil { changes.append(.objectRestored(controller, id)) }
      } else {
        if unconfirmedInserts.shouldHold(id, cause) { continue }
        changes.append(.opened(open(id), id))
      }
      next.append(id)
    }
    order = next + rest
    return changes
  }

  mutating func open(_ id: ObjectID) -> Controller {
    let controller = make(id)
    controllers[id] = controller
    return controller
  }

  /// Closes or loses the window of an object that is no longer arranged. Returns whether the window stays.
  private mutating func closeOrRecordRemoval(
    _ id: ObjectID, _ cause: ArrangementCause, _ changes: inout [WindowChange<Controller>]
  ) -> Bool {
    guard let controller = controllers[id] else { return false }
    let isDeleted = cause.deleted.contains(id)
    if let reason = removalReasons[id] {
      // The object had left the filter and was now deleted, so the reason changes.
      guard isDeleted, reason.kind == .leftFilter else { return true }
      return recordRemoval(id, controller, .deleted, cause, &changes)
    }
    guard controller.isEditing || controller.unsentText != nil else {
      remove(id)
      changes.append(.closed(controller, id))
      return false
    }
    return recordRemoval(id, controller, isDeleted ? .deleted : .leftFilter, cause, &changes)
  }

  private mutating func recordRemoval(
    _ id: ObjectID, _ controller: Controller, _ kind: WindowRemovalReason.Kind, _ cause: ArrangementCause,
    _ changes: inout [WindowChange<Controller>]
  ) -> Bool {
    let text = if let text = controller.editedText ?? controller.unsentText { text } else { "" }
    let reason = WindowRemovalReason(
      id: id, kind: kind, author: cause.author.isEmpty ? nil : cause.author, revision: cause.revision, text: text)
    removalReasons[id] = reason
    changes.append(.objectRemoved(controller, reason))
    return true
  }

  mutating func remove(_ id: ObjectID) {
    controllers[id] = nil
    removalReasons[id] = nil
    focused.removeAll { $0 == id }
  }

  // MARK: - Closing

  /// Closes a window for the user. The object is unaffected, and the window stays closed until `reopen`.
  /// - Returns: an empty array without such a window.
  public mutating func close(_ id: ObjectID) -> [WindowChange<Controller>] {
    guard let controller = controllers[id] else { return [] }
    if removalReasons[id]?.kind != .deleted { closedByUser.insert(id) }
    remove(id)
    order.removeAll { $0 == id }
    return [.closed(controller, id)]
  }

  /// Whether the user closed the window of an object that still exists.
  public func isClosedByUser(_ id: ObjectID) -> Bool { closedByUser.contains(id) }

  /// Permits a window that the user closed to open again, in the next `reconcile`.
  public mutating func reopen(_ id: ObjectID) { closedByUser.remove(id) }

  /// Closes a lost window after the user has decided about its text. If the object only left the filter, it gets a
  /// new window when it is arranged again.
  /// - Returns: an empty array if the window is not lost.
  public mutating func resolveRemoval(_ id: ObjectID) -> [WindowChange<Controller>] {
    guard let controller = controllers[id], removalReasons[id] != nil else { return [] }
    remove(id)
    order.removeAll { $0 == id }
    return [.closed(controller, id)]
  }
}
