/// `message Precondition { int64 revision = 1; repeated ReadProperty properties = 2; }`
extension Precondition: BinaryCodable {
  public func encode(to writer: inout BinaryWriter) {
    writer.field(1, revision)
    for property in properties { writer.message(2) { $0.field(1, UInt64(property)) } }
  }

  public init(from reader: inout BinaryReader) throws(MalformedMessage) {
    self.init(revision: 0)
    while let (number, field) = try reader.next() {
      switch number {
      case 1: revision = try field.integer()
      case 2:
        var property: PropertyNumber = 0
        var inner = try field.reader()
        while let (number, field) = try inner.next() {
          if number == 1 { property = try field.uint32() }
        }
        properties.append(property)
      default: break
      }
    }
  }
}
