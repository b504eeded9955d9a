import GraphModel

/// Finding a difference: from what a result was, what it is, and the objects that were touched between. It looks each of
/// them up in both and nowhere else, so that it costs what was touched and not what there is; and because it needs no
/// steps between, the difference of many commits is found like that of one. Where most rows were touched, one walk over
/// all of them takes less time than to look each up; a result that comes or goes as a whole is walked over and that is all.
extension ResultsDifference {
  init(from old: ResultsSnapshot, to new: ResultsSnapshot, touched: some Collection<ResultsTouch>) {
    (countBefore, countAfter) = (old.count, new.count)
    guard !old.isEmpty, !new.isEmpty else {
      if old.isEmpty { addAll(of: new, after: old) } else { removeAll(of: old) }
      return
    }
    let places = (before: RowPlaces(old, touched: touched.count), after: RowPlaces(new, touched: touched.count))
    var search = DifferenceSearch()
    for touch in touched { search.add(touch, places.before, places.after) }
    let moved = search.moved()

    sections = search.sections(old, new)
    objects += search.leaving.reversed().compactMap { place in
      place.stays == nil ? .removed(place.id, from: place.position) : nil
    }
    objects += search.coming.compactMap { place in
      place.stays == nil ? .inserted(place.id, at: place.position) : nil
    }
    let staying = (search.coming.compactMap(\.stays) + search.still).sorted { $0.new < $1.new }
    objects += staying.compactMap { object in
      moved.contains(object.touch.id)
        ? .moved(object.touch.id, from: object.old, to: object.new, properties: object.touch.changedProperties) : nil
    }
    objects += staying.compactMap { object in
      moved.contains(object.touch.id) || !object.touch.isChanged
        ? nil : .updated(object.touch.id, from: object.old, at: object.new, properties: object.touch.properties)
    }
  }
}

/// Results that come or go as a whole: their rows stand in order already.
extension ResultsDifference {
  private mutating func addAll(of new: ResultsSnapshot, after old: ResultsSnapshot) {
    if new.order.hasSections {
      // Before the first result there was one section.
      if !old.isFetched { sections.append(.removed(name: nil, from: 0)) }
      sections += new.sections.enumerated().map { .inserted(name: $0.element.name, at: $0.offset) }
    }
    objects.reserveCapacity(new.count)
    new.forEachRow { row, position in objects.append(.inserted(row.id, at: position)) }
  }

  private mutating func removeAll(of old: ResultsSnapshot) {
    if old.order.hasSections {
      sections = old.sections.enumerated().reversed().map { .removed(name: $0.element.name, from: $0.offset) }
    }
    objects.reserveCapacity(old.count)
    old.forEachRow { row, position in objects.append(.removed(row.id, from: position)) }
    objects.reverse()
  }
}

/// Where the rows of a snapshot stand.
private struct RowPlaces {
  /// A walk over so many rows takes as long as looking one up.
  private static let rowsForALookup = 8

  let snapshot: ResultsSnapshot
  /// Of all rows, when many are asked for.
  private var all: [ObjectID: (row: ResultsRow, position: ResultsPosition)]?

  init(_ snapshot: ResultsSnapshot, touched: Int) {
    self.snapshot = snapshot
    guard touched >= 64, touched >= snapshot.count / Self.rowsForALookup else { return }
    var all = [ObjectID: (row: ResultsRow, position: ResultsPosition)](minimumCapacity: snapshot.count)
    snapshot.forEachRow { row, position in all[row.id] = (row, position) }
    self.all = all
  }

  /// Nil when the row does not stand there.
  func position(of row: ResultsRow) -> ResultsPosition? {
    guard let all else { return snapshot.position(of: row) }
    guard let found = all[row.id], snapshot.order.isSamePlace(found.row, row) else { return nil }
    return found.position
  }
}

extension ResultsTouch {
  fileprivate var id: ObjectID { after?.id ?? before?.id ?? ObjectID(key: .zero, entity: 0) }

