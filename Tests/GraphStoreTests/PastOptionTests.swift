import GraphModel
import GraphStore
import GraphTesting
import Testing

import struct GraphModel.FetchRequest

/// Past states, compared with the states recorded at their time.
@Suite struct PastTests {
  /// The result of a fetch at a revision.
  private struct RecordedFetch {
    var revision: Revision
    var text: String
    var request: FetchRequest
    var parts: [FetchElement]
    var count: Int
  }

  // MARK: - A random history

  /// One random commit: inserts, edits, members, deletes, batches in parts, undos that revive.
  private func grow(_ store: TestStore, _ random: inout SeededGenerator) throws {
    let people = try store.all("Person").filter { $0.id.entity == (try? store.entity("Person"))?.number }
    let projects = try store.all("Project")
    var changes = [Change]()
    switch Int.random(in: 0..<14, using: &random) {
    case 0...3:
      var values: [String: Value] = ["name": .string("n\(Int.random(in: 0...99, using: &random))")]
      values["age"] = random.chance(70) ? .integer(Int64.random(in: 0...9, using: &random)) : .null
      values["bio"] = .string(random.pick(["Ålesund by sea", "a cat", "", "the CAT sat"]) ?? "")
      values["score"] = .double(Double(Int.random(in: -3...3, using: &random)) / 2)
      values["salary"] = DecimalValue("\(Int.random(in: -9...9, using: &random))").map(Value.decimal)
      values["born"] = random.chance(70) ? .date(random.date(near: store.now)) : .null
      if let boss = random.pick(people) { values["manager"] = .object(boss.id) }
      changes.append(try store.insertion("Person", values))
      if random.chance(20) { changes.append(try store.insertion("Robot", ["name": .string("r\(store.now)")])) }
    case 4:
      let title = Value.string("t\(Int.random(in: 0...20, using: &random))")
      changes.append(
        try store.insertion("Project", ["title": title, "year": .integer(Int64.random(in: 1...3, using: &random))]))
      if let project = random.pick(projects) {
        let label = Value.string(random.pick(["a", "n1", "cat"]) ?? "")
        changes.append(try store.insertion("Step", ["label": label, "project": .object(project.id)]))
      }
    case 5...8:
      guard let person = random.pick(people) else { return }
      changes.append(try store.update(person.id, "Person.age", .integer(Int64.random(in: 0...9, using: &random))))
      if let bio = random.pick(["a dog", "by the sea", "a cat", ""]), random.chance(50) {
        changes.append(try store.update(person.id, "Person.bio", .string(bio)))
      }
      if let boss = random.pick(people), random.chance(50) {
        changes.append(try store.update(person.id, "Person.manager", .object(boss.id)))
      }
    case 9:
      guard let person = random.pick(people), let project = random.pick(projects) else { return }
      let members: Edit.Action =
        random.chance(60) ? .members(added: [project.id], removed: []) : .members(added: [], removed: [project.id])
      changes.append(
        Change(.update, person.id, base: .max, edits: [Edit(try store.property("Person.projects").number, members)]))
    case 10:
      // The newest row is the one whose number is given again.
      if let person = people.last ?? people.first { changes.append(Change(.delete, person.id)) }
    case 11:
      if let project = random.pick(projects) { changes.append(Change(.delete, project.id)) }
    case 12:
      let person = try store.entity("Person")
      let predicate = try GraphPredicate(parsing: "age > 4", entity: person, model: store.model)
      let age = Batch.Assignment(
        try store.property("Person.age").number, .value(.integer(Int64.random(in: 0...9, using: &random))))
      _ = try store.batch("Person", .update(predicate, [age]))
      return
    default:
      _ = try store.undo()
      return
    }
    try store.commit(changes, policy: .objectTrump)
  }

  private static let sorts = ["", "age", "-age,name", "manager.age,-name[natural]", "-reports.@count,name[localized]"]

