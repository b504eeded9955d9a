/// A partial UTF-8 character, validated byte by byte. An invalid byte ends it at once, so that an invalid sequence
/// becomes one replacement character, as Unicode recommends, and later bytes are unaffected.
struct UTF8CharacterDecoder: Sendable {
  enum DecodeResult {
    case more
    case scalar(Unicode.Scalar)
    /// The byte does not belong to the character.
    case broken
  }

  private var value: UInt32
  private var missing: Int
  /// The valid values of the next byte.
  private var allowed: ClosedRange<UInt8> = 0x80...0xBF

  /// Creates a character from its first byte; nil for a byte that begins none.
  init?(first: UInt8) {
    switch first {
    case 0xC2...0xDF: (value, missing) = (UInt32(first & 0x1F), 1)
    case 0xE0...0xEF: (value, missing) = (UInt32(first & 0x0F), 2)
    case 0xF0...0xF4: (value, missing) = (UInt32(first & 0x07), 3)
    default: return nil
    }
    switch first {
    case 0xE0: allowed = 0xA0...0xBF
    case 0xED: allowed = 0x80...0x9F
    case 0xF0: allowed = 0x90...0xBF
    case 0xF4: allowed = 0x80...0x8F
    default: break
    }
  }

  mutating func receive(_ byte: UInt8) -> DecodeResult {
    guard allowed.contains(byte) else { return .broken }
    allowed = 0x80...0xBF
    value = value << 6 | UInt32(byte & 0x3F)
    missing -= 1
    return missing > 0 ? .more : Unicode.Scalar(value).map(DecodeResult.scalar) ?? .broken
  }
}
