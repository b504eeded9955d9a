import GraphModel

/// Taking back where a step put the members of ordered relationships that hold their places themselves. Others may
/// have added and moved members since, and theirs stays: what goes back is the step's own objects, never the list as a
/// whole.
///
/// Mostly a member gets its old number back. Where room was made around it the numbers mean other places by now: then
/// it goes behind the one that it stood behind before.
extension StepReversal {
  /// The members of one object, by the attribute that holds their places.
  private struct List: Hashable {
    let parent: ObjectID
    let place: PropertyNumber
  }

  /// Takes out of `edits` the numbers that mean nothing any more; the changes that stand for them.
  mutating func returnToPlaces() throws -> [Change] {
    var (lists, keys) = ([List: FormerPlaces](), [List]())
    for object in order where !deleted.contains(object.id) {
      let touched = Set(object.properties.keys).union((edits[object.id] ?? []).map(\.property))
      for place in touched.sorted().compactMap({ model.property($0) }) where place.isPlace {
        guard let reference = reference(beside: place.number, of: object.id),
          let parent = parent(of: object, through: reference)
        else { continue }
        let key = List(parent: parent, place: place.number)
        if lists[key] == nil {
          keys.append(key)
          lists[key] = FormerPlaces(reference)
        }
        let reversal = object.properties[place.number]
        let old = edits[object.id]?.last { $0.property == place.number }?.newNumber
        let now = object.now.flatMap { $0[reference].objectID == parent ? $0[place].wholeNumber : nil }
        var former = old ?? now
        if let known = former { former = reversal?.formerPlace(now: .integer(known)) ?? old }
        lists[key]?.add(
          object.id, former: object.isInserted ? old : former, returns: old != nil,
          isSpaced: reversal?.isSpaced == true)
      }
    }
    let waiting = keys.filter { lists[$0]?.returning.isEmpty == false }
    guard !waiting.isEmpty else { return [] }
    let later = try laterMoves(of: Set(waiting.map(\.place)))
    var changes = [Change]()
    for key in waiting {
      guard var former = lists[key], let ordered = former.reference.relationship?.inverse else { continue }
      try addNeighbors(in: key, to: &former, later)
      guard former.isSpaced else { continue }
      for (member, anchor) in try former.anchors({ try nearest(below: $0, in: key, former) }) {
        edits[member]?.removeAll { $0.property == key.place }
        changes.append(
          Change(.update, key.parent, base: .max, edits: [Edit(ordered, .place([member], after: anchor))]))
      }
    }
    return changes
  }

  /// The to-one beside a place.
  private func reference(beside place: PropertyNumber, of id: ObjectID) -> Property? {
    model.entity(id.entity)?.relationships.first { $0.relationship?.position == place && $0.slot != nil }
  }

  /// Whose member the object will be.
  private func parent(of object: ObjectReversal, through reference: Property) -> ObjectID? {
    for edit in edits[object.id] ?? [] where edit.property == reference.number {
      if case .set(let value) = edit.action { return value.objectID }
    }
    return object.now?[reference].objectID
  }

  /// So many commits since the step are looked through for what made room; behind more of them numbers count as they
  /// are.
  private static let reach: Revision = 10_000

  private struct Move {
    let change: HistoryChange
    /// It only made room, or it was taken back: the member stands where it stood.
    let isNothing: Bool
  }

  /// Everything that has happened to places since the step began, newest first.
  private func laterMoves(of places: Set<PropertyNumber>) throws -> [Move] {
    guard try history.head().revision - base <= Self.reach else { return [] }
    var moves = [Move]()
    try history.forEachCommitNewestFirst(after: base) { commit in
      for change in commit.changes {
        guard change.kind != .updated || change.edits.contains(where: { places.contains($0.property) }) else {
          continue
        }
        let isSpacing =
          change.kind == .updated
          && change.edits.allSatisfy { edit in
            change.spacing.contains(edit.property) || !places.contains(edit.property)
          }
        moves.append(
          Move(change: change, isNothing: try isSpacing || cancelled(commit.author).contains(commit.revision)))
      }
    }
    return moves
  }