  /// An object that only what it refers to has moved has no changed property.
  fileprivate var changedProperties: Set<PropertyNumber>? { isChanged ? properties : [] }
}

/// The objects that were touched, by where they stood and stand.
private struct DifferenceSearch {
  /// An object that was in the result and is.
  struct Staying {
    let touch: ResultsTouch
    let old: ResultsPosition
    let new: ResultsPosition
    let isSameSection: Bool
  }

  struct Place {
    let id: ObjectID
    let row: ResultsRow
    let position: ResultsPosition
    /// Nil for one that was removed or inserted.
    let stays: Staying?
  }

  /// Whose old places are given up, or may be: removed ones, and those whose values moved.
  private(set) var leaving = [Place]()
  /// Whose new places are taken, or may be.
  private(set) var coming = [Place]()
  /// Whose place can't have changed.
  private(set) var still = [Staying]()

  mutating func add(_ touch: ResultsTouch, _ old: RowPlaces, _ new: RowPlaces) {
    let before = touch.before.flatMap { row in old.position(of: row).map { (row, $0) } }
    let after = touch.after.flatMap { row in new.position(of: row).map { (row, $0) } }
    let order = new.snapshot.order
    var stays: Staying?
    if let before, let after {
      let object = Staying(
        touch: touch, old: before.1, new: after.1, isSameSection: order.isSameSection(before.0, after.0))
      if order.isSamePlace(before.0, after.0) { return still.append(object) }
      stays = object
    }
    if let before { leaving.append(Place(id: before.0.id, row: before.0, position: before.1, stays: stays)) }
    if let after { coming.append(Place(id: after.0.id, row: after.0, position: after.1, stays: stays)) }
  }

  /// Of the objects that stay, those that stand elsewhere among the others. Their section is another one; or so many rows
  /// that nobody touched lie before them as did not; or they have overtaken one of their own kind, and of these as few as
  /// can be count as moved.
  mutating func moved() -> Set<ObjectID> {
    leaving.sort { $0.position < $1.position }
    coming.sort { $0.position < $1.position }
    let oldGaps = Self.gaps(leaving)
    var moved = Set<ObjectID>()
    var candidates = [Staying]()
    for (place, gap) in zip(coming, Self.gaps(coming).map(\.gap)) {
      guard let object = place.stays else { continue }
      // Both lists are sorted, so that the old gap is found by its place.
      let index = oldGaps.firstPlace { $0.position >= object.old }
      if object.isSameSection, oldGaps[index].gap == gap { candidates.append(object) } else { moved.insert(place.id) }
    }
    var start = 0
    while start < candidates.count {
      let end =
        candidates[start...].firstIndex { $0.new.section != candidates[start].new.section } ?? candidates.count
      let stands = OrderMoves.longestRise(candidates[start..<end].map(\.old.row))
      for (index, object) in candidates[start..<end].enumerated() where !stands[index] {
        moved.insert(object.touch.id)
      }
      start = end
    }
    return moved
  }

  /// For each place, how many rows of its section lie before it that are none of the places.
  private static func gaps(_ places: [Place]) -> [(position: ResultsPosition, gap: Int)] {
    var (section, seen) = (-1, 0)
    return places.map { place in
      if place.position.section != section { (section, seen) = (place.position.section, 0) }
      defer { seen += 1 }
      return (place.position, place.position.row - seen)
    }
  }

  // MARK: - Sections

  func sections(_ old: ResultsSnapshot, _ new: ResultsSnapshot) -> [ResultsSectionChange] {
    guard new.order.hasSections else { return [] }
    var changes = [ResultsSectionChange]()
    var last = -1
    for place in leaving.reversed() where place.position.section != last {
      last = place.position.section
      guard new.section(of: place.row) == nil else { continue }
      changes.append(.removed(name: old.section(of: place.row)?.name ?? nil, from: last))
    }
    last = -1
    for place in coming where place.position.section != last {
      last = place.position.section
      guard old.section(of: place.row) == nil else { continue }
      changes.append(.inserted(name: new.section(of: place.row)?.name ?? nil, at: last))
    }
    return changes
  }
}
