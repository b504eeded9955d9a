/// A message of PostgreSQL's protocol, version 3, and the binary form of values. All numbers are big-endian.
struct PostgresMessage {
  /// The types of array elements, as numbers of PostgreSQL's catalog.
  enum ElementType: Int32 {
    case uuid = 2_950
    case text = 25
    case double = 701
  }

  private let type: Unicode.Scalar?
  private var body = [UInt8]()

  /// - Parameter type: nil for the first message of a connection, which has none.
  init(_ type: Unicode.Scalar? = nil) { self.type = type }

  mutating func add<Number: FixedWidthInteger>(_ number: Number) { body += Self.bytes(number) }

  mutating func add(_ text: String) {
    body += text.utf8
    body.append(0)
  }

  mutating func add(sized value: [UInt8]) {
    add(Int32(value.count))
    body += value
  }

  /// The message with its type and its length, which includes itself.
  var framed: [UInt8] {
    (type.map { [UInt8(ascii: $0)] } ?? []) + Self.bytes(Int32(body.count + 4)) + body
  }

  static func bytes<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
    withUnsafeBytes(of: number.bigEndian) { Array($0) }
  }

  /// Returns an array of one dimension without nulls.
  static func array(of type: ElementType, _ elements: [[UInt8]]) -> [UInt8] {
    var array = PostgresMessage()
    let (dimensions, hasNulls, firstIndex) = (Int32(1), Int32(0), Int32(1))
    for number in [dimensions, hasNulls, type.rawValue, Int32(elements.count), firstIndex] { array.add(number) }
    for element in elements { array.add(sized: element) }
    return array.body
  }
}
