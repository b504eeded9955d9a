/// Turns the bytes that a terminal sends into events, however they are cut into reads.
///
/// It keeps what is not complete yet, never more than its bounds, and takes anything: what it does not know is passed over
/// up to its end, bytes that are no UTF-8 become replacement characters. A lone escape and the beginning of a sequence
/// look the same, so whoever feeds it looks at `deadlineMilliseconds` after each `feed`; if nothing came for that long,
/// it is told by `deadline()`.
public struct TerminalDecoder: Sendable {
  /// Bytes of a paste that are kept; the rest of a longer one is dropped.
  public static let maximumPaste = 4 << 20
  /// Bytes of a sequence that are looked at; a longer one is passed over up to its end.
  public static let maximumSequence = 256
  /// How long the rest of an escape sequence may take, as long as what has come may be a key by itself.
  public static let sequenceMilliseconds = 50
  /// How long the rest of what is no key by itself may take, a character or a sequence of which digits have come: a line that
  /// loses a packet takes a fifth of a second.
  public static let restMilliseconds = 1_000
  /// How long a paste may fall silent before what has come of it is handed over. Its rest is still part of it, whenever it
  /// comes, for it would be taken for commands; a lone escape ends one that has no end.
  public static let pasteMilliseconds = 2000
  /// How long an escape has to stand alone for that: the end begins with one.
  public static let escapeMilliseconds = 250

  private enum State: Sendable {
    case ground
    /// Behind an escape.
    case escape
    /// Behind `ESC [`: what came since, and whether it was too long.
    case control([UInt8], isTooLong: Bool)
    /// Behind `ESC [ [`, with which Linux's console names F1 to F5.
    case console
    /// Behind `ESC O`: digits of modifiers may come before the letter.
    case single(modifiers: Int)
    /// Behind `ESC [ M`: three bytes of an old mouse report.
    case oldMouse([UInt8])
    /// Behind `ESC ]` (kept) or another string's introducer (not kept).
    case string([UInt8], isKept: Bool, isAfterEscape: Bool)
    /// Within a character.
    case character(PartialCharacter, isAlt: Bool)
    case paste(PasteCollector)
  }

  private var state = State.ground
  private var events: [TerminalEvent] = []
  private var held: MouseButton = .left

  /// A decoder at the beginning of a stream.
  public init() {}

  /// How long to wait for more before `deadline()` is called; nil if nothing is waited for.
  public var deadlineMilliseconds: Int? {
    switch state {
    case .ground: nil
    case .paste(let paste):
      // What was typed instead of the rest is not held back.
      paste.isSilent ? paste.deadlineMilliseconds : Self.pasteMilliseconds
    case .character: Self.restMilliseconds
    case .control(let bytes, _): bytes.isEmpty ? Self.sequenceMilliseconds : Self.restMilliseconds
    default: Self.sequenceMilliseconds
    }
  }

  /// Bytes that are kept for what is not complete yet.
  var keptBytes: Int {
    switch state {
    case .control(let bytes, _), .string(let bytes, _, _), .oldMouse(let bytes): bytes.count
    case .paste(let paste): paste.bytes.count
    default: 0
    }
  }

  /// Takes what the terminal sent and tells what it means.
  public mutating func feed(_ bytes: some Sequence<UInt8>) -> [TerminalEvent] {
    for byte in bytes { take(byte) }
    defer { events.removeAll() }
    return events
  }

  /// Nothing came for `deadlineMilliseconds`: what is waiting is all there is.
  public mutating func deadline() -> [TerminalEvent] {
    switch state {
    case .ground, .oldMouse: break
    case .escape: key(.escape)
    case .control(let bytes, _): if bytes.isEmpty { key(.character("["), .alt) }
    case .single(let modifiers): if modifiers == 0 { key(.character("o"), [.alt, .shift]) }
    case .console: key(.character("["), .alt)
    // Alt and a key, if nothing follows.
    case .string(let bytes, let isKept, _): if bytes.isEmpty, isKept { key(.character("]"), .alt) }
    case .character(_, let isAlt): character("\u{FFFD}", isAlt: isAlt)
    case .paste(var paste):
      guard paste.isSilent, paste.isLoneEscape else {
        if let part = paste.handOver() { events.append(.paste(part)) }
        state = .paste(paste)
        defer { events.removeAll() }
        return events
      }
      key(.escape)
    }
    state = .ground
    defer { events.removeAll() }
    return events
  }

  /// The program is about to end: what has come of a paste is all that there will be.
  public mutating func endPaste() -> [TerminalEvent] {
    guard case .paste = state else { return [] }
    return deadline()
  }

  private mutating func take(_ byte: UInt8) {
    switch state {
    case .ground: ground(byte, isAlt: false)
    case .escape: escape(byte)
    case .control(let bytes, let isTooLong):
      state = .ground
      control(byte, bytes, isTooLong)
    case .console:
      state = .ground
      if (0x41...0x45).contains(byte) { key(.function(Int(byte) - 0x40)) } else { ground(byte, isAlt: false) }
    case .single(let modifiers): single(byte, modifiers)
    case .oldMouse(var bytes):
      state = .ground
      bytes.append(byte)
      if bytes.count == 3 { oldMouse(bytes) } else { state = .oldMouse(bytes) }
    case .string(let bytes, let isKept, let isAfterEscape):
      state = .ground
      string(byte, bytes, isKept, isAfterEscape)
    case .character(var partial, let isAlt):
      switch partial.take(byte) {
      case .more: state = .character(partial, isAlt: isAlt)
      case .scalar(let scalar):
        state = .ground
        character(Character(scalar), isAlt: isAlt)
      case .broken:
        state = .ground
        character("\u{FFFD}", isAlt: isAlt)
        ground(byte, isAlt: false)
      }
    case .paste(var paste):
      state = .ground
      if let event = paste.take(byte) { events.append(.paste(event)) } else { state = .paste(paste) }
    }
  }

