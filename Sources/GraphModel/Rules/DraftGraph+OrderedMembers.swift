/// Ordered relationships whose members store their positions. The list is the stored one, overlaid with the places
/// that this transaction assigned and removed; only the relevant neighborhood is read from the store.
extension DraftGraph {
  /// An ordered relationship of one object, as its members store it.
  struct MemberList {
    let parent: ObjectID
    /// The members' to-one to the parent.
    let reference: Property
    /// The members' position attribute.
    let position: Property

    var key: Reference { Reference(target: parent, property: reference.number) }
  }

  /// The changes of this transaction to a list.
  struct ListChanges {
    /// The places of members that differ from the stored ones.
    var placed = SortedPositions()
    /// The last member with its stored place; nil before the lookup. Invalid if that member has moved since.
    var lastStored: OrderedMemberKey??
  }

  /// The list of the parent's members through the to-one `reference`; nil if it is not ordered.
  func list(of parent: ObjectID, through reference: Property) -> MemberList? {
    reference.relationship?.position.flatMap { model.property($0) }
      .map { MemberList(parent: parent, reference: reference, position: $0) }
  }

  // MARK: - Reading

  /// Iterates over a list from a place on, in growing chunks.
  struct MemberCursor {
    let list: MemberList
    let isAscending: Bool
    /// Members to skip, because their places are about to change.
    let skipped: Set<ObjectID>
    /// The members visited so far, nearest first.
    private(set) var seen: [OrderedMemberKey]
    private var place: OrderedMemberKey?
    private var chunk = [OrderedMemberKey]()[...]
    private var chunkEnd: OrderedMemberKey?
    private var limit = 1
    private var isStoreAtEnd = false

    /// - Parameter first: a member that counts as already visited.
    init(
      _ list: MemberList, ascending: Bool, beyond place: OrderedMemberKey?, skipping skipped: Set<ObjectID> = [],
      first: OrderedMemberKey? = nil
    ) {
      (self.list, isAscending, self.place, chunkEnd, self.skipped) = (list, ascending, place, place, skipped)
      seen = [first].compactMap { $0 }
    }

    /// The nth member from the start, with 0 for the nearest; nil if there are not as many.
    mutating func member(_ number: Int, in graph: DraftGraph) throws -> OrderedMemberKey? {
      while seen.count <= number, let next = try next(in: graph) { seen.append(next) }
      return number < seen.count ? seen[number] : nil
    }

    private mutating func next(in graph: DraftGraph) throws -> OrderedMemberKey? {
      while true {
        let stored = try nextStored(in: graph)
        let placed = graph.lists[list.key]?.placed.next(beyond: place, ascending: isAscending)
        let isStored =
          if let stored, let placed { (stored < placed) == isAscending } else { stored != nil }
        guard let next = isStored ? stored : placed else { return nil }
        if isStored { chunk = chunk.dropFirst() }
        place = next
        if !skipped.contains(next.id) { return next }
      }
    }

    private mutating func nextStored(in graph: DraftGraph) throws -> OrderedMemberKey? {
      while true {
        while let next = chunk.first {
          if graph.hasStoredPlace(next, in: list) { return next }
          chunk = chunk.dropFirst()
        }
        guard !isStoreAtEnd, graph.mayHaveStoredMembers(list) else { return nil }
        let more = try graph.reader.members(
          of: list.parent, through: list.reference, beyond: chunkEnd, ascending: isAscending, limit: limit)
        assert(more.count <= limit, "a chunk has at most the requested members")
        isStoreAtEnd = more.count < limit
        limit = min(4 * limit, 1_024)
        chunkEnd = more.last ?? chunkEnd
        chunk = more[...]
      }
    }
  }

  /// The store has no members of an object that this transaction inserts.
  private func mayHaveStoredMembers(_ list: MemberList) -> Bool {
    draft(of: list.parent).map { $0.before != nil } != false
  }

  private func hasStoredPlace(_ place: OrderedMemberKey, in list: MemberList) -> Bool {
    guard let draft = draft(of: place.id) else { return true }
    return !draft.isDeleted && draft.after[list.reference].objectID == list.parent
      && draft.after[list.position] == .integer(place.position)
  }

