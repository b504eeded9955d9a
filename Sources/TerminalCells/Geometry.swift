/// A place on the screen, counted in cells from the top left corner, which is 0, 0.
public struct Point: Hashable, Sendable {
  /// Columns from the left.
  public var x: Int
  /// Rows from the top.
  public var y: Int

  /// A place; negative ones are left of and above the screen.
  public init(x: Int, y: Int) {
    self.x = x
    self.y = y
  }
}

/// How many columns and rows something has.
public struct Size: Hashable, Sendable {
  /// Columns.
  public var width: Int
  /// Rows.
  public var height: Int

  /// A size; what is negative counts as 0.
  public init(width: Int, height: Int) {
    self.width = max(0, width)
    self.height = max(0, height)
  }
}

/// A rectangle of cells. It may lie anywhere, off the screen too.
public struct Rect: Hashable, Sendable {
  /// Its top left cell.
  public var origin: Point
  /// Its columns and rows.
  public var size: Size

  /// A rectangle of a place and a size.
  public init(origin: Point, size: Size) {
    self.origin = origin
    self.size = size
  }

  /// A rectangle of four numbers, in cells.
  public init(x: Int, y: Int, width: Int, height: Int) {
    self.init(origin: Point(x: x, y: y), size: Size(width: width, height: height))
  }

  /// The leftmost column.
  public var minX: Int { origin.x }
  /// The topmost row.
  public var minY: Int { origin.y }
  /// The column behind the rightmost one.
  public var maxX: Int { origin.x + size.width }
  /// The row below the lowest one.
  public var maxY: Int { origin.y + size.height }
  /// True if it holds no cell.
  public var isEmpty: Bool { size.width == 0 || size.height == 0 }

  /// True if the cell at `point` belongs to it.
  public func contains(_ point: Point) -> Bool {
    point.x >= minX && point.x < maxX && point.y >= minY && point.y < maxY
  }

  /// The cells of both; empty where they don't meet.
  public func intersection(_ other: Rect) -> Rect {
    let x = max(minX, other.minX)
    let y = max(minY, other.minY)
    return Rect(x: x, y: y, width: min(maxX, other.maxX) - x, height: min(maxY, other.maxY) - y)
  }

  /// The smallest one that holds the cells of both.
  public func union(_ other: Rect) -> Rect {
    if isEmpty { return other }
    if other.isEmpty { return self }
    let x = min(minX, other.minX)
    let y = min(minY, other.minY)
    return Rect(x: x, y: y, width: max(maxX, other.maxX) - x, height: max(maxY, other.maxY) - y)
  }

  /// The same size elsewhere: `x` columns to the right, `y` rows down.
  public func moved(x: Int, y: Int) -> Rect {
    Rect(origin: Point(x: origin.x + x, y: origin.y + y), size: size)
  }

  /// What is left when a frame of `amount` cells is taken away on every side; a negative amount grows it.
  public func inset(_ amount: Int) -> Rect {
    Rect(
      x: minX + amount, y: minY + amount, width: size.width - 2 * amount, height: size.height - 2 * amount)
  }
}
