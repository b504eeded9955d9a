/// Decodes the bytes from a terminal into events, regardless of how reads split them.
///
/// It buffers incomplete input within its limits and accepts any bytes: unknown sequences are skipped to their end,
/// and invalid UTF-8 becomes replacement characters. A lone escape and the beginning of a sequence look the same. The
/// caller therefore reads `deadlineMilliseconds` after each `feed`, and calls `deadline()` if no bytes arrived for
/// that long.
public struct TerminalDecoder: Sendable {
  /// The maximum number of bytes in a paste; the rest is dropped.
  public static let maximumPaste = 4 << 20
  /// The maximum number of bytes in a sequence; a longer one is skipped to its end.
  public static let maximumSequence = 256
  /// The timeout for the rest of an escape sequence while the received part may be a key by itself.
  public static let sequenceMilliseconds = 50
  /// The timeout for the rest of input that cannot be a key by itself: a character, or a sequence with digits. A lost
  /// packet delays a connection by a fifth of a second.
  public static let restMilliseconds = 1_000
  /// The timeout within a paste after which its received part is delivered. The rest still belongs to the paste
  /// whenever it arrives, because it could otherwise be interpreted as commands; a lone escape ends a paste without
  /// an end.
  public static let pasteMilliseconds = 2000
  /// The time after which an escape in a paste is a lone one; the end sequence begins with an escape.
  public static let escapeMilliseconds = 250

  private enum State: Sendable {
    case ground
    /// After an escape.
    case escape
    /// After `ESC [`, with the bytes since, and whether they exceeded the limit.
    case control([UInt8], isTooLong: Bool)
    /// After `ESC [ [`, which begins F1 to F5 on the Linux console.
    case console
    /// After `ESC O`: digits of modifiers may precede the letter.
    case single(modifiers: Int)
    /// After `ESC [ M`: the three bytes of an old mouse report.
    case oldMouse([UInt8])
    /// After `ESC ]` (kept) or the introducer of another string (not kept).
    case string([UInt8], isKept: Bool, isAfterEscape: Bool)
    /// Inside a character.
    case character(UTF8CharacterDecoder, isAlt: Bool)
    case paste(PasteCollector)
  }

  private var state = State.ground
  private var events: [TerminalEvent] = []
  private var held: MouseButton = .left

  /// Creates a decoder for a new stream.
  public init() {}

  /// The time to wait for more bytes before calling `deadline()`; nil if the input is complete.
  public var deadlineMilliseconds: Int? {
    switch state {
    case .ground: nil
    case .paste(let paste):
      // Keys typed after an interrupted paste are not delayed for the full timeout.
      paste.isSilent ? paste.deadlineMilliseconds : Self.pasteMilliseconds
    case .character: Self.restMilliseconds
    case .control(let bytes, _): bytes.isEmpty ? Self.sequenceMilliseconds : Self.restMilliseconds
    default: Self.sequenceMilliseconds
    }
  }

  /// The number of bytes buffered for incomplete input.
  var keptBytes: Int {
    switch state {
    case .control(let bytes, _), .string(let bytes, _, _), .oldMouse(let bytes): bytes.count
    case .paste(let paste): paste.bytes.count
    default: 0
    }
  }

  /// Decodes bytes from the terminal and returns the complete events.
  public mutating func feed(_ bytes: some Sequence<UInt8>) -> [TerminalEvent] {
    for byte in bytes { receive(byte) }
    defer { events.removeAll() }
    return events
  }

  /// Decodes incomplete input after no bytes arrived for `deadlineMilliseconds`.
  public mutating func deadline() -> [TerminalEvent] {
    switch state {
    case .ground, .oldMouse: break
    case .escape: key(.escape)
    case .control(let bytes, _): if bytes.isEmpty { key(.character("["), .alt) }
    case .single(let modifiers): if modifiers == 0 { key(.character("o"), [.alt, .shift]) }
    case .console: key(.character("["), .alt)
    // Alt and a key, unless more bytes follow.
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

  /// Returns the received part of an incomplete paste before the program ends.
  public mutating func endPaste() -> [TerminalEvent] {
    guard case .paste = state else { return [] }
    return deadline()
  }

  private mutating func receive(_ byte: UInt8) {
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
      switch partial.receive(byte) {
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
      if let event = paste.receive(byte) { events.append(.paste(event)) } else { state = .paste(paste) }
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
      if let partial = UTF8CharacterDecoder(first: byte) {
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
    // A device's answer and other strings. `ESC X` and `ESC ^` stay keys, because no query is answered with them.
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
      // Terminals do not send this byte here: it was typed, or the line is faulty.
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
  /// Creates a key press with shift as in `KeyEvent`: in the character alone, or as a modifier of a lowercase letter.
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