  private mutating func last(of list: MemberList) throws -> OrderedMemberKey? {
    let placed = lists[list.key]?.placed.next(beyond: nil, ascending: false)
    var stored = lists[list.key]?.lastStored ?? nil
    let isKnown = lists[list.key]?.lastStored != nil
    if !isKnown || stored.map({ !hasStoredPlace($0, in: list) }) == true {
      stored = nil
      var cursor = MemberCursor(list, ascending: false, beyond: nil)
      // The members placed here are known; the last one with its stored place is missing.
      stored = try cursor.lastStoredMember(in: self)
      lists[list.key, default: ListChanges()].lastStored = .some(stored)
    }
    return [placed, stored].compactMap { $0 }.max()
  }

  /// The place of an object in a list; nil if it is not a member.
  func place(of id: ObjectID, in list: MemberList) throws -> OrderedMemberKey? {
    let image: ObjectImage?
    if let draft = draft(of: id) {
      image = draft.isDeleted ? nil : draft.after
    } else {
      image = try reader.image(of: id)
    }
    guard let image, model.entity(image.id.entity)?.property(list.reference.number) != nil,
      image[list.reference].objectID == list.parent, case .integer(let position) = image[list.position]
    else { return nil }
    return OrderedMemberKey(position: position, id: image.id)
  }

  // MARK: - Writing

  /// Sets the position of a member, or nil for a removed one. All writes of positions go through here.
  private mutating func set(_ position: Int64?, of draft: Draft, in list: MemberList, isSpacing: Bool = false) {
    let (id, old) = (draft.after.id, draft.after[list.position])
    if case .integer(let old) = old {
      lists.modifyIfPresent(list.key) { $0.placed.remove(OrderedMemberKey(position: old, id: id)) }
    }
    draft.after[list.position] = position.map(Value.integer).orNull
    let isHere = draft.before.map { $0[list.reference].objectID == list.parent } == true
    if isSpacing, isHere, draft.before?[list.position] == old {
      draft.spacing.insert(list.position.number)
    } else if !isSpacing {
      draft.spacing.remove(list.position.number)
    }
    guard let position else { return }
    if isHere, draft.before?[list.position] == .integer(position) {
      lists.modifyIfPresent(list.key) { $0.lastStored = nil }
    } else {
      lists[list.key, default: ListChanges()].placed.insert(OrderedMemberKey(position: position, id: id))
    }
  }

  /// Places a new member after all others.
  mutating func append(_ draft: Draft, to parent: ObjectID, through reference: Property) throws {
    guard let list = list(of: parent, through: reference) else { return }
    let last = try last(of: list)
    if let position = PositionAllocator.between(last?.position, nil, count: 1)?.first {
      set(position, of: draft, in: list)
    } else {
      try insert([draft.after.id], after: last, in: list)
    }
  }

  /// Removes the place of an object that is about to leave the list.
  mutating func removePlace(_ draft: Draft, through reference: Property) {
    guard let parent = draft.after[reference].objectID, let list = list(of: parent, through: reference) else { return }
    set(nil, of: draft, in: list)
  }

  /// Restores a position from history. Without the reference there is no place; if two positions are equal, ids
  /// decide.
  mutating func restore(_ value: Value, _ position: Property, of draft: Draft) {
    guard case .integer(let number) = value,
      let reference = draft.entity.relationships.first(where: {
        $0.relationship?.position == position.number && $0.slot != nil
      }), let parent = draft.after[reference].objectID, let list = list(of: parent, through: reference)
    else { return }
    set(number, of: draft, in: list)
  }

