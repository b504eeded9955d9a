// Tests: UndoOrderTests.swift, UndoOrderPastOthersTests.swift
import GraphModel

/// Restores the positions of members that a step moved, in relationships whose members store their positions.
///
/// Members that others have added or moved since stay: only the step's own objects return, never the complete list.
/// `OrderHistory` determines the member after which each one is placed. Usually its old number is that position, and is
/// used. If other members are in between now, or numbers were respaced, the member gets a new position.
extension StepReversal {
  /// The list of one object's members, with the attribute for their positions.
  private struct ListKey: Hashable {
    let parent: ObjectID
    let place: PropertyNumber
  }

  /// The members of one list that the step touched.
  private struct RestoredMembers {
    let reference: Property
    /// The members, with whether their to-one is restored too.
    var members = [ObjectID: Bool]()
    /// The old numbers, if known.
    var numbers = [ObjectID: Int64]()
    var past = OrderHistory()
  }

  /// The maximum number of commits since the step, and of moves in them, that are examined. Beyond it, old numbers
  /// are used as they are.
  private static let reach: Revision = 10_000
  private static let maximumMoves = 200_000

  /// Removes from `edits` the numbers that now mean other positions, and returns the changes that replace them.
  mutating func restorePositions() throws -> [Change] {
    var (lists, keys) = ([ListKey: RestoredMembers](), [ListKey]())
    for object in order where !deleted.contains(object.id) {
      let edits = edits[object.id, default: []]
      let touched = Set(object.properties.keys).union(edits.map(\.property)).sorted()
      for place in touched.compactMap({ model.property($0) }) where place.isPlace {
        guard let reference = reference(beside: place.number, of: object.id),
          let parent = parent(of: object, through: reference)
        else { continue }
        let key = ListKey(parent: parent, place: place.number)
        if lists[key] == nil { keys.append(key) }
        var list = lists.removeValue(forKey: key) ?? RestoredMembers(reference: reference)
        list.members[object.id] = edits.contains { $0.property == reference.number }
        list.numbers[object.id] = edits.last { $0.property == place.number }?.newNumber
        lists[key] = list
      }
    }
    guard !keys.isEmpty, try history.head().revision - base <= Self.reach, try readPasts(of: &lists) else { return [] }
    var changes = [Change]()
    for key in keys {
      let list = try invariant(lists[key], "each key of a list has its members")
      let ordered = try invariant(list.reference.relationship, "the position of a member belongs to its to-one").inverse
      let rows = try list.past.rows(
        of: list.members,
        isHere: {
          try objects.readImage(of: $0)?[list.reference].objectID == key.parent && !leaves($0, list.reference)
        },
        nearest: { try nearest(below: $0, in: key, list.reference, except: $1) })
      let returning = Set(rows.flatMap(\.members))
      skipped.removeAll { $0.property == key.place && returning.contains($0.id) }
      // The member is in another list now than the one in which the step moved it.
      for (id, isBroughtBack) in list.members where !isBroughtBack && !returning.contains(id) {
        edits.modifyIfPresent(id) { $0.removeAll { $0.property == key.place } }
      }
      for row in rows where try !canUseOldNumbers(row, in: key, list, returning) {
        for member in row.members { edits.modifyIfPresent(member) { $0.removeAll { $0.property == key.place } } }
        changes.append(
          Change(.update, key.parent, base: .max, edits: [Edit(ordered, .place(row.members, after: row.anchor))]))
      }
    }
    return changes
  }

  /// The to-one that a position belongs to.
  private func reference(beside place: PropertyNumber, of id: ObjectID) -> Property? {
    model.entity(id.entity)?.relationships.first { $0.relationship?.position == place && $0.slot != nil }
  }

  /// The object whose member this object will be.
  private func parent(of object: ObjectReversal, through reference: Property) -> ObjectID? {
    for edit in edits[object.id, default: []] where edit.property == reference.number {
      if case .set(let value) = edit.action { return value.objectID }
    }
    return object.now?[reference].objectID
  }

  /// Whether the old numbers lead to the right positions.
  private func canUseOldNumbers(
    _ row: (anchor: ObjectID?, members: [ObjectID]), in key: ListKey, _ list: RestoredMembers,
    _ returning: Set<ObjectID>
  ) throws -> Bool {
    let places = row.members.compactMap { id in list.numbers[id].map { OrderedMemberKey(position: $0, id: id) } }
    guard places.count == row.members.count, zip(places, places.dropFirst()).allSatisfy({ $0 < $1 }) else {
      return false
    }
    return try [places.first, places.last].compactMap { $0 }.allSatisfy {
      try nearest(below: $0, in: key, list.reference) { returning.contains($0) }?.id == row.anchor
    }
  }

