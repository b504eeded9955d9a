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

  /// From each version to the next; nil where the two, as they are read now, do not lead from one to the other.
  static func plans(_ layout: StoreLayout) -> [MigrationPlan?] {
    zip(layout.versions, layout.versions.dropFirst()).map { try? MigrationPlan.infer(from: $0.model, to: $1.model) }
  }

  /// Whether the object's row is as an older version left it, and the migrations since. A row that no commit and no
  /// migration has rewritten has that version's checksum, over that version's values: those of properties that are gone lie
  /// in columns of their own. What the migrations made of them is computed once more.
  func isOlder(_ image: ObjectImage, sum: UInt64?) throws -> Bool {
    guard image.revision < layout.since, let sum else { return false }
    for (back, reader) in older.enumerated() {
      let id = reader.layout.numbers.present(layout.numbers.stored(image.id))
      guard reader.layout.table(of: id.entity) != nil, let then = try reader.readImage(of: id),
        Checksum.of(reader.layout.numbers.stored(then).binary) == sum
      else { continue }
      return try isMigrated(then, to: image, through: back)
    }
    return false
  }

  /// - Parameter back: how many versions lie between.
  private func isMigrated(_ then: ObjectImage, to image: ObjectImage, through back: Int) throws -> Bool {
    var last = then
    for step in plans.suffix(back + 1).enumerated() {
      // The object is as that version left it; what it must have become nobody can compute.
      guard let plan = step.element, let expected = plan.values(from: last) else { return true }
      let isPresent = step.offset == back
      let reader = isPresent ? objects : older[back - 1 - step.offset]
      let id = reader.layout.numbers.present(layout.numbers.stored(image.id))
      guard let next = isPresent ? image : try reader.readImage(of: id) else { return false }
      let (now, before) = (reader.layout.numbers, older[back - step.offset].layout.numbers)
      for (value, actual) in zip(expected, next.values) {
        // Ids have the numbers of their versions.
        if let value, now.stored(actual) != before.stored(value) { return false }
      }
      last = next
    }
    return true
  }

  /// An entity that the model has, or had.
  func isKnown(_ entity: EntityNumber) -> Bool {
    if model.entity(entity) != nil { return true }
    return layout.versions.contains {
      $0.model.entity($0.numbers.present(entity: entity & ~StoredNumbers.retired)) != nil
    }
  }
}