  private mutating func ground(_ byte: UInt8, isAlt: Bool) {
    state = .ground
    let alt: Modifiers = isAlt ? .alt : []
    switch byte {
    case 0x1B: state = .escape
    case 0x00: key(.character(" "), alt.union(.control))
    case 0x08, 0x7F: key(.backspace, alt)
    case 0x09: key(.tab, alt)
    case 0x0D: key(.enter, alt)
    case 0x01...0x1A: key(.character(Character(Unicode.Scalar(byte + 0x60))), alt.union(.control))
    case 0x1C...0x1F: key(.character(Character(Unicode.Scalar(byte + 0x40))), alt.union(.control))
    case 0x20...0x7E: character(Character(Unicode.Scalar(byte)), isAlt: isAlt)
    default:
      if let partial = PartialCharacter(first: byte) {
        state = .character(partial, isAlt: isAlt)
      } else {
        character("\u{FFFD}", isAlt: isAlt)
      }
    }
  }

  private mutating func escape(_ byte: UInt8) {
    switch byte {
    case 0x1B: key(.escape)
    case 0x5B: state = .control([], isTooLong: false)
    case 0x4F: state = .single(modifiers: 0)
    case 0x5D: state = .string([], isKept: true, isAfterEscape: false)
    // A device's answer, and other strings. `ESC X` and `ESC ^` stay keys: nothing that is asked is answered by them.
    case 0x50, 0x5F: state = .string([], isKept: false, isAfterEscape: false)
    default: ground(byte, isAlt: true)
    }
  }

  private mutating func single(_ byte: UInt8, _ modifiers: Int) {
    switch byte {
    case 0x30...0x39 where modifiers < 100: state = .single(modifiers: modifiers * 10 + Int(byte) - 0x30)
    default:
      state = .ground
      if let event = ControlSequence.single(byte, modifiers) {
        events.append(.key(event))
      } else if modifiers == 0 {
        key(.character("o"), [.alt, .shift])
        ground(byte, isAlt: false)
      }
    }
  }

  private mutating func control(_ byte: UInt8, _ bytes: [UInt8], _ isTooLong: Bool) {
    switch byte {
    case 0x1B: state = .escape
    case 0x18, 0x1A: break
    case 0x5B where bytes.isEmpty: state = .console
    case 0x4D where bytes.isEmpty: state = .oldMouse([])
    case 0x40...0x7E:
      guard !isTooLong else { return }
      let sequence = ControlSequence(bytes, final: byte)
      if sequence.isPasteStart {
        state = .paste(PasteCollector())
      } else if let event = sequence.event(held: &held) {
        events.append(event)
      }
    case 0x20...0x3F:
      let isTooLong = isTooLong || bytes.count >= Self.maximumSequence
      state = .control(isTooLong ? [] : bytes + [byte], isTooLong: isTooLong)
    default:
      // No terminal sends this: somebody typed, or a line is broken.
      ground(byte, isAlt: false)
    }
  }

  private mutating func string(_ byte: UInt8, _ bytes: [UInt8], _ isKept: Bool, _ isAfterEscape: Bool) {
    if isAfterEscape {
      if byte == 0x5C {
        if isKept { answer(bytes) }
      } else {
        escape(byte)
      }
      return
    }
    switch byte {
    case 0x07: if isKept { answer(bytes) }
    case 0x18, 0x1A: break
    case 0x1B: state = .string(bytes, isKept: isKept, isAfterEscape: true)
    default:
      let isKept = isKept && bytes.count < Self.maximumSequence
      state = .string(isKept ? bytes + [byte] : [], isKept: isKept, isAfterEscape: false)
    }
  }

  private mutating func answer(_ bytes: [UInt8]) {
    if let answer = ControlSequence.background(bytes) { events.append(.answer(answer)) }
  }

  private mutating func oldMouse(_ bytes: [UInt8]) {
    let position = Point(x: max(0, Int(bytes[1]) - 33), y: max(0, Int(bytes[2]) - 33))
    let code = Int(bytes[0]) - 32
    guard code >= 0 else { return }
    if let event = ControlSequence.mouse(code, position, isRelease: code & 0x43 == 3, held: &held) {
      events.append(.mouse(event))
    }
  }

  private mutating func key(_ key: Key, _ modifiers: Modifiers = []) {
    events.append(.key(KeyEvent(key, modifiers)))
  }

  private mutating func character(_ character: Character, isAlt: Bool) {
    events.append(.key(.typed(character, isAlt ? .alt : [])))
  }
}

extension KeyEvent {
  /// A key that writes, with shift as `KeyEvent` has it: in the character alone, or beside a small letter.
  static func typed(_ character: Character, _ modifiers: Modifiers) -> KeyEvent {
    if modifiers.isDisjoint(with: [.control, .alt, .command]) {
      guard modifiers.contains(.shift), character.isLowercase else {
        return KeyEvent(.character(character), modifiers.subtracting(.shift))
      }
      let upper = character.uppercased()
      return KeyEvent(.character(upper.count == 1 ? Character(upper) : character))
    }
    let lower = character.lowercased()
    guard character.isUppercase, lower.count == 1 else { return KeyEvent(.character(character), modifiers) }
    return KeyEvent(.character(Character(lower)), modifiers.union(.shift))
  }
}
