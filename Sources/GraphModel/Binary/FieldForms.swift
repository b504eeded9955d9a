/// Fields whose Swift type differs from the type in the schema. `form` lines of Schema/Wire/swift.map name these pairs
/// of functions, and the generated codec calls them.

extension BinaryWriter {
  /// An id, as sixteen bytes.
  mutating func uniqueID(_ number: Int, _ value: UniqueID) { field(number, value.bytes) }

  /// An id, as sixteen bytes.
  public mutating func uniqueIDOrZero(_ number: Int, _ value: UniqueID) { field(number, value.bytes) }

  /// An optional id: sixteen bytes, or no field for nil.
  public mutating func uniqueIDOrNone(_ number: Int, _ value: UniqueID?) {
    if let value { field(number, value.bytes) }
  }

  /// The hash of a model.
  public mutating func modelHash(_ number: Int, _ value: ModelHash) { field(number, value.bytes) }

  /// The hash of a model, or no field for nil.
  public mutating func modelHashOrNone(_ number: Int, _ value: ModelHash?) {
    if let value { field(number, value.bytes) }
  }

  /// A revision or a time, or no field for nil and for 0.
  public mutating func nonzero(_ number: Int, _ value: Int64?) {
    if let value { field(number, value) }
  }

  /// A decimal in its ordered form.
  mutating func decimal(_ number: Int, _ value: DecimalValue) { field(number, value.orderedBytes, always: true) }

  /// A count, an offset or a length: at least 0.
  mutating func count(_ number: Int, _ value: Int) { field(number, UInt64(value)) }

  /// A count; a negative one is written as 0.
  mutating func clampedCount(_ number: Int, _ value: Int) { field(number, UInt64(max(0, value))) }

  /// The opposite of a condition.
  mutating func negated(_ number: Int, _ value: Bool) { field(number, !value) }

  /// The name of a refusal's code.
  mutating func refusalCode(_ number: Int, _ value: Refusal.Code) { field(number, value.rawValue) }
}

extension BinaryReader.Field {
  /// The hash of a model; nil if it does not have the length of one.
  public func modelHash() throws(MalformedMessage) -> ModelHash? { ModelHash(bytes: try array()) }

  /// The hash of a model; nil for no bytes.
  public func modelHashOrNone() throws(MalformedMessage) -> ModelHash? {
    let bytes = try array()
    if bytes.isEmpty { return nil }
    guard let hash = ModelHash(bytes: bytes) else { throw MalformedMessage("a model's hash needs 16 bytes") }
    return hash
  }

  /// A revision or a time; nil for 0.
  public func nonzero() throws(MalformedMessage) -> Int64? {
    let value = try integer()
    return value == 0 ? nil : value
  }

  /// A decimal in its ordered form.
  func decimal() throws(MalformedMessage) -> DecimalValue {
    guard let value = DecimalValue(orderedBytes: try array()) else {
      throw MalformedMessage("a decimal is not in its ordered form")
    }
    return value
  }

  /// A count; a count that is too large for an `Int` becomes the largest.
  func clampedCount() throws(MalformedMessage) -> Int { Int(clamping: try unsigned()) }

  /// The opposite of a condition.
  func negated() throws(MalformedMessage) -> Bool { try !bool() }

  /// A refusal's code. A code of a newer server becomes `unavailable`; its message still explains the refusal.
  func refusalCode() throws(MalformedMessage) -> Refusal.Code {
    guard let code = Refusal.Code(rawValue: try string()) else { return .unavailable }
    return code
  }
}
