import GraphModel

/// At which revisions objects were deleted, as far as that was heard: a read that began before may bring one of them as it was.
/// Of very many deletes the oldest are forgotten.
struct Burials {
  /// From this many on the older half is forgotten.
  static let maximumCount = 65_536

  private var newer = [ObjectID: Revision]()
  private var older = [ObjectID: Revision]()

  mutating func note(_ id: ObjectID, at revision: Revision) {
    newer[id] = max(revision, deletion(of: id))
    if newer.count >= Self.maximumCount / 2 { (newer, older) = ([:], newer) }
  }

  /// Nothing that was heard counts any more.
  mutating func forget() { (newer, older) = ([:], [:]) }

  /// Whether the object was deleted after it was like this.
  func outlived(_ image: ObjectImage) -> Bool { image.revision < deletion(of: image.id) }

  /// When the object was deleted; 0 where that was not heard of, or is forgotten.
  func deletion(of id: ObjectID) -> Revision { newer[id] ?? older[id] ?? 0 }
}
