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
