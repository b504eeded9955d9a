/// A complete control sequence (after `ESC [`), as sent by xterm, the Linux console and rxvt, with modifyOtherKeys
/// and kitty's keyboard protocol.
struct ControlSequence {
  /// `?`, `<`, `>` or nothing.
  private let prefix: UInt8?
  /// The parameters between semicolons, each with its subparameters between colons; an omitted one is nil.
  private let parameters: [[Int?]]
  private let intermediate: UInt8?
  private let final: UInt8

  init(_ bytes: [UInt8], final: UInt8) {
    var rest = bytes[...]
    if let first = rest.first, (0x3C...0x3F).contains(first) {
      prefix = first
      rest.removeFirst()
    } else {
      prefix = nil
    }
    if let last = rest.last, (0x20...0x2F).contains(last) {
      intermediate = last
      rest.removeLast()
    } else {
      intermediate = nil
    }
    parameters = rest.split(separator: 0x3B, omittingEmptySubsequences: false).map { part in
      part.split(separator: 0x3A, omittingEmptySubsequences: false).map { digits in
        digits.isEmpty ? nil : digits.reduce(0) { min($0 * 10 + max(0, Int($1) - 0x30), 0x110000) }
      }
    }
    self.final = final
  }

  private func number(_ place: Int, part: Int = 0) -> Int? {
    place < parameters.count && part < parameters[place].count ? parameters[place][part] : nil
  }

  /// A parameter; `other` if it is omitted.
  private func number(_ place: Int, omitted other: Int) -> Int {
    if let number = number(place) { number } else { other }
  }

  var isPasteStart: Bool { prefix == nil && final == 0x7E && number(0) == 200 }

  /// Returns the event; nil for an ignored sequence.
  func event(held: inout MouseButton) -> TerminalEvent? {
    switch (prefix, final) {
    case (0x3C, 0x4D), (0x3C, 0x6D):
      guard let code = number(0), let x = number(1), let y = number(2) else { return nil }
      return Self.mouse(
        code, Point(x: max(0, x - 1), y: max(0, y - 1)), isRelease: final == 0x6D, held: &held
      ).map(TerminalEvent.mouse)
    case (0x3F, 0x63): return .answer(.attributes)
    case (0x3F, 0x75): return .answer(.keyboard(flags: number(0, omitted: 0)))
    case (0x3F, 0x79) where intermediate == 0x24:
      return .answer(.mode(number(0, omitted: 0), value: number(1, omitted: 0)))
    case (0x3F, 0x52): return cursor
    case (nil, 0x49): return .focus(isGained: true)
    case (nil, 0x4F): return .focus(isGained: false)
    // F3 with modifiers looks like a cursor report for row 1. Queries therefore use another form.
    case (nil, 0x52) where number(0, omitted: 1) != 1 || number(1, omitted: 1) > 16: return cursor
    case (nil, _) where intermediate == nil: return key.map(TerminalEvent.key)
    default: return nil
    }
  }

  private var cursor: TerminalEvent? {
    .answer(.cursor(Point(x: max(0, number(1, omitted: 1) - 1), y: max(0, number(0, omitted: 1) - 1))))
  }

  private var key: KeyEvent? {
    // Kitty's protocol can also report releases.
    if number(1, part: 1) == 3 { return nil }
    let modifiers = Self.modifiers(number(1, omitted: 1))
    switch final {
    case 0x75: return kitty(modifiers)
    case 0x5A: return KeyEvent(.tab, modifiers.union(.shift))
    case 0x7E where number(0) == 27:
      return number(2).flatMap { Self.key(code: $0, shifted: nil, modifiers) }
    case 0x7E: return number(0).flatMap(Self.numbered).map { KeyEvent($0, modifiers) }
    // rxvt: a lowercase letter is an arrow key with shift.
    case 0x61...0x64: return Self.lettered(final - 0x20).map { KeyEvent($0, .shift) }
    default: return Self.lettered(final).map { KeyEvent($0, modifiers) }
    }
  }

  private func kitty(_ modifiers: Modifiers) -> KeyEvent? {
    guard let code = number(0) else { return nil }
    // On a layout without Latin letters, a command is identified by the key's position: Ctrl with the key of `c` is
    // Ctrl-C on every layout. On a Latin layout the letter counts, regardless of its position.
    let isCommand = !modifiers.isDisjoint(with: [.control, .alt, .command])
    let base = isCommand && code > 0x7F && code < 0xE000 ? number(0, part: 2) : nil
    return Self.key(code: base ?? code, shifted: number(0, part: 1), modifiers)
  }

  /// Terminals send the bits plus one. Meta counts as alt; lock keys are ignored.
  private static func modifiers(_ sent: Int) -> Modifiers {
    let bits = max(0, sent - 1)
    return Modifiers(rawValue: UInt8(bits & 0xF)).union(bits & 0x20 != 0 ? .alt : [])
  }

