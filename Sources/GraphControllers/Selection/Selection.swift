/// What is selected, apart from any view: no scroll, reload or other filter touches it.
///
/// Two forms: objects one by one, or *all of a list but some*. The second serves a list of which a client holds a window
/// only: nobody fetches 100,000 ids to select them. It means the objects that the list had when all was selected; what
/// comes later is not selected, so nobody deletes what he has never seen.
///
/// An id that the caller gives it belongs to the list that was selected from. The count is kept, not counted.
public struct Selection<ID: Hashable & Sendable>: Hashable, Sendable {
  enum Form: Hashable, Sendable {
    case some(Set<ID>)
    /// All that the list had at the revision, but those; `later` came to the list since.
    case all(at: Int64, count: Int, except: Set<ID>, later: Set<ID>)
  }

  var form = Form.some([])

  /// Nothing is selected.
  public init() {}

  /// How many objects are selected.
  public var count: Int {
    switch form {
    case .some(let ids): ids.count
    case .all(_, let count, let except, _): count - except.count
    }
  }

  /// Whether nothing is selected.
  public var isEmpty: Bool { count == 0 }

  /// Whether an object of the list is selected.
  public func contains(_ id: ID) -> Bool {
    switch form {
    case .some(let ids): ids.contains(id)
    case .all(_, _, let except, let later): !except.contains(id) && !later.contains(id)
    }
  }

  // MARK: - Selecting

  /// Selects an object of the list.
  public mutating func insert(_ id: ID) {
    switch form {
    case .some(var ids):
      form = .some([])
      ids.insert(id)
      form = .some(ids)
    case .all(let revision, var count, var except, var later):
      form = .some([])
      if later.remove(id) != nil { count += 1 } else { except.remove(id) }
      form = .all(at: revision, count: count, except: except, later: later)
    }
  }

  /// Selects an object of the list no more.
  public mutating func remove(_ id: ID) {
    switch form {
    case .some(var ids):
      form = .some([])
      ids.remove(id)
      form = .some(ids)
    case .all(let revision, let count, var except, let later):
      guard !later.contains(id) else { return }
      form = .some([])
      except.insert(id)
      form = .all(at: revision, count: count, except: except, later: later)
    }
  }

  /// Selects an object that is not selected, and the other way round.
  public mutating func toggle(_ id: ID) {
    if contains(id) { remove(id) } else { insert(id) }
  }

  /// Selects these and nothing else: all of a list whose ids are at hand.
  public mutating func select(_ ids: some Sequence<ID>) { form = .some(Set(ids)) }

  /// Selects all of a list of which only the count is known.
  /// - Parameters:
  ///   - count: how many objects the list has.
  ///   - revision: the state of the graph that the list shows.
  public mutating func selectAll(count: Int, at revision: Int64) {
    form = .all(at: revision, count: count, except: [], later: [])
  }

  /// Selects nothing.
  public mutating func clear() { form = .some([]) }

  // MARK: - What others do

  /// Objects came to the list.
  public mutating func listDidGain(_ ids: some Sequence<ID>) {
    guard case .all(let revision, let count, let except, var later) = form else { return }
    form = .some([])
    later.formUnion(ids)
    form = .all(at: revision, count: count, except: except, later: later)
  }

  /// Objects left the list but are still there. Selected one by one they stay selected; of all of a list they do not: an
  /// action on all of it would find them there no more.
  public mutating func listDidLose(_ ids: some Sequence<ID>) {
    guard case .all(let revision, var count, var except, var later) = form else { return }
    form = .some([])
    for id in ids where later.remove(id) == nil {
      count -= 1
      except.remove(id)
    }
    form = .all(at: revision, count: max(count, except.count), except: except, later: later)
  }

  /// Objects are gone altogether: they are not selected any more. Each is told once, by this or by `listDidLose`.
  public mutating func objectsWereDeleted(_ ids: some Sequence<ID>) {
    switch form {
    case .some(var selected):
      form = .some([])
      for id in ids { selected.remove(id) }
      form = .some(selected)
    case .all: listDidLose(ids)
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
    case .all(let revision, let count, let except, let later):
      form = .all(at: revision, count: count, except: renamed(except), later: renamed(later))
    }
  }
}

/// What an action on a selection applies to.
public enum SelectionTarget<ID: Comparable & Hashable & Sendable>: Hashable, Sendable {
  /// These, in order of their ids.
  case some([ID])
  /// All that the list had at a revision, but those, which are in order of their ids. `later` came to the list since, and is
  /// left out as well.
  case all(at: Int64, except: [ID], later: [ID])
}

extension Selection where ID: Comparable {
  /// What an action applies to now.
  public var target: SelectionTarget<ID> {
    switch form {
    case .some(let ids): .some(ids.sorted())
    case .all(let revision, _, let except, let later):
      .all(at: revision, except: except.sorted(), later: later.sorted())
    }
  }
}
