/// A value of a binary property list.
enum PropertyList: Sendable {
  case null
  case bool(Bool)
  case integer(Int64)
  case real(Double)
  case data([UInt8])
  case string(String)
  case array([PropertyList])
  case dictionary([String: PropertyList])
  /// A reference to an object of a keyed archive.
  case reference(Int)

  /// The bytes are not a binary property list, or too deep.
  struct Failure: Error {}

  /// The most values that are nested in each other.
  private static let maximumDepth = 64
  /// The most values in total: values can be used many times, which multiplies them.
  private static let maximumCount = 1_000_000

  /// Parses a binary property list (`bplist00`).
  init(parsing bytes: [UInt8]) throws(Failure) {
    var reader = try Reader(bytes)
    self = try reader.top()
  }

  subscript(key: String) -> PropertyList? { if case .dictionary(let members) = self { members[key] } else { nil } }
  var stringValue: String? { if case .string(let text) = self { text } else { nil } }
  var arrayValue: [PropertyList]? { if case .array(let items) = self { items } else { nil } }
  var referenceValue: Int? { if case .reference(let number) = self { number } else { nil } }
  var integerValue: Int64? {
    switch self {
    case .integer(let number): number
    case .bool(let flag): flag ? 1 : 0
    default: nil
    }
  }

  private struct Reader {
    private let bytes: [UInt8]
    private let referenceSize: Int
    private let root: Int
    /// The offset of each object.
    private let offsets: [Int]
    private var count = 0

    init(_ bytes: [UInt8]) throws(Failure) {
      guard bytes.count >= 40, bytes.starts(with: "bplist0".utf8) else { throw Failure() }
      self.bytes = bytes
      let trailer = bytes.count - 32
      let offsetSize = Int(bytes[trailer + 6])
      referenceSize = Int(bytes[trailer + 7])
      let objects = try Self.number(bytes, trailer + 8, 8)
      root = try Self.number(bytes, trailer + 16, 8)
      let table = try Self.number(bytes, trailer + 24, 8)
      guard (1...8).contains(offsetSize), (1...8).contains(referenceSize), objects <= bytes.count, root < objects,
        table <= trailer, objects * offsetSize <= trailer - table
      else { throw Failure() }
      var offsets = [Int]()
      for place in 0..<objects {
        let offset = try Self.number(bytes, table + place * offsetSize, offsetSize)
        guard offset < table else { throw Failure() }
        offsets.append(offset)
      }
      self.offsets = offsets
    }

    private static func number(_ bytes: [UInt8], _ start: Int, _ size: Int) throws(Failure) -> Int {
      guard start >= 0, start + size <= bytes.count else { throw Failure() }
      let value = bytes[start..<start + size].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      guard let number = Int(exactly: value) else { throw Failure() }
      return number
    }

    mutating func top() throws(Failure) -> PropertyList { try object(root, depth: 0) }

    private mutating func object(_ number: Int, depth: Int) throws(Failure) -> PropertyList {
      count += 1
      guard offsets.indices.contains(number), depth <= PropertyList.maximumDepth, count <= PropertyList.maximumCount
      else { throw Failure() }
      let start = offsets[number]
      let (kind, low) = (bytes[start] >> 4, Int(bytes[start] & 15))
      switch kind {
      case 0x0: return low == 8 ? .bool(false) : low == 9 ? .bool(true) : .null
      case 0x1: return try integer(at: start + 1, size: 1 << low)
      case 0x2, 0x3: return try real(at: start + 1, size: 1 << low)
      case 0x8: return .reference(try Self.number(bytes, start + 1, low + 1))
      default: break
      }
      let (length, content) = try size(start, low)
      switch kind {
      case 0x4: return .data(try slice(content, length))
      case 0x5: return .string(String(decoding: try slice(content, length), as: UTF8.self))
      case 0x6:
        guard length <= bytes.count else { throw Failure() }
        let units = try slice(content, 2 * length)
        return .string(
          String(
            decoding: stride(from: 0, to: units.count, by: 2).map { UInt16(units[$0]) << 8 | UInt16(units[$0 + 1]) },
            as: UTF16.self))
      case 0xA, 0xC: return .array(try items(content, length, depth))
      case 0xD:
        guard length <= bytes.count else { throw Failure() }
        let keys = try items(content, length, depth)
        let values = try items(content + length * referenceSize, length, depth)
        var members = [String: PropertyList]()
        for (key, value) in zip(keys, values) {
          guard let name = key.stringValue else { throw Failure() }
          members[name] = value
        }
        return .dictionary(members)
      default: throw Failure()
      }
    }

    /// The length of an object, and where its content begins.
    private func size(_ start: Int, _ low: Int) throws(Failure) -> (length: Int, content: Int) {
      guard low == 15 else { return (low, start + 1) }
      guard start + 1 < bytes.count, bytes[start + 1] >> 4 == 1 else { throw Failure() }
      let size = 1 << Int(bytes[start + 1] & 15)
      guard size <= 8 else { throw Failure() }
      return (try Self.number(bytes, start + 2, size), start + 2 + size)
    }

    private func slice(_ start: Int, _ count: Int) throws(Failure) -> [UInt8] {
      guard count >= 0, count <= bytes.count, start + count <= bytes.count else { throw Failure() }
      return Array(bytes[start..<start + count])
    }

    private mutating func items(_ start: Int, _ count: Int, _ depth: Int) throws(Failure) -> [PropertyList] {
      guard count <= bytes.count else { throw Failure() }
      var items = [PropertyList]()
      for place in 0..<count {
        let number = try Self.number(bytes, start + place * referenceSize, referenceSize)
        items.append(try object(number, depth: depth + 1))
      }
      return items
    }

    private func integer(at start: Int, size: Int) throws(Failure) -> PropertyList {
      guard size <= 16 else { throw Failure() }
      // Of sixteen bytes the low half counts: no number of a model is that large.
      let part = try slice(start, size).suffix(8)
      return .integer(Int64(bitPattern: part.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }))
    }

    private func real(at start: Int, size: Int) throws(Failure) -> PropertyList {
      let value = try slice(start, size).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      switch size {
      case 4: return .real(Double(Float(bitPattern: UInt32(value))))
      case 8: return .real(Double(bitPattern: value))
      default: throw Failure()
      }
    }
  }
}
