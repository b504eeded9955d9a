import GraphModel

/// What the full-text indexes know of the objects that have changed since the watermark, told by history.
struct IndexedTexts {
  /// By object: its image at the watermark; nil when the indexes know none, because it was inserted since, or deleted,
  /// which takes its words out at once.
  private(set) var images = [ObjectID: ObjectImage?]()
  /// How much has happened since, as the feed counts it.
  private(set) var changes = 0

  init() {}

  init(_ history: HistoryReader, watermark: Revision) throws {
    for record in try history.records(after: watermark, through: nil, maximumChanges: .max) {
      changes += max(1, record.changes.count)
      for change in record.changes {
        switch change.kind {
        case .inserted, .deleted: images[change.id] = .some(nil)
        case .updated: if images[change.id] == nil { images[change.id] = .some(change.before) }
        }
      }
    }
  }

  /// The image that the indexes know of an object that is there.
  func known(_ image: ObjectImage) -> ObjectImage? { images[image.id] ?? image }
}
