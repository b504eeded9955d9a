import GraphModel

/// References to objects that Bob has deleted.
extension MergeFixture {
  static let deletedColumns = [
    "a to-one", "a member that is added", "a whole to-many", "a one-to-one", "a place in an order", "an insert",
    "an insert that requires it",
  ]

  func deleted(_ column: String) throws -> Case {
    func leads(_ id: ObjectID, _ path: String, to other: ObjectID) -> () throws -> Bool {
      {
        let value = try self.store.value(id, path)
        return value.objectID == other || value.objectIDs.contains(other)
      }
    }
    func against(_ target: ObjectID, _ mine: Change, _ hasMine: @escaping () throws -> Bool) -> Case {
      Case(
        theirs: [Change(.delete, target, base: base)], mine: [mine], hasMine: hasMine,
        hasTheirs: { try self.store.image(target) == nil })
    }
    func edit(_ id: ObjectID, _ path: String, _ action: Edit.Action) throws -> Change {
      Change(.update, id, base: base, edits: [Edit(try store.property(path).number, action)])
    }
    func hasAny(_ entity: String) -> () throws -> Bool {
      { try self.store.all(entity, "ship != nil AND ship.name == \"Beagle\"").isEmpty == false }
    }
    switch column {
    case "a to-one":
      return against(
        ships[1], try edit(sailors[0], "Sailor.ship", .set(.object(ships[1]))),
        leads(sailors[0], "Sailor.ship", to: ships[1]))
    case "a member that is added":
      return against(
        marks[0], try edit(thing, "Thing.marks", .members(added: [marks[0]], removed: [])),
        leads(thing, "Thing.marks", to: marks[0]))
    case "a whole to-many":
      return against(
        marks[0], try edit(thing, "Thing.marks", .set(.objects([marks[0], marks[2]]))),
        leads(thing, "Thing.marks", to: marks[0]))
    case "a one-to-one":
      return against(
        sailors[1], try edit(ships[0], "Ship.captain", .set(.object(sailors[1]))),
        leads(ships[0], "Ship.captain", to: sailors[1]))
    case "a place in an order":
      return against(
        pictures[3], try edit(chapter, "Chapter.pictures", .place([pictures[3]], after: nil)),
        leads(chapter, "Chapter.pictures", to: pictures[3]))
    case "an insert":
      return against(
        ships[1], try store.insertion("Crate", ["name": .string("n"), "ship": .object(ships[1])]), hasAny("Crate"))
    case "an insert that requires it":
      return against(ships[1], try store.insertion("Flag", ["ship": .object(ships[1])]), hasAny("Flag"))
    default: throw Refusal(.malformed, "no case tries the column \"\(column)\"")
    }
  }
}
