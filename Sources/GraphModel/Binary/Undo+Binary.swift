/// `message Undo { TransactionID id = 1; int64 revision = 2; bytes scope = 3; bool redo = 4; }`
extension UndoRequest: BinaryCodable {
  public func encode(to writer: inout BinaryWriter) {
    writer.field(1, id)
    writer.field(2, revision)
    if let scope { writer.field(3, scope.bytes) }
    writer.field(4, redo)
  }

  public init(from reader: inout BinaryReader) throws(MalformedMessage) {
    var (id, revision, scope, redo): (TransactionID?, Revision, UniqueID?, Bool) = (nil, 0, nil, false)
    while let (number, field) = try reader.next() {
      switch number {
      case 1: id = try field.form()
      case 2: revision = try field.integer()
      case 3: scope = try field.uniqueIDOrNone()
      case 4: redo = try field.bool()
      default: break
      }
    }
    guard let id else { throw MalformedMessage("an undo has no transaction id") }
    self.init(id, revision: revision == 0 ? nil : revision, scope: scope, redo: redo)
  }
}

/// `message UndoStep { UndoGroup group = 1; int64 oldest = 2; int64 newest = 3; uint64 count = 4; }`
extension UndoStep: BinaryCodable {
  public func encode(to writer: inout BinaryWriter) {
    if let group { writer.field(1, group) }
    writer.field(2, oldest)
    writer.field(3, newest)
    writer.field(4, UInt64(count))
  }

  public init(from reader: inout BinaryReader) throws(MalformedMessage) {
    self.init(group: nil, oldest: 0, newest: 0, count: 0)
    while let (number, field) = try reader.next() {
      switch number {
      case 1: group = try field.form()
      case 2: oldest = try field.integer()
      case 3: newest = try field.integer()
      case 4: count = try field.count()
      default: break
      }
    }
  }
}

/// `message UndoState { UndoStep undo = 1; UndoStep redo = 2; }`
extension UndoState: BinaryCodable {
  public func encode(to writer: inout BinaryWriter) {
    if let undo { writer.field(1, undo) }
    if let redo { writer.field(2, redo) }
  }

  public init(from reader: inout BinaryReader) throws(MalformedMessage) {
    self.init()
    while let (number, field) = try reader.next() {
      switch number {
      case 1: undo = try field.form()
      case 2: redo = try field.form()
      default: break
      }
    }
  }
}
