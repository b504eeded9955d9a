import TerminalCells

/// A naive terminal: it interprets the bytes one after the other, and has no notion of grids.
struct NaiveScreen {
  struct Place: Equatable {
    var text = " "
    var style = Style.standard
    var isContinuation = false
  }

  let width: Int
  let height: Int
  var places: [[Place]]
  var cursor = Point(x: 0, y: 0)
  var isCursorShown = true
  var style = Style.standard
  /// Sequences that it does not know, which a frame never contains.
  var unknown: [String] = []
  /// True makes emoji one column wide, as some terminals do.
  var drawsEmojiNarrow = false

  init(_ size: Size) {
    (width, height) = (size.width, size.height)
    places = Array(repeating: Array(repeating: Place(), count: size.width), count: size.height)
  }

  mutating func show(_ bytes: [UInt8]) {
    var rest = Array(String(decoding: bytes, as: UTF8.self).unicodeScalars)[...]
    while let scalar = rest.popFirst() {
      switch scalar {
      case "\u{1B}":
        guard rest.popFirst() == "[" else { return unknown.append("escape") }
        let parameters = String(String.UnicodeScalarView(rest.prefix { $0.value < 0x40 }))
        rest = rest.dropFirst(parameters.unicodeScalars.count)
        control(parameters, rest.popFirst() ?? "?")
      case "\r": cursor.x = 0
      case "\n": cursor.y = min(cursor.y + 1, height - 1)
      case "\u{8}": cursor.x -= 1
      default: put(scalar)
      }
    }
  }

  private mutating func put(_ scalar: Unicode.Scalar) {
    var columns = CellText.width(of: scalar)
    if drawsEmojiNarrow, scalar.value > 0x1F000 { columns = 1 }
    if columns == 0 {
      var x = max(0, cursor.x - 1)
      if places[cursor.y][x].isContinuation { x -= 1 }
      places[cursor.y][x].text.unicodeScalars.append(scalar)
      return
    }
    // The last column holds what is written past it: line wrap is off.
    cursor.x = min(cursor.x, width - columns)
    for x in cursor.x..<cursor.x + columns { part(x) }
    places[cursor.y][cursor.x] = Place(text: String(Character(scalar)), style: style)
    if columns == 2 { places[cursor.y][cursor.x + 1] = Place(text: "", style: style, isContinuation: true) }
    cursor.x += columns
  }

  /// Terminals make blanks of the other half of what is overwritten by half.
  private mutating func part(_ x: Int) {
    if places[cursor.y][x].isContinuation { places[cursor.y][x - 1] = Place() }
    if x + 1 < width, places[cursor.y][x + 1].isContinuation { places[cursor.y][x + 1] = Place() }
    places[cursor.y][x] = Place()
  }

  private mutating func control(_ parameters: String, _ final: Unicode.Scalar) {
    let numbers = parameters.split(separator: ";", omittingEmptySubsequences: false).map { Int($0) ?? 0 }
    let first = numbers.first ?? 0
    switch (final, parameters) {
    case ("H", _): cursor = Point(x: (numbers.count > 1 ? numbers[1] : 1) - 1, y: max(first, 1) - 1)
    case ("G", _): cursor.x = max(first, 1) - 1
    case ("A", _): cursor.y -= max(first, 1)
    case ("B", _): cursor.y += max(first, 1)
    case ("C", _): cursor.x += max(first, 1)
    case ("D", _): cursor.x -= max(first, 1)
    case ("J", "2"): places = Array(repeating: Array(repeating: Place(), count: width), count: height)
    case ("K", ""):
      part(cursor.x)
      for x in cursor.x..<width { places[cursor.y][x] = Place(style: Style(on: style.background)) }
    case ("h", "?25"): isCursorShown = true
    case ("l", "?25"): isCursorShown = false
    case ("h", "?2026"), ("l", "?2026"): break
    case ("m", _): select(numbers.isEmpty ? [0] : numbers)
    default: unknown.append(parameters + String(Character(final)))
    }
  }

  private mutating func select(_ numbers: [Int]) {
    var rest = numbers[...]
    func color() -> Color {
      switch rest.popFirst() {
      case 5: return .palette(UInt8(rest.popFirst() ?? 0))
      default:
        let parts = (0..<3).map { _ in UInt8(rest.popFirst() ?? 0) }
        return .rgb(parts[0], parts[1], parts[2])
      }
    }
    while let number = rest.popFirst() {
      switch number {
      case 0: style = .standard
      case 1: style.attributes.insert(.bold)
      case 2: style.attributes.insert(.dim)
      case 3: style.attributes.insert(.italic)
      case 4: style.attributes.insert(.underline)
      case 7: style.attributes.insert(.reverse)
      case 22: style.attributes.subtract([.bold, .dim])
      case 23: style.attributes.remove(.italic)
      case 24: style.attributes.remove(.underline)
      case 27: style.attributes.remove(.reverse)
      case 30...37: style.foreground = .palette(UInt8(number - 30))
      case 38: style.foreground = color()
      case 39: style.foreground = .standard
      case 40...47: style.background = .palette(UInt8(number - 40))
      case 48: style.background = color()
      case 49: style.background = .standard
      case 90...97: style.foreground = .palette(UInt8(number - 82))
      case 100...107: style.background = .palette(UInt8(number - 92))
      default: unknown.append("\(number)m")
      }
    }
  }

  /// The first cell in which it differs from a grid, in words; nil if it shows the grid.
  func difference(from grid: Grid, _ depth: ColorDepth, skipping skips: (Cell) -> Bool = { _ in false }) -> String? {
    if let what = unknown.first { return "unknown: \(what)" }
    for y in 0..<height {
      for x in 0..<width where !skips(grid[x, y]) {
        let cell = grid[x, y]
        let wanted = Place(text: cell.text, style: depth.nearest(to: cell.style), isContinuation: cell.isContinuation)
        if places[y][x] != wanted { return "\(x),\(y): \(places[y][x]) where \(wanted) should be" }
      }
    }
    if isCursorShown != (grid.cursor != nil) { return "the cursor is\(isCursorShown ? "" : " not") shown" }
    if let wanted = grid.cursor, wanted != cursor { return "the cursor is at \(cursor), not \(wanted)" }
    return nil
  }
}
