import GraphModel
import GraphStore
import GraphTesting
import Testing

/// Derived attributes: correct after every commit of any kind, and not settable.
@Suite struct DerivedAttributeTests {
  private func person(_ store: TestStore, _ name: String, _ values: [String: Value] = [:]) throws -> ObjectID {
    try store.insert("Person", values.merging(["name": .string(name)]) { $1 })
  }

  private func headcount(_ store: TestStore, _ unit: ObjectID) throws -> Value {
    try store.value(unit, unit.entity == store.entity("Team").number ? "Team.headcount" : "Department.headcount")
  }

  // MARK: - Counts

  @Test func countFollowsInsertsMovesAndDeletes() throws {
    let store = try TestStore(try Fixtures.workplace())
    let (red, blue) = (try store.insert("Department"), try store.insert("Team"))
    #expect(try headcount(store, red) == .integer(0))
    let ann = try person(store, "Ann", ["unit": .object(red)])
    let bob = try person(store, "Bob", ["unit": .object(red)])
    #expect(try headcount(store, red) == .integer(2))
    try store.must([store.update(ann, "Person.unit", .object(blue))])
    #expect(try headcount(store, red) == .integer(1))
    #expect(try headcount(store, blue) == .integer(1))
    try store.must([Change(.delete, bob)])
    #expect(try headcount(store, red) == .integer(0))
    try store.must([store.update(ann, "Person.unit", .null)])
    #expect(try headcount(store, blue) == .integer(0))
    #expect(try store.all("Unit", "headcount == 0").count == 2)
    #expect(try StoreCheckRun(store).findings.isEmpty)
  }

  @Test func countIsCorrectForInsertWithMembers() throws {
    let store = try TestStore(try Fixtures.workplace())
    let department = try store.insertion("Department", [:])
    let people = try ["A", "B"].map {
      try store.insertion("Person", ["name": .string($0), "unit": .object(department.id)])
    }
    let ids = try store.must([department] + people)
    #expect(try headcount(store, ids[0]) == .integer(2))
    // The other end is edited, too.
    let team = try store.insert("Team", ["staff": .objects([ids[1], ids[2]])])
    #expect(try headcount(store, ids[0]) == .integer(0))
    #expect(try headcount(store, team) == .integer(2))
  }

  @Test func bothEndsOfAManyToManyAreCounted() throws {
    let store = try TestStore(try Fixtures.workplace())
    let department = try store.insert("Department")
    let projects = try (0..<2).map { _ in try store.insert("Project", ["department": .object(department)]) }
    let people = try ["A", "B", "C"].map { try person(store, $0, ["projects": .objects(projects)]) }
    #expect(try projects.map { try store.value($0, "Project.size") } == [.integer(3), .integer(3)])
    #expect(try store.value(people[0], "Person.busy") == .integer(2))
    #expect(try store.value(department, "Department.load") == .integer(2))
    let edit = Edit(try store.property("Project.members").number, .members(added: [], removed: [people[0]]))
    try store.must([Change(.update, projects[0], base: .max, edits: [edit]), Change(.delete, people[1])])
    #expect(try projects.map { try store.value($0, "Project.size") } == [.integer(1), .integer(2)])
    #expect(try store.value(people[0], "Person.busy") == .integer(1))
    // A cascade takes the projects along.
    try store.must([Change(.delete, department)])
    #expect(try store.all("Project").isEmpty)
    #expect(try people.map { try store.value($0, "Person.busy") } == [.integer(0), .null, .integer(0)])
    #expect(try StoreCheckRun(store).findings.isEmpty)
  }

