// Tests: MigrationTests.swift, MigrationSoundnessTests.swift
import GraphModel

/// Rows that were not rewritten since an older model version.
///
/// They have that version's checksum, over that version's values. Values of removed properties are in columns of
/// their own. The migrations' results are recomputed for comparison.
package struct UnmigratedRows {
  private let versions: EarlierVersions
  /// Readers of the present tables with each older version's model, newest first.
  package let readers: [ObjectReader]

  init(_ connection: Connection, _ versions: EarlierVersions) {
    self.versions = versions
    readers = versions.layouts.map { ObjectReader(connection, layout: $0) }
  }

  /// The layout of the present version.
  private var layout: StoreLayout { versions.present }

  /// Whether the row is as an older version and the migrations since have left it.
  func contain(_ image: ObjectImage, sum: UInt64?) throws -> Bool {
    guard image.revision < layout.since, let sum else { return false }
    for (back, reader) in readers.enumerated() {
      let id = reader.layout.numbers.present(layout.numbers.stored(image.id))
      guard reader.layout.table(of: id.entity) != nil, let then = try reader.readImage(of: id),
        Checksum.of(reader.layout.numbers.stored(then).binary) == sum
      else { continue }
      return try isMigrated(then, to: image, through: back)
    }
    return false
  }

  /// - Parameter back: the number of versions in between.
  private func isMigrated(_ then: ObjectImage, to image: ObjectImage, through back: Int) throws -> Bool {
    var last = then
    for step in versions.plans.suffix(back + 1).enumerated() {
      // The row is as that version wrote it, but the migrated values can't be computed.
      guard let plan = step.element, let expected = plan.values(from: last) else { return true }
      let isPresent = step.offset == back
      let layout = isPresent ? layout : readers[back - 1 - step.offset].layout
      let id = layout.numbers.present(self.layout.numbers.stored(image.id))
      guard let next = isPresent ? image : try readers[back - 1 - step.offset].readImage(of: id) else { return false }
      let (now, before) = (layout.numbers, readers[back - step.offset].layout.numbers)
      for (value, actual) in zip(expected, next.values) {
        // Ids have the numbers of their versions.
        if let value, now.stored(actual) != before.stored(value) { return false }
      }
      last = next
    }
    return true
  }
}

/// The earlier model versions of a store. They take long to prepare, and are the same for all connections.
final class EarlierVersions: Sendable {
  let present: StoreLayout
  /// The present tables as each earlier version reads them, newest first.
  let layouts: [StoreLayout]
  /// The plans from each version to the next, oldest first.
  ///
  /// Nil if no plan can be inferred from the two versions as they are read now.
  let plans: [MigrationPlan?]

  /// - Parameter layout: the layout of the present version.
  init(_ layout: StoreLayout) {
    present = layout
    let names = TableNames(layout)
    layouts = layout.versions.dropLast().reversed().map { version in
      StoreLayout(model: version.model, numbers: version.numbers, names: names)
    }
    plans = zip(layout.versions, layout.versions.dropFirst()).map {
      try? MigrationPlan.infer(from: $0.model, to: $1.model)
    }
  }
}
