/// The line style of a box.
public enum BoxLines: Hashable, Sendable {
  /// `┌─┐`
  case light
  /// `╭─╮`
  case rounded
  /// `┏━┓`
  case heavy
  /// `╔═╗`
  case double
  /// `+-+`, for terminals without box-drawing characters.
  case ascii

  /// Top left, top right, bottom left, bottom right, horizontal, vertical.
  var scalars: [Unicode.Scalar] {
    switch self {
    case .light: ["┌", "┐", "└", "┘", "─", "│"]
    case .rounded: ["╭", "╮", "╰", "╯", "─", "│"]
    case .heavy: ["┏", "┓", "┗", "┛", "━", "┃"]
    case .double: ["╔", "╗", "╚", "╝", "═", "║"]
    case .ascii: ["+", "+", "+", "+", "-", "|"]
    }
  }
}

/// Drawing. All methods clip to the grid and to `clip`, and accept positions outside.
extension Grid {
  private func inside(_ clip: Rect?) -> Rect { clip.map { bounds.intersection($0) } ?? bounds }

  /// Draws a text in one line and returns the column after it. Line breaks are drawn as symbols; use `TextLayout` for
  /// rows.
  @discardableResult
  public mutating func draw(_ text: some StringProtocol, x: Int, y: Int, _ style: Style = .standard, clip: Rect? = nil)
    -> Int
  {
    let clip = inside(clip)
    let style = style.bits
    // Most rows are plain ASCII, one cell per byte.
    if let end = text.utf8.withContiguousStorageIfAvailable({ drawPlain($0, x: x, y: y, style, clip) }) ?? nil {
      return end
    }
    var x = x
    for character in text {
      CellText.eachGlyph(of: character) { glyph in
        let width = glyph.width
        put(glyph, width: width, x: x, y: y, style: style, clip: clip)
        x += width
      }
    }
    return x
  }

  /// Draws printable ASCII; returns nil, without drawing, if there is any other character.
  private mutating func drawPlain(
    _ letters: UnsafeBufferPointer<UInt8>, x: Int, y: Int, _ style: UInt64, _ clip: Rect
  ) -> Int? {
    guard letters.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) else { return nil }
    let end = x + letters.count
    if y >= clip.minY, y < clip.maxY {
      for place in max(x, clip.minX)..<max(x, clip.minX, min(end, clip.maxX)) {
        put(Glyph(bits: UInt64(letters[place - x])), width: 1, x: place, y: y, style: style, clip: clip)
      }
    }
    return end
  }

  /// Fills a rectangle with a narrow character; a wide or invisible one is replaced by a blank.
  public mutating func fill(
    _ rect: Rect, with character: Character = " ", _ style: Style = .standard, clip: Rect? = nil
  ) {
    let area = inside(clip).intersection(rect)
    guard !area.isEmpty else { return }
    let glyphs = CellText.glyphs(of: character)
    let glyph = glyphs.count == 1 && glyphs[0].width == 1 ? glyphs[0] : .space
    let cell = Cell(glyph, style: style.bits, .whole)
    for y in area.minY..<area.maxY {
      let row = y * size.width
      // Only the ends of the row can split a wide character.
      put(glyph, width: 1, x: area.minX, y: y, style: cell.styleBits, clip: area)
      put(glyph, width: 1, x: area.maxX - 1, y: y, style: cell.styleBits, clip: area)
      for index in row + area.minX..<row + area.maxX { cells[index] = cell }
    }
  }

  /// Draws the border of a rectangle, one cell wide; nothing if the rectangle has fewer than two rows or columns.
  public mutating func box(_ rect: Rect, _ lines: BoxLines = .light, _ style: Style = .standard, clip: Rect? = nil) {
    guard rect.size.width >= 2, rect.size.height >= 2 else { return }
    let clip = inside(clip)
    let glyphs = lines.scalars.map(Glyph.init)
    let look = style.bits
    let (right, bottom) = (rect.maxX - 1, rect.maxY - 1)
    put(glyphs[0], width: 1, x: rect.minX, y: rect.minY, style: look, clip: clip)
    put(glyphs[1], width: 1, x: right, y: rect.minY, style: look, clip: clip)
    put(glyphs[2], width: 1, x: rect.minX, y: bottom, style: look, clip: clip)
    put(glyphs[3], width: 1, x: right, y: bottom, style: look, clip: clip)
    for x in max(rect.minX + 1, clip.minX)..<max(rect.minX + 1, clip.minX, min(right, clip.maxX)) {
      put(glyphs[4], width: 1, x: x, y: rect.minY, style: look, clip: clip)
      put(glyphs[4], width: 1, x: x, y: bottom, style: look, clip: clip)
    }
    for y in max(rect.minY + 1, clip.minY)..<max(rect.minY + 1, clip.minY, min(bottom, clip.maxY)) {
      put(glyphs[5], width: 1, x: rect.minX, y: y, style: look, clip: clip)
      put(glyphs[5], width: 1, x: right, y: y, style: look, clip: clip)
    }
  }

  /// Changes the style of a rectangle's cells and keeps their glyphs. A wide character that is half inside is changed
  /// completely.
  public mutating func restyle(_ rect: Rect, clip: Rect? = nil, _ change: (inout Style) -> Void) {
    let area = inside(clip).intersection(rect)
    guard !area.isEmpty else { return }
    // Adjacent cells usually have the same style.
    var known: (from: UInt64, to: UInt64)?
    for y in area.minY..<area.maxY {
      let row = y * size.width
      let low = cells[row + area.minX].isContinuation ? area.minX - 1 : area.minX
      let high = cells[row + area.maxX - 1].isWide ? area.maxX + 1 : area.maxX
      for index in row + low..<row + high {
        let from = cells[index].styleBits
        if known?.from != from {
          var style = cells[index].style
          change(&style)
          known = (from, style.bits)
        }
        if let known { cells[index] = cells[index].styled(known.to) }
      }
    }
  }

  /// Darkens and dims a rectangle, as a shadow over its contents; less on a light background, where shading is more
  /// visible.
  public mutating func shade(_ rect: Rect, clip: Rect? = nil) {
    let black = Color.rgb(0, 0, 0)
    restyle(rect, clip: clip) { style in
      let isLight = style.background.contrast(with: black).map { $0 > 7 } == true
      style.foreground = style.foreground.mixed(with: black, 0.5)
      style.background = style.background.mixed(with: black, isLight ? 0.25 : 0.5)
      style.attributes.insert(.dim)
    }
  }

  /// Draws the shadow of a rectangle: one row below it and two columns to its right.
  public mutating func shadow(of rect: Rect, clip: Rect? = nil) {
    shade(Rect(x: rect.maxX, y: rect.minY + 1, width: 2, height: rect.size.height), clip: clip)
    shade(Rect(x: rect.minX + 2, y: rect.maxY, width: rect.size.width - 2, height: 1), clip: clip)
  }
}
