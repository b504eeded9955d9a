/// Ordered relationships whose members hold their places. The list is the stored one, of which only the neighborhood that
/// counts is read, with the places that this transaction has given and taken laid over it.
extension TransactionPlanner {
  /// An ordered relationship of one object, seen from its members.
  struct MemberList {
    let parent: ObjectID
    /// The members' to-one that leads to the parent.
    let reference: Property
    /// The members' place among the others.
    let position: Property

    var key: Reference { Reference(target: parent, property: reference.number) }
  }

  /// What this transaction has done to a list.
  struct ListChanges {
    /// The members whose place is not the stored one.
    var placed = SortedPlaces()
    /// The last of those whose place is the stored one; nil before anyone asked. What has been moved since is no answer.
    var lastStored: MemberPlace??
  }

  /// The list that the to-one `reference` makes its objects members of; nil when that is not ordered.
  func list(of parent: ObjectID, through reference: Property) -> MemberList? {
    reference.relationship?.position.flatMap { model.property($0) }
      .map { MemberList(parent: parent, reference: reference, position: $0) }
  }

  // MARK: - Reading

  /// Walks the list from one place on, in chunks that grow.
  struct MemberCursor {
    let list: MemberList
    let isAscending: Bool
    /// Passed over: their places are about to change.
    let skipped: Set<ObjectID>
    /// What was walked over, the nearest first.
    private(set) var seen: [MemberPlace]
    private var place: MemberPlace?
    private var chunk = [MemberPlace]()[...]
    private var chunkEnd: MemberPlace?
    private var limit = 1
    private var isStoreAtEnd = false

    /// - Parameter first: a member that counts as walked over.
    init(
      _ list: MemberList, ascending: Bool, beyond place: MemberPlace?, skipping skipped: Set<ObjectID> = [],
      first: MemberPlace? = nil
    ) {
      (self.list, isAscending, self.place, chunkEnd, self.skipped) = (list, ascending, place, place, skipped)
      seen = first.map { [$0] } ?? []
    }

    /// The nth member from here, 0 for the nearest; nil when there are not so many.
    mutating func member(_ number: Int, in planner: TransactionPlanner) throws -> MemberPlace? {
      while seen.count <= number, let next = try next(in: planner) { seen.append(next) }
      return number < seen.count ? seen[number] : nil
    }

    private mutating func next(in planner: TransactionPlanner) throws -> MemberPlace? {
      while true {
        let stored = try nextStored(in: planner)
        let placed = planner.lists[list.key]?.placed.next(beyond: place, ascending: isAscending)
        let isStored =
          if let stored, let placed { (stored < placed) == isAscending } else { stored != nil }
        guard let next = isStored ? stored : placed else { return nil }
        if isStored { chunk = chunk.dropFirst() }
        place = next
        if !skipped.contains(next.id) { return next }
      }
    }

    private mutating func nextStored(in planner: TransactionPlanner) throws -> MemberPlace? {
      while true {
        while let next = chunk.first {
          if planner.isAsStored(next, in: list) { return next }
          chunk = chunk.dropFirst()
        }
        guard !isStoreAtEnd, planner.mayHaveStored(list) else { return nil }
        let more = try planner.reader.members(
          of: list.parent, through: list.reference, beyond: chunkEnd, ascending: isAscending, limit: limit)
        isStoreAtEnd = more.count < limit
        limit = min(4 * limit, 1_024)
        chunkEnd = more.last ?? chunkEnd
        chunk = more[...]
      }
    }
  }

  /// An object that this transaction makes has no members in the store.
  private func mayHaveStored(_ list: MemberList) -> Bool {
    drafts[list.parent].map { $0.before != nil } ?? true
  }

  private func isAsStored(_ place: MemberPlace, in list: MemberList) -> Bool {
    guard let draft = drafts[place.id] else { return true }
    return !draft.isDeleted && draft.after[list.reference].objectID == list.parent
      && draft.after[list.position] == .integer(place.position)
  }

