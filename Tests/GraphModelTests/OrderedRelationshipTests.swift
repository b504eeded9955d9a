import GraphModel
import GraphTesting
import Testing

/// Ordered relationships in the model and in the rules.
@Suite struct OrderedRelationshipTests {
  // MARK: - The model

  @Test func hashWithoutOrderIsUnchanged() throws {
    #expect(try Fixtures.stickies().hash.description == "85c1c587ac592a5d2ed5f8fa579a2764")
  }

  private func model(steps: String = "", project: String = "", title: String = "title") throws -> Model {
    try Model(
      parsing: """
        {"format": 1, "name": "M", "version": 1, "entities": [
          {"name": "Project", "attributes": [{"name": "\(title)", "type": "string"}], "relationships": [
            {"name": "steps", "destination": "Step", "inverse": "project", "toMany": true\(steps)}]},
          {"name": "Step", "attributes": [{"name": "label", "type": "string"}], "relationships": [
            {"name": "project", "destination": "Project", "inverse": "steps"\(project)}]}]}
        """.utf8)
  }

  @Test func orderedMembersHavePositionBesideToOne() throws {
    let model = try model(steps: #", "ordered": true"#)
    let step = try #require(model.entity(named: "Step"))
    let place = try #require(step.property(named: "project.order"))
    #expect(place.attribute?.kind == .integer && place.attribute?.assignment == .position && place.isOptional)
    #expect(step.storedProperties.map(\.name) == ["label", "project", "project.order"])
    #expect(step.property(named: "project")?.relationship?.position == place.number)
    let steps = try #require(model.entity(named: "Project")?.property(named: "steps")?.relationship)
    #expect(steps.isOrdered && steps.position == place.number)
    #expect(
      try [SortKey](parsing: "-project.order", entity: step, model: model) == [SortKey(place.number, ascending: false)])
  }

  @Test func hashIncludesOrderOnlyWherePresent() throws {
    let plain = try model()
    #expect(try model(steps: #", "ordered": false"#).hash == plain.hash)
    #expect(try model(steps: #", "ordered": true"#).hash != plain.hash)
  }

