import GraphModel
import GraphReplica
import GraphTesting
import GraphWire
import Testing

/// A one-to-one as a context edits it: both ends show it at once, whichever was set, and no object has two. The server
/// receives the edits, and the revisions at which the other objects were seen.
@Suite struct OneToOneTests {
  private static let model = """
    {"format": 1, "name": "Harbor", "version": 1,
     "entities": [
       {"name": "Ship", "attributes": [{"name": "name", "type": "string"}],
        "relationships": [
          {"name": "captain", "destination": "Sailor", "inverse": "commands"},
          {"name": "crew", "destination": "Sailor", "inverse": "ship", "toMany": true}]},
       {"name": "Sailor", "attributes": [{"name": "name", "type": "string"}],
        "relationships": [
          {"name": "commands", "destination": "Ship", "inverse": "captain"},
          {"name": "ship", "destination": "Ship", "inverse": "crew"}]}]}
    """

  /// A connected context that holds two ships and three sailors; the first sailor commands the first ship, and is of
  /// its crew.
  private final class HarborFixture {
    let context: ObjectContext
    let ships: [ManagedObject]
    let sailors: [ManagedObject]
    private var lastRequest: UInt64 = 0

    init() throws {
      let model = try Model(parsing: OneToOneTests.model.utf8)
      let (ship, sailor) = (try #require(model.entity(named: "Ship")), try #require(model.entity(named: "Sailor")))
      let captain = try #require(ship.property(named: "captain"))
      context = ObjectContext(
        model: model, replica: Replica(id: UniqueID(high: 1, low: 1), author: "ann", model: model.hash))
      func image(_ number: UInt64, _ entity: Entity, _ revision: Revision) -> ObjectImage {
        ObjectImage(
          id: ObjectID(key: UniqueID(high: 1, low: number), entity: entity.number), revision: revision,
          values: entity.emptyValues)
      }
      var images = [image(10, ship, 3), image(11, ship, 4)] + (0..<3).map { image($0, sailor, 5) }
      images[0][captain] = .object(images[2].id)
      for name in ["commands", "ship"] {
        if let property = sailor.property(named: name) { images[2][property] = .object(images[0].id) }
      }
      let instances = context.register(images)
      (ships, sailors) = (Array(instances.prefix(2)), Array(instances.dropFirst(2)))
      context.handle(.connected)
      let welcome = Welcome(
        model: model, head: Token(store: UniqueID(high: 7, low: 7), revision: 9, fingerprint: 1), session: 1,
        server: "", resumed: false, maximumFrameSize: 1 << 20, heartbeatMilliseconds: 15_000, principal: "ann",
        role: .editor)
      context.handle(.received(ToClient(1, .welcome(welcome))))
      _ = context.takeActions()
    }

    /// The commander of each ship, and the ship of each sailor, by their places.
    var captains: [Int?] { ships.map { ship in sailors.firstIndex { .object($0.id) == ship["captain"] } } }
    var commands: [Int?] { sailors.map { sailor in ships.firstIndex { .object($0.id) == sailor["commands"] } } }

    func refuse() {
      context.handle(.received(ToClient(lastRequest, .refused(Refusal(.conflict, "no")))))
      _ = context.takeActions()
    }

    /// Another client deletes an object that a live query brought.
    func others(delete object: ManagedObject) {
      _ = context.follow(entity: object.entity)
      let asked = context.takeActions().compactMap { action -> UInt64? in
        if case .send(let message) = action { message.request } else { nil }
      }
      func receive(_ body: ToClient.Body, _ request: UInt64 = 0) {
        context.handle(.received(ToClient(request, body)))
      }
      func token(_ revision: Revision) -> Token {
        Token(store: UniqueID(high: 7, low: 7), revision: revision, fingerprint: UInt64(revision))
      }
      receive(.subscribed(query: 1, resumed: false, known: true), asked.last ?? 0)
      let images = ships.compactMap { context.storedObjects.image(of: $0.id) }
      receive(.chunk(Chunk(objects: images, end: (at: token(9), count: UInt64(images.count)))), asked.last ?? 0)
      receive(.advance(revision: 9, fingerprint: 9))
      let commit = CommitRecord(
        revision: 10, time: 0, author: "bob", transaction: TransactionID(replica: .zero, sequence: 0),
        fingerprint: 10, changes: [])
      receive(
        .delta(
          Delta(query: 1, commit: commit, changes: [Delta.Change(kind: .removed, id: object.id, deleted: true)])))
      _ = context.takeActions()
      #expect(object.isDeleted)
    }

    private func name(_ id: ObjectID?) -> String {
      if let ship = ships.firstIndex(where: { $0.id == id }) { return "ship \(ship)" }
      return sailors.firstIndex { $0.id == id }.map { "sailor \($0)" } ?? "none"
    }

    /// The content of a save: the objects with the revisions at which they were read, and the new values of their
    /// properties.
    func said() -> [String] {
      _ = context.save()
      return context.takeActions().flatMap { action -> [Change] in
        guard case .send(let message) = action, case .commit(let transaction) = message.body else { return [] }
        lastRequest = message.request
        return transaction.changes
      }.map { change in
        let edits = change.edits.map { edit -> String in
          guard case .set(let value) = edit.action else { return "?" }
          return "\(context.model.property(edit.property)?.name ?? "")=\(name(value.objectID))"
        }
        return "\(name(change.id)) at \(change.base): " + edits.joined(separator: " ")
      }
    }
  }

