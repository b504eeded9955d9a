import GraphModel
import GraphTesting
import Testing

/// Undo and redo of steps that insert, move and delete at one position of an ordered relationship, so that the space is
/// exhausted by the steps and by their undos. The twin keeps the order after each step.
@Suite struct UndoOrderTests {
  @Test(arguments: UInt64(1)...6) func undoAndRedoOfAllStepsPassSameOrders(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let store = try TestStore(try Fixtures.ordered())
    let number = try store.property("Project.steps").number
    store.author = "zoe"
    let projects = try (0..<2).map { _ in try store.insert("Project") }
    for index in 0..<12 { _ = try store.insert("Step", ["project": .object(projects[index % 2])]) }
    store.author = "ann"

    func order() throws -> [[ObjectID]] {
      try projects.map { try store.all("Step", "project == \"\($0)\"", sort: "project.order").map(\.id) }
    }
    func changes(_ random: inout SeededGenerator) throws -> [Change] {
      let lists = try order()
      let index = Int.random(in: 0...1, using: &random)
      let anchor = random.chance(80) ? lists[index].first : random.pick(lists[index])
      func place(_ ids: [ObjectID]) -> Change {
        Change(.update, projects[index], base: .max, edits: [Edit(number, .place(ids, after: anchor))])
      }
      switch Int.random(in: 0..<10, using: &random) {
      case 0...4:
        let new = try (0..<8).map { _ in try store.insertion("Step") }
        return new + [place(new.map(\.id).shuffled(using: &random))]
      case 5...8:
        return [place(Array(lists.joined().shuffled(using: &random).prefix(Int.random(in: 1...3, using: &random))))]
      default: return random.pick(lists[index]).map { [Change(.delete, $0)] } ?? []
      }
    }

    var (states, spaced) = ([try order()], 0)
    for step in UInt64(1)...25 {
      var isEmpty = true
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        let made = try changes(&random)
        let record = try store.commit(made, policy: .overwrite, undo: .test(step)).record
        isEmpty = isEmpty && record?.changes.isEmpty != false
        spaced += record?.changes.count { !$0.spacing.isEmpty } ?? 0
      }
      if !isEmpty { states.append(try order()) }
    }
    #expect(spaced > 0, "seed \(seed): room never ran out")
    for round in 0..<2 {
      for (index, state) in states.enumerated().reversed().dropFirst() {
        #expect(try store.taken(store.undo(scope: .test)).conflicts.isEmpty)
        #expect(try order() == state, "seed \(seed), round \(round): undo to \(index)")
      }
      for (index, state) in states.enumerated().dropFirst() {
        #expect(try store.taken(store.redo(scope: .test)).conflicts.isEmpty)
        #expect(try order() == state, "seed \(seed), round \(round): redo to \(index)")
      }
      try store.reopen()
    }
    try store.expectSound()
  }
}
