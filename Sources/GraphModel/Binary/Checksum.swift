/// FNV-1a with 64 bits: every single changed byte changes the sum, and it costs about a nanosecond a byte. It guards
/// against decay, not against forgery.
public struct Checksum: Sendable {
  public private(set) var value: UInt64

  public init(seed: UInt64 = 0xCBF2_9CE4_8422_2325) { value = seed }

  public mutating func add(_ bytes: some Sequence<UInt8>) {
    var value = value
    for byte in bytes { value = (value ^ UInt64(byte)) &* 0x100_0000_01B3 }
    self.value = value
  }

  public static func of(_ bytes: [UInt8], seed: UInt64 = 0xCBF2_9CE4_8422_2325) -> UInt64 {
    var value = seed
    bytes.withUnsafeBufferPointer { for byte in $0 { value = (value ^ UInt64(byte)) &* 0x100_0000_01B3 } }
    return value
  }
}
