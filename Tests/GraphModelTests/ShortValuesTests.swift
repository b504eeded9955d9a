import Testing

@testable import GraphModel

/// Values that are encoded together have the bytes of single messages.
@Suite struct ShortValuesTests {
  private func single(_ values: [Value]) -> [UInt8] {
    var writer = BinaryWriter()
    for value in values { writer.message(3) { value.encode(to: &$0) } }
    return writer.bytes
  }

  private func together(_ values: [Value]) -> [UInt8] {
    var writer = BinaryWriter()
    writer.fields(3, values)
    return writer.bytes
  }

  private static let numbers: [Int64] = [
    0, 1, -1, 63, 64, -64, -65, 8_191, 8_192, 1 << 31, -1 << 31, .max, .min, 1_700_000_000_000_000,
  ]
  private static let texts = [0, 1, 15, 16, 124, 125, 126, 127, 128, 300, 70_000].flatMap { size in
    [String(repeating: "x", count: size), String(repeating: "é", count: size / 2)]
  }

  private static let ids = [
    ObjectID(key: .zero, entity: 0), ObjectID(key: UniqueID(high: 0, low: 7), entity: 1),
    ObjectID(key: UniqueID(high: .max, low: .max), entity: .max), ObjectID.temporary(3, entity: 200),
  ]

  private static var all: [Value] {
    var values: [Value] = [.null, .bool(true), .bool(false), .double(0), .double(-0.0), .double(.nan), .double(1e300)]
    values += numbers.flatMap { [.integer($0), .date($0)] } + texts.map { .string($0) } + ids.map { .object($0) }
    values += [
      .objects([]), .objects(ids), .data([]), .data([1, 2, 3]), .uuid(.zero), .uuid(UniqueID(high: 1, low: 2)),
    ]
    return values + [.decimal(DecimalValue(0)), .decimal(DecimalValue(-12_345))]
  }

  @Test func eachValueHasTheBytesOfItsMessage() {
    for value in Self.all { #expect(together([value]) == single([value]), "\(value)") }
  }

  @Test func idHasTheBytesOfItsMessage() {
    for id in Self.ids {
      for number in [1, 15, 16, 300] {
        var (single, together) = (BinaryWriter(), BinaryWriter())
        single.message(number) { id.encode(to: &$0) }
        together.field(number, id)
        #expect(together.bytes == single.bytes, "\(id)")
      }
    }
  }

  /// Runs of values pass the end of the memory in which they are built at each place.
  @Test func runsHaveTheBytesOfTheirMessages() throws {
    var random = SystemRandomNumberGenerator()
    for _ in 0..<300 {
      let values = (0..<Int.random(in: 0...200, using: &random)).map { _ in Self.all.randomElement(using: &random) }
      let run = values.compactMap { $0 }
      #expect(together(run) == single(run))
    }
    for size in 100...130 {
      let run = Array(repeating: Value.string(String(repeating: "x", count: size)), count: 40)
      #expect(together(run) == single(run))
    }
  }

  @Test func imageCanBeRead() throws {
    let image = ObjectImage(id: Self.ids[2], revision: 7, values: Self.all)
    let read = try ObjectImage(binary: image.binary)
    #expect(read.id == image.id && read.revision == 7 && read.values.count == image.values.count)
    // NaN is not equal to itself.
    #expect(read.values.map { "\($0)" } == image.values.map { "\($0)" })
  }
}
