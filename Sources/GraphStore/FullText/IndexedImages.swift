// Tests: SearchTests.swift
import GraphModel

/// The objects changed since the watermark, as the full-text indexes have them. Computed from history.
package struct IndexedImages {
  /// The image of each object at the watermark. Nil if the indexes do not contain it: it was inserted since, or
  /// deleted, which removes its words at once.
  private(set) var images = [ObjectID: ObjectImage?]()
  /// The amount of changes since the watermark, counted as the feed does.
  private(set) var changes = 0
  private(set) var bytes = 0

  package init() {}

  package init(_ history: HistoryReader, watermark: Revision) throws {
    var present = [ObjectID: ObjectImage?]()
    var deleted = Set<ObjectID>()
    try history.forEachCommitNewestFirst(after: watermark) { commit in
      changes += max(1, commit.changes.count)
      for change in try history.rollBack(commit, in: &present) {
        if let image = change.after ?? change.before { bytes += image.binary.count }
        if change.kind == .deleted { deleted.insert(change.id) }
      }
    }
    for (id, image) in present { images[id] = .some(deleted.contains(id) ? nil : image) }
  }

  /// The image of an existing object as the indexes have it.
  package func known(_ image: ObjectImage) -> ObjectImage? { images[image.id] ?? image }
}
