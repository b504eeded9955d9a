/// Decompresses DEFLATE (RFC 1951), without a zlib or gzip header.
struct Inflate {
  /// The data is not DEFLATE, or too long.
  struct Failure: Error {}

  private let input: [UInt8]
  private let limit: Int
  private var position = 0
  private var bits: UInt32 = 0
  private var bitCount = 0
  private var output = [UInt8]()

  private init(_ input: [UInt8], limit: Int) { (self.input, self.limit) = (input, limit) }

  /// - Parameter limit: the maximum size of the result, in bytes.
  static func decompress(_ input: [UInt8], limit: Int) throws(Failure) -> [UInt8] {
    var inflate = Inflate(input, limit: limit)
    while try !inflate.block() {}
    return inflate.output
  }

  /// Reads a block.
  /// - Returns: whether it is the last.
  private mutating func block() throws(Failure) -> Bool {
    let isLast = try take(1) == 1
    switch try take(2) {
    case 0: try copyStored()
    case 1: try decode(Self.fixedLiterals, Self.fixedDistances)
    case 2:
      let (literals, distances) = try readCodes()
      try decode(literals, distances)
    default: throw Failure()
    }
    return isLast
  }

  private mutating func take(_ count: Int) throws(Failure) -> Int {
    while bitCount < count {
      guard position < input.count else { throw Failure() }
      bits |= UInt32(input[position]) << UInt32(bitCount)
      position += 1
      bitCount += 8
    }
    let value = bits & ((1 << UInt32(count)) - 1)
    bits >>= UInt32(count)
    bitCount -= count
    assert(bitCount < 8, "a byte is read only when its bits are needed")
    return Int(value)
  }

  private mutating func copyStored() throws(Failure) {
    (bits, bitCount) = (0, 0)
    guard position + 4 <= input.count else { throw Failure() }
    let length = Int(input[position]) | Int(input[position + 1]) << 8
    position += 4
    guard position + length <= input.count, output.count + length <= limit else { throw Failure() }
    output += input[position..<position + length]
    position += length
  }

  // MARK: - Codes

  /// A canonical Huffman code.
  private struct Code {
    /// The number of symbols of each length.
    var counts = [Int](repeating: 0, count: 16)
    /// The symbols in the order of their codes.
    var symbols = [Int]()

    init(lengths: ArraySlice<Int>) {
      for length in lengths { counts[length] += 1 }
      counts[0] = 0
      for length in 1..<16 {
        symbols += lengths.indices.filter { lengths[$0] == length }.map { $0 - lengths.startIndex }
      }
    }
  }

  private static let fixedLiterals = Code(
    lengths: ([Int](repeating: 8, count: 144) + [Int](repeating: 9, count: 112) + [Int](repeating: 7, count: 24)
      + [Int](repeating: 8, count: 8))[...])
  private static let fixedDistances = Code(lengths: [Int](repeating: 5, count: 30)[...])

  private mutating func symbol(_ code: Code) throws(Failure) -> Int {
    var (value, first, index) = (0, 0, 0)
    for length in 1..<16 {
      value |= try take(1)
      let count = code.counts[length]
      if value - first < count { return code.symbols[index + value - first] }
      index += count
      first = (first + count) << 1
      value <<= 1
    }
    throw Failure()
  }

  private static let lengthOrder = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]

  private mutating func readCodes() throws(Failure) -> (literals: Code, distances: Code) {
    let literalCount = try take(5) + 257
    let distanceCount = try take(5) + 1
    let lengthCount = try take(4) + 4
    var lengths = [Int](repeating: 0, count: 19)
    for place in Self.lengthOrder.prefix(lengthCount) { lengths[place] = try take(3) }
    let code = Code(lengths: lengths[...])
    lengths = []
    while lengths.count < literalCount + distanceCount {
      let symbol = try symbol(code)
      switch symbol {
      case 16:
        guard let last = lengths.last else { throw Failure() }
        lengths += [Int](repeating: last, count: try take(2) + 3)
      case 17: lengths += [Int](repeating: 0, count: try take(3) + 3)
      case 18: lengths += [Int](repeating: 0, count: try take(7) + 11)
      default: lengths.append(symbol)
      }
    }
    guard lengths.count == literalCount + distanceCount else { throw Failure() }
    return (Code(lengths: lengths[..<literalCount]), Code(lengths: lengths[literalCount...]))
  }

  private static let lengthBases = [
    3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258,
  ]
  private static let lengthExtras = [
    0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0,
  ]
  private static let distanceBases = [
    1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145,
    8193, 12289, 16385, 24577,
  ]

  private mutating func decode(_ literals: Code, _ distances: Code) throws(Failure) {
    while true {
      let symbol = try symbol(literals)
      if symbol == 256 { return }
      if symbol < 256 {
        guard output.count < limit else { throw Failure() }
        output.append(UInt8(symbol))
        continue
      }
      guard Self.lengthBases.indices.contains(symbol - 257) else { throw Failure() }
      let length = Self.lengthBases[symbol - 257] + (try take(Self.lengthExtras[symbol - 257]))
      let place = try self.symbol(distances)
      guard Self.distanceBases.indices.contains(place) else { throw Failure() }
      let distance = Self.distanceBases[place] + (try take(max(0, place / 2 - 1)))
      guard distance <= output.count, output.count + length <= limit else { throw Failure() }
      // The source may overlap what is appended.
      for _ in 0..<length { output.append(output[output.count - distance]) }
    }
  }
}
