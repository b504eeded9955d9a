/// A request for the differences between two states of the graph.
public struct DifferenceRequest: Hashable, Sendable {
  /// The earlier state. With a later one than `to`, the differences are reversed.
  public var from: Revision
  /// The later state; 0 is the head.
  public var to: Revision
  /// Restricts the request to this object, whether it exists or not; nil for the complete graph.
  public var object: ObjectID?
  /// Whether to include the object's contents: the objects that its delete would cascade to.
  public var contents: Bool
  /// Restricts the request to these entities and their subentities; empty for all.
  public var entities: [EntityNumber]

  /// Creates a request, by default for the complete graph.
  public init(
    from: Revision, to: Revision = 0, object: ObjectID? = nil, contents: Bool = false, entities: [EntityNumber] = []
  ) {
    self.from = from
    self.to = to
    self.object = object
    self.contents = contents
    self.entities = entities
  }
}

/// The difference of one object between two states.
public struct ObjectDifference: Hashable, Sendable {
  /// A property with its earlier value.
  public struct Property: Hashable, Sendable {
    /// The property.
    public var number: PropertyNumber
    /// The value in the earlier state.
    public var was: Value

    /// Creates a property with its value in the earlier state.
    public init(_ number: PropertyNumber, was: Value) {
      self.number = number
      self.was = was
    }
  }

  /// The kind of change from the earlier state to the later one.
  public var kind: ObjectChange.Kind
  /// The object in the later state; for a delete, in the earlier one.
  public var object: ObjectImage
  /// For an update, the properties that differ, in slot order.
  public var properties: [Property]

  /// Creates a difference of one object.
  public init(kind: ObjectChange.Kind, object: ObjectImage, properties: [Property] = []) {
    self.kind = kind
    self.object = object
    self.properties = properties
  }

  /// Compares two images; nil if they differ in nothing but their revisions.
  public init?(from before: ObjectImage?, to after: ObjectImage?, model: Model) {
    switch (before, after) {
    case (nil, nil): return nil
    case (nil, let after?): self.init(kind: .inserted, object: after)
    case (let before?, nil): self.init(kind: .deleted, object: before)
    case (let before?, let after?):
      let properties = model.storedProperties(of: after.id.entity).compactMap { property in
        before[property] == after[property] ? nil : Property(property.number, was: before[property])
      }
      guard !properties.isEmpty else { return nil }
      self.init(kind: .updated, object: after, properties: properties)
    }
  }

  /// The approximate size in memory, in bytes.
  public var approximateSize: Int {
    (object.values + properties.map(\.was)).reduce(100) { $0 + $1.approximateSize }
  }
}

/// `message Differences { int64 from = 1; int64 to = 2; ObjectID object = 3; bool contents = 4;
/// repeated HistoryEntity entities = 5; }`
extension DifferenceRequest: BinaryCodable {
  public func encode(to writer: inout BinaryWriter) {
    writer.field(1, from)
    writer.field(2, to)
    if let object { writer.field(3, object) }
    writer.field(4, contents)
    for entity in entities { writer.message(5) { $0.field(1, UInt64(entity)) } }
  }

  public init(from reader: inout BinaryReader) throws(MalformedMessage) {
    self.init(from: 0)
    while let (number, field) = try reader.next() {
      switch number {
      case 1: from = try field.integer()
      case 2: to = try field.integer()
      case 3: object = try field.form()
      case 4: contents = try field.bool()
      case 5:
        var (entity, inner): (EntityNumber, BinaryReader) = (0, try field.reader())
        while let (number, field) = try inner.next() {
          if number == 1 { entity = try field.uint32() }
        }
        entities.append(entity)
      default: break
      }
    }
  }
}

/// `message Difference { ChangeKind kind = 1; Object object = 2; repeated PropertyDifference properties = 3; }`,
/// `message PropertyDifference { uint32 property = 1; Value was = 2; }`
extension ObjectDifference: BinaryCodable {
  public func encode(to writer: inout BinaryWriter) {
    writer.field(1, UInt64(kind.rawValue))
    writer.field(2, object)
    for property in properties {
      writer.message(3) {
        $0.field(1, UInt64(property.number))
        $0.field(2, property.was)
      }
    }
  }

  public init(from reader: inout BinaryReader) throws(MalformedMessage) {
    self.init(kind: .inserted, object: ObjectImage(id: .temporary(0, entity: 0), revision: 0, values: []))
    while let (number, field) = try reader.next() {
      switch number {
      case 1: kind = try field.choice()
      case 2: object = try field.form()
      case 3:
        var (property, inner) = (Property(0, was: .null), try field.reader())
        while let (number, field) = try inner.next() {
          if number == 1 { property.number = try field.uint32() }
          if number == 2 { property.was = try field.form() }
        }
        properties.append(property)
      default: break
      }
    }
  }
}
