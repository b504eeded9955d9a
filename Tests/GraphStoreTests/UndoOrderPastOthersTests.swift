import GraphModel
import GraphTesting
import Testing

/// Undo and redo of steps in an ordered relationship in which other authors insert, move and delete at the same time.
/// Every seed is compared with `UndoOrderModel`, member by member.
@Suite struct UndoOrderPastOthersTests {
  /// The edits of the others, and their times.
  enum ConcurrentEdits: CaseIterable, Sendable {
    /// They insert, between the steps and between the undos.
    case insert
    /// They insert, move and delete, between the steps and between the undos.
    case edit
    /// They do so between the commits of a step, too, and undo their own edits.
    case editAnytime
  }

  @Test(arguments: ConcurrentEdits.allCases, SeedSweep.seeds(2))
  func membersReturnBehindTheirFormerNeighbors(others: ConcurrentEdits, block: UInt64) throws {
    var spaced = 0
    for seed in (block * 25 + 1)...(block * 25 + 25) {
      var run = try Run(seed: seed, others)
      for _ in 0..<Int.random(in: 2...6, using: &run.random) { try run.step() }
      for _ in 0..<(seed % 5 == 0 ? 2 : 1) {
        try run.goEverywhere(redo: false)
        try run.goEverywhere(redo: true)
      }
      #expect(run.compared > 1, "seed \(seed), others \(others)")
      if seed % 10 == 0 { try run.store.expectSound() }
      spaced += run.spaced
    }
    #expect(spaced > 0, "room never ran out")
  }

  struct Run {
    let seed: UInt64
    let others: ConcurrentEdits
    let store: TestStore
    let steps: PropertyNumber
    let projects: [ObjectID]
    /// Each commit of an author changes one, and no other author does: something of every step can be taken back.
    private let counters: [String: ObjectID]
    var random: SeededGenerator
    var twin = UndoOrderModel()
    private var undone = [Int]()
    private var standing = [Int]()
    private(set) var compared = 0
    private(set) var spaced = 0
    private var lastGroup: UInt64 = 0

    init(seed: UInt64, _ others: ConcurrentEdits) throws {
      self.seed = seed
      self.others = others
      random = SeededGenerator(seed: seed)
      store = try TestStore(try Fixtures.ordered())
      let store = store
      steps = try store.property("Project.steps").number
      store.author = "zoe"
      let projects = try (0..<2).map { _ in try store.insert("Project") }
      self.projects = projects
      counters = ["ann": try store.insert("Project"), "bob": try store.insert("Project")]
      for index in 0..<8 { _ = try store.insert("Step", ["project": .object(projects[index % 2])]) }
      store.author = "ann"
    }

    func lists() throws -> [[ObjectID]] {
      try projects.map { try store.all("Step", "project == \"\($0)\"", sort: "project.order").map(\.id) }
    }

    // MARK: - Random edits

    mutating func step() throws {
      lastGroup += 1
      let group = UndoGroup.test(lastGroup)
      var commits = [Int]()
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        let changes = try changes(inserts: 4)
        if let commit = try commit(changes, group) { commits.append(commit) }
        if others == .editAnytime { try interfere() }
      }
      guard !commits.isEmpty else { return }
      standing.append(twin.begin(commits))
      undone = []
      try interfere()
    }

    mutating func goEverywhere(redo: Bool) throws {
      while let chain = redo ? undone.popLast() : standing.popLast() {
        if redo { standing.append(chain) } else { undone.append(chain) }
        let before = try lists()
        let wanted = twin.takingBack(chain, from: before)
        let result = try store.undo(scope: .test, redo: redo)
        try store.taken(result)
        let now = try lists()
        compared += 1
        if now != wanted {
          let way = redo ? "redo" : "undo"
          Issue.record("seed \(seed), others \(others), \(way) of step \(chain): \(reported(before, wanted, now))")
        }
        twin.wentBack(try log(result.record, before), chain)
        try interfere()
      }
    }

    private func reported(_ lists: [[ObjectID]]...) -> String {
      var names = [ObjectID: Int]()
      return lists.map { lists in
        lists.map { list in
          list.map { id in
            if names[id] == nil { names[id] = names.count }
            return "\(names[id] ?? 0)"
          }.joined(separator: " ")
        }.joined(separator: " | ")
      }.joined(separator: "  =>  ")
    }

    private mutating func interfere() throws {
      while random.chance(60) {
        let store = store
        try store.by("bob") {
          if others == .editAnytime, random.chance(15) {
            // Undoes the last one if possible.
            guard let chain = bobs.popLast() else { return }
            let before = try lists()
            let result = try store.undo(scope: .other)
            try store.taken(result)
            twin.wentBack(try log(result.record, before), chain)
          } else {
            lastGroup += 1
            let group = UndoGroup.test(lastGroup, scope: .other)
            guard let commit = try commit(changes(inserts: others == .insert ? 10 : 4), group) else { return }
            bobs.append(twin.begin([commit]))
          }
        }
      }
    }

    private var bobs = [Int]()

    /// - Parameter inserts: how many of ten.
    private mutating func changes(inserts: Int) throws -> [Change] {
      let lists = try lists()
      let index = Int.random(in: 0...1, using: &random)
      // Mostly at one place, so that room runs out.
      let anchor = random.chance(70) ? lists[index].first : random.chance(20) ? nil : random.pick(lists[index])
      func place(_ ids: [ObjectID]) -> Change {
        Change(.update, projects[index], base: .max, edits: [Edit(steps, .place(ids, after: anchor))])
      }
      switch Int.random(in: 0..<10, using: &random) {
      case 0..<inserts:
        let new = try (0..<Int.random(in: 1...5, using: &random)).map { _ in try store.insertion("Step") }
        return new + [place(new.map(\.id).shuffled(using: &random))]
      case ..<8:
        return [place(Array(lists.joined().shuffled(using: &random).prefix(Int.random(in: 1...3, using: &random))))]
      default:
        return Array(lists[index].shuffled(using: &random).prefix(Int.random(in: 1...2, using: &random)))
          .map { Change(.delete, $0) }
      }
    }

    /// Nil if there was no effect.
    private mutating func commit(_ changes: [Change], _ group: UndoGroup) throws -> Int? {
      let before = try lists()
      var changes = changes
      if let counter = counters[store.author] {
        changes.append(try store.update(counter, "Project.title", .string("\(store.store.head.revision)")))
      }
      let result = try store.commit(changes, policy: .overwrite, undo: group)
      try store.taken(result)
      guard result.record?.changes.isEmpty == false else { return nil }
      return try log(result.record, before)
    }

    private mutating func log(_ record: CommitRecord?, _ before: [[ObjectID]]) throws -> Int {
      let place = try store.property("Step.project.order").number
      var entry = UndoOrderModel.Entry(author: store.author, before: before, touched: [], inserted: [], deleted: [])
      for change in record?.changes ?? [] where change.id.entity != projects[0].entity {
        if change.kind == .inserted { entry.inserted.insert(change.id) }
        if change.kind == .deleted { entry.deleted.insert(change.id) }
        guard change.kind != .updated || !change.spacing.contains(place) else {
          spaced += 1
          continue
        }
        entry.touched.insert(change.id)
      }
      return twin.commit(entry)
    }
  }
}
