import GraphModel

/// What migrations made of objects and no commit tells of, remembered on the way back through history: what an object had
/// where the walk passes the migration, it has in every state before, though it was deleted and came back in between.
struct MappedValues {
  private let model: Model
  private let steps: [StoreLayout.MappedStep]
  /// For each step the objects that have been passed, as they were with the migration; nil where one was not there.
  private var made: [[ObjectID: ObjectImage?]]

  init(_ layout: StoreLayout) {
    model = layout.model
    steps = layout.mappedSteps
    made = Array(repeating: [:], count: layout.mappedSteps.count)
  }

  /// Whether there is nothing of the kind.
  var isEmpty: Bool { steps.isEmpty }

  /// The walk is about to go back over a change of a revision, which left the object as `after`.
  mutating func pass(_ id: ObjectID, _ after: ObjectImage?, at revision: Revision) {
    for (place, step) in steps.enumerated() where revision <= step.since && made[place].index(forKey: id) == nil {
      made[place][id] = .some(after)
    }
  }

  /// An object as it was at a revision, with what the migrations behind that gave it.
  /// - Parameter counts: by how much others changed its counts since; nil where that is not known, and what was counted
  ///   later than that is null.
  func told(_ image: ObjectImage?, at revision: Revision, _ counts: PastCounts? = nil) -> ObjectImage? {
    guard !steps.isEmpty, var image else { return image }
    for (place, step) in steps.enumerated() where revision < step.since {
      // None where it was not there with the migration; not passed at all, it is as it was then.
      let known = made[place].index(forKey: image.id).map { made[place][$0].value } ?? image
      guard let entity = model.entity(image.id.entity) else { continue }
      if let known, known.id.entity == image.id.entity {
        for property in step.properties where entity.property(property.number) != nil {
          image[property] = known[property]
        }
      }
      for count in step.counts where entity.property(count.attribute.number) != nil {
        image[count.attribute] = counts?.count(count.attribute, of: image.id, later: known) ?? .null
      }
    }
    return image
  }
}
