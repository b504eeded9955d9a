import GraphModel
import GraphTesting
import Testing

/// Edits of the end of a relationship that does not store it, against others' changes of the end that does. The table
/// of docs/guides/conflicts.md has each policy's decision; these tests show how far a decision goes.
@Suite struct StoredEndTests {
  private final class HarborFixture {
    let store: TestStore
    let ships: [ObjectID]
    let sailors: [ObjectID]
    let crates: [ObjectID]
    let base: Revision

    init() throws {
      let model = try Model(
        parsing: """
          {"format": 1, "name": "Harbor", "version": 1,
           "entities": [
             {"name": "Ship", "attributes": [{"name": "name", "type": "string"}], "unique": [["name"]],
              "relationships": [
                {"name": "captain", "destination": "Sailor", "inverse": "commands"},
                {"name": "ports", "destination": "Port", "inverse": "ships", "toMany": true},
                {"name": "crew", "destination": "Sailor", "inverse": "ship", "toMany": true},
                {"name": "cargo", "destination": "Crate", "inverse": "ship", "toMany": true, "ordered": true}]},
             {"name": "Port", "attributes": [{"name": "name", "type": "string"}],
              "relationships": [{"name": "ships", "destination": "Ship", "inverse": "ports", "toMany": true}]},
             {"name": "Sailor",
              "attributes": [{"name": "name", "type": "string"}, {"name": "rank", "type": "integer", "default": 0}],
              "relationships": [
                {"name": "ship", "destination": "Ship", "inverse": "crew"},
                {"name": "commands", "destination": "Ship", "inverse": "captain"}]},
             {"name": "Crate", "attributes": [{"name": "name", "type": "string"}],
              "relationships": [{"name": "ship", "destination": "Ship", "inverse": "cargo"}]}]}
          """.utf8)
      store = try TestStore(model)
      (store.author, store.replica) = ("ann", UniqueID(high: 1, low: 1))
      ships = try ["Argo", "Beagle"].map { [store] in try store.insert("Ship", ["name": .string($0)]) }
      sailors = try ["s", "t", "u"].map { [store] in try store.insert("Sailor", ["name": .string($0)]) }
      crates = try ["k", "l", "m"].map { [store, ships] in
        try store.insert("Crate", ["name": .string($0), "ship": .object(ships[0])])
      }
      base = try store.store.head.revision
    }

    func bob(_ changes: Change...) throws {
      (store.author, store.replica) = ("bob", UniqueID(high: 2, low: 2))
      try store.must(changes)
      (store.author, store.replica) = ("ann", UniqueID(high: 1, low: 1))
    }

    func edit(_ path: String, _ action: Edit.Action) throws -> Edit { Edit(try store.property(path).number, action) }

    func change(_ id: ObjectID, base: Revision? = nil, _ edits: Edit...) -> Change {
      Change(.update, id, base: base ?? self.base, edits: edits)
    }

    func says(_ id: ObjectID, _ path: String, _ other: ObjectID?, base: Revision = .max) throws -> Change {
      try store.update(id, path, other.map(Value.object) ?? .null, base: base)
    }

    /// Commits as Ann; returns the names of the objects in conflict.
    func commit(_ policy: MergePolicy, _ changes: Change...) throws -> [String] {
      let conflicts: [Conflict] =
        switch try store.commit(changes, policy: policy).outcome {
        case .committed(let committed): committed.conflicts
        case .refused(let refusal) where !refusal.conflicts.isEmpty: refusal.conflicts
        case .refused(let refusal): throw refusal
        }
      return try conflicts.map { conflict in
        let name = try store.value(conflict.id, "\(store.model.entity(conflict.id.entity)?.name ?? "").name")
        return (name.stringValue ?? "") + "." + (store.model.property(conflict.property)?.name ?? "")
      }
    }

    func crew(_ ship: Int) throws -> [String] {
      try store.all("Sailor", "ship.name == \"\(["Argo", "Beagle"][ship])\"", sort: "name").compactMap {
        try $0[store.property("Sailor.name")].stringValue
      }
    }

    func cargo(_ ship: Int) throws -> [String] {
      try store.all("Crate", "ship.name == \"\(["Argo", "Beagle"][ship])\"", sort: "ship.order").compactMap {
        try $0[store.property("Crate.name")].stringValue
      }
    }
  }

  @Test func membersTakenByOthersStayAndRestIsPlaced() throws {
    let harbor = try HarborFixture()
    try harbor.bob(harbor.says(harbor.crates[2], "Crate.ship", harbor.ships[1]))
    let place = try harbor.edit("Ship.cargo", .place([harbor.crates[2], harbor.crates[1]], after: nil))
    #expect(try harbor.commit(.storeTrump, harbor.change(harbor.ships[0], place)) == ["m.ship"])
    #expect(try harbor.cargo(0) == ["l", "k"])
    #expect(try harbor.cargo(1) == ["m"])
  }

