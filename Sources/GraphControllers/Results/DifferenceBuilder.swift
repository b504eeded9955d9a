import GraphModel

/// Computes a difference from two snapshots and the objects touched between them. It looks up each touched object in
/// both snapshots, so the cost depends on the touched objects, not on the size of the result. It needs no
/// intermediate states: the difference of several commits is computed like that of one. If most rows were touched, it
/// iterates over all rows instead, which is faster than looking up each. If one snapshot is empty, it only iterates
/// over the other.
extension ResultsDifference {
  init(from old: ResultsSnapshot, to new: ResultsSnapshot, touched: some Collection<ResultsRowChange>) {
    (countBefore, countAfter) = (old.count, new.count)
    guard !old.isEmpty, !new.isEmpty else {
      if old.isEmpty { addAll(of: new, after: old) } else { removeAll(of: old) }
      return
    }
    let rows = (
      before: RowPositionLookup(old, touched: touched.count), after: RowPositionLookup(new, touched: touched.count)
    )
    var search = DifferenceBuilder()
    for change in touched { search.add(change, rows.before, rows.after) }
    let moved = search.moved()

    sections = search.sections(old, new)
    objects += search.removals.reversed().compactMap { row in
      row.retained == nil ? .removed(row.id, from: row.position) : nil
    }
    objects += search.insertions.compactMap { row in
      row.retained == nil ? .inserted(row.id, at: row.position) : nil
    }
    let staying = (search.insertions.compactMap(\.retained) + search.unmovedRows).sorted { $0.new < $1.new }
    objects += staying.compactMap { object in
      moved.contains(object.change.id)
        ? .moved(object.change.id, from: object.old, to: object.new, properties: object.change.changedProperties) : nil
    }
    objects += staying.compactMap { object in
      moved.contains(object.change.id) || !object.change.isChanged
        ? nil : .updated(object.change.id, from: object.old, at: object.new, properties: object.change.properties)
    }
  }
}

