/// What is selected, apart from any view: no scroll and no reload touches it. Nor does a filter by itself: an owner whose
/// actions shall spare what a filter hides takes that out.
///
/// Two forms: objects one by one, or *all of a list but some*. The second serves a list of which a client holds a window
/// only: nobody fetches 100,000 ids to select them. What the list is, its owner says, by a condition: he tells of an id
/// whether it is listed, and how many objects are selected as others add and delete some. A list that means the objects
/// which were there when all was selected deletes nothing that nobody has seen.
///
/// The count is kept, not counted.
public struct Selection<ID: Hashable & Sendable>: Hashable, Sendable {
  enum Form: Hashable, Sendable {
    case some(Set<ID>)
    /// All that are listed but `except`, and `also`, which are not.
    case all(count: Int, except: Set<ID>, also: Set<ID>)
  }

  var form = Form.some([])

  /// Nothing is selected.
  public init() {}

  /// How many objects are selected.
  public var count: Int {
    switch form {
    case .some(let ids): ids.count
    case .all(let count, _, _): count
    }
  }

  /// Whether nothing is selected.
  public var isEmpty: Bool { count == 0 }

  /// Whether it is all of a list but some.
  public var isAll: Bool { if case .all = form { true } else { false } }

  /// How many ids it names: those that are selected, or those that were taken out of all and put to it.
  public var namedCount: Int {
    switch form {
    case .some(let ids): ids.count
    case .all(_, let except, let also): except.count + also.count
    }
  }

  /// Whether an object is selected.
  /// - Parameter isListed: whether it is one of the list that all was selected of.
  public func contains(_ id: ID, isListed: Bool = true) -> Bool {
    switch form {
    case .some(let ids): ids.contains(id)
    case .all(_, let except, let also): isListed && !except.contains(id) || also.contains(id)
    }
  }

  // MARK: - Selecting

  /// Selects an object.
  /// - Parameter isListed: whether it is one of the list that all was selected of.
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

  /// Selects an object no more.
  /// - Parameter isListed: whether it is one of the list that all was selected of.
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

  /// Selects an object that is not selected, and the other way round.
  /// - Parameter isListed: whether it is one of the list that all was selected of.
  public mutating func toggle(_ id: ID, isListed: Bool = true) {
    if contains(id, isListed: isListed) { remove(id, isListed: isListed) } else { insert(id, isListed: isListed) }
  }

  /// Selects these and nothing else: all of a list whose ids are at hand.
  public mutating func select(_ ids: some Sequence<ID>) { form = .some(Set(ids)) }

  /// Selects all of a list of which only the count is known, and nothing else.
  public mutating func selectAll(count: Int) { form = .all(count: count, except: [], also: []) }

  /// Selects nothing.
  public mutating func clear() { form = .some([]) }

  // MARK: - What others do

  /// Of all of a list so many objects are selected by now: others have added or deleted some. Objects that were selected one by
  /// one are counted here.
  public mutating func recount(_ count: Int) {
    guard case .all(_, let except, let also) = form else { return }
    form = .all(count: max(0, count), except: except, also: also)
  }

  /// Objects are gone altogether: they are not selected any more. Of those that are listed the list's owner knows: he recounts.
  /// What was taken out of all, or put to it, stays so: an undo may bring it back.
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

  /// A temporary id became permanent.
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

/// What an action on a selection applies to.
public enum SelectionTarget<ID: Comparable & Hashable & Sendable>: Hashable, Sendable {
  /// These, in order of their ids.
  case some([ID])
  /// All that are listed but `except`, and `also`, which are not; each in order of their ids.
  case all(except: [ID], also: [ID])
}

extension Selection where ID: Comparable {
  /// What an action applies to now.
  public var target: SelectionTarget<ID> {
    switch form {
    case .some(let ids): .some(ids.sorted())
    case .all(_, let except, let also): .all(except: except.sorted(), also: also.sorted())
    }
  }
}
