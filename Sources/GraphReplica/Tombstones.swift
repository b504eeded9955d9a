// Tests: DeletedObjectTests.swift
import GraphModel

/// The revisions at which objects were deleted, as far as the client has received them.
///
/// A read that began before a delete may deliver the object as it was. After very many deletes the oldest are
/// forgotten.
struct Tombstones {
  /// At this count the older half is forgotten.
  static let maximumCount = 65_536

  private var newer = [ObjectID: Revision]()
  private var older = [ObjectID: Revision]()

  mutating func record(_ id: ObjectID, at revision: Revision) {
    newer[id] = max(revision, deletion(of: id))
    if newer.count >= Self.maximumCount / 2 { (newer, older) = ([:], newer) }
  }

  /// Forgets the delete of an object that a later read contains. The object has become invisible to the user, which
  /// looks like a delete, and is visible again.
  mutating func remove(_ id: ObjectID, readAt revision: Revision) {
    if revision >= deletion(of: id) { (newer[id], older[id]) = (nil, nil) }
  }

  /// Discards all recorded deletes.
  mutating func removeAll() { (newer, older) = ([:], [:]) }

  /// Whether the object was deleted after this image of it.
  func isDeleted(since image: ObjectImage) -> Bool { image.revision < deletion(of: image.id) }

  /// The revision at which the object was deleted; 0 if the delete was not received or is forgotten.
  func deletion(of id: ObjectID) -> Revision { newer[id] ?? older[id, default: 0] }
}
