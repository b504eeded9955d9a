// Tests: PastMigrationTests.swift, MigrationOriginTests.swift
import GraphModel

/// Values that migrations gave to objects without commits, remembered during a walk back through history.
///
/// The values that an object has when the walk passes the migration apply to all its earlier states, even across a
/// delete and a revival.
struct MigratedValues {
  private let model: Model
  private let steps: [StoreLayout.UnloggedMigrationStep]
  /// For each step, the objects passed so far, as they were at the migration; nil if an object did not exist.
  private var made: [[ObjectID: ObjectImage?]]

  init(_ layout: StoreLayout) {
    model = layout.model
    steps = layout.mappedSteps
    made = Array(repeating: [:], count: layout.mappedSteps.count)
  }

  /// Whether there were no such migrations.
  var isEmpty: Bool { steps.isEmpty }

  /// Called before the walk rolls back a change of a revision, which left the object as `after`.
  mutating func pass(_ id: ObjectID, _ after: ObjectImage?, at revision: Revision) {
    assert(made.count == steps.count)
    for (place, step) in steps.enumerated() where revision <= step.since && made[place].index(forKey: id) == nil {
      made[place][id] = .some(after)
    }
  }

  /// Returns an object at a revision, with the values that later migrations gave it.
  /// - Parameter counts: the changes of its counts since; nil if unknown, and then counts that a later migration
  ///   added are null.
  func migrated(_ image: ObjectImage?, at revision: Revision, _ counts: PastCounts? = nil) -> ObjectImage? {
    guard !steps.isEmpty, var image else { return image }
    for (place, step) in steps.enumerated() where revision < step.since {
      // The entry is nil if the object did not exist at the migration. An object not passed yet is unchanged since
      // then.
      let known = made[place].index(forKey: image.id).map { made[place][$0].value } ?? image
      guard let entity = model.entity(image.id.entity) else { continue }
      if let known, known.id.entity == image.id.entity {
        for property in step.properties where entity.property(property.number) != nil {
          image[property] = known[property]
        }
      }
      for count in step.counts where entity.property(count.attribute.number) != nil {
        image[count.attribute] =
          if let counts { counts.count(count.attribute, of: image.id, later: known) } else { .null }
      }
    }
    return image
  }
}
