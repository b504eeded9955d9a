// Tests: DamageTests.swift, RandomHistoryTests.swift
import GRDBSQLite
import GraphModel

/// The revisions of the commits that changed an object, newest first.
///
/// Each change names the object's preceding one (`ObjectWalk`). Where the object or such a commit is damaged, the older
/// commits are searched one by one instead.
struct ChangedRevisions {
  private let history: HistoryReader
  private let id: ObjectID
  private let after: Revision
  private let omitsDamage: Bool
  /// Nil if the object is damaged, so that its newest change is unknown.
  private var walk: ObjectWalk?
  /// The next revision to look at, once the walk has ended at damage.
  private var searched: Revision?

  /// - Parameter omitsDamage: whether the search continues after damage. Otherwise it is refused.
  init(of id: ObjectID, in history: HistoryReader, after: Revision, omitsDamage: Bool) throws {
    (self.id, self.history, self.after, self.omitsDamage) = (id, history, after, omitsDamage)
    let newest = try history.objects.unlessDamaged(omitsDamage) {
      try history.newestChange(of: id, present: history.objects.readImage(of: id))
    }
    if let newest {
      walk = ObjectWalk(id, from: newest, history)
    } else {
      searched = try history.head().revision
    }
  }

  mutating func next() throws -> Revision? {
    if let searched { return try search(from: searched) }
    guard var walk else { return nil }
    let event = try history.objects.unlessDamaged(omitsDamage) { try walk.next(after: after) }
    guard let event else {
      // The damaged commit itself is named by `damageFound`.
      return try search(from: walk.revision - 1)
    }
    self.walk = walk
    return event?.revision
  }

  private mutating func search(from newest: Revision) throws -> Revision? {
    var revision = newest
    defer { searched = revision }
    while revision > after {
      defer { revision -= 1 }
      try history.connection.checkInterruption()
      let event = try history.objects.unlessDamaged(omitsDamage) { try history.event(of: id, in: revision) }
      if let event, event != nil { return revision }
    }
    return nil
  }
}
