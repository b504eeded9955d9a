import GraphModel

/// The windows of one client: a controller for each arranged object, made and closed by reconciling against the arranged
/// ids. The ids come from a results controller or a context; `reconcile` returns what changed, in order.
///
/// A window is made when an id is arranged for the first time, and goes when the id is arranged no more, unless somebody
/// edits in it: then it stays as a *loss*, until the person has decided what becomes of the text. Of a window that its user
/// closed the id is remembered, so that the next commit does not open it again.
///
/// Place and height in the pile are the object's (`WindowShapeSource`). Focus, selection and scroll are this client's: the
/// focus lies here, selection and scroll in the controller, which lives as long as the window does.
public struct WindowSet<Controller: WindowControlling> {
  private let make: (ObjectID) -> Controller
  /// The windows. What a face asks in each turn, for all of them, is compiled into it: unspecialized it takes as long as
  /// drawing them.
  @usableFromInline var controllers = [ObjectID: Controller]()
  /// What became of the objects of some of them.
  var losses = [ObjectID: WindowLoss]()
  /// The ids of `controllers`: those that are arranged in their order, then those that are not.
  @usableFromInline var order = [ObjectID]()
  /// Windows that the user closed; they stay closed while their object lives.
  var shut = Set<ObjectID>()
  /// The windows that had the focus, the newest last.
  @usableFromInline var focused = [ObjectID]()
  /// What `WindowSet+Identity` waits for.
  var echoes = AwaitedEchoes()

  /// No windows yet.
  /// - Parameter make: makes the controller of a window, once for each.
  public init(make: @escaping (ObjectID) -> Controller) {
    self.make = make
  }

  /// The objects that have a window: the arranged ones in their order, then those that are lost or under way.
  @inlinable public var ids: [ObjectID] { order }

  /// How many windows there are.
  @inlinable public var count: Int { order.count }

  /// The controller of an object's window; nil when it has none.
  @inlinable public subscript(id: ObjectID) -> Controller? { controllers[id] }

  /// What became of the object of a window that is still open; nil when nothing did.
  public func loss(of id: ObjectID) -> WindowLoss? { losses[id] }

  // MARK: - Reconciling

  /// Makes and closes windows so that there is one for each arranged object.
  /// - Parameters:
  ///   - arranged: the objects that are to be shown, in order; an id that comes twice counts once.
  ///   - cause: what brought this arrangement about; it says who deleted what.
  /// - Returns: what was done: windows that went, in their old order, then those that came, in the new one.
  public mutating func reconcile(
    _ arranged: [ObjectID], after cause: ArrangementCause = .here
  ) -> [WindowChange<Controller>] {
    shut.subtract(cause.deleted)
    echoes.forget(cause.deleted)
    // Objects have changed, and none came or went.
    if losses.isEmpty, !echoes.holdsAny, arranged == order { return [] }
    let wanted = Set(arranged)
    echoes.keep(only: wanted)
    var changes = [WindowChange<Controller>]()
    var rest = [ObjectID]()
    for id in order where !wanted.contains(id) {
      if echoes.isSent(id) || leave(id, cause, &changes) { rest.append(id) }
    }

    var seen = Set<ObjectID>()
    var next = [ObjectID]()
    for id in arranged where seen.insert(id).inserted && !shut.contains(id) {
      if let controller = controllers[id] {
        if losses.removeValue(forKey: id) != nil { changes.append(.returned(controller, id)) }
      } else {
        if echoes.holds(id, cause) { continue }
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

  /// The object of a window is not arranged any more. Returns whether the window stays.
  private mutating func leave(
    _ id: ObjectID, _ cause: ArrangementCause, _ changes: inout [WindowChange<Controller>]
  ) -> Bool {
    guard let controller = controllers[id] else { return false }
    let isDeleted = cause.deleted.contains(id)
    if let loss = losses[id] {
      // It left the filter before and is deleted now: what is said of it must be true.
      guard isDeleted, loss.kind == .leftFilter else { return true }
      return lose(id, controller, .deleted, cause, &changes)
    }
    guard controller.isEditing || controller.unsentText != nil else {
      remove(id)
      changes.append(.closed(controller, id))
      return false
    }
    return lose(id, controller, isDeleted ? .deleted : .leftFilter, cause, &changes)
  }

  private mutating func lose(
    _ id: ObjectID, _ controller: Controller, _ kind: WindowLoss.Kind, _ cause: ArrangementCause,
    _ changes: inout [WindowChange<Controller>]
  ) -> Bool {
    let loss = WindowLoss(
      id: id, kind: kind, author: cause.author.isEmpty ? nil : cause.author, revision: cause.revision,
      text: controller.editedText ?? controller.unsentText ?? "")
    losses[id] = loss
    changes.append(.lost(controller, loss))
    return true
  }

  mutating func remove(_ id: ObjectID) {
    controllers[id] = nil
    losses[id] = nil
    focused.removeAll { $0 == id }
  }

  // MARK: - Closing

  /// The user closes a window: the object stays as it is, and its window stays closed until `reopen`.
  /// - Returns: nothing when there is no such window.
  public mutating func close(_ id: ObjectID) -> [WindowChange<Controller>] {
    guard let controller = controllers[id] else { return [] }
    if losses[id]?.kind != .deleted { shut.insert(id) }
    remove(id)
    order.removeAll { $0 == id }
    return [.closed(controller, id)]
  }

  /// Whether the user closed the window of an object that is still there.
  public func isShut(_ id: ObjectID) -> Bool { shut.contains(id) }

  /// Lets an object have a window again that the user closed; the next `reconcile` opens it.
  public mutating func reopen(_ id: ObjectID) { shut.remove(id) }

  /// The person has decided about the text of a loss: the window closes. An object that only left the filter gets a new
  /// window when it is arranged again.
  /// - Returns: nothing when the window is not lost.
  public mutating func resolveLoss(_ id: ObjectID) -> [WindowChange<Controller>] {
    guard let controller = controllers[id], losses[id] != nil else { return [] }
    remove(id)
    order.removeAll { $0 == id }
    return [.closed(controller, id)]
  }
}
