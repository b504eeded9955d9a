/// A type with a binary form, the same on the wire and in history.
public protocol BinaryCodable {
  /// Appends the fields; zero and empty fields are left out, as in proto3.
  func encode(to writer: inout BinaryWriter)
  /// Reads fields to the reader's end; unknown ones are skipped.
  /// - Throws: `MalformedMessage` if a field has the wrong type.
  init(from reader: inout BinaryReader) throws(MalformedMessage)
}

extension BinaryCodable {
  /// The encoded message, without a length prefix.
  public var binary: [UInt8] {
    var writer = BinaryWriter()
    encode(to: &writer)
    return writer.bytes
  }

  /// Decodes a complete message.
  /// - Throws: `MalformedMessage` if the bytes are not a valid message.
  public init(binary: some Collection<UInt8>) throws(MalformedMessage) {
    var reader = BinaryReader(Array(binary))
    try self.init(from: &reader)
  }
}

extension BinaryWriter {
  /// A nested message; written even if it is empty.
  @inlinable
  public mutating func field(_ number: Int, _ value: some BinaryCodable) {
    message(number) { value.encode(to: &$0) }
  }
}

extension BinaryReader.Field {
  /// The nested message that the field holds.
  public func form<Form: BinaryCodable>(_ type: Form.Type = Form.self) throws(MalformedMessage) -> Form {
    var reader = try reader()
    return try Form(from: &reader)
  }
}

/// `message ObjectID { fixed64 high = 1; fixed64 low = 2; uint32 entity = 3; }`
extension ObjectID: BinaryCodable {
  public func encode(to writer: inout BinaryWriter) {
    writer.fixed(1, key.high)
    writer.fixed(2, key.low)
    writer.field(3, UInt64(entity))
  }

  public init(from reader: inout BinaryReader) throws(MalformedMessage) {
    self.init(key: .zero, entity: 0)
    while let (number, field) = try reader.next() {
      switch number {
      case 1: key.high = try field.fixed64()
      case 2: key.low = try field.fixed64()
      case 3: entity = try field.uint32()
      default: break
      }
    }
  }
}

/// `message Value`: a oneof; no field at all is null.
extension Value: BinaryCodable {
  public func encode(to writer: inout BinaryWriter) {
    switch self {
    case .null: break
    case .bool(let value): writer.field(1, value, always: true)
    case .integer(let value): writer.signed(2, value, always: true)
    case .double(let value): writer.fixed(3, value.bitPattern, always: true)
    case .decimal(let value): writer.field(4, value.orderedBytes, always: true)
    case .string(let value): writer.field(5, value, always: true)
    case .date(let value): writer.signed(6, value, always: true)
    case .uuid(let value): writer.field(7, value.bytes, always: true)
    case .data(let value): writer.field(8, value, always: true)
    case .object(let id): writer.field(9, id)
    case .objects(let ids): writer.message(10) { for id in ids { $0.field(1, id) } }
    }
  }

  public init(from reader: inout BinaryReader) throws(MalformedMessage) {
    self = .null
    while let (number, field) = try reader.next() {
      switch number {
      case 1: self = .bool(try field.bool())
      case 2: self = .integer(try field.zigzag())
      case 3: self = .double(Double(bitPattern: try field.fixed64()))
      case 4:
        guard let value = DecimalValue(orderedBytes: try field.array()) else {
          throw MalformedMessage("a decimal is not in its ordered form")
        }
        self = .decimal(value)
      case 5: self = .string(try field.string())
      case 6: self = .date(try field.zigzag())
      case 7: self = .uuid(try field.uniqueID())
      case 8: self = .data(try field.array())
      case 9: self = .object(try field.form())
      case 10:
        var list = try field.reader()
        var ids = [ObjectID]()
        while let (number, field) = try list.next() {
          if number == 1 { ids.append(try field.form()) }
        }
        // The order is kept: ordered relationships depend on it, and the rules sort the others.
        self = .objects(ListReorderer.unique(ids))
      // No known field means null, so an unknown kind from a later version must not decode as null.
      default: throw MalformedMessage("a value has a kind that this version does not know")
      }
    }
  }
}