  /// Places members in a row after another one, or at the beginning, and makes space if necessary.
  /// - Parameter moving: members that count as absent, including `members`.
  private mutating func insert(
    _ members: [ObjectID], after anchor: OrderedMemberKey?, in list: MemberList, moving: Set<ObjectID> = []
  ) throws {
    guard !members.isEmpty else { return }
    var following = MemberCursor(list, ascending: true, beyond: anchor, skipping: moving)
    let next = try following.member(0, in: self)
    let positions: [Int64]
    if let free = PositionAllocator.between(anchor?.position, next?.position, count: members.count) {
      positions = free
    } else {
      let (respaced, displaced) = try makeSpace(for: members.count, after: anchor, &following, in: list, moving)
      for (member, position) in displaced where member.position != position {
        guard let draft = try touch(member.id) else { continue }
        set(position, of: draft, in: list, isSpacing: true)
      }
      positions = respaced
    }
    assert(positions.count == members.count, "each member has a position")
    for (member, position) in zip(members, positions) {
      guard let draft = try touch(member) else { continue }
      set(position, of: draft, in: list)
    }
  }

  /// Positions for new members in a gap without space, and the new positions of the members around it.
  private func makeSpace(
    for count: Int, after anchor: OrderedMemberKey?, _ following: inout MemberCursor, in list: MemberList,
    _ moving: Set<ObjectID>
  ) throws -> (added: [Int64], displaced: [(OrderedMemberKey, Int64)]) {
    var before = MemberCursor(list, ascending: false, beyond: anchor, skipping: moving, first: anchor)
    let respaced = try PositionAllocator.spread(
      count: count,
      // Nothing precedes the beginning.
      before: { number in try anchor == nil ? nil : before.member(number, in: self)?.position },
      after: { number in try following.member(number, in: self)?.position })
    let displaced = Array(zip(before.seen, respaced.before)) + Array(zip(following.seen, respaced.after))
    return (respaced.added, displaced)
  }

  // MARK: - Edits of the parent

  /// Places members, in this order, directly after `anchor`; at the end if it is not a member.
  mutating func place(
    _ members: [ObjectID], after anchor: ObjectID?, _ property: Property, _ relationship: Relationship, of id: ObjectID
  ) throws {
    if relationship.storage == .members {
      guard let draft = try touch(id) else { return }
      draft.after[property] = .objects(
        ListReorderer.placing(members, after: anchor, in: draft.after[property].objectIDs))
      return
    }
    let reference = try inverse(of: relationship).property
    let list = try invariant(list(of: id, through: reference), "the members of an ordered relationship have places")
    let moving = Set(members)
    var predecessor: OrderedMemberKey?
    if let anchor {
      predecessor = moving.contains(anchor) ? nil : try place(of: anchor, in: list)
      if predecessor == nil {
        var fromEnd = MemberCursor(list, ascending: false, beyond: nil, skipping: moving)
        predecessor = try fromEnd.member(0, in: self)
      }
    }
    var present = MemberCursor(list, ascending: true, beyond: predecessor)
    _ = try present.member(members.count - 1, in: self)
    // The members are already at their places.
    if present.seen.prefix(members.count).map(\.id) == members { return }
    try insert(members, after: predecessor, in: list, moving: moving)
  }

  /// Puts all members into this order with as few moves as possible.
  mutating func reorder(_ members: [ObjectID], _ property: Property, _ relationship: Relationship, of id: ObjectID)
    throws
  {
    let wanted = ListReorderer.unique(members)
    if relationship.storage == .members {
      guard let draft = try touch(id) else { return }
      draft.after[property] = .objects(wanted)
      return
    }
    let reference = try inverse(of: relationship).property
    let list = try invariant(list(of: id, through: reference), "the members of an ordered relationship have places")
    var present = MemberCursor(list, ascending: true, beyond: nil)
    _ = try present.member(.max - 1, in: self)
    let runs = ListReorderer.runs(from: present.seen.map(\.id), to: wanted)
    var moving = Set(runs.flatMap(\.objects))
    for run in runs {
      try insert(run.objects, after: run.after.flatMap { try place(of: $0, in: list) }, in: list, moving: moving)
      moving.subtract(run.objects)
    }
  }
}

extension DraftGraph.MemberCursor {
  /// The nearest member with its stored place.
  fileprivate mutating func lastStoredMember(in graph: DraftGraph) throws -> OrderedMemberKey? {
    try nextStored(in: graph)
  }
}
