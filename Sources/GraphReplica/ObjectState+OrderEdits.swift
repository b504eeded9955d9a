// Tests: OrderedReplicaTests.swift
import GraphModel

/// Changes to the order of an ordered relationship. They are kept as they were made and sent as such to the server,
/// which decides; until it has answered, they are applied here to the order that it sent last.
extension ObjectState {
  /// A local change to the order of an ordered to-many.
  enum OrderEdit: Equatable {
    /// The object became a member, without a place.
    case append(ObjectID)
    case place([ObjectID], after: ObjectID?)

    /// The move with mapped ids, without the objects that map to nil; nil if no object is left.
    fileprivate func mapped(_ change: (ObjectID) -> ObjectID?) -> OrderEdit? {
      switch self {
      case .append(let id): return change(id).map(OrderEdit.append)
      case .place(let ids, let anchor):
        let ids = ids.compactMap(change)
        return ids.isEmpty ? nil : .place(ids, after: anchor.map { change($0) ?? $0 })
      }
    }
  }

  /// The unanswered and unsaved edits of one property, oldest first.
  func localEdits(of property: Property) -> [PropertyEdit] {
    sent.compactMap { $0.edits[property.number] } + [edits[property.number]].compactMap { $0 }
  }
}

extension ObjectState.PropertyEdit {
  /// Whether the edit of a to-many is empty.
  var isEmptyList: Bool { moves.isEmpty && added.isEmpty && removed.isEmpty }

  mutating func removeMoves(of object: ObjectID) { moves = moves.compactMap { $0.mapped { $0 == object ? nil : $0 } } }

  /// The edit without an added member; nil if it is empty then.
  func withoutMember(_ id: ObjectID) -> Self? {
    guard added.contains(id) else { return self }
    var rest = self
    rest.added.remove(id)
    rest.removeMoves(of: id)
    return rest.isEmptyList ? nil : rest
  }

  mutating func replaceInMoves(_ identities: [ObjectID: ObjectID]) {
    moves = moves.compactMap { $0.mapped { identities[$0] ?? $0 } }
  }

  /// The members in the order that the moves give them; ids that are not members are ignored.
  func moving(_ list: [ObjectID]) -> [ObjectID] {
    let members = Set(list)
    return moves.reduce(list) { list, move in
      guard case .place(let ids, let anchor) = move else { return list }
      return ListReorderer.placing(ids.filter { members.contains($0) }, after: anchor, in: list)
    }
  }

  /// A list that is stored at this end, with members added, removed and moved.
  func editing(_ list: [ObjectID]) -> [ObjectID] {
    var list = list.filter { !removed.contains($0) }
    let moved = Set(moves.flatMap(\.objects))
    list += added.subtracting(moved).subtracting(list).sorted()
    for move in moves {
      switch move {
      case .append(let id): if !list.contains(id) { list.append(id) }
      case .place(let ids, let anchor): list = ListReorderer.placing(ids, after: anchor, in: list)
      }
    }
    return list
  }

  /// The edits that the server receives, in order.
  func orderedEdits(_ property: PropertyNumber) -> [Edit] {
    let rest = added.subtracting(moves.flatMap(\.objects))
    var edits = [Edit]()
    if !rest.isEmpty || !removed.isEmpty {
      edits.append(Edit(property, .members(added: rest.sorted(), removed: removed.sorted())))
    }
    for move in moves {
      switch move {
      case .append(let id): edits.append(Edit(property, .members(added: [id], removed: [])))
      case .place(let ids, let anchor): edits.append(Edit(property, .place(ids, after: anchor)))
      }
    }
    return edits
  }
}

extension ObjectState.OrderEdit {
  fileprivate var objects: [ObjectID] {
    switch self {
    case .append(let id): [id]
    case .place(let ids, _): ids
    }
  }
}
