/// A 64-bit checksum over steps of eight bytes. Every step is a bijection, so a change within one step's bytes always
/// changes the sum. It detects corruption, not forgery.
public struct Checksum: Sendable {
  /// The initial seed; passing another sum as the seed chains the two.
  public static let seed: UInt64 = 0xCBF2_9CE4_8422_2325

  /// The checksum of the bytes and their count.
  /// - Parameter seed: the sum to continue.
  public static func of(_ bytes: [UInt8], seed: UInt64 = Self.seed) -> UInt64 {
    bytes.withUnsafeBytes { of($0, seed: seed) }
  }

  /// The checksum of the bytes and their count, without a copy.
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
    // Without the count, trailing zeros would not change the sum.
    return step(sum, UInt64(bytes.count))
  }

  private static func step(_ sum: UInt64, _ word: UInt64) -> UInt64 {
    let product = (sum ^ word) &* 0x9E37_79B9_7F4A_7C15
    return product ^ product >> 32
  }
}
