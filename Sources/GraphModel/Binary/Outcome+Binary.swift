/// The binary forms of transaction outcomes.

extension CommitResult: BinaryCodable {
  /// `message Committed { int64 revision = 1; fixed64 fingerprint = 2; repeated Identity identities = 3;
  /// repeated Conflict conflicts = 4; }`
  public func encode(to writer: inout BinaryWriter) {
    writer.field(1, revision)
    writer.fixed(2, fingerprint)
    for identity in identities { writer.field(3, identity) }
    for conflict in conflicts { writer.field(4, conflict) }
  }

  public init(from reader: inout BinaryReader) throws(MalformedMessage) {
    self.init(revision: 0, fingerprint: 0, identities: [], conflicts: [])
    while let (number, field) = try reader.next() {
      switch number {
      case 1: revision = try field.integer()
      case 2: fingerprint = try field.fixed64()
      case 3: identities.append(try field.form())
      case 4: conflicts.append(try field.form())
      default: break
      }
    }
  }
}

extension CommitResult.IDAssignment: BinaryCodable {
  public func encode(to writer: inout BinaryWriter) {
    writer.field(1, temporary)
    writer.field(2, permanent)
  }

  public init(from reader: inout BinaryReader) throws(MalformedMessage) {
    self.init(temporary: .temporary(0, entity: 0), permanent: .temporary(0, entity: 0))
    while let (number, field) = try reader.next() {
      switch number {
      case 1: temporary = try field.form()
      case 2: permanent = try field.form()
      default: break
      }
    }
  }
}

extension Conflict: BinaryCodable {
  public func encode(to writer: inout BinaryWriter) {
    writer.field(1, UInt64(kind.rawValue))
    writer.field(2, id)
    writer.field(3, UInt64(property))
    writer.field(4, mine)
    writer.field(5, theirs)
    writer.field(6, author)
    writer.field(7, revision)
    writer.field(8, mineWon)
    writer.field(9, isCollateral)
  }

  public init(from reader: inout BinaryReader) throws(MalformedMessage) {
    self.init(kind: .changed, id: .temporary(0, entity: 0))
    while let (number, field) = try reader.next() {
      switch number {
      case 1: kind = try field.choice()
      case 2: id = try field.form()
      case 3: property = try field.uint32()
      case 4: mine = try field.form()
      case 5: theirs = try field.form()
      case 6: author = try field.string()
      case 7: revision = try field.integer()
      case 8: mineWon = try field.bool()
      case 9: isCollateral = try field.bool()
      default: break
      }
    }
  }
}

extension Violation: BinaryCodable {
  public func encode(to writer: inout BinaryWriter) {
    writer.field(1, id)
    writer.field(2, UInt64(property))
    writer.field(3, rule)
    writer.field(4, value)
    writer.field(5, message)
    for part in others { writer.field(6, part) }
  }

  public init(from reader: inout BinaryReader) throws(MalformedMessage) {
    self.init(id: .temporary(0, entity: 0), rule: "", message: "")
    while let (number, field) = try reader.next() {
      switch number {
      case 1: id = try field.form()
      case 2: property = try field.uint32()
      case 3: rule = try field.string()
      case 4: value = try field.form()
      case 5: message = try field.string()
      case 6: others.append(try field.form())
      default: break
      }
    }
  }
}

extension Violation.KeyPart: BinaryCodable {
  public func encode(to writer: inout BinaryWriter) {
    writer.field(1, UInt64(property))
    writer.field(2, value)
  }

  public init(from reader: inout BinaryReader) throws(MalformedMessage) {
    self.init(0, .null)
    while let (number, field) = try reader.next() {
      switch number {
      case 1: property = try field.uint32()
      case 2: value = try field.form()
      default: break
      }
    }
  }
}

extension Refusal: BinaryCodable {
  public func encode(to writer: inout BinaryWriter) {
    writer.field(1, code.rawValue)
    writer.field(2, message)
    for conflict in conflicts { writer.field(3, conflict) }
    for violation in violations { writer.field(4, violation) }
  }

  public init(from reader: inout BinaryReader) throws(MalformedMessage) {
    self.init(.malformed, "")
    while let (number, field) = try reader.next() {
      switch number {
      case 1:
        let name = try field.string()
        // A code of a newer server; the message still explains the refusal.
        code = Code(rawValue: name) ?? .unavailable
      case 2: message = try field.string()
      case 3: conflicts.append(try field.form())
      case 4: violations.append(try field.form())
      default: break
      }
    }
  }
}