  /// Returns the key with a character's code point, or with kitty's code point in the private-use area.
  private static func key(code: Int, shifted: Int?, _ modifiers: Modifiers) -> KeyEvent? {
    switch code {
    case 8, 127: return KeyEvent(.backspace, modifiers)
    case 9: return KeyEvent(.tab, modifiers)
    case 13, 57414: return KeyEvent(.enter, modifiers)
    case 27: return KeyEvent(.escape, modifiers)
    case 57363: return KeyEvent(.menu, modifiers)
    case 57376...57398: return KeyEvent(.function(code - 57363), modifiers)
    case 57399...57408: return digit(code - 57399, modifiers)
    case 57409...57416:
      let signs: [Character] = [".", "/", "*", "-", "+", "\r", "=", ","]
      return KeyEvent.typed(signs[code - 57409], modifiers)
    case 57417...57426:
      let keys: [Key] = [.left, .right, .up, .down, .pageUp, .pageDown, .home, .end, .insert, .delete]
      return KeyEvent(keys[code - 57417], modifiers)
    case 0xE000...0xF8FF: return nil
    default:
      guard let scalar = Unicode.Scalar(UInt32(code)), code >= 32, !(0x7F...0x9F).contains(code) else { return nil }
      if let shifted, modifiers == .shift, shifted >= 32, let written = Unicode.Scalar(UInt32(shifted)) {
        return KeyEvent(.character(Character(written)))
      }
      return KeyEvent.typed(Character(scalar), modifiers)
    }
  }

  private static func digit(_ digit: Int, _ modifiers: Modifiers) -> KeyEvent {
    KeyEvent.typed(Character(String(digit)), modifiers)
  }

  private static func lettered(_ letter: UInt8) -> Key? {
    switch letter {
    case 0x41: .up
    case 0x42: .down
    case 0x43: .right
    case 0x44: .left
    case 0x46: .end
    case 0x48: .home
    case 0x50...0x53: .function(Int(letter) - 0x4F)
    default: nil
    }
  }

  private static func numbered(_ number: Int) -> Key? {
    switch number {
    case 1, 7: .home
    case 2: .insert
    case 3: .delete
    case 4, 8: .end
    case 5: .pageUp
    case 6: .pageDown
    case 11...15: .function(number - 10)
    case 17...21: .function(number - 11)
    case 23...26: .function(number - 12)
    case 28: .function(15)
    case 29: .menu
    case 31...34: .function(number - 14)
    default: nil
    }
  }

  /// Returns the key of `ESC O` and a letter: arrows in application mode, F1 to F4, and the keypad.
  static func single(_ letter: UInt8, _ sent: Int) -> KeyEvent? {
    let modifiers = Self.modifiers(sent)
    if letter == 0x4D { return KeyEvent(.enter, modifiers) }
    if (0x6A...0x79).contains(letter) { return KeyEvent.typed(Character(Unicode.Scalar(letter - 0x40)), modifiers) }
    return lettered(letter).map { KeyEvent($0, modifiers) }
  }

  /// Decodes a mouse report. `held` is the pressed button, for terminals that do not report which one was released.
  static func mouse(_ code: Int, _ position: Point, isRelease: Bool, held: inout MouseButton) -> MouseEvent? {
    guard code < 256 else { return nil }
    let modifiers = Modifiers(rawValue: (code & 4 != 0 ? 1 : 0) | (code & 8 != 0 ? 2 : 0) | (code & 16 != 0 ? 4 : 0))
    let low = code & 3
    if code & 64 != 0 {
      guard !isRelease else { return nil }
      let directions: [WheelDirection] = [.up, .down, .left, .right]
      return MouseEvent(.wheel(directions[low]), at: position, modifiers)
    }
    let button: MouseButton? =
      code & 128 != 0 ? .other(8 + low) : low == 0 ? .left : low == 1 ? .middle : low == 2 ? .right : nil
    if code & 32 != 0, !isRelease {
      return MouseEvent(button.map(MouseEvent.Kind.drag) ?? .move, at: position, modifiers)
    }
    if isRelease || button == nil { return MouseEvent(.release(button ?? held), at: position, modifiers) }
    held = button ?? held
    return MouseEvent(.press(held), at: position, modifiers)
  }

  /// Decodes `11;rgb:RRRR/GGGG/BBBB`, with one to four digits each.
  static func background(_ bytes: [UInt8]) -> TerminalReply? {
    let parts = String(decoding: bytes, as: UTF8.self).split(separator: ";", omittingEmptySubsequences: false)
    guard parts.count == 2, parts[0] == "11", let colon = parts[1].firstIndex(of: ":"),
      ["rgb", "rgba"].contains(parts[1][..<colon])
    else { return nil }
    let values = parts[1][parts[1].index(after: colon)...].split(separator: "/").prefix(3).map { digits -> UInt8? in
      guard (1...4).contains(digits.count), let value = UInt32(digits, radix: 16) else { return nil }
      return UInt8(value * 255 / (1 << (4 * UInt32(digits.count)) - 1))
    }
    guard values.count == 3, let red = values[0], let green = values[1], let blue = values[2] else { return nil }
    return .background(red: red, green: green, blue: blue)
  }
}