  private func request(
    _ store: TestStore, _ predicates: inout RandomPredicate, _ random: inout SeededGenerator
  ) throws -> (text: String, request: FetchRequest) {
    let entity = try store.entity(random.pick(["Person", "Person", "Project", "Step"]) ?? "Person")
    let text = random.chance(10) ? "" : predicates.text(for: entity)
    let predicate =
      text.isEmpty
      ? .always : try GraphPredicate(parsing: text, entity: entity, model: store.model).bound(now: store.now)
    var request = FetchRequest(entity: entity.number, predicate: predicate)
    let isPerson = entity.name == "Person"
    let sort = isPerson ? random.pick(Self.sorts) ?? "" : ""
    switch Int.random(in: 0..<6, using: &random) {
    case 0: request.result = .count
    case 1 where isPerson:
      request.result = .rows(
        try RowRequest(
          parsing: "level, @count, @sum.age, @max.name", distinct: false, groups: "level", order: "-@count",
          entity: entity, model: store.model))
      return ("\(text) by level", request)
    case 2 where isPerson:
      request.result = .rows(
        try RowRequest(
          parsing: "age, manager.name", distinct: random.chance(50), groups: "", order: "", entity: entity,
          model: store.model))
      return ("\(text) in rows", request)
    case 3: request.result = .identifiers
    default: break
    }
    if request.result != .count, !sort.isEmpty {
      request.sort = try [SortKey](parsing: sort, entity: entity, model: store.model)
    }
    if random.chance(40) {
      request.limit = Int.random(in: 1...6, using: &random)
      request.offset = random.chance(50) ? Int.random(in: 0...3, using: &random) : 0
    }
    return ("\(entity.name) where \(text) sorted by \(sort)", request)
  }

  @Test(arguments: [UInt64(61), 62, 63, 64])
  func pastFetchEqualsOriginalResult(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let store = try TestStore(try Fixtures.company(), wordLimit: Int.random(in: 1...12, using: &random))
    var predicates = RandomPredicate(model: store.model, seed: seed)
    var recorded = [RecordedFetch]()
    func compare(_ record: RecordedFetch) throws {
      let past = try store.answer(record.request, at: record.revision)
      #expect(past.parts == record.parts, "seed \(seed), revision \(record.revision): \(record.text)")
      #expect(past.end.count == record.count, "seed \(seed), revision \(record.revision): \(record.text)")
      #expect(past.end.at.revision == record.revision)
    }
    for step in 0..<120 {
      try grow(store, &random)
      let revision = try store.store.head.revision
      for _ in 0..<6 {
        let (text, request) = try request(store, &predicates, &random)
        let now = try store.answer(request)
        #expect(now.end.at.revision == revision)
        recorded.append(
          RecordedFetch(revision: revision, text: text, request: request, parts: now.parts, count: now.end.count))
      }
      // The present, a recent state again, and an old one: the kept tables are extended, or built again.
      for record in [recorded.last, recorded.dropLast(9).last, random.pick(recorded)].compactMap({ $0 }) {
        try compare(record)
      }
      if step == 60 { try store.reopen() }
    }
    #expect(try store.store.head.revision > 80)
    #expect(recorded.count { !$0.parts.isEmpty } > 100)
    for record in recorded.reversed() { try compare(record) }
    #expect(try StoreCheckRun(store).findings.isEmpty)
  }

  @Test(arguments: [UInt64(71), 72, 73])
  func everyObjectIsFoundAtItsRevision(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let store = try TestStore(try Fixtures.company())
    var states: [Revision: [ObjectID: ObjectImage]] = [0: [:]]
    for _ in 0..<150 {
      try grow(store, &random)
      let images = try ["Party", "Project", "Step"].flatMap { try store.all($0) }
      states[try store.store.head.revision] = Dictionary(uniqueKeysWithValues: images.map { ($0.id, $0) })
    }
    let ids = Set(states.values.flatMap(\.keys)).sorted()
    #expect(ids.count > 30)
    var missing = 0
    for (revision, images) in states.sorted(by: { $0.key < $1.key }) {
      for id in ids {
        let found = try store.answer(FetchRequest(entity: id.entity, predicate: .identifiers([id])), at: revision)
        #expect(found.parts == images[id].map { [.object($0)] } ?? [], "seed \(seed), revision \(revision), \(id)")
        if found.parts.isEmpty { missing += 1 }
      }
    }
    #expect(missing > 100)
  }

