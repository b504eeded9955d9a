import GraphModel

/// Ordered relationships. What was put where is kept as it was said, and said again to the server, which decides; until it
/// has, the same moves are made here on the order as it came.
extension ObjectContext {
  /// Makes `other` a member of an ordered relationship, if it is none, and puts it behind `anchor`, or at the beginning.
  func insert(_ other: ObjectState, into state: ObjectState, _ property: Property, after anchor: ObjectState?) {
    guard property.relationship?.isOrdered == true, !state.isDeleted, !other.isDeleted,
      !refusesEdit("\(property.name) can't be changed")
    else { return }
    if !related(to: state, through: property).contains(other.id) { connect(state, other, through: property) }
    record(.place([other.id], after: anchor?.id), property, of: state)
  }

  /// All of `wanted` are members: they come into this order with as few moves as possible.
  func arrange(_ wanted: [ObjectID], _ property: Property, of state: ObjectState) {
    let present = related(to: state, through: property)
    let members = Set(present)
    for run in OrderMoves.runs(from: present, to: OrderMoves.unique(wanted.filter { members.contains($0) })) {
      record(.place(run.objects, after: run.after), property, of: state)
    }
  }

  private func record(_ move: ObjectState.Move, _ property: Property, of state: ObjectState) {
    begin(state)
    state.edits[property.number, default: ObjectState.LocalValue(value: .null)].moves.append(move)
  }

  /// The object is about to leave what its to-one names: saved moves would bring it back.
  func forgetMoves(of state: ObjectState, through toOne: Property) {
    guard let relationship = toOne.relationship, !relationship.isToMany, relationship.position != nil,
      let parent = state.value(toOne).objectID.flatMap({ self.state($0) })
    else { return }
    parent.edits[relationship.inverse]?.forgetMoves(of: state.id)
    if parent.edits[relationship.inverse]?.isEmptyList == true { parent.edits[relationship.inverse] = nil }
  }

  /// Members by the place that the server gave them, then those that it does not know as members, then what was moved
  /// here.
  func inOrder(_ members: [ObjectState], of state: ObjectState, _ property: Property, _ toOne: Property) -> [ObjectID] {
    guard let position = toOne.relationship?.position.flatMap({ model.property($0) }) else { return members.map(\.id) }
    var placed = [MemberPlace]()
    var others = [ObjectID]()
    for member in members {
      if let stored = member.stored, stored[toOne].objectID == state.id, case .integer(let number) = stored[position] {
        placed.append(MemberPlace(position: number, id: member.id))
      } else {
        others.append(member.id)
      }
    }
    let order = placed.sorted().map(\.id) + others.sorted()
    return state.locals(of: property).reduce(order) { order, local in local.moving(order) }
  }
}

extension ObjectState {
  /// What happened here to the order of an ordered to-many.
  enum Move: Equatable {
    /// It became a member, without a word about its place.
    case append(ObjectID)
    case place([ObjectID], after: ObjectID?)

    /// The move without an object, and with another id instead of a temporary one; nil when nothing is left.
    fileprivate func mapped(_ change: (ObjectID) -> ObjectID?) -> Move? {
      switch self {
      case .append(let id): return change(id).map(Move.append)
      case .place(let ids, let anchor):
        let ids = ids.compactMap(change)
        return ids.isEmpty ? nil : .place(ids, after: anchor.map { change($0) ?? $0 })
      }
    }
  }

  /// What is unsaved and on its way of one property, oldest first.
  func locals(of property: Property) -> [LocalValue] {
    sent.compactMap { $0.edits[property.number] } + [edits[property.number]].compactMap { $0 }
  }
}

extension ObjectState.LocalValue {
  /// Nothing of a to-many is left to be said.
  var isEmptyList: Bool { moves.isEmpty && added.isEmpty && removed.isEmpty }

  mutating func forgetMoves(of object: ObjectID) { moves = moves.compactMap { $0.mapped { $0 == object ? nil : $0 } } }

  /// Nil when nothing is left to be said.
  func withoutMember(_ id: ObjectID) -> Self? {
    guard added.contains(id) else { return self }
    var rest = self
    rest.added.remove(id)
    rest.forgetMoves(of: id)
    return rest.isEmptyList ? nil : rest
  }

  mutating func replaceInMoves(_ identities: [ObjectID: ObjectID]) {
    moves = moves.compactMap { $0.mapped { identities[$0] ?? $0 } }
  }

  /// The members in the order that the moves give them; who is no member is passed over.
  func moving(_ list: [ObjectID]) -> [ObjectID] {
    let members = Set(list)
    return moves.reduce(list) { list, move in
      guard case .place(let ids, let anchor) = move else { return list }
      return OrderMoves.placing(ids.filter { members.contains($0) }, after: anchor, in: list)
    }
  }

  /// A list that the object itself keeps, with what was added, taken away and moved.
  func editing(_ list: [ObjectID]) -> [ObjectID] {
    var list = list.filter { !removed.contains($0) }
    let moved = Set(moves.flatMap(\.objects))
    list += added.subtracting(moved).subtracting(list).sorted()
    for move in moves {
      switch move {
      case .append(let id): if !list.contains(id) { list.append(id) }
      case .place(let ids, let anchor): list = OrderMoves.placing(ids, after: anchor, in: list)
      }
    }
    return list
  }

  /// As the server is told it, in turn.
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

extension ObjectState.Move {
  fileprivate var objects: [ObjectID] {
    switch self {
    case .append(let id): [id]
    case .place(let ids, _): ids
    }
  }
}