  /// The changes of a program that moves a crate to a ship and there to a place: the crate's own edit counts, in either
  /// order.
  @Test(arguments: [true, false]) func memberLostAtStoredEndIsNotPlaced(isPlacedFirst: Bool) throws {
    for policy in [MergePolicy.storeTrump, .rollback] {
      let harbor = try HarborFixture()
      try harbor.bob(harbor.says(harbor.crates[2], "Crate.ship", nil))
      let set = try harbor.says(harbor.crates[2], "Crate.ship", harbor.ships[1], base: harbor.base)
      // The ship was read after all of these changes.
      let place = harbor.change(
        harbor.ships[1], base: .max, try harbor.edit("Ship.cargo", .place([harbor.crates[2]], after: nil)))
      let changes = isPlacedFirst ? [place, set] : [set, place]
      #expect(try harbor.commit(policy, changes[0], changes[1]) == ["m.ship"], "\(policy)")
      #expect(try harbor.store.value(harbor.crates[2], "Crate.ship") == .null)
      #expect(try harbor.cargo(1).isEmpty)
    }
  }

  @Test func rereadStoredEndIsNoConflict() throws {
    let harbor = try HarborFixture()
    try harbor.bob(harbor.says(harbor.crates[2], "Crate.ship", harbor.ships[1]))
    let seen = try harbor.store.store.head.revision
    let place = harbor.change(
      harbor.ships[0], try harbor.edit("Ship.cargo", .place([harbor.crates[2]], after: nil)))
    let read = harbor.change(harbor.crates[2], base: seen)
    #expect(try harbor.commit(.error, place, read).isEmpty)
    #expect(try harbor.cargo(0) == ["m", "k", "l"])
  }

  @Test func moveWithinListIsKept() throws {
    let harbor = try HarborFixture()
    try harbor.bob(harbor.says(harbor.crates[0], "Crate.ship", harbor.ships[1]))
    try harbor.bob(harbor.says(harbor.crates[0], "Crate.ship", harbor.ships[0]))
    let place = try harbor.edit("Ship.cargo", .place([harbor.crates[0]], after: nil))
    #expect(try harbor.commit(.error, harbor.change(harbor.ships[0], place)).isEmpty)
    #expect(try harbor.cargo(0) == ["k", "l", "m"])
  }