  @Test func toManyOfToOnesIsReadByName() throws {
    let harbor = try HarborFixture()
    #expect(harbor.captains == [0, nil] && harbor.commands == [0, nil, nil])
    #expect(harbor.ships[0]["crew"] == .objects([harbor.sailors[0].id]))
  }

  @Test func assignmentFromShipReplacesCaptain() throws {
    let harbor = try HarborFixture()
    harbor.ships[0]["captain"] = .object(harbor.sailors[1].id)
    #expect(harbor.captains == [1, nil] && harbor.commands == [nil, 0, nil])
    #expect(harbor.said() == ["sailor 1 at 5: ", "ship 0 at 3: captain=sailor 1"])
    #expect(harbor.captains == [1, nil] && harbor.commands == [nil, 0, nil], "under way")
  }

  @Test func assignmentFromSailorReplacesCaptain() throws {
    let harbor = try HarborFixture()
    harbor.sailors[1]["commands"] = .object(harbor.ships[0].id)
    #expect(harbor.captains == [1, nil] && harbor.commands == [nil, 0, nil])
    #expect(harbor.said() == ["sailor 1 at 5: commands=ship 0", "ship 0 at 3: "])
  }

  @Test(arguments: [true, false]) func reassignedCaptainLeavesOldShip(fromTheShip: Bool) throws {
    let harbor = try HarborFixture()
    if fromTheShip {
      harbor.ships[1]["captain"] = .object(harbor.sailors[0].id)
    } else {
      harbor.sailors[0]["commands"] = .object(harbor.ships[1].id)
    }
    #expect(harbor.captains == [nil, 0] && harbor.commands == [1, nil, nil])
    let (sailor, ship) = fromTheShip ? ("", "captain=sailor 0") : ("commands=ship 1", "")
    #expect(harbor.said() == ["sailor 0 at 5: " + sailor, "ship 1 at 4: " + ship])
  }

  @Test func addSetsAndRemoveClears() throws {
    let harbor = try HarborFixture()
    let (captain, commands) = (
      try #require(harbor.ships[0].entity.property(named: "captain")).number,
      try #require(harbor.sailors[0].entity.property(named: "commands")).number
    )
    harbor.ships[1].add(harbor.sailors[0], to: captain)
    #expect(harbor.captains == [nil, 0])
    harbor.sailors[2].add(harbor.ships[1], to: commands)
    #expect(harbor.captains == [nil, 2])
    // The sailor is not the captain of this ship, so the removal has no effect.
    harbor.ships[1].remove(harbor.sailors[0], from: captain)
    #expect(harbor.captains == [nil, 2])
    harbor.sailors[2].remove(harbor.ships[1], from: commands)
    #expect(harbor.captains == [nil, nil] && harbor.commands == [nil, nil, nil])
    harbor.context.rollback()
    #expect(harbor.captains == [0, nil] && harbor.commands == [0, nil, nil])
    harbor.sailors[0]["commands"] = .null
    #expect(harbor.captains == [nil, nil])
    #expect(harbor.said() == ["sailor 0 at 5: commands=none"])
  }

  /// An edit that a later edit reverts must still be sent, because the server never received the first.
  @Test func supersededAssignmentIsSentAsClear() throws {
    let harbor = try HarborFixture()
    harbor.sailors[1]["commands"] = .object(harbor.ships[0].id)
    harbor.ships[1]["captain"] = .object(harbor.sailors[1].id)
    // The first ship has lost its captain to the second sailor, and him to the second ship.
    #expect(harbor.captains == [nil, 1] && harbor.commands == [nil, 1, nil])
    #expect(harbor.said() == ["sailor 1 at 5: ", "ship 0 at 3: captain=none", "ship 1 at 4: captain=sailor 1"])
  }

  /// The first save was refused while the captain had moved on to another ship: the ship that he was to have has no
  /// captain, as if both edits had been made before either was saved.
  @Test func refusedAssignmentIsClearedAfterLaterOne() throws {
    let harbor = try HarborFixture()
    harbor.ships[0]["captain"] = .object(harbor.sailors[1].id)
    #expect(harbor.said().count == 2)
    harbor.ships[1]["captain"] = .object(harbor.sailors[1].id)
    harbor.refuse()
    #expect(harbor.captains == [nil, 1])
    #expect(harbor.said().contains("ship 0 at 3: captain=none"))
  }

