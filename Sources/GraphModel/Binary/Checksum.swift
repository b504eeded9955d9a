/// A checksum of 64 bits, eight bytes at a step: every step is a bijection, so a change within one step's bytes always
/// changes the sum. It guards against decay, not against forgery.
public struct Checksum: Sendable {
  /// Where a sum begins; another sum as the seed chains the two.
  public static let seed: UInt64 = 0xCBF2_9CE4_8422_2325

  /// The sum of bytes, their count included.
  /// - Parameter seed: a sum to continue.
  public static func of(_ bytes: [UInt8], seed: UInt64 = Self.seed) -> UInt64 {
    bytes.withUnsafeBytes { of($0, seed: seed) }
  }

  /// The same, of bytes where they lie.
  public static func of(_ bytes: UnsafeRawBufferPointer, seed: UInt64 = Self.seed) -> UInt64 {
    var sum = seed
    var offset = 0
    while offset + 8 <= bytes.count {
      sum = step(sum, UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
      offset += 8
    }
    var rest: UInt64 = 0
    for byte in bytes[offset...].reversed() { rest = rest << 8 | UInt64(byte) }
    sum = step(sum, rest)
    // Without the count, zeros at the end would not show.
    return step(sum, UInt64(bytes.count))
  }

  private static func step(_ sum: UInt64, _ word: UInt64) -> UInt64 {
    let product = (sum ^ word) &* 0x9E37_79B9_7F4A_7C15
    return product ^ product >> 32
  }
}