  private mutating func last(of list: MemberList) throws -> MemberPlace? {
    let placed = lists[list.key]?.placed.next(beyond: nil, ascending: false)
    var stored = lists[list.key]?.lastStored ?? nil
    let isKnown = lists[list.key]?.lastStored != nil
    if !isKnown || stored.map({ !isAsStored($0, in: list) }) == true {
      stored = nil
      var cursor = MemberCursor(list, ascending: false, beyond: nil)
      // Those that were placed here are known; of the others the last one counts.
      stored = try cursor.lastAsStored(in: self)
      lists[list.key, default: ListChanges()].lastStored = .some(stored)
    }
    return [placed, stored].compactMap { $0 }.max()
  }

  /// The place of an object in a list; nil when it is no member.
  func place(of id: ObjectID, in list: MemberList) throws -> MemberPlace? {
    let image: ObjectImage?
    if let draft = drafts[id] { image = draft.isDeleted ? nil : draft.after } else { image = try reader.image(of: id) }
    guard let image, model.entity(image.id.entity)?.property(list.reference.number) != nil,
      image[list.reference].objectID == list.parent, case .integer(let position) = image[list.position]
    else { return nil }
    return MemberPlace(position: position, id: image.id)
  }

  // MARK: - Writing

  /// Gives a member of the list its place; nil for one that leaves. Nothing else writes places.
  private mutating func set(_ position: Int64?, of draft: Draft, in list: MemberList, isSpacing: Bool = false) {
    let (id, old) = (draft.after.id, draft.after[list.position])
    if case .integer(let old) = old { lists[list.key]?.placed.remove(MemberPlace(position: old, id: id)) }
    draft.after[list.position] = position.map(Value.integer) ?? .null
    let isHere = draft.before.map { $0[list.reference].objectID == list.parent } ?? false
    if isSpacing, isHere, draft.before?[list.position] == old {
      draft.spacing.insert(list.position.number)
    } else if !isSpacing {
      draft.spacing.remove(list.position.number)
    }
    guard let position else { return }
    if isHere, draft.before?[list.position] == .integer(position) {
      lists[list.key]?.lastStored = nil
    } else {
      lists[list.key, default: ListChanges()].placed.insert(MemberPlace(position: position, id: id))
    }
  }

  /// The object has become a member: it stands behind all others.
  mutating func append(_ draft: Draft, to parent: ObjectID, through reference: Property) throws {
    guard let list = list(of: parent, through: reference) else { return }
    let last = try last(of: list)
    if let position = OrderPositions.between(last?.position, nil, count: 1)?.first {
      set(position, of: draft, in: list)
    } else {
      try put([draft.after.id], behind: last, in: list)
    }
  }

  /// The object is about to be no member any more.
  mutating func withdraw(_ draft: Draft, through reference: Property) {
    guard let parent = draft.after[reference].objectID, let list = list(of: parent, through: reference) else { return }
    set(nil, of: draft, in: list)
  }

  /// What an undo remembers. Without the reference there is no place, and of two with one place the ids decide.
  mutating func restore(_ value: Value, _ position: Property, of draft: Draft) {
    guard case .integer(let number) = value,
      let reference = draft.entity.relationships.first(where: {
        $0.relationship?.position == position.number && $0.slot != nil
      }), let parent = draft.after[reference].objectID, let list = list(of: parent, through: reference)
    else { return }
    set(number, of: draft, in: list)
  }

  /// Puts members in a row behind another one, or at the beginning, and makes room where there is none.
  /// - Parameter moving: members that count as not being there, these among them.
  private mutating func put(
    _ members: [ObjectID], behind anchor: MemberPlace?, in list: MemberList, moving: Set<ObjectID> = []
  ) throws {
    guard !members.isEmpty else { return }
    var behind = MemberCursor(list, ascending: true, beyond: anchor, skipping: moving)
    let next = try behind.member(0, in: self)
    var positions = OrderPositions.between(anchor?.position, next?.position, count: members.count)
    if positions == nil {
      let (spread, displaced) = try room(for: members.count, behind: anchor, &behind, in: list, moving)
      for (member, position) in displaced where member.position != position {
        guard let draft = try touch(member.id) else { continue }
        set(position, of: draft, in: list, isSpacing: true)
      }
      positions = spread
    }
    for (member, position) in zip(members, positions ?? []) {
      guard let draft = try touch(member) else { continue }
      set(position, of: draft, in: list)
    }
  }

