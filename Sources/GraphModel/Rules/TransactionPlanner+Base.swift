/// Checking the base revision, at which a change's author read the object. An impossible base is an error, not a
/// conflict.
extension TransactionPlanner {
  /// Whether the object has changed since `base`. A base in the future means the present object: after the store was
  /// restored from a backup, a client may have read revisions that the store no longer has, and its edits must not be
  /// lost.
  func isStale(_ stored: ObjectImage, since base: Revision) -> Bool { stored.revision > base }

  /// Records a conflict if the object was deleted and revived after the edit's base.
  mutating func recordRevival(of id: ObjectID, in past: [PastChange], after base: Revision) throws -> Bool {
    guard base > 0 else { return false }
    try refuseUnborn(id, in: past, at: base)
    guard let revival = past.first(where: \.isRevival) else { return false }
    conflicts.append(
      Conflict(kind: .deleted, id: id, author: revival.author, revision: revival.revision, mineWon: false))
    return true
  }

  /// The refusal of an edit whose base is pruned. A splice needs the changes since the base for its position, and an
  /// overwrite needs what its author saw; a guess could silently damage the text.
  func unknownPast(of stored: ObjectImage, _ property: Property?, _ pruned: PastChange) -> Refusal {
    let entity = entityName(of: stored.id)
    let what = property.map { "\(entity).\($0.name) of \(stored.id)" } ?? "the \(entity) \(stored.id)"
    return Refusal(
      .pruned,
      "\(what) was edited in an old state, and its history up to revision \(pruned.revision) was pruned: "
        + "read it again and repeat the edit")
  }

  /// Refuses a base before the object's insert, as the object could not be read then. The replica that inserted it is
  /// exempt, because its own commits never conflict with it.
  func refuseUnborn(_ id: ObjectID, in past: [PastChange], at base: Revision) throws {
    guard let first = past.first, first.kind == .inserted, !first.isRevival, first.replica != transaction.id.replica
    else { return }
    let entity = entityName(of: id)
    throw Refusal(
      .malformed,
      "the \(entity) \(id) was created in revision \(first.revision); it did not exist at revision \(base)")
  }
}
