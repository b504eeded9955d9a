import GraphModel

/// What was written before a migration, in the form of the version that wrote it.
extension StoreChecker {
  /// The present tables as each older version reads them, newest first.
  static func olderReaders(_ connection: Connection, _ layout: StoreLayout) -> [ObjectReader] {
    let names = StoredNames(layout)
    return layout.versions.dropLast().reversed().map { version in
      ObjectReader(connection, layout: StoreLayout(model: version.model, numbers: version.numbers, names: names))
    }
  }

  /// Whether the object's row is as an older version left it. A row that no commit and no migration has rewritten since has
  /// that version's checksum, over that version's values: those of properties that are gone lie in columns of their own.
  func isOlder(_ image: ObjectImage, sum: UInt64?) throws -> Bool {
    guard image.revision < layout.since, let sum else { return false }
    for reader in older
    where reader.layout.table(of: reader.layout.numbers.present(layout.numbers.stored(image.id)).entity) != nil {
      let id = reader.layout.numbers.present(layout.numbers.stored(image.id))
      guard let then = try reader.readImage(of: id) else { continue }
      if Checksum.of(reader.layout.numbers.stored(then).binary) == sum { return true }
    }
    return false
  }

  /// An entity that the model has, or had.
  func isKnown(_ entity: EntityNumber) -> Bool {
    if model.entity(entity) != nil { return true }
    return layout.versions.contains {
      $0.model.entity($0.numbers.present(entity: entity & ~StoredNumbers.retired)) != nil
    }
  }
}
