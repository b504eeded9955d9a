/// The part of the DER encoding (X.690) that a self-signed certificate needs. A value is a tag, the length of its
/// content, and the content. A complete X.509 library would make the program an eighth larger.
enum DER {
  static let yes = value(0x01, [0xff])

  static func sequence(_ members: [UInt8]...) -> [UInt8] { value(0x30, members.flatMap { $0 }) }

  static func set(_ member: [UInt8]) -> [UInt8] { value(0x31, member) }

  /// - Parameter bytes: the number, the highest byte first; its sign is the highest bit.
  static func integer(_ bytes: [UInt8]) -> [UInt8] {
    precondition(!bytes.isEmpty, "a number has at least one byte")
    return value(0x02, bytes)
  }

  /// - Parameter unused: the number of bits of the last byte that do not belong to the string.
  static func bitString(_ bytes: [UInt8], unused: UInt8 = 0) -> [UInt8] {
    precondition(unused < 8, "at most seven bits of a byte are unused")
    return value(0x03, [unused] + bytes)
  }

  static func octetString(_ bytes: [UInt8]) -> [UInt8] { value(0x04, bytes) }

  static func utf8String(_ text: String) -> [UInt8] { value(0x0c, Array(text.utf8)) }

  /// An object identifier, for example 2.5.4.3.
  static func identifier(_ first: Int, _ second: Int, _ rest: Int...) -> [UInt8] {
    precondition((0...2).contains(first) && (0..<40).contains(second), "the first two numbers share a byte")
    return value(0x06, [UInt8(first * 40 + second)] + rest.flatMap(base128))
  }

  /// A time of X.509. Years before 2050 have two digits, later ones four.
  /// - Parameter digits: the year, month, day, hour, minute and second, fourteen digits.
  static func time(_ digits: String) -> [UInt8] {
    precondition(digits.utf8.count == 14, "a time has fourteen digits")
    return digits < "2050" ? value(0x17, Array("\(digits.dropFirst(2))Z".utf8)) : value(0x18, Array("\(digits)Z".utf8))
  }

  /// A member of a sequence with a context-specific tag: a number instead of a type.
  static func tagged(_ number: UInt8, isConstructed: Bool = false, _ content: [UInt8]) -> [UInt8] {
    precondition(number < 31, "larger numbers have another form")
    return value((isConstructed ? 0xa0 : 0x80) | number, content)
  }

  private static func value(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
    guard content.count >= 0x80 else { return [tag, UInt8(content.count)] + content }
    let length = withUnsafeBytes(of: content.count.bigEndian) { bytes in Array(bytes.drop { $0 == 0 }) }
    return [tag, 0x80 | UInt8(length.count)] + length + content
  }

  /// Seven bits a byte, the highest first; every byte but the last has the highest bit.
  private static func base128(_ number: Int) -> [UInt8] {
    precondition(number >= 0, "an object identifier has no negative numbers")
    var bytes = [UInt8(number & 0x7f)]
    var rest = number >> 7
    while rest > 0 {
      bytes.insert(UInt8(rest & 0x7f) | 0x80, at: 0)
      rest >>= 7
    }
    return bytes
  }
}
