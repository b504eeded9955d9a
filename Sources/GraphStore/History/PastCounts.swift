import GraphModel

/// Counts before the migrations that began them. No commit of that time speaks of them; but each tells who began or ceased
/// to refer to whom, so that on the way back through history a count goes from what it was at the migration to what it
/// would have been.
struct PastCounts {
  private let model: Model
  private let steps: [StoreLayout.MappedStep]
  /// For each object what its counts had more then than at their migrations.
  private var differences = [ObjectID: [PropertyNumber: Int64]]()

  /// Counts of the graph at a revision, to which the walk goes.
  init(_ layout: StoreLayout, at revision: Revision) {
    model = layout.model
    steps = layout.mappedSteps.filter { revision < $0.since && !$0.counts.isEmpty }
  }

  /// The objects some count of which was another one.
  var owners: [ObjectID] { differences.filter { $0.value.values.contains { $0 != 0 } }.keys.sorted() }

  /// The walk goes back over a change of a revision, which made an object what it was `after`.
  mutating func pass(_ before: ObjectImage?, _ after: ObjectImage?, at revision: Revision) {
    guard !steps.isEmpty, let entity = (before ?? after).flatMap({ model.entity($0.id.entity) }) else { return }
    for step in steps where revision <= step.since {
      for count in step.counts where entity.property(count.end.number) != nil {
        let (old, new) = (before?[count.end].objectIDs ?? [], after?[count.end].objectIDs ?? [])
        guard old != new else { continue }
        for id in old { differences[id, default: [:]][count.attribute.number, default: 0] += 1 }
        for id in new { differences[id, default: [:]][count.attribute.number, default: 0] -= 1 }
      }
    }
  }

  /// What a count was.
  /// - Parameter later: the object as it was at the migration; nil where it was not there, and nobody referred to it.
  func count(_ attribute: Property, of id: ObjectID, later: ObjectImage?) -> Value {
    var count: Int64 = 0
    if case .integer(let number)? = later?[attribute] { count = number }
    return .integer(count + (differences[id]?[attribute.number] ?? 0))
  }
}