  /// A new ship was read at no revision; the sailor whom it takes for its captain was.
  @Test func insertDoesNotTakeMembersTakenByOthers() throws {
    for policy in [MergePolicy.error, .storeTrump, .objectTrump] {
      let harbor = try HarborFixture()
      try harbor.bob(harbor.says(harbor.ships[0], "Ship.captain", harbor.sailors[1]))
      let ship = try harbor.store.insertion("Ship", ["name": .string("Cutter"), "captain": .object(harbor.sailors[1])])
      let read = harbor.change(harbor.sailors[1])
      #expect(try harbor.commit(policy, ship, read) == ["t.commands"], "\(policy)")
      let captain = try harbor.store.all("Ship", "captain.name == \"t\"").map(\.id)
      #expect((captain == [harbor.ships[0]]) == (policy != .objectTrump) && captain.count == 1)
      #expect(try harbor.store.all("Ship").count == (policy == .error ? 2 : 3))
      // Without a base revision the change applies to the present sailor.
      if policy == .error { #expect(try harbor.commit(policy, ship).isEmpty) }
    }
  }

  /// Texts typed into an object have its later base; the captain was chosen before.
  @Test func olderBaseOfTwoChangesCounts() throws {
    let harbor = try HarborFixture()
    try harbor.bob(harbor.says(harbor.ships[0], "Ship.captain", harbor.sailors[1]))
    let seen = try harbor.store.store.head.revision
    let appoint = try harbor.says(harbor.ships[1], "Ship.captain", harbor.sailors[1], base: harbor.base)
    let read = harbor.change(harbor.sailors[1])
    let promote = try harbor.store.update(harbor.sailors[1], "Sailor.rank", .integer(2), base: seen)
    #expect(try harbor.commit(.error, appoint, read, promote) == ["t.commands"])
    #expect(try harbor.commit(.error, appoint, promote).isEmpty)
  }

  /// The destination was read before the referring object.
  @Test func earlierReadOfStoredEndIsItsBase() throws {
    let harbor = try HarborFixture()
    try harbor.bob(harbor.says(harbor.ships[0], "Ship.captain", harbor.sailors[1]))
    let appoint = try harbor.says(
      harbor.ships[1], "Ship.captain", harbor.sailors[1], base: harbor.store.store.head.revision)
    // Something happens meanwhile, else all of it was read just now.
    try harbor.bob(harbor.store.update(harbor.sailors[0], "Sailor.rank", .integer(7)))
    #expect(try harbor.commit(.error, appoint, harbor.change(harbor.sailors[1])) == ["t.commands"])
    // An object that was not read is not compared.
    #expect(try harbor.commit(.error, appoint, harbor.change(harbor.sailors[1], base: 0)).isEmpty)
  }

  @Test(arguments: [true, false]) func overwriteKeepsEditsOfSameTransaction(isAppointedFirst: Bool) throws {
    let harbor = try HarborFixture()
    try harbor.bob(
      harbor.says(harbor.ships[1], "Ship.captain", harbor.sailors[1]),
      harbor.says(harbor.sailors[2], "Sailor.ship", harbor.ships[1]))
    let appoint = try harbor.says(harbor.ships[0], "Ship.captain", harbor.sailors[1], base: harbor.base)
    let read = harbor.change(harbor.sailors[1])
    let hire = harbor.change(
      harbor.ships[0], try harbor.edit("Ship.crew", .members(added: [harbor.sailors[2]], removed: [])))
    let promote = try harbor.store.update(harbor.sailors[2], "Sailor.rank", .integer(2), base: harbor.base)
    let changes = isAppointedFirst ? [appoint, read, hire, promote] : [read, promote, appoint, hire]
    let names = try harbor.commit(.overwrite, changes[0], changes[1], changes[2], changes[3])
    #expect(names.sorted() == ["t.commands", "u.ship"])
    #expect(try harbor.store.value(harbor.ships[0], "Ship.captain") == .object(harbor.sailors[1]))
    #expect(try harbor.store.value(harbor.ships[1], "Ship.captain") == .null)
    #expect(try harbor.crew(0) == ["u"])
    #expect(try harbor.store.value(harbor.sailors[2], "Sailor.rank") == .integer(2))
  }

  @Test func mergedInsertDoesNotTakeMembersEither() throws {
    for policy in [MergePolicy.storeTrump, .objectTrump, .overwrite] {
      let harbor = try HarborFixture()
      try harbor.bob(
        harbor.says(harbor.sailors[1], "Sailor.ship", harbor.ships[1]),
        harbor.says(harbor.ships[1], "Ship.captain", harbor.sailors[2]))
      let ship = try harbor.store.insertion(
        "Ship",
        [
          "name": .string("Argo"), "crew": .objects([harbor.sailors[1]]), "captain": .object(harbor.sailors[2]),
        ])
      let (hired, captain) = (harbor.change(harbor.sailors[1]), harbor.change(harbor.sailors[2]))
      let names = Set(try harbor.commit(policy, ship, hired, captain))
      #expect(names.isSuperset(of: policy == .storeTrump ? ["t.ship"] : ["t.ship", "u.commands"]), "\(policy)")
      #expect(try harbor.crew(policy == .storeTrump ? 1 : 0) == ["t"], "\(policy)")
      #expect(
        try harbor.store.value(harbor.sailors[2], "Sailor.commands")
          == .object(harbor.ships[policy == .storeTrump ? 1 : 0]), "\(policy)")
    }
  }

  /// A rollback of a sailor takes along that a new ship is given to him.
  @Test func rolledBackObjectIsNotAssignedToInsert() throws {
    let harbor = try HarborFixture()
    try harbor.bob(harbor.says(harbor.ships[1], "Ship.captain", harbor.sailors[1]))
    let ship = try harbor.store.insertion("Ship", ["name": .string("Cutter"), "captain": .object(harbor.sailors[1])])
    let rank = try harbor.store.update(harbor.sailors[1], "Sailor.rank", .integer(4), base: harbor.base)
    #expect(try harbor.commit(.rollback, ship, rank).sorted() == ["t.commands", "t.rank"])
    #expect(try harbor.store.value(harbor.sailors[1], "Sailor.rank") == .integer(0))
    #expect(try harbor.store.value(harbor.ships[1], "Ship.captain") == .object(harbor.sailors[1]))
  }

  @Test func commitsOfSameReplicaAreNoConflict() throws {
    let harbor = try HarborFixture()
    try harbor.store.must([harbor.says(harbor.sailors[1], "Sailor.ship", harbor.ships[1])])
    let hire = try harbor.edit("Ship.crew", .members(added: [harbor.sailors[1]], removed: []))
    #expect(try harbor.commit(.error, harbor.change(harbor.ships[0], hire)).isEmpty)
    #expect(try harbor.crew(0) == ["t"])
  }

