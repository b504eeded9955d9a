import GraphModel
import GraphReplica
import GraphTesting
import GraphWire
import Testing

/// Ordered relationships in a context: the server's order, with the local moves that are not confirmed.
@Suite struct OrderedReplicaTests {
  /// A connected context that holds one project with steps, or one chapter with projects.
  private final class Script {
    let context: ObjectContext
    let model: Model
    let parent: ManagedObject
    private(set) var members: [ManagedObject]
    let property: PropertyNumber
    private var lastRequest: UInt64 = 1

    init(_ entity: String, _ relationship: String, members count: Int, order: [Int64]) throws {
      model = try Fixtures.ordered()
      let (model, parentEntity) = (model, try #require(model.entity(named: entity)))
      let property = try #require(parentEntity.property(named: relationship))
      let memberEntity = try #require(property.relationship.flatMap { model.entity($0.destination) })
      context = ObjectContext(
        model: model, replica: Replica(id: UniqueID(high: 1, low: 1), author: "ann", model: model.hash))
      let parentID = ObjectID(key: UniqueID(high: 1, low: 100), entity: parentEntity.number)
      let ids = (0..<count).map { ObjectID(key: UniqueID(high: 1, low: UInt64($0)), entity: memberEntity.number) }
      var parentImage = ObjectImage(id: parentID, revision: 1, values: parentEntity.emptyValues)
      let sorted = zip(order, ids).sorted { $0.0 < $1.0 }.map(\.1)
      parentImage[property] = .objects(sorted)
      let images = zip(ids, order).map { id, position in
        var image = ObjectImage(id: id, revision: 1, values: memberEntity.emptyValues)
        if let toOne = memberEntity.property(named: "project"),
          let place = memberEntity.property(named: "project.order")
        {
          image[toOne] = .object(parentID)
          image[place] = .integer(position)
        }
        return image
      }
      let instances = context.register([parentImage] + images)
      (parent, members) = (try #require(instances.first), Array(instances.dropFirst()))
      self.property = property.number
      context.handle(.connected)
      let head = Token(store: UniqueID(high: 7, low: 7), revision: 1, fingerprint: 1)
      let welcome = Welcome(
        model: model, head: head, session: 1, server: "", resumed: false, maximumFrameSize: 1 << 20,
        heartbeatMilliseconds: 15_000, principal: "ann", role: .editor)
      context.handle(.received(ToClient(1, .welcome(welcome))))
      _ = context.takeActions()
    }

    /// The members as numbers: their place among `members`, which new ones are added to.
    var order: [Int?] {
      parent.context.object(parent.id)?.objects(property, ManagedObject.self)
        .map { object in members.firstIndex { $0 === object } } ?? []
    }

    func make(_ entity: String) throws -> ManagedObject {
      let made = try #require(model.entity(named: entity).flatMap { context.insert($0) })
      members.append(made)
      return made
    }

    /// Saves; the changes that went to the server.
    func save() -> [Change] {
      _ = context.save()
      return sent()
    }

    func sent() -> [Change] {
      context.takeActions().flatMap { action -> [Change] in
        guard case .send(let message) = action, case .commit(let transaction) = message.body else { return [] }
        lastRequest = message.request
        return transaction.changes
      }
    }

    func confirm(_ revision: Revision, _ identities: [CommitResult.IDAssignment] = [], objects: [ObjectImage]) {
      let committed = CommitResult(
        revision: revision, fingerprint: UInt64(revision), identities: identities, conflicts: [])
      context.handle(.received(ToClient(lastRequest, .committed(committed, objects: objects, isComplete: true))))
    }

    func refuse() {
      context.handle(.received(ToClient(lastRequest, .refused(Refusal(.invalid, "no")))))
      _ = context.takeActions()
    }

    func image(_ object: ManagedObject, _ revision: Revision, at position: Int64) -> ObjectImage {
      var image = ObjectImage(id: object.id, revision: revision, values: object.entity.emptyValues)
      if let toOne = object.entity.property(named: "project"),
        let place = object.entity.property(named: "project.order")
      {
        image[toOne] = .object(parent.id)
        image[place] = .integer(position)
      }
      return image
    }

    func places(_ changes: [Change]) -> [Edit.Action] {
      changes.flatMap(\.edits).filter { $0.property == property }.map(\.action)
    }
  }

  @Test func positionsOfListSkipDeletedMembers() throws {
    let script = try Script("Chapter", "projects", members: 3, order: [0, 1, 2])
    let projects = OrderedToMany<ManagedObject>(script.parent, script.property)
    #expect(projects.count == 3)
    script.context.delete(script.members[1])
    #expect(projects.count == 2 && projects[0] === script.members[0])
    #expect(projects[projects.count - 1] === script.members[2])
  }

  @Test func orderFollowsServer() throws {
    let script = try Script("Project", "steps", members: 3, order: [20, 10, 30])
    #expect(script.order == [1, 0, 2])
  }

  @Test func insertIsPlacedAndSentWithPlacement() throws {
    let script = try Script("Project", "steps", members: 3, order: [10, 20, 30])
    let step = try script.make("Step")
    script.parent.insert(step, into: script.property, after: script.members[0])
    #expect(script.order == [0, 3, 1, 2])
    let changes = script.save()
    #expect(changes.map(\.kind) == [.insert, .update])
    #expect(script.places(changes) == [.place([step.id], after: script.members[0].id)])
    #expect(script.order == [0, 3, 1, 2], "on its way")
    let permanent = ObjectID(key: UniqueID(high: 2, low: 2), entity: step.id.entity)
    let identity = CommitResult.IDAssignment(temporary: step.id, permanent: permanent)
    var image = script.image(step, 2, at: 15)
    image.id = permanent
    script.confirm(2, [identity], objects: [image])
    #expect(script.order == [0, 3, 1, 2] && !script.parent.hasChanges && step.id == permanent)
  }

  @Test func placementAfterJoiningMemberIsSentAfterJoin() throws {
    let script = try Script("Project", "steps", members: 2, order: [10, 20])
    let (anchor, step) = (try script.make("Step"), try script.make("Step"))
    anchor["project"] = .object(script.parent.id)
    script.parent.insert(step, into: script.property, after: anchor)
    script.parent.insert(script.members[0], into: script.property, after: anchor)
    #expect(script.order == [1, 2, 0, 3])
    let changes = script.save()
    let joining = try #require(changes.firstIndex { $0.id == anchor.id })
    let placing = try #require(changes.firstIndex { $0.id == script.parent.id })
    #expect(joining < placing, "a project comes before its steps by its id")
    #expect(
      script.places(changes) == [
        .place([step.id], after: anchor.id), .place([script.members[0].id], after: anchor.id),
      ])
    #expect(script.order == [1, 2, 0, 3])
  }

