import GraphModel
import GraphStore
import GraphStoreTools
import GraphTesting
import Testing

/// The redo of commits on a store with a history: one of an earlier release, or a migrated one. The second store begins
/// with a copy of its files.
@Suite struct RedoVersionsTests {
  private func expectRepeated(
    _ store: TestStore, _ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let findings = try StoreCheckRun(store).findings
    #expect(findings.isEmpty, comment, sourceLocation: sourceLocation)
    // Nil if nothing was compared.
    #expect(try store.redoDifferences() == [], comment, sourceLocation: sourceLocation)
  }

  // MARK: - Recorded stores

  @Test(arguments: RecordedStore.all, [UInt64(1), 2, 3])
  func commitsOnRecordedStoreAreRepeated(recorded: RecordedStore, seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let directory = try TemporaryDirectory()
    try recorded.unpack(into: directory.path)
    let store = try TestStore(try #require(try recorded.models().last), directory: directory)
    store.replica = UniqueID(high: 7, low: seed)
    store.author = "ann@recorded"
    store.now = 1_900_000_000_000_000
    let before = try store.store.head.revision
    for _ in 0..<80 { try store.commitRandomly(&random) }
    #expect(try store.store.head.revision > before + 15, "\(recorded), seed \(seed)")
    try expectRepeated(store, "\(recorded), seed \(seed)")
  }

  // MARK: - Migrated stores

  private static let first = """
    {"name": "Member", "attributes": [
      {"name": "name", "type": "string"}, {"name": "phone", "type": "string", "optional": true},
      {"name": "visits", "type": "integer", "default": 0}],
     "relationships": [{"name": "team", "destination": "Team", "inverse": "members"}]},
    {"name": "Team", "attributes": [{"name": "title", "type": "string"}],
     "relationships": [{"name": "members", "destination": "Member", "inverse": "team", "toMany": true}]}
    """
  private static let second = """
    {"name": "Guest", "attributes": [{"name": "host", "type": "string"}]},
    {"name": "Member", "attributes": [
      {"name": "active", "type": "bool", "default": true}, {"name": "fullName", "renamed": "name", "type": "string"},
      {"name": "phone", "type": "string", "optional": true}, {"name": "visits", "type": "double", "default": 0}],
     "relationships": [{"name": "team", "destination": "Team", "inverse": "members"}]},
    {"name": "Team", "attributes": [{"name": "title", "type": "string"}],
     "relationships": [{"name": "members", "destination": "Member", "inverse": "team", "toMany": true}]}
    """

  private static func model(_ version: Int, _ entities: String) throws -> Model {
    try ShopVersions.model(#"{"format": 1, "name": "Club", "version": \#(version), "entities": [\#(entities)]}"#)
  }

  /// A store of the first version with eight commits, closed; the same store after its migration, which is the ninth.
  private struct Club {
    let old: TestStore
    let store: TestStore
    /// Ids with the numbers of the first version.
    var members = [ObjectID]()

    init() throws {
      old = try TestStore(try RedoVersionsTests.model(1, RedoVersionsTests.first))
      let team = try old.insert("Team", ["title": .string("red")])
      for number in 0..<7 {
        members.append(
          try old.insert(
            "Member",
            ["name": .string("m\(number)"), "visits": .integer(Int64(number)), "team": .object(team)]))
      }
      try old.store.close()
      let model = try RedoVersionsTests.model(2, RedoVersionsTests.second)
      try ShopVersions.migrate(old.directory, to: [model])
      store = try ShopVersions.opened(model, old.directory)
    }
  }

  @Test func commitsOfOlderClientsAreRepeated() throws {
    let club = try Club()
    let (old, store, members) = (club.old, club.store, club.members)
    let lens = try ModelLens(over: [old.model, store.model])
    func commitAsOlder(_ changes: [Change]) throws {
      store.now += 1_000_000
      let transaction = try lens.upgraded(Transaction(id: store.nextID(), changes: changes))
      try store.taken(store.store.commit([.transaction(transaction, author: "old")], now: store.now)[0])
    }
    try commitAsOlder([
      try old.update(members[0], "Member.name", .string("Ada")),
      try old.update(members[1], "Member.visits", .integer(20)),
      try old.insertion("Member", ["name": .string("new"), "phone": .string("5")]),
    ])
    try commitAsOlder([Change(.delete, members[2], base: .max)])
    try store.by("old") { try store.taken(store.undo()) }
    #expect(try store.value(lens.upgraded(members[0]), "Member.fullName") == .string("Ada"))
    #expect(try store.all("Member").count == 8)
    try expectRepeated(store)
  }

  @Test func commitsAfterMigrationAreRepeated() throws {
    let club = try Club()
    let store = club.store
    // The newest step is from before the migration.
    #expect(throws: Refusal.self) { try store.taken(store.undo()) }
    let members = try store.all("Member", sort: "fullName").map(\.id)
    // The rows have the form of the first version until they are written.
    try store.must([try store.update(members[0], "Member.visits", .double(1.5))])
    try store.must([Change(.delete, members[1], base: .max)])
    try store.taken(store.undo())
    try store.taken(store.redo())
    let visits = try store.property("Member.visits").number
    try store.taken(store.batch("Member", .update(.always, [Batch.Assignment(visits, .value(.double(9)))])))
    _ = try store.insert("Guest", ["host": .string("m0")])
    store.now += 1_000_000
    let restore = RestoreRequest(store.nextID(), .everything, at: 8)
    try store.taken(store.store.commit([.restore(restore, author: "ann")], now: store.now)[0])
    #expect(try store.all("Member").count == 7 && store.all("Guest").isEmpty)
    #expect(store.recorder.all.contains { !$0.isLast }, "the batch has parts")
    try expectRepeated(store)
  }

  @Test func entriesOfAnotherModelVersionAreRefused() throws {
    let club = try Club()
    let (old, store) = (club.old, club.store)
    let twin = try RedoTwin(of: old)
    try twin.apply(old.recorder.all)
    let head = try twin.store.head
    #expect(head.revision == 8)
    _ = try store.insert("Guest", ["host": .string("m0")])
    let later = #expect(throws: StoreFailure.self) { try twin.apply(store.recorder.all) }
    #expect(later?.code == .modelDiffers)
    #expect(later?.sentence == "the logged commit of revision 10 belongs to another version of the model")
    #expect(try twin.store.head == head)

    // The other way round: the copy that was not migrated has commits of its own.
    try twin.store.close()
    let unmigrated = try TestStore(old.model, directory: twin.directory)
    unmigrated.replica = UniqueID(high: 9, low: 9)
    for number in 0..<3 { _ = try unmigrated.insert("Team", ["title": .string("t\(number)")]) }
    let newest = try #require(unmigrated.recorder.all.last)
    #expect(newest.revision == 11)
    let earlier = #expect(throws: StoreFailure.self) { try store.store.apply { body in try body(newest) } }
    #expect(earlier?.code == .modelDiffers)
    #expect(try store.store.head.revision == 10)
    try expectRepeated(store)
  }
}

// MARK: - Random commits on any model

extension TestStore {
  /// Commits a random change, unless a rule refuses it.
  fileprivate func commitRandomly(_ random: inout SeededGenerator) throws {
    guard let entity = random.pick(model.entities.filter { !$0.isAbstract }) else { return }
    let objects = try model.entities.filter { $0.parent == nil }.flatMap { try all($0.name) }
    switch random.below(15) {
    case 0...3: try insertRandomly(entity, &random)
    case 4...8: if let image = random.pick(objects) { try updateRandomly(image, &random) }
    case 9: if let image = random.pick(objects) { try commit([Change(.delete, image.id, base: .max)]) }
    case 10:
      guard let property = random.pick(entity.storedProperties.filter { $0.attribute != nil }),
        let value = try value(of: property, &random)
      else {
        return
      }
      _ = try batch(entity.name, .update(.always, [Batch.Assignment(property.number, .value(value))]))
    case 11:
      let names = entity.storedProperties.filter { $0.attribute?.kind == .string && !$0.isOptional }
      let rows = try (0..<8).map { _ in try names.map { try value(of: $0, &random) ?? .null } }
      _ = try batch(entity.name, .insert(names.map(\.number), rows: rows.count), rows: rows)
    case 12: _ = try undo()
    case 13: _ = try redo()
    default:
      let scope = random.chance(50) ? RestoreRequest.Scope.everything : objects.first.map { .object($0.id) }
      now += 1_000_000
      let request = RestoreRequest(
        nextID(), scope ?? .everything, at: Revision(1 + random.below(Int(try store.head.revision))))
      _ = try store.commit([.restore(request, author: Principal(author: author))], now: now)
    }
  }

  private func insertRandomly(_ entity: Entity, _ random: inout SeededGenerator) throws {
    var edits = [Edit]()
    for property in entity.storedProperties where !property.isOptional || random.chance(50) {
      if let value = try value(of: property, &random) { edits.append(Edit(property.number, .set(value))) }
    }
    try commit([Change(.insert, try temporary(entity.name), edits: edits)])
  }

  private func updateRandomly(_ image: ObjectImage, _ random: inout SeededGenerator) throws {
    var edits = [Edit]()
    for property in model.entity(image.id.entity)?.storedProperties ?? [] where random.chance(30) {
      if property.relationship?.isToMany == true, let other = try target(of: property, &random) {
        let isMember = image[property].objectIDs.contains(other)
        edits.append(
          Edit(property.number, .members(added: isMember ? [] : [other], removed: isMember ? [other] : [])))
      } else if let value = try value(of: property, &random), value != image[property] {
        edits.append(Edit.difference(of: property, from: image[property], to: value))
      }
    }
    if !edits.isEmpty { try commit([Change(.update, image.id, base: .max, edits: edits)]) }
  }

  private func target(of property: Property, _ random: inout SeededGenerator) throws -> ObjectID? {
    guard let relationship = property.relationship, let entity = model.entity(relationship.destination) else {
      return nil
    }
    return random.pick(try all(entity.name))?.id
  }

  /// A value that clients may set; nil for a property or a type that is left as it is.
  private func value(of property: Property, _ random: inout SeededGenerator) throws -> Value? {
    if let relationship = property.relationship {
      return relationship.isToMany ? nil : try target(of: property, &random).map { .object($0) }
    }
    // The place in an ordered relationship has a name with a dot.
    guard let attribute = property.attribute, !attribute.isDerived, attribute.assignment == nil,
      !property.name.contains(".")
    else { return nil }
    if property.isOptional, random.chance(20) { return .null }
    let number = 1 + random.below(500)
    switch attribute.kind {
    case .bool: return .bool(number > 250)
    case .integer: return .integer(Int64(number))
    case .double: return .double(Double(number) / 2 + 1)
    case .string, .text: return .string("a cat \(number)")
    default: return nil
    }
  }
}
