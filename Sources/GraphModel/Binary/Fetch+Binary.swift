/// `message Column { string name = 1; string type = 2; }`
extension RowColumn: BinaryCodable {
  public func encode(to writer: inout BinaryWriter) {
    writer.field(1, name)
    writer.field(2, type)
  }

  public init(from reader: inout BinaryReader) throws(MalformedMessage) {
    self.init(name: "", type: "")
    while let (number, field) = try reader.next() {
      switch number {
      case 1: name = try field.string()
      case 2: type = try field.string()
      default: break
      }
    }
  }
}

extension FetchExplanation: BinaryCodable {
  public func encode(to writer: inout BinaryWriter) {
    for statement in statements { writer.field(1, statement, always: true) }
    for argument in arguments { writer.field(2, argument, always: true) }
    for step in plan { writer.field(3, step, always: true) }
    for index in indexes { writer.field(4, index, always: true) }
    writer.field(5, checksInMemory)
    writer.field(6, microseconds)
    writer.field(7, UInt64(max(0, count)))
    for attribute in advice { writer.field(8, attribute, always: true) }
  }

  public init(from reader: inout BinaryReader) throws(MalformedMessage) {
    self.init()
    while let (number, field) = try reader.next() {
      switch number {
      case 1: statements.append(try field.string())
      case 2: arguments.append(try field.string())
      case 3: plan.append(try field.string())
      case 4: indexes.append(try field.string())
      case 5: checksInMemory = try field.bool()
      case 6: microseconds = try field.integer()
      case 7: count = Int(clamping: try field.unsigned())
      case 8: advice.append(try field.string())
      default: break
      }
    }
  }
}
