// Tests: UndoPastOthersTests.swift, UndoSameValueTests.swift, RandomUndoTests.swift
import GraphModel

/// The result of a reversal, after all changes of the property were received.
extension PropertyReversal {
  /// One part of the result.
  enum Outcome {
    case edit(Edit)
    /// The property stays, because it has been changed since.
    case stays(mine: Value, by: PastChange?)
    /// Another conflict prevents the restore.
    case cannot(Conflict)
  }

  /// - Parameters:
  ///   - value: the present value.
  ///   - isPlace: whether it is a position, where an equal number may mean another place.
  ///   - obstacle: the reason why the property can't refer to a value again.
  /// - Returns: at most one edit, and a reason why the property stays completely or partly.
  func outcomes(
    _ property: PropertyNumber, now value: Value, isPlace: Bool = false, obstacle: (Value) throws -> Conflict?
  ) throws -> [Outcome] {
    var end = self
    end.resolve(value)
    var outcomes = [Outcome]()
    switch end.method {
    case .none: break
    case .splices(let splices):
      if TextSplice.apply(splices, to: value.editedText) == nil {
        end.markLost(.null)
      } else if !splices.isEmpty {
        outcomes.append(.edit(Edit(property, .splice(splices))))
      }
    case .set(let old, let gave):
      if value == old, !isPlace { break }
      if value != gave {
        end.markLost(old)
      } else if let conflict = try obstacle(old) {
        outcomes.append(.cannot(conflict))
      } else {
        outcomes.append(.edit(Edit(property, .set(old))))
      }
    case .members(let members, let locked):
      let present = Set(value.objectIDs)
      func isRestored(_ id: ObjectID, _ wanted: Bool?) throws -> Bool {
        guard let wanted, wanted != present.contains(id) else { return false }
        return try !wanted || obstacle(.object(id)) == nil
      }
      let changed = try members.keys.sorted().filter { try isRestored($0, members[$0]) }
      let (back, out) = (changed.filter { members[$0] == true }, changed.filter { members[$0] == false })
      if !changed.isEmpty { outcomes.append(.edit(Edit(property, .members(added: back, removed: out)))) }
      // Another author's members that differ from the state before the step.
      let kept = try locked.keys.sorted().filter { try members[$0] == nil && isRestored($0, locked[$0]) }
      if !kept.isEmpty {
        let (added, removed) = (kept.filter { locked[$0] == true }, kept.filter { locked[$0] == false })
        end.lost = Edit(property, .members(added: back + added, removed: out + removed)).applied(to: value)
      }
    case .lists(let lists):
      let canReturn: (ObjectID) throws -> Bool = { try obstacle(.object($0)) == nil }
      let (edits, result) = try Self.edits(property, back: lists, from: value.objectIDs, canReturn: canReturn)
      outcomes += edits.map { .edit($0) }
      guard lists.contains(where: { !$0.locked.isEmpty }) else { break }
      let alone = lists.map { List(old: $0.old, new: $0.new) }
      let wanted = try Self.edits(property, back: alone, from: value.objectIDs, canReturn: canReturn).result
      if wanted != result { end.lost = .objects(wanted) }
    }
    if let lost = end.lost { outcomes.append(.stays(mine: lost, by: end.other)) }
    return outcomes
  }

  /// The edits that reverse changes of an ordered list. Added members are removed; removed and moved ones return to the
  /// place directly after the nearest member that was before them and still exists. Locked members stay.
  /// - Returns: the edits, and the resulting list.
  private static func edits(
    _ property: PropertyNumber, back lists: [List], from value: [ObjectID], canReturn: (ObjectID) throws -> Bool
  ) rethrows -> (edits: [Edit], result: [ObjectID]) {
    var (present, edits) = (value, [Edit]())
    for list in lists.reversed() {
      let (before, after, here) = (Set(list.old), Set(list.new), Set(present))
      var back = [Edit]()
      let added = list.new.filter { !before.contains($0) && here.contains($0) && !list.locked.contains($0) }
      if !added.isEmpty { back.append(Edit(property, .members(added: [], removed: added))) }
      // Members that another author has removed since stay out.
      let wanted = try list.old.filter {
        if after.contains($0) || list.locked.contains($0) { return here.contains($0) }
        return try canReturn($0)
      }
      for run in ListReorderer.runs(from: list.new, to: wanted) {
        let objects = run.objects.filter { !list.locked.contains($0) }
        if !objects.isEmpty { back.append(Edit(property, .place(objects, after: run.after))) }
      }
      let gone = Set(added)
      present.removeAll { gone.contains($0) }
      for case .place(let objects, let anchor) in back.map(\.action) {
        present = ListReorderer.placing(objects, after: anchor, in: present)
      }
      edits += back
    }
    return (edits, present)
  }
}