  /// The nearest member before a place that stays and is not skipped.
  private func nearest(
    below place: OrderedMemberKey, in key: ListKey, _ reference: Property, except isPassed: (ObjectID) -> Bool
  ) throws -> OrderedMemberKey? {
    var (beyond, limit) = (place, 8)
    while true {
      let chunk = try objects.readMembers(
        of: key.parent, through: reference, beyond: beyond, ascending: false, limit: limit)
      if let found = chunk.first(where: { !isPassed($0.id) && !leaves($0.id, reference) }) { return found }
      guard chunk.count == limit, let last = chunk.last else { return nil }
      (beyond, limit) = (last, min(4 * limit, 1_024))
    }
  }

  private func leaves(_ id: ObjectID, _ reference: Property) -> Bool {
    deleted.contains(id) || edits[id]?.contains { $0.property == reference.number } == true
  }

  // MARK: - Past

  /// An object's position, and the object whose list it is in.
  fileprivate struct OrderPosition {
    var parent: ObjectID?
    var number: Int64?
  }

  private struct MemberKey: Hashable {
    let id: ObjectID
    let place: PropertyNumber
  }

  /// Reads all moves in these lists since the step began; returns false if there are too many.
  private func readPasts(of lists: inout [ListKey: RestoredMembers]) throws -> Bool {
    let references = Dictionary(
      lists.map { ($0.key.place, $0.value.reference) }, uniquingKeysWith: { first, _ in first }
    )
    .sorted { $0.key < $1.key }
    var positions = [MemberKey: OrderPosition]()
    var count = 0
    try history.forEachCommitNewestFirst(after: base) { commit in
      for change in commit.changes where count <= Self.maximumMoves {
        for (place, reference) in references {
          guard let place = model.property(place), change.mayMove(place, reference),
            model.entity(change.id.entity)?.property(reference.number) != nil
          else { continue }
          let member = MemberKey(id: change.id, place: place.number)
          let now = try positions[member] ?? position(change.id, place, reference)
          let before = change.position(before: now, place, reference)
          positions[member] = before
          count += 1
          let isSpacing =
            change.kind == .updated && change.spacing.contains(place.number) && now.parent == before.parent
          let cause: OrderHistory.PositionChange.Cause =
            if isSpacing {
              .spacing
            } else if own.contains(commit.revision) {
              .step
            } else if let newer = try cancelled(commit.author)[commit.revision] {
              .cancelled(by: newer)
            } else {
              .other
            }
          for parent in now.parent == before.parent ? [now.parent] : [now.parent, before.parent] {
            guard let parent else { continue }
            let event = OrderHistory.PositionChange(
              revision: commit.revision, id: change.id, was: before.parent == parent ? before.number : nil,
              cause: cause)
            lists.modifyIfPresent(ListKey(parent: parent, place: place.number)) { $0.past.add(event) }
          }
        }
      }
    }
    return count <= Self.maximumMoves
  }

  private func position(_ id: ObjectID, _ place: Property, _ reference: Property) throws -> OrderPosition {
    guard let image = try objects.readImage(of: id) else { return OrderPosition() }
    return OrderPosition(parent: image[reference].objectID, number: image[place].wholeNumber)
  }
}

extension HistoryChange {
  fileprivate func mayMove(_ place: Property, _ reference: Property) -> Bool {
    kind != .updated || edits.contains { $0.property == place.number || $0.property == reference.number }
  }

  fileprivate func position(
    before now: StepReversal.OrderPosition, _ place: Property, _ reference: Property
  ) -> StepReversal.OrderPosition {
    switch kind {
    case .inserted: return StepReversal.OrderPosition()
    case .deleted:
      return StepReversal.OrderPosition(parent: kept(reference)?.objectID, number: kept(place)?.wholeNumber)
    case .updated:
      var before = now
      for edit in edits {
        guard case .set(let old, _) = edit.action else { continue }
        if edit.property == place.number { before.number = old.wholeNumber }
        if edit.property == reference.number { before.parent = old.objectID }
      }
      return before
    }
  }
}

extension Edit {
  fileprivate var newNumber: Int64? {
    guard case .set(let value) = action else { return nil }
    return value.wholeNumber
  }
}