  @Test func otherPropertyOfAddedMemberIsNoConflict() throws {
    let harbor = try HarborFixture()
    try harbor.bob(harbor.store.update(harbor.sailors[1], "Sailor.rank", .integer(3)))
    let hire = try harbor.edit("Ship.crew", .members(added: [harbor.sailors[1]], removed: []))
    #expect(try harbor.commit(.error, harbor.change(harbor.ships[0], hire)).isEmpty)
    #expect(try harbor.crew(0) == ["t"])
    // A sailor who has left already can't be removed again.
    try harbor.bob(harbor.says(harbor.sailors[1], "Sailor.ship", harbor.ships[1]))
    let fire = try harbor.edit("Ship.crew", .members(added: [], removed: [harbor.sailors[1]]))
    #expect(try harbor.commit(.error, harbor.change(harbor.ships[0], fire)).isEmpty)
    #expect(try harbor.crew(1) == ["t"])
  }

  @Test func reorderKeepsAdditionsAndRemovalsOfOthers() throws {
    let harbor = try HarborFixture()
    try harbor.bob(
      harbor.says(harbor.crates[1], "Crate.ship", harbor.ships[1]),
      harbor.store.insertion("Crate", ["name": .string("n"), "ship": .object(harbor.ships[0])]))
    let all = try harbor.edit("Ship.cargo", .set(.objects(harbor.crates.reversed())))
    #expect(try harbor.commit(.storeTrump, harbor.change(harbor.ships[0], all)).sorted() == ["l.ship", "n.ship"])
    #expect(try harbor.cargo(0) == ["m", "k", "n"])
    #expect(try harbor.cargo(1) == ["l"])
  }

  @Test func manyToManyListIsMergedPerMember() throws {
    let harbor = try HarborFixture()
    let store = harbor.store
    let ports = try ["x", "y", "z"].map { try store.insert("Port", ["name": .string($0)]) }
    try store.must([store.update(harbor.ships[0], "Ship.ports", .objects([ports[0]]))])
    let base = try store.store.head.revision
    let docks = try harbor.edit("Ship.ports", .members(added: [ports[1]], removed: [ports[0]]))
    try harbor.bob(harbor.change(harbor.ships[0], base: base, docks))
    // The ship stores it, and Bob has touched the ports x and y there.
    let unrelated = try store.update(ports[2], "Port.ships", .objects([harbor.ships[0]]), base: base)
    #expect(try harbor.commit(.error, unrelated).isEmpty)
    let related = try store.update(ports[1], "Port.ships", .objects([]), base: base)
    #expect(try harbor.commit(.error, related) == ["Argo.ports"])
    #expect(try harbor.commit(.storeTrump, related) == ["Argo.ports"])
    #expect(try store.value(harbor.ships[0], "Ship.ports") == .objects([ports[1], ports[2]].sorted()))
    #expect(try harbor.commit(.objectTrump, related) == ["Argo.ports"])
    #expect(try store.value(harbor.ships[0], "Ship.ports") == .objects([ports[2]]))
  }

  /// A rollback of a sailor takes the hiring along, though that is an edit of the ship.
  @Test func rolledBackObjectIsNotAddedAsMember() throws {
    let harbor = try HarborFixture()
    try harbor.bob(harbor.store.update(harbor.sailors[1], "Sailor.rank", .integer(3)))
    let rank = try harbor.store.update(harbor.sailors[1], "Sailor.rank", .integer(4), base: harbor.base)
    let hire = harbor.change(
      harbor.ships[0], try harbor.edit("Ship.crew", .members(added: [harbor.sailors[1]], removed: [])))
    #expect(try harbor.commit(.rollback, hire, rank).sorted() == ["t.rank", "t.ship"])
    #expect(try harbor.crew(0).isEmpty)
    // The same in the other direction.
    try harbor.bob(harbor.says(harbor.sailors[2], "Sailor.ship", harbor.ships[1]))
    let other = try harbor.store.update(harbor.sailors[2], "Sailor.rank", .integer(9), base: harbor.base)
    let both = harbor.change(
      harbor.ships[0], try harbor.edit("Ship.crew", .members(added: [harbor.sailors[2]], removed: [])))
    #expect(try harbor.commit(.rollback, both, other).sorted() == ["u.rank", "u.ship"])
    #expect(try harbor.store.value(harbor.sailors[2], "Sailor.rank") == .integer(0))
  }

  @Test func revivedMemberIsConflict() throws {
    let harbor = try HarborFixture()
    try harbor.bob(Change(.delete, harbor.sailors[1], base: .max))
    let deletion = try harbor.store.store.head.revision
    harbor.store.author = "bob"
    if case .refused(let refusal) = try harbor.store.undo(deletion).outcome { throw refusal }
    (harbor.store.author, harbor.store.replica) = ("cid", UniqueID(high: 4, low: 4))
    let hire = try harbor.edit("Ship.crew", .members(added: [harbor.sailors[1]], removed: []))
    #expect(try harbor.commit(.error, harbor.change(harbor.ships[0], hire)) == ["t.ship"])
  }
}
