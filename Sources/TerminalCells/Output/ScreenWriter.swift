/// Writes grids to a terminal: only the cells that changed since the last grid, with the shortest moves and style
/// changes between them.
///
/// It tracks the terminal's content, so the bytes of every frame must be sent completely and in order. If another
/// program has written to the terminal (a shell, an editor), call `forget` to draw everything once.
public struct ScreenWriter: Sendable {
  /// The number of colors; changing it redraws everything.
  public var depth: ColorDepth { didSet { if depth != oldValue { forget() } } }
  /// Whether the terminal supports synchronized updates (mode 2026), which show each frame at once.
  public var isSynchronizing: Bool

  /// The grid on the terminal; nil if unknown.
  private var shown: Grid?
  private var out: Pen

  /// Creates a writer for a terminal with unknown content.
  public init(depth: ColorDepth, isSynchronizing: Bool = false) {
    self.depth = depth
    self.isSynchronizing = isSynchronizing
    out = Pen()
  }

  /// Draws everything in the next frame, because another program has written to the terminal.
  public mutating func forget() { shown = nil }

  /// Returns the bytes that change the terminal's content to `next`; empty if it is unchanged.
  public mutating func bytes(for next: Grid) -> [UInt8] {
    var before: Grid
    out.bytes.removeAll(keepingCapacity: true)
    if let shown, shown.size == next.size {
      if shown == next { return [] }
      before = shown
    } else {
      out.forget()
      out.set(.standard)
      out.put("\u{1B}[2J")
      before = Grid(next.size)
      out.put("\u{1B}[?25l")
    }
    if before.cursor != nil, before.cells != next.cells {
      out.put("\u{1B}[?25l")
      before.cursor = nil
    }
    before.cells.withUnsafeBufferPointer { old in
      next.cells.withUnsafeBufferPointer { new in
        for row in 0..<next.size.height { write(row, next.size.width, old, new) }
      }
    }
    if let cursor = next.cursor, next.bounds.contains(cursor) {
      out.move(to: cursor)
      if before.cursor == nil { out.put("\u{1B}[?25h") }
    } else if before.cursor != nil {
      out.put("\u{1B}[?25l")
    }
    shown = next
    guard isSynchronizing, !out.bytes.isEmpty else { return out.bytes }
    return Array("\u{1B}[?2026h".utf8) + out.bytes + Array("\u{1B}[?2026l".utf8)
  }

  private mutating func write(
    _ row: Int, _ width: Int, _ old: UnsafeBufferPointer<Cell>, _ new: UnsafeBufferPointer<Cell>
  ) {
    let start = row * width
    var x = 0
    while x < width {
      if old[start + x] == new[start + x] {
        x += 1
        continue
      }
      // If only the right half changed, draw the complete character.
      if new[start + x].isContinuation { x -= 1 }
      if let end = blankFrom(x, start, width, old, new) {
        out.move(to: Point(x: x, y: row))
        out.set(.standard)
        out.put("\u{1B}[K")
        x = end
        continue
      }
      bridge(to: x, row, start, new)
      out.move(to: Point(x: x, y: row))
      let cell = new[start + x]
      if out.styleBits != cell.styleBits { out.set(depth.nearest(to: cell.style), bits: cell.styleBits) }
      let columns = cell.isWide ? 2 : 1
      out.show(Glyph(bits: cell.glyphBits), columns: columns, isLast: x + columns == width)
      x += columns
    }
  }

  /// Returns the row's end if the row becomes blank from `x` on and at least 8 of these cells change; erasing is then
  /// shorter.
  private func blankFrom(
    _ x: Int, _ start: Int, _ width: Int, _ old: UnsafeBufferPointer<Cell>, _ new: UnsafeBufferPointer<Cell>
  ) -> Int? {
    guard new[start + x] == .blank, width - x >= 8 else { return nil }
    var changed = 0
    for place in x..<width {
      if new[start + place] != .blank { return nil }
      if old[start + place] != .blank { changed += 1 }
    }
    return changed >= 8 ? width : nil
  }

  /// Rewrites up to 3 unchanged cells if that is not longer than moving over them.
  private mutating func bridge(to x: Int, _ row: Int, _ start: Int, _ new: UnsafeBufferPointer<Cell>) {
    guard let place = out.cursor, place.y == row, place.x < x, x - place.x <= 3 else { return }
    for between in place.x..<x {
      let cell = new[start + between]
      guard cell.part == .whole, cell.glyphBits < 0x7F, cell.styleBits == out.styleBits else { return }
    }
    for between in place.x..<x { out.show(Glyph(bits: new[start + between].glyphBits), columns: 1, isLast: false) }
  }
}
