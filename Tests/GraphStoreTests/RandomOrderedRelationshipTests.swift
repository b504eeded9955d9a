import GraphModel
import GraphStore
import GraphTesting
import Testing

/// Ordered relationships of a real store against arrays: random transactions of two authors, undo, reopening.
@Suite struct RandomOrderedRelationshipTests {
  private struct Twin {
    let store: TestStore
    let steps: PropertyNumber
    let projects: [ObjectID]
    var lists: [[ObjectID]]

    init() throws {
      store = try TestStore(try Fixtures.ordered())
      steps = try store.property("Project.steps").number
      let store = store
      projects = try (0..<2).map { _ in try store.insert("Project") }
      lists = [[], []]
    }

    func stored() throws -> [[ObjectID]] {
      try projects.map { try store.all("Step", "project == \"\($0)\"", sort: "project.order").map(\.id) }
    }

    func place(_ objects: [ObjectID], in project: Int, after anchor: ObjectID?) -> Change {
      Change(.update, projects[project], base: .max, edits: [Edit(steps, .place(objects, after: anchor))])
    }
  }

  @Test(arguments: [UInt64(1), 2, 3, 4, 5, 6])
  func orderMatchesArray(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var twin = try Twin()
    let store = twin.store
    var (undone, spaced) = (0, 0)
    for step in 0..<400 {
      store.author = random.chance(50) ? "ann" : "bob"
      let before = twin.lists
      let record = try change(&twin, &random)
      spaced += record?.changes.count { !$0.spacing.isEmpty } ?? 0
      #expect(try twin.stored() == twin.lists, "seed \(seed), step \(step)")
      if let record, !record.changes.isEmpty, random.chance(20) {
        // An immediate undo restores the lists; half of these undos are undone in turn.
        let undo = try store.undo(record.revision)
        #expect(try twin.stored() == before, "seed \(seed), step \(step): undo of revision \(record.revision)")
        undone += 1
        if random.chance(50), let revision = undo.record?.revision {
          _ = try store.undo(revision)
          #expect(try twin.stored() == twin.lists, "seed \(seed), step \(step): redo of revision \(revision)")
        } else {
          twin.lists = before
        }
      }
      if random.chance(3) { try store.reopen() }
    }
    #expect(undone > 10 && spaced > 0, "seed \(seed): \(undone) undone, \(spaced) made room")
    #expect(try StoreCheckRun(store).findings.isEmpty, "seed \(seed)")
    let records = try store.store.commits(after: 0, through: nil, maximumChanges: 100_000)
    #expect(records.flatMap(\.changes).contains { !$0.spacing.isEmpty }, "history marks places that only made space")
  }

  /// Most edits are made after the first step, so that the space is exhausted there.
  private func change(_ twin: inout Twin, _ random: inout SeededGenerator) throws -> CommitRecord? {
    let store = twin.store
    let project = Int.random(in: 0...1, using: &random)
    let list = twin.lists[project]
    let anchor = random.chance(85) ? list.first : random.chance(15) ? nil : random.pick(list)
    switch Int.random(in: 0..<20, using: &random) {
    case 0...11:
      let insert = try store.insertion("Step")
      let record = try store.commit([insert, twin.place([insert.id], in: project, after: anchor)]).record
      let made = try #require(record?.changes.first { $0.kind == .inserted }).id
      twin.lists[project] = ListReorderer.placing([made], after: anchor, in: list)
      return record
    case 12...14:
      let moved = Array(twin.lists.joined().shuffled(using: &random).prefix(Int.random(in: 1...3, using: &random)))
      guard !moved.isEmpty else { return nil }
      let record = try store.commit([twin.place(moved, in: project, after: anchor)]).record
      twin.lists[1 - project].removeAll { moved.contains($0) }
      twin.lists[project] = ListReorderer.placing(moved, after: anchor, in: list)
      return record
    case 15...16:
      guard let gone = random.pick(list) else { return nil }
      twin.lists[project].removeAll { $0 == gone }
      return try store.commit([Change(.delete, gone)]).record
    case 17...18:
      guard let moved = random.pick(list) else { return nil }
      twin.lists[project].removeAll { $0 == moved }
      twin.lists[1 - project].append(moved)
      return try store.commit([store.update(moved, "Step.project", .object(twin.projects[1 - project]))]).record
    default:
      let wanted = Array(list.shuffled(using: &random).dropLast(random.chance(50) ? 0 : 1))
      twin.lists[project] = wanted
      let edit = Edit(twin.steps, .set(.objects(wanted)))
      return try store.commit([Change(.update, twin.projects[project], base: .max, edits: [edit])]).record
    }
  }
}
