import GraphModel

/// What was written before a migration, in the form of the version that wrote it.
extension StoreChecker {
  /// Whether the object's row is as an older version left it, and the migrations since.
  func isOlder(_ image: ObjectImage, sum: UInt64?) throws -> Bool { try olderRows.contain(image, sum: sum) }

  /// An entity that the model has, or had.
  func isKnown(_ entity: EntityNumber) -> Bool {
    if model.entity(entity) != nil { return true }
    return layout.versions.contains {
      $0.model.entity($0.numbers.present(entity: entity & ~StoredNumbers.retired)) != nil
    }
  }
}