  /// A ship is made, manned and thrown away again, and the server never heard of it.
  @Test func deletingUnsentShipClearsItsCaptain() throws {
    let harbor = try HarborFixture()
    let ship = try #require(harbor.context.insert(harbor.ships[0].entity))
    ship["captain"] = .object(harbor.sailors[0].id)
    #expect(harbor.captains == [nil, nil])
    harbor.context.delete(ship)
    #expect(harbor.sailors[0]["commands"] == .null && harbor.captains == [nil, nil])
    #expect(harbor.said() == ["sailor 0 at 5: commands=none"])
  }

  @Test(arguments: [true, false]) func deletedUnsentInsertIsNotSent(isGivenToTheSailor: Bool) throws {
    let harbor = try HarborFixture()
    let ship = try #require(harbor.context.insert(harbor.ships[0].entity))
    let crew = try #require(ship.entity.property(named: "crew"))
    if isGivenToTheSailor {
      harbor.sailors[1]["commands"] = .object(ship.id)
      harbor.sailors[2]["ship"] = .object(ship.id)
    } else {
      ship["captain"] = .object(harbor.sailors[1].id)
      ship.add(harbor.sailors[2], to: crew.number)
    }
    harbor.context.delete(ship)
    #expect(harbor.sailors.dropFirst().allSatisfy { $0["commands"] == .null && $0["ship"] == .null })
    #expect(!harbor.context.hasChanges && harbor.context.save() == nil)
  }

  /// The ship that its captain was to leave another one for is gone: he stays.
  @Test func deleteOfNewShipByOthersKeepsOldAssignment() throws {
    let harbor = try HarborFixture()
    harbor.ships[1]["captain"] = .object(harbor.sailors[0].id)
    #expect(harbor.captains == [nil, 0])
    harbor.others(delete: harbor.ships[1])
    #expect(harbor.captains[0] == 0 && harbor.commands == [0, nil, nil])
    #expect(!harbor.context.hasChanges && harbor.said().isEmpty)
  }

  @Test func invalidObjectIsSentForServerToRefuse() throws {
    let harbor = try HarborFixture()
    harbor.ships[0]["captain"] = .string("Ahab")
    #expect(harbor.sailors[0]["commands"] == .object(harbor.ships[0].id))
    _ = harbor.context.save()
    let values = harbor.context.takeActions().flatMap { action -> [Edit.Action] in
      guard case .send(let message) = action, case .commit(let transaction) = message.body else { return [] }
      return transaction.changes.flatMap(\.edits).map(\.action)
    }
    #expect(values == [.set(.string("Ahab"))])
  }

  @Test func removalOfNonMemberIsIgnored() throws {
    let harbor = try HarborFixture()
    let crew = try #require(harbor.ships[1].entity.property(named: "crew")).number
    harbor.ships[1].remove(harbor.sailors[0], from: crew)
    #expect(harbor.sailors[0]["ship"] == .object(harbor.ships[0].id) && !harbor.sailors[0].hasChanges)
  }

  @Test func parentSaveUsesBaseSeenByChild() throws {
    let harbor = try HarborFixture()
    let child = harbor.context.makeChild()
    let ship = try #require(child.object(for: harbor.ships[1]))
    ship["captain"] = .object(harbor.sailors[1].id)
    // Another client names the sailor meanwhile.
    var image = ObjectImage(id: harbor.sailors[1].id, revision: 8, values: harbor.sailors[1].entity.emptyValues)
    image[try #require(harbor.sailors[1].entity.property(named: "name"))] = .string("Ismael")
    #expect(harbor.context.register([image]).count == 1)
    child.save()
    #expect(harbor.said() == ["sailor 1 at 5: ", "ship 1 at 4: captain=sailor 1"])
  }

  @Test func childReadsAssignmentAndSavesItToParent() throws {
    let harbor = try HarborFixture()
    let child = harbor.context.makeChild()
    let ship = try #require(child.object(for: harbor.ships[1]))
    let sailor = try #require(child.object(for: harbor.sailors[0]))
    #expect(sailor["commands"] == .object(harbor.ships[0].id))
    sailor["commands"] = .object(ship.id)
    #expect(ship["captain"] == .object(sailor.id) && sailor["commands"] == .object(ship.id))
    #expect(child.object(for: harbor.ships[0])?["captain"] == .null)
    #expect(harbor.captains == [0, nil], "nothing is saved")
    child.save()
    #expect(harbor.captains == [nil, 0] && harbor.commands == [1, nil, nil])
    #expect(harbor.said() == ["sailor 0 at 5: commands=ship 1", "ship 1 at 4: "])
  }

  @Test func newSailorReplacesCaptain() throws {
    let harbor = try HarborFixture()
    let made = try #require(harbor.context.model.entity(named: "Sailor").flatMap { harbor.context.insert($0) })
    made["commands"] = .object(harbor.ships[0].id)
    #expect(harbor.ships[0]["captain"] == .object(made.id) && harbor.commands == [nil, nil, nil])
    let ship = try #require(harbor.context.model.entity(named: "Ship").flatMap { harbor.context.insert($0) })
    ship["captain"] = .object(made.id)
    #expect(harbor.captains == [nil, nil] && made["commands"] == .object(ship.id))
  }
}