  /// Where members stood that the step left alone and that have other numbers by now, or none that says so.
  private func addNeighbors(in list: List, to former: inout FormerPlaces, _ later: [Move]) throws {
    guard let place = model.property(list.place) else { return }
    var (stood, moved) = ([ObjectID: Int64?](), Set<ObjectID>())
    for move in later where !former.contains(move.change.id) {
      let change = move.change
      if !move.isNothing { moved.insert(change.id) }
      switch change.kind {
      case .inserted: stood[change.id] = .some(nil)
      case .deleted:
        let isMember = change.kept(former.reference)?.objectID == list.parent
        stood[change.id] = .some(isMember ? change.kept(place)?.wholeNumber : nil)
      case .updated:
        guard let edit = change.edits.first(where: { $0.property == list.place }), case .set(let old, _) = edit.action
        else { continue }
        var isMember = true
        for case let edit in change.edits where edit.property == former.reference.number {
          if case .set(let parent, _) = edit.action { isMember = parent.objectID == list.parent }
        }
        stood[change.id] = .some(isMember ? old.wholeNumber : nil)
      }
    }
    for (id, number) in stood.sorted(by: { $0.key < $1.key }) {
      guard let image = try objects.readImage(of: id),
        model.entity(image.id.entity)?.property(former.reference.number) != nil,
        image[former.reference].objectID == list.parent
      else { continue }
      let known = moved.contains(id) ? nil : number
      former.add(id, former: known, returns: false, isSpaced: known.map { image[place] != .integer($0) } ?? false)
    }
  }

  /// The nearest member before a place that nobody has touched.
  private func nearest(below place: MemberPlace, in list: List, _ former: FormerPlaces) throws -> MemberPlace? {
    var beyond = place
    while true {
      let chunk = try objects.readMembers(
        of: list.parent, through: former.reference, beyond: beyond, ascending: false, limit: 64)
      if let found = chunk.first(where: { !former.contains($0.id) && !leaves($0.id, former.reference) }) {
        return found
      }
      guard let last = chunk.last else { return nil }
      beyond = last
    }
  }

  private func leaves(_ id: ObjectID, _ reference: Property) -> Bool {
    deleted.contains(id) || edits[id]?.contains { $0.property == reference.number } == true
  }
}

/// The members of one ordered relationship that moved since a step began, as they stood before it.
struct FormerPlaces {
  /// The members' to-one.
  let reference: Property
  /// Whether numbers mean other places than before the step.
  private(set) var isSpaced = false
  /// Those that go back, where they stood.
  private(set) var returning = [MemberPlace]()
  /// The same, and of those that have another number though nobody meant to move them.
  private var stood = [MemberPlace]()
  private var members = Set<ObjectID>()

  init(_ reference: Property) { self.reference = reference }

  /// - Parameter former: where it stood; nil when that is not known, or when somebody has moved it since.
  mutating func add(_ id: ObjectID, former: Int64?, returns: Bool, isSpaced: Bool) {
    members.insert(id)
    self.isSpaced = self.isSpaced || isSpaced
    guard let former else { return }
    stood.append(MemberPlace(position: former, id: id))
    if returns { returning.append(MemberPlace(position: former, id: id)) }
  }

  func contains(_ id: ObjectID) -> Bool { members.contains(id) }

  /// For each that goes back the one that it stood behind, nil for the beginning; in the order of the list, for those
  /// that stood first go back first: others stood behind them.
  /// - Parameter nearest: the nearest member before a place that has not moved.
  func anchors(
    _ nearest: (MemberPlace) throws -> MemberPlace?
  ) rethrows -> [(member: ObjectID, anchor: ObjectID?)] {
    var stood = stood.sorted()
    var found = [(member: ObjectID, anchor: ObjectID?)]()
    // From the end: a member that has not moved is the nearest for all returns down to itself.
    var known: MemberPlace??
    for place in returning.sorted().reversed() {
      while let last = stood.last, last >= place { stood.removeLast() }
      var still = known ?? nil
      if known == nil || still.map({ $0 >= place }) == true {
        still = try nearest(place)
        known = .some(still)
      }
      found.append((place.id, [stood.last, still].compactMap { $0 }.max()?.id))
    }
    return found.reversed()
  }
}

extension Edit {
  fileprivate var newNumber: Int64? {
    guard case .set(let value) = action else { return nil }
    return value.wholeNumber
  }
}
