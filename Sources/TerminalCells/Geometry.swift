/// A position in cells, relative to the top left corner of the screen.
public struct Point: Hashable, Sendable {
  /// Columns from the left.
  public var x: Int
  /// Rows from the top.
  public var y: Int

  /// Creates a point; negative coordinates are left of or above the screen.
  public init(x: Int, y: Int) {
    self.x = x
    self.y = y
  }
}

/// A number of columns and rows.
public struct Size: Hashable, Sendable {
  /// Columns.
  public var width: Int
  /// Rows.
  public var height: Int

  /// Creates a size; negative numbers count as 0.
  public init(width: Int, height: Int) {
    self.width = max(0, width)
    self.height = max(0, height)
  }
}

/// A rectangle of cells, possibly outside of the screen.
public struct Rect: Hashable, Sendable {
  /// The top left cell.
  public var origin: Point
  /// The columns and rows.
  public var size: Size

  /// Creates a rectangle from a point and a size.
  public init(origin: Point, size: Size) {
    self.origin = origin
    self.size = size
  }

  /// Creates a rectangle from coordinates, in cells.
  public init(x: Int, y: Int, width: Int, height: Int) {
    self.init(origin: Point(x: x, y: y), size: Size(width: width, height: height))
  }

  /// The leftmost column.
  public var minX: Int { origin.x }
  /// The topmost row.
  public var minY: Int { origin.y }
  /// The column after the rightmost one.
  public var maxX: Int { origin.x + size.width }
  /// The row after the lowest one.
  public var maxY: Int { origin.y + size.height }
  /// Whether it has no cells.
  public var isEmpty: Bool { size.width == 0 || size.height == 0 }

  /// Returns whether the cell at `point` is inside.
  public func contains(_ point: Point) -> Bool {
    point.x >= minX && point.x < maxX && point.y >= minY && point.y < maxY
  }

  /// Returns the common cells; empty if there are none.
  public func intersection(_ other: Rect) -> Rect {
    let x = max(minX, other.minX)
    let y = max(minY, other.minY)
    return Rect(x: x, y: y, width: min(maxX, other.maxX) - x, height: min(maxY, other.maxY) - y)
  }

  /// Returns the smallest rectangle that contains both.
  public func union(_ other: Rect) -> Rect {
    if isEmpty { return other }
    if other.isEmpty { return self }
    let x = min(minX, other.minX)
    let y = min(minY, other.minY)
    return Rect(x: x, y: y, width: max(maxX, other.maxX) - x, height: max(maxY, other.maxY) - y)
  }

  /// Returns the rectangle moved by `x` columns to the right and `y` rows down.
  public func moved(x: Int, y: Int) -> Rect {
    Rect(origin: Point(x: origin.x + x, y: origin.y + y), size: size)
  }

  /// Returns the rectangle without a frame of `amount` cells; a negative amount enlarges it.
  public func inset(_ amount: Int) -> Rect {
    Rect(
      x: minX + amount, y: minY + amount, width: size.width - 2 * amount, height: size.height - 2 * amount)
  }
}
