import GraphModel

/// Taking back what a commit did to an order. Others may have added and moved members since, and theirs stays: what is
/// undone is where the commit's own objects went, never the list as a whole.
extension UndoPlanner {
  /// A member that goes back behind the one that it stood behind.
  struct Return {
    let parent: ObjectID
    let property: Property
    let place: MemberPlace
    let anchor: ObjectID?
  }

  // MARK: - Lists that the parent stores

  /// The edits that take a change of an ordered list back: what was added goes, what was taken out and what was moved
  /// comes behind the nearest of those that stood before it then and are there now.
  func undoList(
    _ property: Property, from old: [ObjectID], to new: [ObjectID], in present: [ObjectID], _ revived: Set<ObjectID>
  ) throws -> [Edit] {
    let (before, after, here) = (Set(old), Set(new), Set(present))
    var edits = [Edit]()
    let added = new.filter { !before.contains($0) && here.contains($0) }
    if !added.isEmpty { edits.append(Edit(property.number, .members(added: [], removed: added))) }
    // Members that somebody has taken out since stay out.
    let wanted = try old.filter { id in
      if after.contains(id) { return here.contains(id) }
      return try revived.contains(id) || objects.find(id) != nil
    }
    for run in OrderMoves.runs(from: new, to: wanted) {
      edits.append(Edit(property.number, .place(run.objects, after: run.after)))
    }
    return edits
  }

  // MARK: - Places that the members hold

  /// How the place of a member is taken back. Mostly by its old number. A commit that had to make room has given the
  /// numbers around another meaning: then the member goes behind the one that it stood behind before.
  func restore(
    _ edit: HistoryEdit, _ position: Property, of change: HistoryChange, in image: ObjectImage,
    _ commit: HistoryReader.Commit, _ returns: inout [Return]
  ) throws -> Edit? {
    guard case .set(.integer(let old), _) = edit.action,
      let reference = objects.model.entity(image.id.entity)?.relationships.first(where: {
        $0.relationship?.position == position.number && $0.slot != nil
      }), let parent = Self.before(change, reference, image).objectID,
      let ordered = reference.relationship.flatMap({ objects.model.property($0.inverse) })
    else { return nil }
    let place = MemberPlace(position: old, id: image.id)
    // Where the others stood that the same commit moved.
    var moved = [ObjectID: MemberPlace?]()
    var madeRoom = false
    for other in commit.changes where other.kind == .updated {
      for case let edit in other.edits where edit.property == position.number {
        guard let image = try objects.readImage(of: other.id) else { continue }
        moved[other.id] = .some(nil)
        guard case .set(.integer(let old), _) = edit.action, Self.before(other, reference, image).objectID == parent
        else { continue }
        moved[other.id] = MemberPlace(position: old, id: other.id)
        madeRoom = madeRoom || other.spacing.contains(position.number)
      }
    }
    guard madeRoom else { return edit.reversed }
    var anchor = moved.values.compactMap { $0 }.filter { $0 < place }.max()
    var (beyond, isAtEnd) = (place, false)
    while !isAtEnd {
      let chunk = try objects.readMembers(of: parent, through: reference, beyond: beyond, ascending: false, limit: 64)
      if let still = chunk.first(where: { moved[$0.id] == nil }) {
        anchor = max(anchor ?? still, still)
        break
      }
      isAtEnd = chunk.isEmpty
      beyond = chunk.last ?? beyond
    }
    returns.append(Return(parent: parent, property: ordered, place: place, anchor: anchor?.id))
    return nil
  }

  /// The members that stood first go back first: others stood behind them.
  func changes(for returns: [Return]) -> [Change] {
    returns.sorted { $0.place < $1.place }.map { item in
      Change(
        .update, item.parent, base: .max,
        edits: [Edit(item.property.number, .place([item.place.id], after: item.anchor))])
    }
  }

  /// What a to-one was before the change, of an object that has not let go of it since.
  private static func before(_ change: HistoryChange, _ reference: Property, _ image: ObjectImage) -> Value {
    for edit in change.edits where edit.property == reference.number {
      if case .set(let old, _) = edit.action { return old }
    }
    return image[reference]
  }
}