  @Test func pastOrderIsRestored() throws {
    let store = try TestStore(try Fixtures.ordered())
    let projects = try store.must((0..<3).map { try store.insertion("Project", ["title": .string("\($0)")]) })
    let steps = try store.must(
      (0..<6).map { try store.insertion("Step", ["label": .string("\($0)"), "project": .object(projects[0])]) })
    let chapter = try store.insert("Chapter", ["projects": .objects([projects[1], projects[0], projects[2]])])
    let (stepsOf, projectsOf) = (
      try store.property("Project.steps").number, try store.property("Chapter.projects").number
    )
    func place(_ id: ObjectID, _ property: PropertyNumber, _ ids: [ObjectID]) -> Change {
      Change(.update, id, base: .max, edits: [Edit(property, .place(ids, after: nil))])
    }
    let before = try store.store.head.revision
    func state(at revision: Revision?) throws -> [[FetchElement]] {
      try ["Project", "Step", "Chapter"].map {
        try store.answer(FetchRequest(entity: store.entity($0).number), at: revision).parts
      }
    }
    let then = try state(at: nil)
    try store.must([place(projects[0], stepsOf, [steps[5], steps[3]])])
    try store.must([place(chapter, projectsOf, [projects[2]]), Change(.delete, steps[1])])
    try store.must([Change(.delete, projects[0])])
    #expect(try state(at: before) == then)
    #expect(try state(at: nil) != then)
    // An object that refers to a deleted one is found by it anyway.
    let step = try store.entity("Step")
    let members = GraphPredicate.equal(try store.property("Step.project"), .object(projects[0]))
    #expect(try store.answer(FetchRequest(entity: step.number, predicate: members), at: before).parts.count == 6)
    #expect(try store.answer(FetchRequest(entity: step.number, predicate: members)).parts.isEmpty)
  }

  // MARK: - Revisions that are none

