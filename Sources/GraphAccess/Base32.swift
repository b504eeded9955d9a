// Tests: AccessTokenTests.swift

/// Base32 in lower case (RFC 4648, without padding). A double click selects the complete text, and no two characters
/// look alike.
enum Base32 {
  private static let alphabet = Array("abcdefghijklmnopqrstuvwxyz234567".utf8)

  /// The number of characters for `count` bytes.
  static func length(ofBytes count: Int) -> Int { (count * 8 + 4) / 5 }

  static func text(_ bytes: [UInt8]) -> String {
    var (characters, bits, count) = ([UInt8](), UInt32(0), 0)
    for byte in bytes {
      bits = bits << 8 | UInt32(byte)
      count += 8
      while count >= 5 {
        count -= 5
        characters.append(alphabet[Int(bits >> UInt32(count) & 31)])
      }
    }
    if count > 0 { characters.append(alphabet[Int(bits << UInt32(5 - count) & 31)]) }
    assert(characters.count == length(ofBytes: bytes.count), "each five bits are a character")
    return String(decoding: characters, as: UTF8.self)
  }

  /// The bytes of a text; nil if it has a character outside the alphabet, or if the bits after its last byte are not
  /// zero.
  static func bytes(_ text: Substring.UTF8View) -> [UInt8]? {
    var (bytes, bits, count) = ([UInt8](), UInt32(0), 0)
    for character in text {
      let value: UInt8
      switch character {
      case UInt8(ascii: "a")...UInt8(ascii: "z"): value = character - UInt8(ascii: "a")
      case UInt8(ascii: "2")...UInt8(ascii: "7"): value = character - UInt8(ascii: "2") + 26
      default: return nil
      }
      bits = bits << 5 | UInt32(value)
      count += 5
      if count >= 8 {
        count -= 8
        bytes.append(UInt8(bits >> UInt32(count) & 255))
      }
    }
    return count < 5 && bits & (1 << UInt32(count) - 1) == 0 ? bytes : nil
  }
}
