// Tests: EndToEndTests/UnchangedSaveTests.swift
import GraphModel

/// Finds updates that set values which the object already has.
///
/// The daemon would store a commit without changes for them, because the answer to a transaction is kept with its
/// commit. `KnownInserts` does the same for inserts.
extension Change {
  /// Whether the change is an update without a precondition that leaves the object as it was read.
  package func keeps(_ image: ObjectImage, of entity: Entity) -> Bool {
    guard kind == .update, id == image.id, onlyIf == nil else { return false }
    return edits.allSatisfy { edit in
      // A property that the client does not have as a value: the daemon decides.
      guard let property = entity.property(edit.property), property.slot != nil else { return false }
      return edit.keeps(image[property], of: property)
    }
  }
}

extension Edit {
  fileprivate func keeps(_ value: Value, of property: Property) -> Bool {
    switch action {
    case .set(let new):
      if let attribute = property.attribute { return attribute.checked(new) == value }
      return property.relationship?.isToMany != true && new == value
    case .members(let added, let removed):
      let members = Set(value.objectIDs)
      return members.isSuperset(of: added) && members.isDisjoint(with: removed)
    case .splice, .place: return applied(to: value) == value
    }
  }
}

extension CommandContext {
  /// Commits an update of an object, and returns the object as stored. An update that sets only values which the object
  /// already has is not sent.
  /// - Parameter image: the object as the command has read it.
  package func update(_ image: ObjectImage, _ update: Change) async throws -> ObjectImage {
    if update.keeps(image, of: try model.entity(of: image.id)) { return image }
    return try await commit([update], returning: image.id)
  }
}