  @Test func unknownRevisionIsRefused() throws {
    let store = try TestStore(try Fixtures.company())
    let person = try store.insert("Person", ["name": .string("Ann")])
    func refusal(_ revision: Revision, _ predicate: GraphPredicate = .always) -> Refusal? {
      do {
        _ = try store.answer(FetchRequest(entity: person.entity, predicate: predicate), at: revision)
        return nil
      } catch {
        return error as? Refusal
      }
    }
    for predicate in [.always, .identifiers([person])] as [GraphPredicate] {
      #expect(refusal(2, predicate) == Refusal(.notFound, "there is no revision 2 yet: the newest is 1"))
      #expect(refusal(.max, predicate)?.code == .notFound)
      #expect(
        refusal(-1, predicate) == Refusal(.malformed, "there is no revision -1: revisions start at 0, the empty graph"))
    }
    #expect(try store.answer(FetchRequest(entity: person.entity), at: 0).parts.isEmpty)
    #expect(try store.answer(FetchRequest(entity: person.entity), at: 1).parts.count == 1)
  }

  @Test func prunedRevisionIsRefused() throws {
    let store = try TestStore(try Fixtures.company())
    let person = try store.insert("Person", ["name": .string("Ann")])
    for age in 2...6 { try store.must([store.update(person, "Person.age", .integer(Int64(age)))]) }
    let first = try store.store.revision(at: .max).time - 5_000_000
    try store.prune(through: 3)
    for predicate in [.always, .identifiers([person])] as [GraphPredicate] {
      let request = FetchRequest(entity: person.entity, predicate: predicate)
      let kept = try store.answer(request, at: 3)
      guard case .object(let image)? = kept.parts.first else {
        Issue.record("nothing was found")
        return
      }
      #expect(image[try store.property("Person.age")] == .integer(3) && image.revision == 3)
      let words = "revision 2 was pruned; the oldest that is kept is 3"
      #expect(throws: Refusal(.pruned, words)) { try store.answer(request, at: 2) }
    }
    #expect(try store.store.revision(at: first + 3_000_000).revision == 4)
    // The state at the floor is known by its time.
    let floor = try store.store.revision(at: first + 2_000_000)
    #expect(floor.revision == 3 && floor.time == first + 2_000_000 && floor.author == "ann")
    let gone = #expect(throws: Refusal.self) { try store.store.revision(at: first + 1_000_000) }
    #expect(gone?.code == .pruned)
    #expect(
      gone?.message.hasPrefix("the history of that time was pruned: the oldest commit that is kept, revision 4, ")
        == true)
  }

  @Test func pastWithTooManyDifferencesAllowsOnlySingleObjects() throws {
    let store = try TestStore(try Fixtures.company()) { $0.maximumPastObjects = 10 }
    let people = try store.must((0..<12).map { try store.insertion("Person", ["name": .string("n\($0)")]) })
    for person in people { try store.must([store.update(person, "Person.age", .integer(7))]) }
    let person = people[0].entity
    #expect(try store.answer(FetchRequest(entity: person), at: 3).parts.count == 12)
    let refused = #expect(throws: Refusal.self) { try store.answer(FetchRequest(entity: person), at: 1) }
    #expect(refused?.code == .limit)
    #expect(
      refused?.message.hasPrefix(
        "ask for revision 3 or a later one: more than 10 objects have changed since revision 1; single objects can be "
      )
        == true)
    let one = try store.answer(FetchRequest(entity: person, predicate: .identifiers([people[3]])), at: 1)
    #expect(one.parts.count == 1)
    // The refusal changes nothing.
    #expect(try store.answer(FetchRequest(entity: person), at: 3).parts.count == 12)
  }

  /// Few objects, and large ones: what they were takes a byte more than there is room for, as much, or a byte less.
  @Test(arguments: [-1, 0, 1]) func pastAboveMemoryLimitAllowsOnlySingleObjects(room: Int) throws {
    let old = try TestStore(try Fixtures.company())
    let bio = String(repeating: "likes tea ", count: 100)
    let people = try old.must(
      (0..<4).map { try old.insertion("Person", ["name": .string("n\($0)"), "bio": .string(bio)]) })
    for person in people { try old.must([old.update(person, "Person.bio", .string("likes tea"))]) }
    let request = FetchRequest(entity: people[0].entity)
    let parts = try old.answer(request, at: 1).parts
    var bytes = 0
    for part in parts { if case .object(let image) = part { bytes += image.approximateSize } }
    try old.store.close()
    let store = try TestStore(old.model, directory: old.directory) { $0.maximumPastBytes = bytes + room }
    guard room < 0 else {
      #expect(try store.answer(request, at: 1).parts == parts)
      return
    }
    let refused = #expect(throws: Refusal.self) { try store.answer(request, at: 1) }
    #expect(refused?.code == .limit)
    #expect(
      refused?.message.hasPrefix(
        "ask for revision 2 or a later one: objects of more than \(bytes - 1) bytes have changed since revision 1; single "
          + "objects can be read as of any revision by their ids")
        == true, "\(String(describing: refused))")
    #expect(try store.answer(request, at: 2).parts.count == 4)
    let one = try store.answer(FetchRequest(entity: request.entity, predicate: .identifiers([people[3]])), at: 1)
    #expect(one.parts.count == 1)
  }

  // MARK: - Times

  @Test func timeSelectsNewestCommitBeforeIt() throws {
    let store = try TestStore(try Fixtures.company())
    let before = try store.store.revision(at: 5)
    #expect(before == RevisionAtTime(revision: 0, time: 0, author: "", head: try store.store.head))
    var times = [Timestamp]()
    for number in 0..<20 {
      store.author = number % 2 == 0 ? "ann" : "bob"
      _ = try store.insert("Person", ["name": .string("n\(number)")])
      times.append(store.now)
      if number % 3 == 0 { store.now += 7_000_000 }
    }
    for (index, time) in times.enumerated() {
      for moment in [time, time + 1, (index + 1 < times.count ? times[index + 1] : time + 2) - 1] {
        let found = try store.store.revision(at: moment)
        #expect(found.revision == Revision(index + 1))
        #expect(found.time == time && found.author == (index % 2 == 0 ? "ann" : "bob"))
        #expect(found.head.revision == 20)
      }
    }
    #expect(try store.store.revision(at: times[0] - 1).revision == 0)
    #expect(try store.store.revision(at: .max).revision == 20)
    #expect(try store.store.revision(at: .min).revision == 0)
  }
}
