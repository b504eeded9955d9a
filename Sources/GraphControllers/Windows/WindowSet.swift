import GraphModel

/// The windows of one client: a controller for each arranged object, made and closed by reconciling against the arranged
/// ids. The ids come from a results controller or a context; `reconcile` returns what changed, in order.
///
/// An entry is made when an id is arranged for the first time, and leaves when the id is arranged no more, unless somebody
/// edits in its window: then it stays as a *loss*, until the person has decided what becomes of the text. A window that
/// its user closed has no entry; its id is remembered, so that the next commit does not open it again.
///
/// Place and height in the pile are the object's (`WindowShapeSource`). Focus, selection and scroll are this client's: the
/// focus lies here, selection and scroll in the controller, which lives as long as the window does.
public struct WindowSet<Controller: WindowControlling> {
  struct Entry {
    let controller: Controller
    var loss: WindowLoss?
  }

  private let make: (ObjectID) -> Controller
  var entries = [ObjectID: Entry]()
  /// The ids of `entries`: those that are arranged in their order, then those that are not.
  var order = [ObjectID]()
  /// Windows that the user closed; they stay closed while their object lives.
  var shut = Set<ObjectID>()
  /// The windows that had the focus, the newest last.
  var focused = [ObjectID]()
  /// What `WindowSet+Identity` waits for.
  var echoes = AwaitedEchoes()

  /// No windows yet.
  /// - Parameter make: makes the controller of a window, once for each.
  public init(make: @escaping (ObjectID) -> Controller) {
    self.make = make
  }

  /// The objects that have a window: the arranged ones in their order, then those that are lost or under way.
  public var ids: [ObjectID] { order }

  /// How many windows there are.
  public var count: Int { order.count }

  /// The controller of an object's window; nil when it has none.
  public subscript(id: ObjectID) -> Controller? { entries[id]?.controller }

  /// What became of the object of a window that is still open; nil when nothing did.
  public func loss(of id: ObjectID) -> WindowLoss? { entries[id]?.loss }

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
      if entries[id] == nil {
        if echoes.holds(id, cause) { continue }
        changes.append(.opened(open(id), id))
      } else if entries[id]?.loss != nil {
        entries[id]?.loss = nil
        if let controller = self[id] { changes.append(.returned(controller, id)) }
      }
      next.append(id)
    }
    order = next + rest
    return changes
  }

  mutating func open(_ id: ObjectID) -> Controller {
    let controller = make(id)
    entries[id] = Entry(controller: controller)
    return controller
  }

  /// The object of a window is not arranged any more. Returns whether the window stays.
  private mutating func leave(
    _ id: ObjectID, _ cause: ArrangementCause, _ changes: inout [WindowChange<Controller>]
  ) -> Bool {
    guard let entry = entries[id] else { return false }
    let isDeleted = cause.deleted.contains(id)
    if let loss = entry.loss {
      // It left the filter before and is deleted now: what is said of it must be true.
      guard isDeleted, loss.kind == .leftFilter else { return true }
      return lose(id, entry.controller, .deleted, cause, &changes)
    }
    guard entry.controller.isEditing || entry.controller.unsentText != nil else {
      remove(id)
      changes.append(.closed(entry.controller, id))
      return false
    }
    return lose(id, entry.controller, isDeleted ? .deleted : .leftFilter, cause, &changes)
  }

  private mutating func lose(
    _ id: ObjectID, _ controller: Controller, _ kind: WindowLoss.Kind, _ cause: ArrangementCause,
    _ changes: inout [WindowChange<Controller>]
  ) -> Bool {
    let loss = WindowLoss(
      id: id, kind: kind, author: cause.author.isEmpty ? nil : cause.author, revision: cause.revision,
      text: controller.editedText ?? controller.unsentText ?? "")
    entries[id]?.loss = loss
    changes.append(.lost(controller, loss))
    return true
  }

  mutating func remove(_ id: ObjectID) {
    entries[id] = nil
    focused.removeAll { $0 == id }
  }

  // MARK: - Closing

  /// The user closes a window: the object stays as it is, and its window stays closed until `reopen`.
  /// - Returns: nothing when there is no such window.
  public mutating func close(_ id: ObjectID) -> [WindowChange<Controller>] {
    guard let entry = entries[id] else { return [] }
    if entry.loss?.kind != .deleted { shut.insert(id) }
    remove(id)
    order.removeAll { $0 == id }
    return [.closed(entry.controller, id)]
  }

  /// Whether the user closed the window of an object that is still there.
  public func isShut(_ id: ObjectID) -> Bool { shut.contains(id) }

  /// Lets an object have a window again that the user closed; the next `reconcile` opens it.
  public mutating func reopen(_ id: ObjectID) { shut.remove(id) }

  /// The person has decided about the text of a loss: the window closes. An object that only left the filter gets a new
  /// window when it is arranged again.
  /// - Returns: nothing when the window is not lost.
  public mutating func resolveLoss(_ id: ObjectID) -> [WindowChange<Controller>] {
    guard let entry = entries[id], entry.loss != nil else { return [] }
    remove(id)
    order.removeAll { $0 == id }
    return [.closed(entry.controller, id)]
  }
}