  @Test func localMoveAndRemoteInsertAreBothShown() throws {
    let script = try Script("Project", "steps", members: 3, order: [10, 20, 30])
    script.parent.move(script.members[2], in: script.property, after: script.members[0])
    #expect(script.order == [0, 2, 1])
    let theirs = script.context.register([
      ObjectImage(
        id: ObjectID(key: UniqueID(high: 3, low: 3), entity: script.members[0].id.entity), revision: 2,
        values: script.image(script.members[0], 2, at: 11).values)
    ])
    #expect(script.order == [0, 2, nil, 1], "mine is nearer until the server has decided")
    #expect(theirs.count == 1)
    script.context.rollback()
    #expect(script.order == [0, nil, 1, 2])
  }

  @Test func nonMemberIsNotMoved() throws {
    let script = try Script("Project", "steps", members: 2, order: [10, 20])
    let step = try script.make("Step")
    script.parent.move(step, in: script.property, after: nil)
    #expect(script.order == [0, 1] && !script.parent.hasChanges)
  }

  @Test func removedMemberIsNotRestoredByEarlierMove() throws {
    let script = try Script("Project", "steps", members: 3, order: [10, 20, 30])
    let made = try script.make("Step")
    script.parent.insert(made, into: script.property, after: nil)
    script.parent.move(script.members[2], in: script.property, after: nil)
    script.parent.move(script.members[1], in: script.property, after: nil)
    #expect(script.order == [1, 2, 3, 0])
    script.parent.remove(script.members[2], from: script.property)
    script.members[1]["project"] = .null
    script.context.delete(made)
    #expect(script.order == [0] && !script.parent.hasChanges)
    let changes = script.save()
    #expect(changes.count == 2 && script.places(changes).isEmpty)
  }

  @Test func refusedMoveIsUnsavedBelowNewerMove() throws {
    let script = try Script("Project", "steps", members: 3, order: [10, 20, 30])
    script.parent.move(script.members[2], in: script.property, after: nil)
    #expect(script.save().count == 1)
    script.parent.move(script.members[1], in: script.property, after: nil)
    #expect(script.order == [1, 2, 0])
    script.refuse()
    #expect(script.order == [1, 2, 0])
    let again = script.save()
    let (first, second) = (script.members[2].id, script.members[1].id)
    #expect(script.places(again) == [.place([first], after: nil), .place([second], after: nil)])
  }

  @Test func reorderingUsesMinimalMoves() throws {
    let script = try Script("Project", "steps", members: 5, order: [10, 20, 30, 40, 50])
    let ids = script.members.map(\.id)
    script.parent.setValue(.objects([ids[4], ids[0], ids[1], ids[3]]), for: script.property)
    #expect(script.order == [4, 0, 1, 3])
    let changes = script.save()
    #expect(script.places(changes) == [.place([ids[4]], after: nil)])
    #expect(changes.count == 2, "and the one that left")
  }

  @Test func storedToManyIsOrdered() throws {
    let script = try Script("Chapter", "projects", members: 3, order: [30, 10, 20])
    #expect(script.order == [1, 2, 0])
    let project = try script.make("Project")
    script.parent.add(project, to: script.property)
    #expect(script.order == [1, 2, 0, 3])
    script.parent.insert(script.members[0], into: script.property, after: script.members[1])
    #expect(script.order == [1, 0, 2, 3])
    script.parent.remove(script.members[2], from: script.property)
    #expect(script.order == [1, 0, 3])
    let ids = script.members.map(\.id)
    #expect(
      script.places(script.save()) == [
        .members(added: [], removed: [ids[2]]), .members(added: [project.id], removed: []),
        .place([ids[0]], after: ids[1]),
      ])
    #expect(script.order == [1, 0, 3])
    // From the other side.
    project.remove(script.parent, from: try #require(project.entity.property(named: "chapters")).number)
    #expect(script.order == [1, 0])
  }
}
