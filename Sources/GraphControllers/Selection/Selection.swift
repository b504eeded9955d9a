/// A selection of objects, independent of any view: scrolling, reloading and filtering do not change it. An owner
/// whose actions must exclude filtered-out objects removes them.
///
/// It has two forms: individual objects, or *all of a list except some*. The second form serves a list of which a
/// client has loaded only a window: selecting 100,000 objects does not require their ids. The owner defines the list
/// by a predicate; it reports whether an id is in the list, and recounts when other clients add or delete objects. An
/// owner that wants only the objects that existed at `selectAll` uses a predicate for them, so an action never
/// deletes unseen objects.
///
/// The count is stored, not computed.
public struct Selection<ID: Hashable & Sendable>: Hashable, Sendable {
  enum Storage: Hashable, Sendable {
    case some(Set<ID>)
    /// All objects of the list without `except`, and `also`, which are not in the list.
    case all(count: Int, except: Set<ID>, also: Set<ID>)
  }

  var form = Storage.some([])

  /// Creates an empty selection.
  public init() {}

  /// The number of selected objects.
  public var count: Int {
    switch form {
    case .some(let ids): ids.count
    case .all(let count, _, _): count
    }
  }

  /// Whether no object is selected.
  public var isEmpty: Bool { count == 0 }

  /// Whether the selection has the form *all except some*.
  public var isAll: Bool { if case .all = form { true } else { false } }

  /// The number of ids that the selection stores: selected ones, or exceptions and additions to *all*.
  public var namedCount: Int {
    switch form {
    case .some(let ids): ids.count
    case .all(_, let except, let also): except.count + also.count
    }
  }

  /// Returns whether an object is selected.
  /// - Parameter isListed: whether the object is in the list on which `selectAll` was called.
  public func contains(_ id: ID, isListed: Bool = true) -> Bool {
    switch form {
    case .some(let ids): ids.contains(id)
    case .all(_, let except, let also): isListed && !except.contains(id) || also.contains(id)
    }
  }

  // MARK: - Selecting

  /// Selects an object.
  /// - Parameter isListed: whether the object is in the list on which `selectAll` was called.
  public mutating func insert(_ id: ID, isListed: Bool = true) {
    guard !contains(id, isListed: isListed) else { return }
    switch form {
    case .some(var ids):
      form = .some([])
      ids.insert(id)
      form = .some(ids)
    case .all(let count, var except, var also):
      form = .some([])
      except.remove(id)
      if !isListed { also.insert(id) }
      form = .all(count: count + 1, except: except, also: also)
    }
  }

  /// Deselects an object.
  /// - Parameter isListed: whether the object is in the list on which `selectAll` was called.
  public mutating func remove(_ id: ID, isListed: Bool = true) {
    guard contains(id, isListed: isListed) else { return }
    switch form {
    case .some(var ids):
      form = .some([])
      ids.remove(id)
      form = .some(ids)
    case .all(let count, var except, var also):
      form = .some([])
      also.remove(id)
      if isListed { except.insert(id) }
      form = .all(count: max(0, count - 1), except: except, also: also)
    }
  }

  /// Toggles whether an object is selected.
  /// - Parameter isListed: whether the object is in the list on which `selectAll` was called.
  public mutating func toggle(_ id: ID, isListed: Bool = true) {
    if contains(id, isListed: isListed) { remove(id, isListed: isListed) } else { insert(id, isListed: isListed) }
  }

  /// Selects exactly these objects.
  public mutating func select(_ ids: some Sequence<ID>) { form = .some(Set(ids)) }

  /// Selects all objects of a list of which only the count is known.
  public mutating func selectAll(count: Int) { form = .all(count: count, except: [], also: []) }

  /// Clears the selection.
  public mutating func clear() { form = .some([]) }

  // MARK: - Changes by others

  /// Sets the count of an *all* selection after others have added or deleted objects. The count includes individually
  /// added objects.
  public mutating func recount(_ count: Int) {
    guard case .all(_, let except, let also) = form else { return }
    form = .all(count: max(0, count), except: except, also: also)
  }

  /// Removes deleted objects from the selection. For objects of the list, the owner calls `recount`. Exceptions and
  /// additions to *all* stay, because an undo may revive their objects.
  public mutating func objectsWereDeleted(_ ids: some Sequence<ID>) {
    switch form {
    case .some(var selected):
      form = .some([])
      for id in ids { selected.remove(id) }
      form = .some(selected)
    case .all(let count, let except, let also):
      form = .all(count: max(0, count - ids.count { also.contains($0) }), except: except, also: also)
    }
  }

  /// Replaces a temporary id by the permanent one.
  public mutating func identify(_ old: ID, as new: ID) {
    func renamed(_ ids: Set<ID>) -> Set<ID> {
      guard ids.contains(old) else { return ids }
      return ids.subtracting([old]).union([new])
    }
    switch form {
    case .some(let ids): form = .some(renamed(ids))
    case .all(let count, let except, let also):
      form = .all(count: count, except: renamed(except), also: renamed(also))
    }
  }
}

/// The objects that an action on a selection applies to.
public enum SelectionTarget<ID: Comparable & Hashable & Sendable>: Hashable, Sendable {
  /// These objects, sorted by id.
  case some([ID])
  /// All objects of the list without `except`, and `also`, which are not in the list; each sorted by id.
  case all(except: [ID], also: [ID])
}

extension Selection where ID: Comparable {
  /// The objects that an action applies to now.
  public var target: SelectionTarget<ID> {
    switch form {
    case .some(let ids): .some(ids.sorted())
    case .all(_, let except, let also): .all(except: except.sorted(), also: also.sorted())
    }
  }
}
