import GraphModel

/// What mappings made of objects, remembered on the way back through history: what an object had where the walk passes the
/// migration, it has in every state before, though it was deleted and came back in between.
struct MappedValues {
  private let steps: [StoreLayout.MappedStep]
  /// For each step the objects that have been passed, as they were with the migration; nil where one was not there.
  private var made: [[ObjectID: ObjectImage?]]

  init(_ layout: StoreLayout) {
    steps = layout.mappedSteps
    made = Array(repeating: [:], count: layout.mappedSteps.count)
  }

  /// Whether no mapping has made anything.
  var isEmpty: Bool { steps.isEmpty }

  /// The walk is about to go back over a change of a revision, which left the object as `after`.
  mutating func pass(_ id: ObjectID, _ after: ObjectImage?, at revision: Revision) {
    for (place, step) in steps.enumerated() where revision <= step.since && made[place].index(forKey: id) == nil {
      made[place][id] = .some(after)
    }
  }

  /// An object as it was at a revision, with what the migrations behind that gave it.
  func told(_ image: ObjectImage?, at revision: Revision) -> ObjectImage? {
    guard !steps.isEmpty, var image else { return image }
    for (place, step) in steps.enumerated() where revision < step.since {
      guard let known = made[place][image.id], let known else { continue }
      for property in step.properties where known.id.entity == image.id.entity { image[property] = known[property] }
    }
    return image
  }
}
