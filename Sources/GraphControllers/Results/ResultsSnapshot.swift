import GraphModel

/// A place in a result.
public struct ResultsPosition: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// The section, from 0.
  public let section: Int
  /// The row in its section, from 0.
  public let row: Int
  /// The place among all rows, from 0: what a list without sections goes by.
  public let offset: Int

  /// A place; `offset` is the count of rows in the sections before, and `row` more.
  public init(section: Int, row: Int, offset: Int) {
    self.section = section
    self.row = row
    self.offset = offset
  }

  public static func < (left: ResultsPosition, right: ResultsPosition) -> Bool {
    (left.section, left.row) < (right.section, right.row)
  }

  public var description: String { "\(section).\(row)" }
}

/// One section of a result, as it was when it was asked for.
public struct ResultsSection: RandomAccessCollection, Sendable {
  /// What its objects share; nil where there are no sections.
  public let name: Value?
  /// How many rows lie in the sections before.
  public let offset: Int
  let rows: RankedSequence<ResultsRow>

  /// 0.
  public var startIndex: Int { 0 }
  /// How many rows it has.
  public var endIndex: Int { rows.count }
  /// The object at a row, in logarithmic time.
  public subscript(position: Int) -> ObjectID { rows[position].id }
}

/// The ids of a result in their order, in sections: a value that stays as it is while the result goes on. It costs
/// nothing to keep but the rows that have gone since.
public struct ResultsSnapshot: RandomAccessCollection, Sendable {
  struct Group: Ranked {
    let name: Value?
    /// One of its rows, which says where it stands; nil for the section of a result that has none.
    let key: ResultsRow?
    var rows: RankedSequence<ResultsRow>

    var weight: Int { rows.count }
  }

  let order: ResultsOrder
  /// The result has come; before, there is one section and no row.
  public let isFetched: Bool
  /// The state of the graph that it shows: the last commit that changed it, or the one that it was loaded at.
  public var revision: Revision = 0
  var groups: RankedSequence<Group>

  /// A result that has not come yet.
  public init(awaiting order: ResultsOrder) {
    self.order = order
    isFetched = false
    groups = RankedSequence([Group(name: nil, key: nil, rows: RankedSequence())])
  }

  /// A result of rows in any order.
  init(_ rows: some Sequence<ResultsRow>, order: ResultsOrder, revision: Revision = 0) {
    self.order = order
    self.revision = revision
    isFetched = true
    let sorted = rows.sorted { order.precedes($0, $1) }
    guard order.hasSections else {
      groups = RankedSequence([Group(name: nil, key: nil, rows: RankedSequence(sorted))])
      return
    }
    var found = [Group]()
    var start = 0
    for end in sorted.indices.map({ $0 + 1 }) {
      guard end == sorted.count || order.sectionPrecedes(sorted[start], sorted[end]) else { continue }
      let first = sorted[start]
      found.append(Group(name: order.sectionName(of: first), key: first, rows: RankedSequence(sorted[start..<end])))
      start = end
    }
    groups = RankedSequence(found)
  }

  /// 0.
  public var startIndex: Int { 0 }
  /// How many rows there are in all sections.
  public var endIndex: Int { groups.weight }

  /// The object at an offset, in logarithmic time.
  public subscript(offset: Int) -> ObjectID {
    let (section, row) = groups.position(atWeight: offset)
    return groups[section].rows[row].id
  }

  /// The object at a section's row.
  public subscript(section section: Int, row row: Int) -> ObjectID { groups[section].rows[row].id }

  /// The object at a position; only its section and row count.
  public subscript(position: ResultsPosition) -> ObjectID { self[section: position.section, row: position.row] }

  /// How many sections there are. Without a section key there is one, even if it is empty; with one there is none without
  /// rows.
  public var sectionCount: Int { groups.count }

  /// A section by its place.
  public func section(_ index: Int) -> ResultsSection {
    let group = groups[index]
    return ResultsSection(name: group.name, offset: groups.weight(before: index), rows: group.rows)
  }

  /// All sections in their order.
  public var sections: [ResultsSection] {
    var offset = 0
    return groups.map { group in
      defer { offset += group.weight }
      return ResultsSection(name: group.name, offset: offset, rows: group.rows)
    }
  }

  /// The place of an offset.
  public func position(at offset: Int) -> ResultsPosition {
    let (section, row) = groups.position(atWeight: offset)
    return ResultsPosition(section: section, row: row, offset: offset)
  }

  /// From the first row to the last, in constant time for each.
  public struct Iterator: IteratorProtocol {
    private var groups: RankedSequence<Group>.Iterator
    private var rows = RankedSequence<ResultsRow>().makeIterator()

    init(_ snapshot: ResultsSnapshot) { groups = snapshot.groups.makeIterator() }

    public mutating func next() -> ObjectID? {
      while true {
        if let row = rows.next() { return row.id }
        guard let group = groups.next() else { return nil }
        rows = group.rows.makeIterator()
      }
    }
  }

  /// Over the ids of all sections.
  public func makeIterator() -> Iterator { Iterator(self) }
}

// MARK: - Rows

extension ResultsSnapshot {
  /// Where a row's section is, or would be.
  private func place(ofSectionOf row: ResultsRow) -> (index: Int, group: Group?) {
    guard order.hasSections else { return (0, groups[0]) }
    let index = groups.firstPosition { group in group.key.map { !order.sectionPrecedes($0, row) } ?? true }
    guard index < groups.count else { return (index, nil) }
    let group = groups[index]
    let isSame = group.key.map { !order.sectionPrecedes(row, $0) } ?? false
    return (index, isSame ? group : nil)
  }

  private func place(of row: ResultsRow, in rows: RankedSequence<ResultsRow>) -> Int {
    rows.firstPosition { !order.precedes($0, row) }
  }

  /// Where a row stands; nil when it does not.
  func position(of row: ResultsRow) -> ResultsPosition? {
    let (section, group) = place(ofSectionOf: row)
    guard let group else { return nil }
    let place = place(of: row, in: group.rows)
    guard place < group.rows.count, group.rows[place].id == row.id else { return nil }
    return ResultsPosition(section: section, row: place, offset: groups.weight(before: section) + place)
  }

  /// All rows from the first to the last, in constant time for each.
  func forEachRow(_ body: (ResultsRow, ResultsPosition) -> Void) {
    var (section, offset) = (0, 0)
    for group in groups {
      for (place, row) in group.rows.enumerated() {
        body(row, ResultsPosition(section: section, row: place, offset: offset + place))
      }
      (section, offset) = (section + 1, offset + group.rows.count)
    }
  }

  /// Where the section of a row stands; nil when there is none.
  func section(of row: ResultsRow) -> (index: Int, name: Value?)? {
    let (index, group) = place(ofSectionOf: row)
    return group.map { (index, $0.name) }
  }

  mutating func insert(_ row: ResultsRow) {
    let (index, group) = place(ofSectionOf: row)
    guard var group else {
      return groups.insert(
        Group(name: order.sectionName(of: row), key: row, rows: RankedSequence([row])), at: index)
    }
    group.rows.insert(row, at: place(of: row, in: group.rows))
    groups.replace(at: index, with: group)
  }

  mutating func remove(_ row: ResultsRow) {
    guard let position = position(of: row) else { return }
    var group = groups[position.section]
    group.rows.remove(at: position.row)
    if order.hasSections, group.rows.count == 0 {
      groups.remove(at: position.section)
    } else {
      groups.replace(at: position.section, with: group)
    }
  }
}
