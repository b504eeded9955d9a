// Tests: PastOptionTests.swift, PastCostTests.swift
import GraphModel

/// The walk along one object's past, newest change first.
///
/// Each change names the object's preceding one, so no unrelated commit is read. Everything that follows one object
/// does so with this walk; `HistoryReader.events(of:)` makes the same walk for many objects at a time, and
/// `GraphRollback` goes through all commits instead.
struct ObjectWalk {
  private let history: HistoryReader
  private let id: ObjectID
  /// The revision of the change that `next` returns; 0 before the object's first change.
  private(set) var revision: Revision

  /// - Parameter newest: the object's newest change to visit.
  init(_ id: ObjectID, from newest: Revision, _ history: HistoryReader) {
    (self.id, revision, self.history) = (id, newest, history)
  }

  /// Returns the next older change after `base`. Nil if there is none, or if history does not have it; then `revision`
  /// is still after `base`.
  mutating func next(after base: Revision = 0) throws -> HistoryReader.RecordedChange? {
    guard revision > base, let event = try history.event(of: id, in: revision), event.change.previous < revision else {
      return nil
    }
    revision = event.change.previous
    return event
  }

  /// Continues at an older change of the object.
  mutating func skip(to older: Revision) {
    assert(older <= revision)
    revision = older
  }
}
