/// Turns grids into what makes a terminal show them: only the cells that changed since the last one, with the shortest moves and
/// changes of color between them.
///
/// It knows what the terminal shows because it alone writes to it: the bytes of every frame have to be sent, whole and in
/// order. When something else wrote (a shell, an editor) it is told to `forget`, and draws everything once.
public struct ScreenWriter: Sendable {
  /// How many colors the terminal has; whoever changes it draws everything anew.
  public var depth: ColorDepth { didSet { if depth != oldValue { forget() } } }
  /// True if the terminal said that it knows synchronized updates (mode 2026): a frame is then shown at once, whole.
  public var isSynchronizing: Bool

  /// What the terminal shows; nil if nobody knows.
  private var shown: Grid?
  private var out: Pen

  /// A writer for a terminal of which nothing is known.
  public init(depth: ColorDepth, isSynchronizing: Bool = false) {
    self.depth = depth
    self.isSynchronizing = isSynchronizing
    out = Pen()
  }

  /// The next frame draws everything: something else has written to the terminal.
  public mutating func forget() { shown = nil }

  /// What has to be sent so that the terminal shows `next`; nothing if it does already.
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
      // A change of the right half alone is drawn with its head.
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

  /// The row's end, if from `x` on all of it becomes blank and at least 8 cells of it are not yet: erasing is shorter then.
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

  /// Writes up to 3 unchanged cells again, where that is no longer than to move over them.
  private mutating func bridge(to x: Int, _ row: Int, _ start: Int, _ new: UnsafeBufferPointer<Cell>) {
    guard let place = out.cursor, place.y == row, place.x < x, x - place.x <= 3 else { return }
    for between in place.x..<x {
      let cell = new[start + between]
      guard cell.part == .whole, cell.glyphBits < 0x7F, cell.styleBits == out.styleBits else { return }
    }
    for between in place.x..<x { out.show(Glyph(bits: new[start + between].glyphBits), columns: 1, isLast: false) }
  }
}
