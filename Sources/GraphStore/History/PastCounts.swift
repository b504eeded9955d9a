// Tests: PastMigrationTests.swift, MigrationOriginTests.swift
import GraphModel

/// Counts before the migrations that added them. No commit of that time contains them, but each contains the added
/// and removed references. So, during the walk back, a count is derived from its value at the migration.
struct PastCounts {
  private let model: Model
  private let steps: [StoreLayout.UnloggedMigrationStep]
  /// For each object, the difference of its counts from those at the migration.
  private var differences = [ObjectID: [PropertyNumber: Int64]]()

  /// - Parameter revision: the revision to which the walk goes.
  init(_ layout: StoreLayout, at revision: Revision) {
    model = layout.model
    steps = layout.mappedSteps.filter { revision < $0.since && !$0.counts.isEmpty }
  }

  /// Whether no migration since the revision added counts.
  var isEmpty: Bool { steps.isEmpty }

  /// The objects with a different count.
  var owners: [ObjectID] { differences.filter { $0.value.values.contains { $0 != 0 } }.keys.sorted() }

  /// Called when the walk rolls back a change of a revision, which left the object as `after`.
  mutating func pass(_ before: ObjectImage?, _ after: ObjectImage?, at revision: Revision) {
    for step in steps where revision <= step.since {
      let entity = (before ?? after).flatMap { model.entity($0.id.entity) }
      for count in step.counts where entity?.property(count.end.number) != nil {
        let (old, new) = (before.value(of: count.end).objectIDs, after.value(of: count.end).objectIDs)
        guard old != new else { continue }
        for id in old { differences[id, default: [:]][count.attribute.number, default: 0] += 1 }
        for id in new { differences[id, default: [:]][count.attribute.number, default: 0] -= 1 }
      }
    }
  }

  /// Returns the past count.
  /// - Parameter later: the object at the migration; nil if it did not exist, and so had no references.
  func count(_ attribute: Property, of id: ObjectID, later: ObjectImage?) -> Value {
    var count: Int64 = 0
    if case .integer(let number)? = later?[attribute] { count = number }
    if let difference = differences[id]?[attribute.number] { count += difference }
    return .integer(count)
  }
}