/// Differences from or to an empty snapshot; the rows are sorted already.
extension ResultsDifference {
  private mutating func addAll(of new: ResultsSnapshot, after old: ResultsSnapshot) {
    if new.order.hasSections {
      // A snapshot of an unfetched result has one section.
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

/// Looks up the positions of rows in a snapshot.
private struct RowPositionLookup {
  /// Iterating over this many rows takes as long as one lookup.
  private static let rowsForALookup = 8

  let snapshot: ResultsSnapshot
  /// All rows by id, if many of them will be looked up.
  private var all: [ObjectID: (row: ResultsRow, position: ResultsPosition)]?

  init(_ snapshot: ResultsSnapshot, touched: Int) {
    self.snapshot = snapshot
    guard touched >= 64, touched >= snapshot.count / Self.rowsForALookup else { return }
    var all = [ObjectID: (row: ResultsRow, position: ResultsPosition)](minimumCapacity: snapshot.count)
    snapshot.forEachRow { row, position in all[row.id] = (row, position) }
    self.all = all
  }

  /// Returns the row's position; nil if the row is not in the snapshot.
  func position(of row: ResultsRow) -> ResultsPosition? {
    guard let all else { return snapshot.position(of: row) }
    guard let found = all[row.id], snapshot.order.isSamePlace(found.row, row) else { return nil }
    return found.position
  }
}

extension ResultsRowChange {
  fileprivate var id: ObjectID { after?.id ?? before?.id ?? ObjectID(key: .zero, entity: 0) }

  /// The changed properties; none if only an object that its position depends on changed.
  fileprivate var changedProperties: Set<PropertyNumber>? { isChanged ? properties : [] }
}

/// Collects the touched objects, by their positions before and after.
private struct DifferenceBuilder {
  /// An object that is in the result before and after.
  struct RetainedRow {
    let change: ResultsRowChange
    let old: ResultsPosition
    let new: ResultsPosition
    let isSameSection: Bool
  }

  struct TouchedRow {
    let id: ObjectID
    let row: ResultsRow
    let position: ResultsPosition
    /// Nil if the object was removed or inserted.
    let retained: RetainedRow?
  }

  /// Positions before the commit of removed objects and of those whose sort values changed.
  private(set) var removals = [TouchedRow]()
  /// Positions after the commit of inserted objects and of those whose sort values changed.
  private(set) var insertions = [TouchedRow]()
  /// Objects whose sort values did not change.
  private(set) var unmovedRows = [RetainedRow]()

  mutating func add(_ change: ResultsRowChange, _ old: RowPositionLookup, _ new: RowPositionLookup) {
    let before = change.before.flatMap { row in old.position(of: row).map { (row, $0) } }
    let after = change.after.flatMap { row in new.position(of: row).map { (row, $0) } }
    let order = new.snapshot.order
    var retained: RetainedRow?
    if let before, let after {
      let object = RetainedRow(
        change: change, old: before.1, new: after.1, isSameSection: order.isSameSection(before.0, after.0))
      if order.isSamePlace(before.0, after.0) { return unmovedRows.append(object) }
      retained = object
    }
    if let before {
      removals.append(TouchedRow(id: before.0.id, row: before.0, position: before.1, retained: retained))
    }
    if let after { insertions.append(TouchedRow(id: after.0.id, row: after.0, position: after.1, retained: retained)) }
  }

  /// Returns the ids of the objects in both snapshots that moved relative to the others.
  ///
  /// An object moved if its section changed, or if the number of rows before it in its section changed. Only rows that
  /// kept their sort values are counted. If the other objects changed their order, the smallest possible set of them
  /// moved.
  mutating func moved() -> Set<ObjectID> {
    removals.sort { $0.position < $1.position }
    insertions.sort { $0.position < $1.position }
    let oldGaps = Self.gaps(removals)
    var moved = Set<ObjectID>()
    var candidates = [RetainedRow]()
    for (row, gap) in zip(insertions, Self.gaps(insertions).map(\.gap)) {
      guard let object = row.retained else { continue }
      // Both lists are sorted, so the old gap is found by binary search.
      let index = oldGaps.firstPlace { $0.position >= object.old }
      if object.isSameSection, oldGaps[index].gap == gap { candidates.append(object) } else { moved.insert(row.id) }
    }
    var start = 0
    while start < candidates.count {
      let end =
        candidates[start...].firstIndex { $0.new.section != candidates[start].new.section } ?? candidates.count
      let isInOrder = ListReorderer.longestIncreasingSubsequence(candidates[start..<end].map(\.old.row))
      for (index, object) in candidates[start..<end].enumerated() where !isInOrder[index] {
        moved.insert(object.change.id)
      }
      start = end
    }
    return moved
  }

  /// For each position, counts the rows before it in its section that are not in the list.
  private static func gaps(_ rows: [TouchedRow]) -> [(position: ResultsPosition, gap: Int)] {
    var (section, seen) = (-1, 0)
    return rows.map { row in
      if row.position.section != section { (section, seen) = (row.position.section, 0) }
      defer { seen += 1 }
      return (row.position, row.position.row - seen)
    }
  }

  // MARK: - Sections

  func sections(_ old: ResultsSnapshot, _ new: ResultsSnapshot) -> [ResultsSectionChange] {
    guard new.order.hasSections else { return [] }
    var changes = [ResultsSectionChange]()
    var last = -1
    for row in removals.reversed() where row.position.section != last {
      last = row.position.section
      guard new.section(of: row.row) == nil else { continue }
      changes.append(.removed(name: old.section(of: row.row)?.name ?? nil, from: last))
    }
    last = -1
    for row in insertions where row.position.section != last {
      last = row.position.section
      guard old.section(of: row.row) == nil else { continue }
      changes.append(.inserted(name: new.section(of: row.row)?.name ?? nil, at: last))
    }
    return changes
  }
}