/// `message Object { ObjectID id = 1; int64 revision = 2; repeated Value values = 3; }`
extension ObjectImage: BinaryCodable {
  public func encode(to writer: inout BinaryWriter) {
    writer.field(1, id)
    writer.field(2, revision)
    // Iterates in place, which avoids a retain and release per value.
    values.withUnsafeBufferPointer { values in
      for value in values { writer.field(3, value) }
    }
  }

  public init(from reader: inout BinaryReader) throws(MalformedMessage) {
    self.init(id: .temporary(0, entity: 0), revision: 0, values: [])
    while let (number, field) = try reader.next() {
      switch number {
      case 1: id = try field.form()
      case 2: revision = try field.integer()
      case 3: values.append(try field.form())
      default: break
      }
    }
  }
}

/// `message TextSplice { uint64 offset = 1; uint64 length = 2; string insertion = 3;
/// bool leans_left = 4; }`
extension TextSplice: BinaryCodable {
  public func encode(to writer: inout BinaryWriter) {
    writer.field(1, UInt64(offset))
    writer.field(2, UInt64(length))
    writer.field(3, insertion)
    writer.field(4, hasLeftAffinity)
  }

  public init(from reader: inout BinaryReader) throws(MalformedMessage) {
    self.init(offset: 0, length: 0, insertion: "")
    while let (number, field) = try reader.next() {
      switch number {
      case 1: offset = try field.count()
      case 2: length = try field.count()
      case 3: insertion = try field.string()
      case 4: hasLeftAffinity = try field.bool()
      default: break
      }
    }
    // The sum of two such numbers can't overflow an Int.
    guard offset <= Self.maximumOffset, length <= Self.maximumOffset else {
      throw MalformedMessage("a splice lies outside any text")
    }
  }

  /// The upper bound of offsets and lengths; no text is longer.
  public static let maximumOffset = 1 << 32
}

/// `message Edit { uint32 property = 1;
/// oneof action { Value set = 2; Splices splice = 3; Members members = 4; Place place = 5; } }`
extension Edit: BinaryCodable {
  /// The most splices of one edit; rebasing compares every pair of splices of two edits.
  public static let maximumSplices = 1_000

  public func encode(to writer: inout BinaryWriter) {
    writer.field(1, UInt64(property))
    switch action {
    case .set(let value): writer.field(2, value)
    case .splice(let splices): writer.message(3) { for splice in splices { $0.field(1, splice) } }
    case .members(let added, let removed):
      writer.message(4) {
        for id in added { $0.field(1, id) }
        for id in removed { $0.field(2, id) }
      }
    case .place(let objects, let anchor):
      writer.message(5) {
        for id in objects { $0.field(1, id) }
        if let anchor { $0.field(2, anchor) }
      }
    }
  }

  public init(from reader: inout BinaryReader) throws(MalformedMessage) {
    var (property, action): (PropertyNumber, Action?) = (0, nil)
    while let (number, field) = try reader.next() {
      switch number {
      case 1: property = try field.uint32()
      case 2: action = .set(try field.form())
      case 3:
        var splices = [TextSplice]()
        var list = try field.reader()
        while let (number, field) = try list.next() {
          if number == 1 { splices.append(try field.form()) }
        }
        guard splices.count <= Self.maximumSplices else {
          throw MalformedMessage("an edit has more than \(Self.maximumSplices) splices")
        }
        action = .splice(splices)
      case 4:
        var (added, removed) = ([ObjectID](), [ObjectID]())
        var list = try field.reader()
        while let (number, field) = try list.next() {
          if number == 1 { added.append(try field.form()) }
          if number == 2 { removed.append(try field.form()) }
        }
        action = .members(added: added, removed: removed)
      case 5:
        var (objects, anchor) = ([ObjectID](), ObjectID?.none)
        var list = try field.reader()
        while let (number, field) = try list.next() {
          if number == 1 { objects.append(try field.form()) }
          if number == 2 { anchor = try field.form() }
        }
        action = .place(objects, after: anchor)
      default: break
      }
    }
    // An unknown action from a later version must not decode as one that clears the property.
    guard let action else { throw MalformedMessage("an edit has no action that this version knows") }
    self.init(property, action)
  }
}

