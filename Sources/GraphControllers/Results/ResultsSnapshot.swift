import GraphModel

/// A position in a result.
public struct ResultsPosition: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// The section's index, from 0.
  public let section: Int
  /// The row's index in its section, from 0.
  public let row: Int
  /// The row's index among all rows, from 0, for a list without sections.
  public let offset: Int

  /// Creates a position; `offset` is the number of rows in earlier sections plus `row`.
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

/// A section of a result, as it was when it was read.
public struct ResultsSection: RandomAccessCollection, Sendable {
  /// The value that its objects share; nil for a result without sections.
  public let name: Value?
  /// The number of rows in earlier sections.
  public let offset: Int
  let rows: RankedSequence<ResultsRow>

  /// Always 0.
  public var startIndex: Int { 0 }
  /// The number of rows.
  public var endIndex: Int { rows.count }
  /// The object at a row, in logarithmic time.
  public subscript(position: Int) -> ObjectID { rows[position].id }
}

/// The ids of a result, in order and in sections: an immutable value, unaffected by later commits. Keeping it costs
/// only the rows that have been removed since.
public struct ResultsSnapshot: RandomAccessCollection, Sendable {
  struct Group: RankedElement {
    let name: Value?
    /// One of its rows, which determines the section's position; nil for the single section of a result without
    /// sections.
    let key: ResultsRow?
    var rows: RankedSequence<ResultsRow>

    var weight: Int { rows.count }
  }

  let order: ResultsOrder
  /// Whether the result has arrived; before, there are one section and no rows.
  public let isFetched: Bool
  /// The revision that it shows: the revision of the last commit that changed it, or of the load.
  public var revision: Revision = 0
  var groups: RankedSequence<Group>

  /// Creates the snapshot of a result that has not arrived.
  public init(awaiting order: ResultsOrder) {
    self.order = order
    isFetched = false
    groups = RankedSequence([Group(name: nil, key: nil, rows: RankedSequence())])
  }

  /// Creates a snapshot of rows in any order.
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

  /// Always 0.
  public var startIndex: Int { 0 }
  /// The number of rows in all sections.
  public var endIndex: Int { groups.weight }

  /// The object at an offset, in logarithmic time.
  public subscript(offset: Int) -> ObjectID {
    let (section, row) = groups.position(atWeight: offset)
    return groups[section].rows[row].id
  }

  /// The object at a row of a section.
  public subscript(section section: Int, row row: Int) -> ObjectID { groups[section].rows[row].id }

  /// The object at a position; its `offset` is ignored.
  public subscript(position: ResultsPosition) -> ObjectID { self[section: position.section, row: position.row] }

  /// The number of sections. Without a section key there is always one, even if it is empty; with a section key no
  /// section is empty.
  public var sectionCount: Int { groups.count }

  /// Returns the section at an index.
  public func section(_ index: Int) -> ResultsSection {
    let group = groups[index]
    return ResultsSection(name: group.name, offset: groups.weight(before: index), rows: group.rows)
  }

  /// All sections in order.
  public var sections: [ResultsSection] {
    var offset = 0
    return groups.map { group in
      defer { offset += group.weight }
      return ResultsSection(name: group.name, offset: offset, rows: group.rows)
    }
  }

  /// Returns the position of an offset.
  public func position(at offset: Int) -> ResultsPosition {
    let (section, row) = groups.position(atWeight: offset)
    return ResultsPosition(section: section, row: row, offset: offset)
  }

  /// Iterates from the first row to the last, in constant time for each.
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

  /// Returns an iterator over the ids of all sections.
  public func makeIterator() -> Iterator { Iterator(self) }
}

// MARK: - Rows

extension ResultsSnapshot {
  /// Returns the index where a row's section is or would be inserted, and the section if it exists.
  private func sectionIndex(of row: ResultsRow) -> (index: Int, group: Group?) {
    guard order.hasSections else { return (0, groups[0]) }
    let index = groups.firstPosition { group in group.key.map { !order.sectionPrecedes($0, row) } != false }
    guard index < groups.count else { return (index, nil) }
    let group = groups[index]
    let isSame = group.key.map { !order.sectionPrecedes(row, $0) } == true
    return (index, isSame ? group : nil)
  }

  private func index(of row: ResultsRow, in rows: RankedSequence<ResultsRow>) -> Int {
    rows.firstPosition { !order.precedes($0, row) }
  }

  /// Returns a row's position; nil if it is not in the snapshot.
  func position(of row: ResultsRow) -> ResultsPosition? {
    let (section, group) = sectionIndex(of: row)
    guard let group else { return nil }
    let index = index(of: row, in: group.rows)
    guard index < group.rows.count, group.rows[index].id == row.id else { return nil }
    return ResultsPosition(section: section, row: index, offset: groups.weight(before: section) + index)
  }

  /// Calls `body` for each row from the first to the last, in constant time for each.
  func forEachRow(_ body: (ResultsRow, ResultsPosition) -> Void) {
    var (section, offset) = (0, 0)
    for group in groups {
      for (index, row) in group.rows.enumerated() {
        body(row, ResultsPosition(section: section, row: index, offset: offset + index))
      }
      (section, offset) = (section + 1, offset + group.rows.count)
    }
  }

  /// Returns the index and the name of a row's section; nil if there is none.
  func section(of row: ResultsRow) -> (index: Int, name: Value?)? {
    let (index, group) = sectionIndex(of: row)
    return group.map { (index, $0.name) }
  }

  mutating func insert(_ row: ResultsRow) {
    let (index, group) = sectionIndex(of: row)
    guard var group else {
      return groups.insert(
        Group(name: order.sectionName(of: row), key: row, rows: RankedSequence([row])), at: index)
    }
    group.rows.insert(row, at: self.index(of: row, in: group.rows))
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
