import GraphModel

/// What the full-text indexes know of the objects that have changed since the watermark, told by history.
struct IndexedTexts {
  /// By object: its image at the watermark; nil when the indexes know none, because it was inserted since, or deleted,
  /// which takes its words out at once.
  private(set) var images = [ObjectID: ObjectImage?]()
  /// How much has happened since, as the feed counts it.
  private(set) var changes = 0
  private(set) var bytes = 0

  init() {}

  init(_ history: HistoryReader, watermark: Revision) throws {
    var present = [ObjectID: ObjectImage?]()
    var deleted = Set<ObjectID>()
    try history.forEachCommitNewestFirst(after: watermark) { commit in
      changes += max(1, commit.changes.count)
      for change in try history.takeBack(commit, in: &present) {
        bytes += (change.after ?? change.before)?.binary.count ?? 0
        if change.kind == .deleted { deleted.insert(change.id) }
      }
    }
    for (id, image) in present { images[id] = .some(deleted.contains(id) ? nil : image) }
  }

  /// The image that the indexes know of an object that is there.
  func known(_ image: ObjectImage) -> ObjectImage? { images[image.id] ?? image }
}
