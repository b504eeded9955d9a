// Tests: CommitTests.swift, PastMigrationTests.swift
import GraphModel

/// Lookups by numbers from rows and history. History may name entities that the present model no longer has; they have
/// neither properties nor names.
extension Model {
  /// The attributes of an entity.
  package func attributes(of entity: EntityNumber) -> [Property] {
    if let entity = self.entity(entity) { entity.attributes } else { [] }
  }

  /// The relationships of an entity.
  func relationships(of entity: EntityNumber) -> [Property] {
    if let entity = self.entity(entity) { entity.relationships } else { [] }
  }

  /// The entity's name for a message; "object" for an entity that the model does not have.
  package func displayName(of entity: EntityNumber) -> String {
    if let entity = self.entity(entity) { entity.name } else { "object" }
  }
}

/// An object that may not exist at a revision.
extension ObjectImage? {
  /// The value of a property; null if the object does not exist.
  func value(of property: Property) -> Value {
    if let image = self { image[property] } else { .null }
  }

  /// The approximate size in bytes; 0 if the object does not exist.
  var memorySize: Int {
    if let image = self { image.approximateSize } else { 0 }
  }
}

extension Value {
  /// The value of a decimal's stored bytes; null if they are malformed.
  static func decimal(stored bytes: [UInt8]) -> Value {
    if let number = DecimalValue(orderedBytes: bytes) { .decimal(number) } else { .null }
  }

  /// The text that a splice edits; a null text is edited like an empty one.
  var editedText: String {
    if case .string(let text) = self { text } else { "" }
  }
}

extension Conflict {
  /// A conflict with a change of the past.
  /// - Parameters:
  ///   - other: the change; nil if history no longer has it.
  ///   - cause: the object that it has changed; nil for the conflict's own one.
  init(
    kind: Kind, id: ObjectID, property: PropertyNumber = 0, mine: Value = .null, theirs: Value = .null,
    with other: (revision: Revision, author: String)?, of cause: ObjectID? = nil
  ) {
    self.init(kind: kind, id: id, property: property, mine: mine, theirs: theirs)
    if let other { (revision, author) = other }
    self.cause = cause
  }
}

extension PastChange {
  /// The commit of the change.
  var commit: (revision: Revision, author: String) { (revision, author) }
}
