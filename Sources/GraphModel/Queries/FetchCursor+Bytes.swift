extension FetchCursor {
  /// Creates the position after an object.
  /// - Throws: `Refusal` if the sort values are too large.
  public init(
    behind image: ObjectImage, of entity: EntityNumber, sort: [SortKey], model: Model, in source: any ImageSource
  ) throws(Refusal) {
    self.init(
      values: SortOrder(sort, model: model).values(of: image, in: source), id: image.id,
      shape: Self.shape(entity, sort, model))
    guard bytes.count <= Self.maximumSize else {
      throw Refusal(
        .limit,
        "the sort values of the last object are too long for a cursor: more than \(Self.maximumSize) bytes; order by "
          + "something shorter, or page by offset")
    }
  }

  private static func shape(_ entity: EntityNumber, _ sort: [SortKey], _ model: Model) -> UInt64 {
    Checksum.of(Array("\(entity) \(sort.text(in: model))".utf8))
  }

  // MARK: - Bytes

  /// The encoded cursor: a checksum, then the fields.
  public var bytes: [UInt8] {
    var writer = BinaryWriter()
    writer.fixed(1, shape)
    for value in values { writer.field(2, value) }
    writer.field(3, id)
    let sum = Checksum.of(writer.bytes)
    return (0..<8).map { UInt8(truncatingIfNeeded: sum >> UInt64(56 - 8 * $0)) } + writer.bytes
  }

  /// Decodes a cursor.
  /// - Throws: `Refusal` if the bytes are not a valid cursor.
  public init(bytes: [UInt8]) throws(Refusal) {
    let refusal = Refusal(.malformed, "this is not a cursor: copy it complete and unchanged from an earlier answer")
    guard bytes.count > 8, bytes.count <= Self.maximumSize else { throw refusal }
    let body = Array(bytes.dropFirst(8))
    guard bytes.prefix(8).reduce(UInt64(0), { $0 << 8 | UInt64($1) }) == Checksum.of(body) else { throw refusal }
    var reader = BinaryReader(body)
    var (shape, values, id): (UInt64, [Value], ObjectID?) = (0, [], nil)
    do {
      while let (number, field) = try reader.next() {
        switch number {
        case 1: shape = try field.fixed64()
        case 2: values.append(try field.form())
        case 3: id = try field.form()
        default: break
        }
      }
    } catch { throw refusal }
    guard let id else { throw refusal }
    self.init(values: values, id: id, shape: shape)
  }

  /// - Throws: `Refusal` for a cursor of another entity or order.
  fileprivate func check(entity: EntityNumber, sort: [SortKey], model: Model) throws(Refusal) {
    let fits =
      shape == Self.shape(entity, sort, model) && values.count == sort.count
      && zip(values, sort).allSatisfy { value, key in
        switch (value, key.path.type(in: model)) {
        case (.null, _): true
        case (.data, .string): key.collation != nil
        case (.string, .string): key.collation == nil
        // A sum that overflows 64 bits is a double.
        case (.double, .integer), (.object, .object): true
        case (_, let type): GraphValueType(value) == type
        }
      }
    guard fits else {
      throw Refusal(.malformed, "the cursor belongs to a fetch of another entity or order")
    }
  }
}

extension FetchRequest {
  /// - Throws: `Refusal` for an invalid combination, and for a cursor of another fetch.
  public func check(in model: Model) throws(Refusal) {
    guard let after else { return }
    if offset > 0 { throw Refusal(.malformed, "a fetch continues after a cursor or at an offset, not both") }
    switch result {
    case .count: throw Refusal(.malformed, "a count can't have a cursor")
    case .rows(let rows) where !rows.hasRowPerObject:
      throw Refusal(.malformed, "groups and distinct rows can't have a cursor: page them by limit and offset")
    case .objects, .identifiers, .rows: try after.check(entity: entity, sort: sort, model: model)
    }
  }
}