/// `message Change { Kind kind = 1; ObjectID id = 2; int64 base = 3; repeated Edit edits = 4;
/// Precondition only_if = 5; }`
extension Change: BinaryCodable {
  public func encode(to writer: inout BinaryWriter) {
    writer.field(1, UInt64(kind.rawValue))
    writer.field(2, id)
    writer.field(3, base)
    for edit in edits { writer.field(4, edit) }
    if let onlyIf { writer.field(5, onlyIf) }
  }

  public init(from reader: inout BinaryReader) throws(MalformedMessage) {
    self.init(.insert, .temporary(0, entity: 0))
    while let (number, field) = try reader.next() {
      switch number {
      case 1: kind = try field.choice()
      case 2: id = try field.form()
      case 3: base = try field.integer()
      case 4: edits.append(try field.form())
      case 5: onlyIf = try field.form()
      default: break
      }
    }
  }
}

/// `message TransactionID { bytes replica = 1; uint64 sequence = 2; }`
extension TransactionID: BinaryCodable {
  public func encode(to writer: inout BinaryWriter) {
    writer.field(1, replica.bytes)
    writer.field(2, sequence)
  }

  public init(from reader: inout BinaryReader) throws(MalformedMessage) {
    self.init(replica: .zero, sequence: 0)
    while let (number, field) = try reader.next() {
      switch number {
      case 1: replica = try field.uniqueIDOrZero()
      case 2: sequence = try field.unsigned()
      default: break
      }
    }
  }
}

/// `message UndoGroup { bytes scope = 1; uint64 group = 2; string name = 3; }`
extension UndoGroup: BinaryCodable {
  public func encode(to writer: inout BinaryWriter) {
    writer.field(1, scope.bytes)
    writer.field(2, group)
    writer.field(3, name)
  }

  public init(from reader: inout BinaryReader) throws(MalformedMessage) {
    self.init(scope: .zero, group: 0, name: "")
    while let (number, field) = try reader.next() {
      switch number {
      case 1: scope = try field.uniqueIDOrZero()
      case 2: group = try field.unsigned()
      case 3: name = try field.string()
      default: break
      }
    }
  }
}

/// `message Transaction { TransactionID id = 1; MergePolicy policy = 2; UndoGroup undo = 3;
/// repeated Change changes = 4; }`
extension Transaction: BinaryCodable {
  public func encode(to writer: inout BinaryWriter) {
    writer.field(1, id)
    writer.field(2, UInt64(policy.rawValue))
    if let undo { writer.field(3, undo) }
    for change in changes { writer.field(4, change) }
  }

  public init(from reader: inout BinaryReader) throws(MalformedMessage) {
    self.init(id: TransactionID(replica: .zero, sequence: 0), changes: [])
    while let (number, field) = try reader.next() {
      switch number {
      case 1: id = try field.form()
      case 2: policy = try field.choice()
      case 3: undo = try field.form()
      case 4: changes.append(try field.form())
      default: break
      }
    }
  }
}

/// `message Token { bytes store = 1; int64 revision = 2; fixed64 fingerprint = 3; }`
extension Token: BinaryCodable {
  public func encode(to writer: inout BinaryWriter) {
    writer.field(1, store.bytes)
    writer.field(2, revision)
    writer.fixed(3, fingerprint)
  }

  public init(from reader: inout BinaryReader) throws(MalformedMessage) {
    self.init(store: .zero, revision: 0, fingerprint: 0)
    while let (number, field) = try reader.next() {
      switch number {
      case 1: store = try field.uniqueIDOrZero()
      case 2: revision = try field.integer()
      case 3: fingerprint = try field.fixed64()
      default: break
      }
    }
  }
}

extension BinaryReader.Field {
  /// Decodes a case of an enumeration from its raw number.
  public func choice<Choice: RawRepresentable>() throws(MalformedMessage) -> Choice where Choice.RawValue == UInt8 {
    let number = try unsigned()
    guard let raw = UInt8(exactly: number), let choice = Choice(rawValue: raw) else {
      throw MalformedMessage("\(number) is no \(Choice.self)")
    }
    return choice
  }
}