  @Test func countIsCorrectAfterUndo() throws {
    let store = try TestStore(try Fixtures.workplace())
    let (red, blue) = (try store.insert("Department"), try store.insert("Team"))
    let people = try ["A", "B", "C"].map { try person(store, $0, ["unit": .object(red)]) }
    try store.must([store.update(people[0], "Person.unit", .object(blue))])
    _ = try store.undo()
    #expect(try [headcount(store, red), headcount(store, blue)] == [.integer(3), .integer(0)])
    // The department is restored with its staff, except for people who have left since.
    try store.must([Change(.delete, red)])
    #expect(try store.all("Person", "unit == NULL").count == 3)
    let revision = try store.store.head.revision
    try store.must([store.update(people[2], "Person.unit", .object(blue))])
    _ = try store.undo(revision)
    #expect(try [headcount(store, red), headcount(store, blue)] == [.integer(2), .integer(1)])
    try store.must([Change(.delete, people[0])])
    _ = try store.undo()
    #expect(try headcount(store, red) == .integer(2))
    #expect(try StoreCheckRun(store).findings.isEmpty)
  }

  @Test func insertOfMemberUpdatesCountOfOwner() throws {
    let store = try TestStore(try Fixtures.workplace())
    let department = try store.insert("Department")
    let result = try store.commit([store.insertion("Person", ["name": .string("A"), "unit": .object(department)])])
    let change = try #require(result.record?.changes.first { $0.id == department })
    #expect(change.kind == .updated)
    #expect(change.edits == [Edit(try store.property("Department.headcount").number, .set(.integer(1)))])
    // A commit does not write objects whose counts stay equal: one member joins, one leaves.
    let other = try store.insertion("Person", ["name": .string("B"), "unit": .object(department)])
    let swap = try store.commit([other, Change(.delete, store.all("Person")[0].id)])
    #expect(swap.record?.changes.contains { $0.id == department } == false)
  }

  // MARK: - Values that clients cannot set

  @Test func derivedAttributeCannotBeSet() throws {
    let store = try TestStore(try Fixtures.workplace())
    let department = try store.insert("Department")
    for policy in MergePolicy.allCases {
      let update = try store.update(department, "Department.headcount", .integer(7), base: 0)
      #expect(try store.refusal([update], policy: policy)?.violations.map(\.rule) == ["assigned"])
      let insert = try store.insertion("Person", ["name": .string("A"), "key": .string("b")])
      #expect(try store.refusal([insert], policy: policy)?.violations.map(\.rule) == ["assigned"])
    }
    #expect(try headcount(store, department) == .integer(0))
  }