  @Test func unorderableRelationshipIsModelError() throws {
    func mistakes(_ body: () throws -> Model) -> [String] {
      do {
        _ = try body()
        return []
      } catch { return (error as? ModelError)?.mistakes.map(\.path) ?? ["\(error)"] }
    }
    #expect(
      mistakes { try model(project: #", "ordered": true"#) } == ["entities[1].relationships[0].ordered"])
    #expect(mistakes { try model(steps: #", "ordered": 1"#) } == ["entities[0].relationships[0].ordered"])
    // "project.order" can't be both the place of a step and a property of its project.
    #expect(
      mistakes { try model(steps: #", "ordered": true"#, title: "order") } == ["entities[0].relationships[0].ordered"])
    let mistake = #expect(throws: ModelError.self) { try model(steps: #", "ordered": true"#, title: "order") }
    #expect(mistake?.mistakes.first?.reason.hasSuffix(#""project.order" is the position of each Step"#) == true)
    let both = """
      {"format": 1, "name": "M", "version": 1, "entities": [
        {"name": "A", "relationships": [
          {"name": "bs", "destination": "B", "inverse": "as", "toMany": true, "ordered": true}]},
        {"name": "B", "relationships": [
          {"name": "as", "destination": "A", "inverse": "bs", "toMany": true, "ordered": true}]}]}
      """
    #expect(
      mistakes { try Model(parsing: both.utf8) } == [
        "entities[0].relationships[0].ordered", "entities[1].relationships[0].ordered",
      ])
    let assigned = """
      {"format": 1, "name": "M", "version": 1, "entities": [
        {"name": "A", "attributes": [{"name": "x", "type": "integer", "assigned": "position"}]}]}
      """
    #expect(mistakes { try Model(parsing: assigned.utf8) } == ["entities[0].attributes[0].assigned"])
  }

  @Test func orderedSideStoresManyToMany() throws {
    let model = try Fixtures.ordered()
    #expect(model.entity(named: "Project")?.property(named: "chapters")?.relationship?.storage == .inverse)
    let projects = try #require(model.entity(named: "Chapter")?.property(named: "projects")?.relationship)
    #expect(projects.storage == .members && projects.isOrdered && projects.position == nil)
  }

  // MARK: - The rules

  @Test(arguments: UInt64(1)...20)
  func randomTransactionsMatchArrays(seed: UInt64) throws {
    var twin = try OrderedTwin(random: SeededGenerator(seed: seed))
    for step in 0..<150 {
      let difference = try twin.step()
      try #require(difference == nil, "seed \(seed), step \(step)")
    }
    #expect(twin.accepted == 150 && twin.spaced > 10, "seed \(seed): room was made \(twin.spaced) times")
  }

  /// A graph with one project and steps in it.
  private struct ProjectFixture {
    let graph: MemoryGraph
    let project: ObjectID
    var steps = [ObjectID]()

    init(steps count: Int) throws {
      let graph = MemoryGraph(try Fixtures.ordered())
      self.graph = graph
      let made = graph.temporary("Project")
      let changes = (0..<count).map { _ in Change(.insert, graph.temporary("Step")) }
      let place = Edit(graph.property("Project", "steps"), .place(changes.map(\.id), after: nil))
      let plan = try graph.commit([Change(.insert, made, edits: [place])] + changes)
      project = plan.identities[0].permanent
      steps = plan.identities.dropFirst().map(\.permanent)
    }

    func place(_ steps: [ObjectID], after anchor: ObjectID?, base: Revision = .max) -> Change {
      let edit = Edit(graph.property("Project", "steps"), .place(steps, after: anchor))
      return Change(.update, project, base: base, edits: [edit])
    }

    var order: [Int?] {
      graph.members(of: project, "project", of: "Step").map { steps.firstIndex(of: $0) }
    }
  }

  @Test func concurrentPlacementsAreAdjacent() throws {
    let scene = try ProjectFixture(steps: 4)
    let base = scene.graph.revision
    try scene.graph.commit([scene.place([scene.steps[2]], after: scene.steps[0], base: base)], replica: 1)
    let plan = try scene.graph.commit([scene.place([scene.steps[3]], after: scene.steps[0], base: base)], replica: 2)
    #expect(plan.conflicts.isEmpty)
    #expect(scene.order == [0, 3, 2, 1], "the server's order decides: the later one is nearer")
  }

  @Test func onlyMovedMembersAreWritten() throws {
    let scene = try ProjectFixture(steps: 100)
    let moved = try scene.graph.commit([scene.place([scene.steps[99]], after: scene.steps[4])])
    #expect(moved.changes.map(\.id) == [scene.steps[99]])
    let again = try scene.graph.commit([scene.place([scene.steps[99]], after: scene.steps[4])])
    #expect(again.changes.isEmpty, "it stands there already")
    var wanted = scene.graph.members(of: scene.project, "project", of: "Step")
    wanted.swapAt(10, 90)
    let steps = scene.graph.property("Project", "steps")
    let list = try scene.graph.commit([
      Change(.update, scene.project, base: .max, edits: [Edit(steps, .set(.objects(wanted)))])
    ])
    #expect(list.changes.count == 2)
    #expect(scene.graph.members(of: scene.project, "project", of: "Step") == wanted)
  }

  @Test func nonMemberAnchorMeansEnd() throws {
    let scene = try ProjectFixture(steps: 3)
    let edit = Edit(scene.graph.property("Step", "project"), .set(.null))
    try scene.graph.commit([Change(.update, scene.steps[1], base: .max, edits: [edit])], replica: 2)
    #expect(scene.graph.value(scene.steps[1], "project.order") == .null)
    try scene.graph.commit([scene.place([scene.steps[0]], after: scene.steps[1])])
    #expect(scene.order == [2, 0])
    try scene.graph.commit([scene.place([scene.steps[0]], after: scene.steps[0])])
    #expect(scene.order == [2, 0])
  }

  @Test func moveOfDeletedMemberIsSkippedAsConflict() throws {
    let scene = try ProjectFixture(steps: 4)
    let base = scene.graph.revision
    try scene.graph.commit([Change(.delete, scene.steps[2])], replica: 2)
    let move = scene.place([scene.steps[3], scene.steps[2]], after: nil, base: base)
    let refusal = #expect(throws: Refusal.self) { try scene.graph.commit([move], policy: .error) }
    #expect(refusal?.code == .conflict)
    let plan = try scene.graph.commit([move], policy: .storeTrump)
    #expect(plan.conflicts.map(\.kind) == [.deleted])
    #expect(plan.conflicts.first?.id == scene.steps[2])
    #expect(plan.conflicts.first?.author == "replica 2")
    #expect(scene.order == [3, 0, 1])
  }

  @Test func clientsCannotSetPositions() throws {
    let scene = try ProjectFixture(steps: 2)
    let edit = Edit(scene.graph.property("Step", "project.order"), .set(.integer(5)))
    let update = #expect(throws: Refusal.self) {
      try scene.graph.commit([Change(.update, scene.steps[0], base: .max, edits: [edit])])
    }
    #expect(update?.violations.map(\.rule) == ["assigned"])
    let insert = #expect(throws: Refusal.self) {
      try scene.graph.commit([Change(.insert, scene.graph.temporary("Step"), edits: [edit])])
    }
    #expect(insert?.violations.map(\.rule) == ["assigned"])
  }

  @Test func unorderedRelationshipRefusesPlacement() throws {
    let scene = try ProjectFixture(steps: 1)
    let chapter = Edit(scene.graph.property("Project", "chapters"), .place([], after: nil))
    let toOne = Edit(scene.graph.property("Step", "project"), .place([scene.project], after: nil))
    for change in [
      Change(.update, scene.project, base: .max, edits: [chapter]),
      Change(.update, scene.steps[0], base: .max, edits: [toOne]),
    ] {
      let refusal = #expect(throws: Refusal.self) { try scene.graph.commit([change]) }
      #expect(refusal?.code == .malformed)
    }
  }

  @Test func respacingIsNoChangeOfOtherMembers() throws {
    let scene = try ProjectFixture(steps: 2)
    scene.graph.now = 2_000
    let base = scene.graph.revision
    var madeRoom: ObjectChange?
    for _ in 0..<500 where madeRoom == nil {
      let step = scene.graph.temporary("Step")
      let plan = try scene.graph.commit(
        [Change(.insert, step), scene.place([step], after: scene.steps[0])], replica: 2)
      madeRoom = plan.changes.first { !$0.spacing.isEmpty && scene.steps.contains($0.id) }
    }
    let other = try #require(madeRoom, "no member was moved to make space")
    #expect(other.edits.map(\.property) == other.spacing)
    #expect(scene.graph.value(other.id, "changedAt") == .date(1_000), "no user changed it")
    // A delete based on an older revision is not a conflict.
    let plan = try scene.graph.commit([Change(.delete, other.id, base: base)], policy: .error)
    #expect(plan.conflicts.isEmpty && plan.changes.map(\.id) == [other.id])
  }
}
