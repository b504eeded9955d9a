/// The revision at which a change's author read the object: a base that can't be one is a mistake and no conflict.
extension TransactionPlanner {
  /// Whether the object has changed since. A base that is yet to be means the object as it is now: a client whose store
  /// went back to a backup has read what the store has forgotten, and its edits must not be lost for that.
  func isStale(_ stored: ObjectImage, since base: Revision) -> Bool { stored.revision > base }

  /// What was deleted meanwhile and came back is not what the edit was made on.
  mutating func recordRevival(of id: ObjectID, in past: [PastChange], after base: Revision) throws -> Bool {
    guard base > 0 else { return false }
    try refuseUnborn(id, in: past, at: base)
    guard let revival = past.first(where: \.isRevival) else { return false }
    conflicts.append(
      Conflict(kind: .deleted, id: id, author: revival.author, revision: revival.revision, mineWon: false))
    return true
  }

  /// A splice says where in a text it goes, and an overwrite needs what its author saw: without what has happened since,
  /// neither can be told, and guessing would spoil the text without a word.
  func unknownPast(of stored: ObjectImage, _ property: Property?, _ pruned: PastChange) -> Refusal {
    let entity = model.entity(stored.id.entity)?.name ?? "object"
    let what = property.map { "\(entity).\($0.name) of \(stored.id)" } ?? "the \(entity) \(stored.id)"
    return Refusal(
      .pruned,
      "\(what) was edited as it was long ago, and what has happened to it up to revision \(pruned.revision) was pruned: "
        + "read it anew and make the edit again")
  }

  /// Nobody has read an object before it was made. Its own replica may say so: its commits are never in its way.
  func refuseUnborn(_ id: ObjectID, in past: [PastChange], at base: Revision) throws {
    guard let first = past.first, first.kind == .inserted, !first.isRevival, first.replica != transaction.id.replica
    else { return }
    let entity = model.entity(id.entity)?.name ?? "object"
    throw Refusal(
      .malformed,
      "the \(entity) \(id) was made in revision \(first.revision): nobody can have read it at revision \(base)")
  }
}
