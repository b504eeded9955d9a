// Tests: IntentRemainderTests.swift, SynchronizerTests.swift
import GraphModel
import GraphStore

extension Intent {
  /// The edits of a committed intent that a merge policy has dropped, as a parked intent; nil for none.
  ///
  /// The server has committed the rest, so only the edits that lost are kept: those of a property with a conflict,
  /// those that name an object which was deleted, and all of an object that was deleted. The lost values of an insert
  /// become an update of the object that the server has.
  /// - Parameters:
  ///   - made: the permanent ids of the inserted objects, by their temporary ones.
  ///   - revision: the revision of the commit.
  package func remainder(
    after conflicts: [Conflict], made: [ObjectID: ObjectID] = [:], revision: Revision, at time: Timestamp
  ) -> Intent? {
    let lost = conflicts.filter { !$0.mineWon }
    if lost.isEmpty { return nil }
    func permanent(_ id: ObjectID) -> ObjectID { made[id] ?? id }
    // A conflict about an object that the intent only names concerns the edits that name it.
    let named = Set(lost.map(\.id)).subtracting(changes.map { permanent($0.id) })
    let kept = changes.compactMap { change -> Change? in
      let own = lost.filter { $0.id == permanent(change.id) }
      if change.kind != .insert, own.contains(where: { $0.property == 0 }) { return change }
      let properties = Set(own.map(\.property))
      let edits = change.edits.filter { edit in
        properties.contains(edit.property) || !named.isDisjoint(with: edit.namedObjects)
      }
      if edits.isEmpty { return nil }
      if change.kind == .insert { return Change(.update, permanent(change.id), base: revision, edits: edits) }
      var rest = change
      rest.edits = edits
      return rest
    }
    if kept.isEmpty { return nil }
    var rest = self
    rest.content = .changes(Transaction(id: transaction, changes: kept).renaming(made).changes)
    var parking = Parking(
      code: Refusal.Code.conflict.rawValue, message: "another user's value was kept, or the object is deleted",
      at: time, left: leftTime)
    parking.conflicts = lost
    rest.state = .parked(parking)
    return rest
  }
}
