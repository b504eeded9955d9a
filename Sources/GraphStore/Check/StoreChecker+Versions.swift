// Tests: MigrationTests.swift, MigrationSoundnessTests.swift
import GraphModel

/// Data written before a migration, in the form of the model version that wrote it.
extension StoreChecker {
  /// Whether the row is as an older version and the migrations since have left it.
  func isOlder(_ image: ObjectImage, sum: UInt64?) throws -> Bool { try olderRows.contain(image, sum: sum) }

  /// Whether the model has this entity, or had it in an older version.
  func isKnown(_ entity: EntityNumber) -> Bool {
    if model.entity(entity) != nil { return true }
    return layout.versions.contains {
      $0.model.entity($0.numbers.present(entity: entity & ~NumberAssignment.retired)) != nil
    }
  }
}
