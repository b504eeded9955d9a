import GraphModel

/// The pictures of a chapter: an ordered many-to-many, which the chapter stores as a list.
extension MergeFixture {
  static let listColumns = [
    "pictures that both moved", "pictures that both put at one place",
    "one that Bob took out, beside one that Ann moved",
    "a picture that Bob took out and Ann moved", "a picture that Bob moved and Ann took out",
    "the whole list, in which Bob moved a picture",
  ]

  func list(_ column: String) throws -> Case {
    let (p, q, r, s, t) = (pictures[0], pictures[1], pictures[2], pictures[3], pictures[4])
    func gives(_ order: [ObjectID]) -> () throws -> Bool { { try self.order() == order } }
    let takeOut = Edit.Action.members(added: [], removed: [r])
    switch column {
    case "pictures that both moved":
      return Case(
        theirs: [try edit(.place([r], after: nil))], mine: [try edit(.place([p], after: q))],
        hasMine: { try self.stands(p, behind: q) }, hasTheirs: { try self.stands(q, behind: r) })
    case "pictures that both put at one place":
      return Case(
        theirs: [try edit(.place([s], after: p))], mine: [try edit(.place([t], after: p))],
        hasMine: { try self.stands(t, behind: p) && self.stands(q, behind: t) },
        hasTheirs: { try self.stands(s, behind: p) && self.stands(q, behind: s) })
    case "one that Bob took out, beside one that Ann moved":
      return Case(
        theirs: [try edit(takeOut)], mine: [try edit(.place([p], after: q))],
        hasMine: { try self.stands(p, behind: q) }, hasTheirs: { try !self.order().contains(r) })
    case "a picture that Bob took out and Ann moved":
      return Case(
        theirs: [try edit(takeOut)], mine: [try edit(.place([r], after: nil))], hasMine: gives([r, p, q]),
        hasTheirs: gives([p, q]))
    case "a picture that Bob moved and Ann took out":
      return Case(
        theirs: [try edit(.place([r], after: nil))], mine: [try edit(takeOut)], hasMine: gives([p, q]),
        hasTheirs: gives([r, p, q]))
    case "the whole list, in which Bob moved a picture":
      return Case(
        theirs: [try edit(.place([r], after: nil))], mine: [try edit(.set(wholeLists.mine))],
        hasMine: gives(wholeLists.mine.objectIDs), hasTheirs: gives(wholeLists.theirs.objectIDs))
    default: throw Refusal(.malformed, "no case tries the column \"\(column)\"")
    }
  }

  /// Ann's values, and the remains of Bob's move.
  var wholeLists: (mine: Value, theirs: Value) {
    (.objects([pictures[1], pictures[0], pictures[3]]), .objects([pictures[2], pictures[0], pictures[1]]))
  }

  private func edit(_ action: Edit.Action) throws -> Change {
    Change(.update, chapter, base: base, edits: [Edit(try store.property("Chapter.pictures").number, action)])
  }

  private func order() throws -> [ObjectID] { try store.value(chapter, "Chapter.pictures").objectIDs }

  private func stands(_ picture: ObjectID, behind other: ObjectID) throws -> Bool {
    let order = try order()
    guard let place = order.firstIndex(of: picture), let before = order.firstIndex(of: other) else { return false }
    return before < place
  }
}