  @Test func mergedInsertSetsNoDerivedAttribute() throws {
    let model = try Model(
      parsing: """
        {"format": 1, "name": "Tags", "version": 1, "entities": [
          {"name": "Tag", "attributes": [
            {"name": "name", "type": "string"}, {"name": "weight", "type": "integer", "default": 1},
            {"name": "key", "type": "string", "derived": "lowercase(name)"},
            {"name": "uses", "type": "integer", "derived": "things.@count"}],
           "relationships": [{"name": "things", "destination": "Thing", "inverse": "tag", "toMany": true}],
           "unique": [["name"]]},
          {"name": "Thing", "relationships": [{"name": "tag", "destination": "Tag", "inverse": "things"}]}]}
        """.utf8)
    let store = try TestStore(model)
    let tag = try store.insert("Tag", ["name": .string("Red"), "weight": .integer(7)])
    _ = try store.insert("Thing", ["tag": .object(tag)])
    for policy in MergePolicy.allCases where policy != .error {
      let again = try store.must([store.insertion("Tag", ["name": .string("Red")])], policy: policy)
      #expect(again == [tag], "\(policy)")
      #expect(try store.value(tag, "Tag.uses") == .integer(1) && store.value(tag, "Tag.key") == .string("red"))
      // An overwrite decides the whole object, including an insert's defaults.
      if policy == .overwrite { #expect(try store.value(tag, "Tag.weight") == .integer(1)) }
    }
    #expect(try StoreCheckRun(store).findings.isEmpty)
  }

  @Test func derivedCountCausesNoConflict() throws {
    let store = try TestStore(try Fixtures.workplace())
    let department = try store.insert("Department")
    let base = try store.store.head.revision
    store.author = "bob"
    store.replica = UniqueID(high: 2, low: 2)
    let bob = try person(store, "Bob", ["unit": .object(department)])
    store.author = "ann"
    store.replica = UniqueID(high: 1, low: 1)
    try store.must([store.update(department, "Department.code", .string("x"), base: base)])
    // Another client has changed only the count since: deleting is no conflict.
    store.replica = UniqueID(high: 3, low: 3)
    let before = try store.store.head.revision
    store.replica = UniqueID(high: 2, low: 2)
    try store.must([store.update(bob, "Person.unit", .null)])
    store.replica = UniqueID(high: 3, low: 3)
    #expect(try store.commit([Change(.delete, department, base: before)]).record != nil)
  }

  @Test func undoOfInsertIgnoresDerivedCount() throws {
    let store = try TestStore(try Fixtures.workplace())
    let department = try store.insert("Department")
    let revision = try store.store.head.revision
    store.author = "bob"
    let bob = try person(store, "Bob", ["unit": .object(department)])
    store.author = "ann"
    // While Bob's person is a member, the value is Bob's, too.
    guard case .refused(let refusal) = try store.undo(revision).outcome else {
      Issue.record("bob's person has lost its department")
      return
    }
    #expect(refusal.code == .conflict && refusal.conflicts.map(\.author) == ["bob"])
    #expect(try store.value(bob, "Person.unit") == .object(department))
    store.author = "bob"
    try store.must([store.update(bob, "Person.unit", .null)])
    store.author = "ann"
    // Only the count of the department has changed since it was made, and has changed back.
    guard case .committed(let committed) = try store.undo(revision).outcome else {
      Issue.record("no value of the department is bob's")
      return
    }
    #expect(committed.conflicts.isEmpty)
    #expect(try store.image(department) == nil)
  }

  // MARK: - Expressions

  @Test func derivedExpressionFollowsItsInputs() throws {
    let store = try TestStore(try Fixtures.workplace())
    let ann = try person(store, "Ann")
    #expect(try store.value(ann, "Person.key") == .string("ann"))
    #expect(try store.value(ann, "Person.pay") == .integer(6))
    try store.must([
      store.update(ann, "Person.rate", .integer(5)), store.update(ann, "Person.name", .string("ANNA".capitalized)),
    ])
    #expect(try store.all("Person", "pay == 15 AND key == \"anna\"").map(\.id) == [ann])
    try store.must([store.update(ann, "Person.hours", .null)])
    #expect(try store.value(ann, "Person.pay") == .null)
    _ = try store.undo()
    #expect(try store.value(ann, "Person.pay") == .integer(15))
    try store.must([Change(.delete, ann)])
    _ = try store.undo()
    #expect(try store.value(ann, "Person.pay") == .integer(15))
    #expect(try StoreCheckRun(store).findings.isEmpty)
  }

  @Test func uniqueKeyMayBeDerived() throws {
    let store = try TestStore(try Fixtures.workplace())
    _ = try person(store, "Ann")
    for policy in MergePolicy.allCases {
      let refusal = try store.refusal([store.insertion("Person", ["name": .string("ANN".capitalized)])], policy: policy)
      #expect(refusal?.violations.map(\.rule) == ["unique"])
    }
    let bob = try person(store, "Bob")
    #expect(try store.refusal([store.update(bob, "Person.name", .string("Ann"))])?.code == .unique)
  }

  // MARK: - Against a recount

  @Test(arguments: [UInt64(51), 52, 53, 54])
  func derivedAttributesMatchRecomputation(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let store = try TestStore(try Fixtures.workplace())
    var accepted = 0
    for step in 0..<150 {
      let outcome: WriteResult
      if random.chance(15) {
        store.author = random.pick(["ann", "bob"]) ?? "ann"
        outcome = try store.undo()
      } else {
        store.author = random.pick(["ann", "bob"]) ?? "ann"
        outcome = try store.commit(changes(store, step, &random), policy: random.pick(MergePolicy.allCases) ?? .error)
      }
      if outcome.record != nil { accepted += 1 }
      try recount(store, "seed \(seed), step \(step)")
      if random.chance(3) { try store.reopen() }
    }
    #expect(accepted > 60, "seed \(seed)")
    #expect(try store.all("Person").count > 3, "seed \(seed)")
    #expect(try StoreCheckRun(store).findings.isEmpty, "seed \(seed)")
  }

  /// Random changes of a client: mostly legal, some of objects that the same transaction inserts or deletes.
  private func changes(_ store: TestStore, _ step: Int, _ random: inout SeededGenerator) throws -> [Change] {
    let people = try store.all("Person").map(\.id)
    let units = try store.all("Unit").map(\.id)
    let departments = try store.all("Department").map(\.id)
    let projects = try store.all("Project").map(\.id)
    func some(_ ids: [ObjectID]) -> Value { .objects(ids.filter { _ in random.chance(30) }) }
    func one(_ ids: [ObjectID]) -> Value { random.pick(ids).map(Value.object) ?? .null }
    var changes = [Change]()
    for index in 0..<Int.random(in: 1...3, using: &random) {
      switch Int.random(in: 0..<14, using: &random) {
      case 0: changes.append(try store.insertion("Department", ["staff": some(people)]))
      case 1: changes.append(try store.insertion("Team", [:]))
      case 2...4:
        changes.append(
          try store.insertion(
            "Person",
            ["name": .string("P\(step)x\(index)"), "unit": one(units), "boss": one(people), "projects": some(projects)])
        )
      case 5:
        guard let department = random.pick(departments) else { continue }
        changes.append(
          try store.insertion("Project", ["department": .object(department), "members": some(people)]))
      case 6...7:
        guard let person = random.pick(people) else { continue }
        changes.append(try store.update(person, "Person.unit", random.chance(20) ? .null : one(units)))
      case 8:
        guard let person = random.pick(people) else { continue }
        changes.append(try store.update(person, "Person.boss", one(people)))
        changes.append(try store.update(person, "Person.projects", some(projects)))
      case 9:
        guard let project = random.pick(projects) else { continue }
        let members = try store.property("Project.members").number
        let edit = Edit(members, .members(added: some(people).objectIDs, removed: some(people).objectIDs))
        changes.append(Change(.update, project, base: .max, edits: [edit]))
      case 10:
        guard let department = random.pick(departments) else { continue }
        changes.append(try store.update(department, "Department.staff", some(people)))
      case 11:
        guard let person = random.pick(people) else { continue }
        changes.append(try store.update(person, "Person.name", .string("Q\(step)")))
        changes.append(try store.update(person, "Person.rate", .integer(Int64.random(in: 0...9, using: &random))))
      case 12: if let person = random.pick(people) { changes.append(Change(.delete, person)) }
      default:
        if let other = random.pick(random.chance(50) ? units : projects) { changes.append(Change(.delete, other)) }
      }
    }
    return changes
  }

  /// The naive twin counts every member of every relationship.
  private func recount(_ store: TestStore, _ place: Comment) throws {
    let people = try store.all("Person")
    let projects = try store.all("Project")
    func count(_ path: String, _ id: ObjectID) throws -> Value {
      let property = try store.property(path)
      return .integer(Int64(people.count { $0[property].objectIDs.contains(id) }))
    }
    for unit in try store.all("Unit") {
      #expect(try headcount(store, unit.id) == count("Person.unit", unit.id), place)
    }
    let home = try store.property("Project.department")
    for department in try store.all("Department") {
      let load = projects.count { $0[home].objectID == department.id }
      #expect(department[try store.property("Department.load")] == .integer(Int64(load)), place)
    }
    for project in projects {
      #expect(project[try store.property("Project.size")] == (try count("Person.projects", project.id)), place)
    }
    for person in people {
      let own = person[try store.property("Person.projects")].objectIDs.count
      #expect(person[try store.property("Person.busy")] == .integer(Int64(own)), place)
      #expect(person[try store.property("Person.span")] == (try count("Person.boss", person.id)), place)
      let name = person[try store.property("Person.name")].stringValue
      #expect(person[try store.property("Person.key")].stringValue == name?.lowercased(), place)
      if case .integer(let rate) = person[try store.property("Person.rate")] {
        #expect(person[try store.property("Person.pay")] == .integer(rate * 3), place)
      }
    }
  }
}
