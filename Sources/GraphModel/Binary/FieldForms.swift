/// Fields whose Swift type is another one than that of the schema. `form` lines of Schema/Wire/swift.map name these pairs
/// of functions, and the generated codec calls them.

extension BinaryWriter {
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
  public mutating func revisionOrNone(_ number: Int, _ value: Int64?) {
    if let value { field(number, value) }
  }
}

extension BinaryReader.Field {
  /// The hash of a model; nil if it does not have the length of one.
  public func modelHash() throws(MalformedMessage) -> ModelHash? { ModelHash(bytes: try array()) }

  /// The hash of a model; nil for no bytes.
  public func modelHashOrNone() throws(MalformedMessage) -> ModelHash? {
    let bytes = try array()
    if bytes.isEmpty { return nil }
    guard let hash = ModelHash(bytes: bytes) else { throw MalformedMessage("a model's hash has not 16 bytes") }
    return hash
  }

  /// A revision or a time; nil for 0.
  public func revisionOrNone() throws(MalformedMessage) -> Int64? {
    let value = try integer()
    return value == 0 ? nil : value
  }
}