  /// Positions for newcomers where there was no room, and the new ones of the members around.
  private func room(
    for count: Int, behind anchor: MemberPlace?, _ behind: inout MemberCursor, in list: MemberList,
    _ moving: Set<ObjectID>
  ) throws -> (added: [Int64], displaced: [(MemberPlace, Int64)]) {
    var before = MemberCursor(list, ascending: false, beyond: anchor, skipping: moving, first: anchor)
    let spread = try OrderPositions.spread(
      count: count,
      // Nothing stands before the beginning.
      before: { number in try anchor == nil ? nil : before.member(number, in: self)?.position },
      after: { number in try behind.member(number, in: self)?.position })
    let displaced = Array(zip(before.seen, spread.before)) + Array(zip(behind.seen, spread.after))
    return (spread.added, displaced)
  }

  // MARK: - Edits of the parent

  /// These become members and stand in this order right behind `anchor`.
  mutating func place(
    _ objects: [ObjectID], after anchor: ObjectID?, _ property: Property, _ relationship: Relationship, of id: ObjectID
  ) throws {
    var members = [ObjectID]()
    for object in objects {
      guard let other = try destination(object, of: property, relationship, owner: id) else { continue }
      try connect(id, other, property, relationship)
      members.append(other)
    }
    members = OrderMoves.unique(members)
    guard !members.isEmpty else { return }
    let anchor = anchor.map { permanent($0) ?? $0 }
    if relationship.storage == .members {
      guard let draft = try touch(id) else { return }
      draft.after[property] = .objects(OrderMoves.placing(members, after: anchor, in: draft.after[property].objectIDs))
      return
    }
    guard let reference = model.property(relationship.inverse), let list = list(of: id, through: reference) else {
      return
    }
    let moving = Set(members)
    var behind: MemberPlace?
    if let anchor {
      behind = moving.contains(anchor) ? nil : try place(of: anchor, in: list)
      if behind == nil {
        var fromEnd = MemberCursor(list, ascending: false, beyond: nil, skipping: moving)
        behind = try fromEnd.member(0, in: self)
      }
    }
    var present = MemberCursor(list, ascending: true, beyond: behind)
    _ = try present.member(members.count - 1, in: self)
    // They stand there already.
    if present.seen.prefix(members.count).map(\.id) == members { return }
    try put(members, behind: behind, in: list, moving: moving)
  }

  /// All members are there: they come into this order, and as few as possible move.
  mutating func arrange(_ members: [ObjectID], _ property: Property, _ relationship: Relationship, of id: ObjectID)
    throws
  {
    let wanted = OrderMoves.unique(members)
    if relationship.storage == .members {
      try touch(id)?.after[property] = .objects(wanted)
      return
    }
    guard let reference = model.property(relationship.inverse), let list = list(of: id, through: reference) else {
      return
    }
    var present = MemberCursor(list, ascending: true, beyond: nil)
    _ = try present.member(.max - 1, in: self)
    let runs = OrderMoves.runs(from: present.seen.map(\.id), to: wanted)
    var moving = Set(runs.flatMap(\.objects))
    for run in runs {
      try put(run.objects, behind: run.after.flatMap { try place(of: $0, in: list) }, in: list, moving: moving)
      moving.subtract(run.objects)
    }
  }
}

extension TransactionPlanner.MemberCursor {
  /// The nearest member that stands where the store has it.
  fileprivate mutating func lastAsStored(in planner: TransactionPlanner) throws -> MemberPlace? {
    try nextStored(in: planner)
  }
}
