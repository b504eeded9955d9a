/// The terminal's cursor position and style between two cells. All changes of them go through the pen, which writes
/// the shortest sequences.
struct Pen: Sendable {
  var bytes: [UInt8] = []
  /// Nil if unknown: initially, after the last column, and after a glyph whose width differs between terminals.
  private(set) var cursor: Point?
  /// The cursor's row, if only its column is unknown.
  private var row: Int?
  /// The style of the cell drawn last, before it was mapped to the color depth; nil if unknown.
  private(set) var styleBits: UInt64?
  private var style: Style?

  mutating func forget() {
    cursor = nil
    row = nil
    style = nil
    styleBits = nil
  }

  mutating func put(_ text: StaticString) {
    text.withUTF8Buffer { bytes.append(contentsOf: $0) }
  }

  private mutating func put(_ number: Int) {
    assert(number >= 0, "a parameter of a control sequence has no sign")
    if number >= 10 { put(number / 10) }
    bytes.append(UInt8(0x30 + number % 10))
  }

  /// Draws a glyph at the cursor.
  mutating func show(_ glyph: Glyph, columns: Int, isLast: Bool) {
    if glyph.bits < 0x80 {
      bytes.append(UInt8(glyph.bits))
    } else {
      bytes.append(contentsOf: UTF8.encode(glyph.base) ?? UTF8.encodedReplacementCharacter)
      if let mark = glyph.marks.0, let coded = UTF8.encode(mark) { bytes.append(contentsOf: coded) }
      if let mark = glyph.marks.1, let coded = UTF8.encode(mark) { bytes.append(contentsOf: coded) }
    }
    if isLast || glyph.isDoubtful {
      cursor = nil
    } else if let known = cursor {
      cursor = Point(x: known.x + columns, y: known.y)
    }
  }

  private mutating func column(_ x: Int) {
    put("\u{1B}[")
    put(x + 1)
    bytes.append(0x47)
  }

  mutating func move(to target: Point) {
    if cursor == target { return }
    defer {
      cursor = target
      row = target.y
    }
    guard let from = cursor else { return row == target.y ? column(target.x) : place(target) }
    if from.y == target.y {
      // Relative moves to column 0 or within 9 columns are shorter than absolute ones.
      if target.x == 0 {
        bytes.append(0x0D)
      } else if target.x < from.x, from.x - target.x <= 3 {
        for _ in target.x..<from.x { bytes.append(0x08) }
      } else {
        let (distance, letter): (Int, UInt8) =
          target.x > from.x ? (target.x - from.x, 0x43) : (from.x - target.x, 0x44)
        if Self.digits(distance) < Self.digits(target.x + 1) || distance == 1 {
          put("\u{1B}[")
          if distance > 1 { put(distance) }
          bytes.append(letter)
        } else {
          column(target.x)
        }
      }
    } else if target.x == 0, target.y == from.y + 1 {
      put("\r\n")
    } else if target.x == from.x, abs(target.y - from.y) < 10 {
      let distance = abs(target.y - from.y)
      put("\u{1B}[")
      if distance > 1 { put(distance) }
      bytes.append(target.y > from.y ? 0x42 : 0x41)
    } else {
      place(target)
    }
  }

  private mutating func place(_ target: Point) {
    put("\u{1B}[")
    put(target.y + 1)
    if target.x > 0 {
      put(";")
      put(target.x + 1)
    }
    put("H")
  }

  private static func digits(_ number: Int) -> Int { number < 10 ? 1 : number < 100 ? 2 : number < 1000 ? 3 : 4 }

  /// Selects a style; `bits` are the cell's own, so that the next cell with the same style needs no mapping.
  mutating func set(_ next: Style, bits: UInt64 = 0) {
    styleBits = bits
    if next == style { return }
    defer { style = next }
    let whole = Self.parameters(from: .standard, to: next)
    guard let style else { return select([0] + whole) }
    let change = Self.parameters(from: style, to: next)
    if next == .standard {
      put("\u{1B}[m")
    } else {
      select(Self.length([0] + whole) < Self.length(change) ? [0] + whole : change)
    }
  }

  private mutating func select(_ parameters: [Int]) {
    put("\u{1B}[")
    for (place, parameter) in parameters.enumerated() {
      if place > 0 { put(";") }
      put(parameter)
    }
    put("m")
  }

  private static func length(_ parameters: [Int]) -> Int { parameters.reduce(0) { $0 + digits($1) + 1 } }

  private static func parameters(from: Style, to: Style) -> [Int] {
    var found = [Int]()
    let gone = from.attributes.subtracting(to.attributes)
    var come = to.attributes.subtracting(from.attributes)
    if !gone.isDisjoint(with: [.bold, .dim]) {
      // 22 resets both bold and dim.
      found.append(22)
      come.formUnion(to.attributes.intersection([.bold, .dim]))
    }
    if gone.contains(.italic) { found.append(23) }
    if gone.contains(.underline) { found.append(24) }
    if gone.contains(.reverse) { found.append(27) }
    if come.contains(.bold) { found.append(1) }
    if come.contains(.dim) { found.append(2) }
    if come.contains(.italic) { found.append(3) }
    if come.contains(.underline) { found.append(4) }
    if come.contains(.reverse) { found.append(7) }
    if from.foreground != to.foreground { found += color(to.foreground, 30, bright: 90) }
    if from.background != to.background { found += color(to.background, 40, bright: 100) }
    return found
  }

  private static func color(_ color: Color, _ base: Int, bright: Int) -> [Int] {
    switch color {
    case .standard: [base + 9]
    case .palette(let index) where index < 8: [base + Int(index)]
    case .palette(let index) where index < 16: [bright + Int(index) - 8]
    case .palette(let index): [base + 8, 5, Int(index)]
    case .rgb(let red, let green, let blue): [base + 8, 2, Int(red), Int(green), Int(blue)]
    }
  }
}
