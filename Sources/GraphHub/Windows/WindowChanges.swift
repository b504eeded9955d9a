// Tests: SortedResultTests.swift, WindowTests.swift
import GraphModel
import GraphWire

/// The range of positions of an order that a window shows.
struct WindowRange: Hashable, Comparable {
  let offset: Int
  let limit: Int

  var positions: Range<Int> {
    let end = offset.addingReportingOverflow(limit)
    return offset..<(end.overflow ? .max : end.partialValue)
  }

  static func < (left: WindowRange, right: WindowRange) -> Bool {
    (left.offset, left.limit) < (right.offset, right.limit)
  }
}

/// The effect of one commit on one window.
struct WindowChanges {
  var changes: [Delta.Change]
  /// The new number of rows in the whole order; nil when it is unchanged.
  var total: UInt64?
}

/// The effect of one commit on an order and on each of its windows.
///
/// The changes are applied once. Only windows that the changes can have touched are compared: rows before the first and
/// after the last changed position are unchanged.
struct SortedResultTransition {
  private struct Row {
    let change: LiveQueryChange
    /// Whether its sort key has changed.
    let hasMoved: Bool
  }

  private let first: Int
  private let last: Int
  private let countBefore: Int
  private var rows = [ObjectID: Row]()
  private var before = [WindowRange: [ObjectID]]()

  /// Records the rows of the affected windows, then applies the changes.
  init(_ changes: [LiveQueryChange], on order: inout SortedResult, windows: [WindowRange]) {
    var (first, last) = (Int.max, -1)
    for change in changes {
      if let place = order.position(of: change.id) { (first, last) = (min(first, place), max(last, place)) }
      if let image = change.currentImage {
        let place = order.position(for: image)
        (first, last) = (min(first, place), max(last, place - 1))
      }
      rows[change.id] = Row(change: change, hasMoved: change.currentImage.map(order.hasSameKey) == false)
    }
    (self.first, self.last) = (first, last)
    countBefore = order.count
    let change = changes.reduce(0) { count, change in
      let isThere = order.image(of: change.id) != nil
      return count + (change.currentImage == nil ? 0 : 1) - (isThere ? 1 : 0)
    }
    for range in windows where range.positions.upperBound > first && (change != 0 || range.offset <= last) {
      before[range] = order.ids(in: range.positions)
    }
    for change in changes {
      if let image = change.currentImage { order.insert(image) } else { order.remove(change.id) }
    }
  }

  /// The effect on a window; nil when the window has not changed.
  func changes(of range: WindowRange, in order: SortedResult, wholeObjects: Bool) -> WindowChanges? {
    let total = order.count == countBefore ? nil : UInt64(order.count)
    guard let old = before[range] else { return total.map { WindowChanges(changes: [], total: $0) } }
    let images = order.images(in: range.positions)
    let (was, isIn) = (Set(old), Set(images.map(\.id)))
    var changes = [Delta.Change]()
    for id in old where !isIn.contains(id) {
      guard let row = rows[id], row.change.currentImage == nil else {
        // It moved to a position outside the window, or other rows displaced it.
        let image = wholeObjects ? order.image(of: id) : nil
        changes.append(Delta.Change(kind: .removed, id: id, object: image))
        continue
      }
      changes.append(Delta.Change(row.change, wholeObjects: wholeObjects))
    }
    let moves = Self.needMoves(old, images, isIn) { was.contains($0) && rows[$0]?.hasMoved == true }
    for (place, image) in images.enumerated() {
      if !was.contains(image.id) {
        changes.append(Delta.Change(kind: .inserted, id: image.id, object: image, place: UInt64(place)))
      } else if let row = rows[image.id] {
        var change = Delta.Change(row.change, wholeObjects: wholeObjects)
        if change.kind == .inserted || moves && row.hasMoved { change.place = UInt64(place) }
        changes.append(change)
      }
    }
    guard !changes.isEmpty || total != nil else { return nil }
    return WindowChanges(changes: changes, total: total)
  }

  /// Whether the remaining rows have changed their relative order.
  private static func needMoves(
    _ old: [ObjectID], _ images: [ObjectImage], _ isIn: Set<ObjectID>, _ mayMove: (ObjectID) -> Bool
  ) -> Bool {
    let remaining = old.filter { isIn.contains($0) }
    guard remaining.contains(where: mayMove) else { return false }
    let was = Set(remaining)
    return remaining != images.lazy.map(\.id).filter { was.contains($0) }
  }
}

extension LiveQueryChange {
  var id: ObjectID {
    switch self {
    case .inserted(let image), .updated(let image, _, _), .removed(let image, _): image.id
    }
  }

  /// The object in the current result; nil when it was removed.
  var currentImage: ObjectImage? {
    switch self {
    case .inserted(let image), .updated(let image, _, _): image
    case .removed: nil
    }
  }
}
