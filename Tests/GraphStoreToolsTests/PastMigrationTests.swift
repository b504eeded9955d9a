import Foundation
import GRDB
import GraphModel
import GraphStore
import GraphStoreTools
import GraphTesting
import Testing

import struct GraphModel.FetchRequest

/// Past states from before migrations, in the present model, compared with the states recorded at their time.
/// `scripts/sweep` runs many seeds.
@Suite struct PastMigrationTests {
  private static let first = """
    {"format": 1, "name": "Farm", "version": 1, "entities": [
      {"name": "Animal", "attributes": [
        {"name": "name", "type": "string"}, {"name": "weight", "type": "integer", "default": 1},
        {"name": "nick", "type": "string", "optional": true}, {"name": "hungry", "type": "bool", "default": false},
        {"name": "notes", "type": "text", "default": "", "fullText": true},
        {"name": "legs", "type": "integer", "optional": true}],
       "relationships": [
        {"name": "home", "destination": "Barn", "inverse": "animals", "optional": true},
        {"name": "tags", "destination": "Tag", "inverse": "animals", "toMany": true}]},
      {"name": "Barn", "attributes": [{"name": "name", "type": "string"}],
       "relationships": [{"name": "animals", "destination": "Animal", "inverse": "home", "toMany": true}]},
      {"name": "Bird", "parent": "Animal", "attributes": [{"name": "wings", "type": "integer", "default": 2}]},
      {"name": "Tag", "attributes": [{"name": "name", "type": "string"}],
       "relationships": [{"name": "animals", "destination": "Animal", "inverse": "tags", "toMany": true}]},
      {"name": "Waste", "attributes": [{"name": "name", "type": "string"}]}]}
    """

  /// Something new before everything else, a renamed to-one, another number, a yes that is a number, a nickname for
  /// all, and no legs.
  private static let second = """
    {"format": 1, "name": "Farm", "version": 2, "entities": [
      {"name": "Accident", "attributes": [{"name": "name", "type": "string"}]},
      {"name": "Animal", "attributes": [
        {"name": "age", "type": "integer", "optional": true}, {"name": "color", "type": "string", "default": "grey"},
        {"name": "name", "type": "string"}, {"name": "weight", "type": "double", "default": 1},
        {"name": "nick", "type": "string", "default": "-"}, {"name": "hungry", "type": "integer", "default": 0},
        {"name": "notes", "type": "text", "default": "", "fullText": true}],
       "relationships": [
        {"name": "stall", "renamed": "home", "destination": "Barn", "inverse": "animals", "optional": true},
        {"name": "tags", "destination": "Tag", "inverse": "animals", "toMany": true}]},
      {"name": "Barn", "attributes": [{"name": "name", "type": "string"}, {"name": "size", "type": "integer", "default": 3}],
       "relationships": [{"name": "animals", "destination": "Animal", "inverse": "stall", "toMany": true}]},
      {"name": "Bird", "parent": "Animal", "attributes": [
        {"name": "span", "type": "integer", "default": 5}, {"name": "wings", "type": "integer", "default": 2}]},
      {"name": "Tag", "attributes": [{"name": "name", "type": "string"}],
       "relationships": [{"name": "animals", "destination": "Animal", "inverse": "tags", "toMany": true}]}]}
    """

  /// Another name for all of them, a weight in words, several stalls, and nicknames for those who like.
  private static let third = """
    {"format": 1, "name": "Farm", "version": 3, "entities": [
      {"name": "Accident", "attributes": [{"name": "name", "type": "string"}]},
      {"name": "Beast", "renamed": "Animal", "attributes": [
        {"name": "age", "type": "integer", "optional": true},
        {"name": "paint", "renamed": "color", "type": "string", "default": "white"},
        {"name": "name", "type": "string"}, {"name": "weight", "type": "string", "default": "1"},
        {"name": "nick", "type": "string", "optional": true}, {"name": "hungry", "type": "integer", "default": 0},
        {"name": "notes", "type": "text", "default": "", "fullText": true}],
       "relationships": [
        {"name": "stalls", "renamed": "stall", "destination": "Barn", "inverse": "animals", "toMany": true},
        {"name": "tags", "destination": "Tag", "inverse": "animals", "toMany": true}]},
      {"name": "Barn", "attributes": [{"name": "name", "type": "string"}, {"name": "size", "type": "integer", "default": 3}],
       "relationships": [{"name": "animals", "destination": "Beast", "inverse": "stalls", "toMany": true}]},
      {"name": "Bird", "parent": "Beast", "attributes": [
        {"name": "span", "type": "integer", "default": 5}, {"name": "wings", "type": "integer", "default": 2}]},
      {"name": "Tag", "attributes": [{"name": "name", "type": "string"}],
       "relationships": [{"name": "animals", "destination": "Beast", "inverse": "tags", "toMany": true}]}]}
    """

  // MARK: - A random history of any model

  private func value(_ property: Property, _ random: inout SeededGenerator) -> Value {
    if property.isOptional, random.chance(30) { return .null }
    let number = Int.random(in: 0...9, using: &random)
    switch property.attribute?.kind {
    case .bool: return .bool(number > 4)
    case .integer: return .integer(Int64(number))
    case .double: return .double(Double(number) / 4)
    default: return .string(random.pick(["a cat", "the cat sat", "", "by sea \(number)"]) ?? "")
    }
  }

  private func edit(
    _ image: ObjectImage, _ property: Property, _ store: TestStore, _ random: inout SeededGenerator
  ) throws -> Edit? {
    guard let relationship = property.relationship else {
      return Edit.difference(of: property, from: image[property], to: value(property, &random))
    }
    let others = try store.all(try #require(store.model.entity(relationship.destination)).name).map(\.id)
    guard let other = random.pick(others) else { return nil }
    if !relationship.isToMany { return Edit(property.number, .set(random.chance(20) ? .null : .object(other))) }
    let isMember = image[property].objectIDs.contains(other)
    return Edit(property.number, .members(added: isMember ? [] : [other], removed: isMember ? [other] : []))
  }

  private func roots(_ model: Model) -> [Entity] { model.entities.filter { $0.parent == nil } }

  /// Set by the server: `home.order`.
  private func isPlace(_ property: Property) -> Bool { property.name.contains(".") }

  private func grow(_ store: TestStore, _ random: inout SeededGenerator) throws {
    let objects = try roots(store.model).flatMap { try store.all($0.name) }
    switch Int.random(in: 0..<12, using: &random) {
    case 0...3:
      guard let entity = random.pick(store.model.entities.sorted { $0.number < $1.number }) else { return }
      let attributes = entity.storedProperties.filter {
        $0.attribute?.isDerived == false && !isPlace($0) && ($0.name == "name" || random.chance(60))
      }
      let edits = attributes.map { Edit($0.number, .set(value($0, &random))) }
      try store.must([Change(.insert, try store.temporary(entity.name), edits: edits)])
    case 4...8:
      guard let image = random.pick(objects) else { return }
      var edits = [Edit]()
      for property in store.model.entity(image.id.entity)?.storedProperties ?? []
      where property.attribute?.isDerived != true && !isPlace(property) && random.chance(40) {
        if let edit = try edit(image, property, store, &random) { edits.append(edit) }
      }
      if !edits.isEmpty { try store.must([Change(.update, image.id, base: .max, edits: edits)]) }
    case 9: if let image = random.pick(objects) { try store.must([Change(.delete, image.id, base: .max)]) }
    case 10:
      let entity = try #require(store.model.entity(named: "Animal") ?? store.model.entity(named: "Beast"))
      let notes = Batch.Assignment(try #require(entity.property(named: "notes")).number, .value(.string("all of them")))
      let predicate = try GraphPredicate(parsing: "name BEGINSWITH 'a'", entity: entity, model: store.model)
      _ = try store.batch(entity.name, .update(predicate, [notes]))
    default: _ = try store.undo()
    }
  }

  // MARK: - The naive twin

  private typealias State = [UniqueID: ObjectImage]

  private func state(_ store: TestStore, at revision: Revision? = nil) throws -> State {
    var state = State()
    for entity in roots(store.model) {
      var request = FetchRequest(entity: entity.number)
      request.at = revision
      _ = try store.store.answer(request) { part in
        if case .object(let image) = part { state[image.id.key] = image }
      }
    }
    return state
  }

  /// The state that the migration would have produced from a past state. Each object is converted on its own.
  /// - Parameter unknown: the value in place of those that depend on other objects.
  private func projected(_ state: State, by plan: MigrationPlan, nil unknown: Value? = nil) throws -> State {
    let heirs = Dictionary(uniqueKeysWithValues: plan.entities.map { ($0.value, $0.key) })
    func id(_ id: ObjectID) -> ObjectID? { heirs[id.entity].map { ObjectID(key: id.key, entity: $0) } }
    var projected = State()
    for (key, image) in state {
      guard let new = id(image.id) else { continue }
      let values = try #require(plan.values(from: image)).map { value -> Value in
        switch try #require(value ?? unknown) {
        case .object(let other): id(other).map(Value.object) ?? .null
        case .objects(let others): .objects(others.compactMap { id($0) })
        case let other: other
        }
      }
      projected[key] = ObjectImage(id: new, revision: image.revision, values: values)
    }
    return projected
  }

  @Test(arguments: SeedSweep.seeds(2).map { $0 + 81 })
  func statesBeforeMigrationUsePresentNames(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let models = try [Self.first, Self.second, Self.third].map { try ShopVersions.model($0) }
    var states = [Revision: State]()
    var store = try TestStore(models[0])
    var expected = 0
    for (number, model) in models.enumerated() {
      if number > 0 {
        try store.store.close()
        try ShopVersions.migrate(store.directory, to: [model])
        let plan = try MigrationPlan.infer(from: models[number - 1], to: model)
        for revision in states.keys { states[revision] = try projected(states[revision] ?? [:], by: plan) }
        store = try ShopVersions.opened(model, store.directory)
        states[try store.store.head.revision] = try state(store)
      }
      for _ in 0..<70 {
        try grow(store, &random)
        states[try store.store.head.revision] = try state(store)
      }
      for (revision, expectation) in states.sorted(by: { $0.key > $1.key }) {
        let reported = try state(store, at: revision)
        #expect(reported == expectation, "seed \(seed), version \(number + 1), revision \(revision)")
        expected += reported.count
      }
      try expectEachByItself(states, store, seed: seed)
      #expect(try StoreCheckRun(store).findings.isEmpty, "seed \(seed), version \(number + 1)")
      #expect(try store.redoDifferences() == [], "seed \(seed), version \(number + 1)")
    }
    #expect(expected > 1_000)
  }

  private func expectEachByItself(_ states: [Revision: State], _ store: TestStore, seed: UInt64) throws {
    let ids = Set(states.values.flatMap { $0.values.map(\.id) }).sorted()
    for (revision, expectation) in states.sorted(by: { $0.key < $1.key }) where revision % 7 == 0 {
      for id in ids {
        var request = FetchRequest(entity: id.entity, predicate: .identifiers([id]))
        request.at = revision
        var found: ObjectImage?
        _ = try store.store.answer(request) { part in
          if case .object(let image) = part { found = image }
        }
        #expect(found == expectation[id.key], "seed \(seed), revision \(revision), \(id)")
      }
    }
  }

  // MARK: - Restored objects

  @Test func stateBeforeMigrationIsRestored() throws {
    var store = try TestStore(try ShopVersions.model(Self.first))
    let barn = try store.insert("Barn", ["name": .string("red")])
    let cow = try store.insert(
      "Animal", ["name": .string("cow"), "weight": .integer(7), "hungry": .bool(true), "home": .object(barn)])
    _ = try store.insert("Waste", ["name": .string("straw")])
    let before = try store.store.head.revision
    try store.must([
      try store.update(cow, "Animal.weight", .integer(9)), try store.update(cow, "Animal.hungry", .bool(false)),
    ])
    try store.must([Change(.delete, barn, base: .max)])
    _ = try store.insert("Waste", ["name": .string("dung")])
    try store.store.close()
    let model = try ShopVersions.model(Self.second)
    try ShopVersions.migrate(store.directory, to: [model])
    store = try ShopVersions.opened(model, store.directory)
    _ = try store.insert("Accident", ["name": .string("later")])
    let request = RestoreRequest(store.nextID(), .everything, at: before)
    let result = try store.store.commit([.restore(request, author: "ann")], now: store.now + 1)[0]
    guard case .committed = result.outcome else { return #expect(Bool(false), "\(result.outcome)") }
    let back = try #require(try store.all("Animal").first)
    #expect(back[try store.property("Animal.weight")] == .double(7))
    #expect(back[try store.property("Animal.hungry")] == .integer(1))
    #expect(back[try store.property("Animal.stall")].objectID?.key == barn.key)
    #expect(back[try store.property("Animal.nick")] == .string("-"))
    #expect(try store.all("Accident").isEmpty && store.all("Barn").count == 1)
    #expect(try StoreCheckRun(store).findings.isEmpty)
    #expect(try store.redoDifferences() == [])
  }

  @Test func differencesSpanMigration() throws {
    var store = try TestStore(try ShopVersions.model(Self.first))
    let cow = try store.insert("Animal", ["name": .string("cow"), "weight": .integer(7)])
    try store.must([try store.update(cow, "Animal.weight", .integer(9))])
    try store.store.close()
    let model = try ShopVersions.model(Self.second)
    try ShopVersions.migrate(store.directory, to: [model])
    store = try ShopVersions.opened(model, store.directory)
    var found = [ObjectDifference]()
    _ = try store.store.differences(DifferenceRequest(from: 1, to: 0)) { found.append($0) }
    let weight = try store.property("Animal.weight").number
    #expect(found.map(\.properties) == [[.init(weight, was: .double(7))]])
    #expect(found.first?.object[try store.property("Animal.weight")] == .double(9))
  }

  /// A check with the previous model reports that the model differs, and nothing that it can't verify.
  @Test func checkWithEarlierModelReportsIt() throws {
    let store = try TestStore(try ShopVersions.model(Self.first))
    _ = try store.insert("Barn", ["name": .string("red")])
    try store.store.close()
    try ShopVersions.migrate(store.directory, to: [try ShopVersions.model(Self.second)])
    let findings = try StoreCheck.run(
      directory: store.directory.path, model: try ShopVersions.model(Self.first), heldObjects: 3)
    #expect(findings.contains { $0.kind == .model })
    #expect(!findings.contains { $0.place.table == "_version" }, "\(findings)")
  }

  @Test(arguments: [
    ("DELETE FROM _model WHERE number = 1", "lacks its model number 1"),
    ("DELETE FROM _version WHERE model = 1", "lacks the numbers of its model number 1"),
  ])
  func storeWithoutOneOfItsModelVersionsIsCorrupt(damage: String, message: String) throws {
    let store = try TestStore(try ShopVersions.model(Self.first))
    _ = try store.insert("Barn", ["name": .string("red")])
    try store.store.close()
    let model = try ShopVersions.model(Self.second)
    try ShopVersions.migrate(store.directory, to: [model])
    let database = try DatabaseQueue(path: store.directory.path + "/graph.sqlite")
    try database.write { try $0.execute(sql: damage) }
    try database.close()
    let failure = #expect(throws: StoreFailure.self) { try ShopVersions.opened(model, store.directory) }
    #expect(failure?.code == .corrupt)
    #expect(failure?.description.contains(message) == true, "\(String(describing: failure))")
    // Check reports the same, and nothing about objects, whose numbers it does not know.
    let findings = try StoreCheck.run(directory: store.directory.path, model: model, heldObjects: 3)
    let unread = "the versions of the model can't be read: the store \(message)"
    #expect(findings.contains { $0.kind == .integrity && $0.text == unread }, "\(findings)")
    #expect(findings.allSatisfy { $0.place.object == nil }, "\(findings)")
  }

  /// Two texts of a model may differ only in the normalization of a default. The one of the migration counts.
  @Test func defaultOfMigrationKeepsItsBytes() throws {
    func model(_ version: Int, color: String) throws -> Model {
      let attributes =
        #"{"name": "name", "type": "string"}"#
        + (color.isEmpty ? "" : #", {"name": "color", "type": "string", "default": "\#(color)"}"#)
      return try ShopVersions.model(
        #"{"format": 1, "name": "M", "version": \#(version), "entities": [{"name": "Row", "attributes": [\#(attributes)]}]}"#
      )
    }
    var store = try TestStore(try model(1, color: ""))
    let row = try store.insert("Row", ["name": .string("a")])
    try store.store.close()
    try ShopVersions.migrate(store.directory, to: [try model(2, color: "gr\u{E9}e")])
    store = try ShopVersions.opened(try model(2, color: "gre\u{301}e"), store.directory)
    let color = try store.property("Row.color")
    #expect(try state(store, at: 1)[row.key]?[color] == .string("gr\u{E9}e"))
    #expect(try state(store)[row.key]?[color] == .string("gr\u{E9}e"))
  }

  // MARK: - Mappings and expressions

  /// A value derived from a property that a migration changes, or that has another meaning since, is computed again
  /// although its own definition stays: by a mapping, a fill, another type, an exchange of names.
  @Test(arguments: [
    (
      #"{"name": "n", "type": "integer", "default": 7}"#, #""mapping": {"Row.n": "n + 100"}, "#,
      #"{"name": "n", "type": "integer", "default": 7}"#, "n * 2", Value.integer(1), Value.integer(202)
    ),
    (
      #"{"name": "n", "type": "integer", "optional": true}"#, "", #"{"name": "n", "type": "integer", "default": 7}"#,
      "n * 2", .null, .integer(14)
    ),
    (
      #"{"name": "n", "type": "integer", "default": 7}"#, "", #"{"name": "n", "type": "double", "default": 7}"#,
      "integer(n / 2 * 2)", .integer(5), .integer(5)
    ),
    (
      #"{"name": "n", "type": "integer", "default": 7}, {"name": "m", "type": "integer", "default": 30}"#, "",
      #"{"name": "n", "renamed": "m", "type": "integer", "default": 7}, "#
        + #"{"name": "m", "renamed": "n", "type": "integer", "default": 30}"#, "n * 2", .integer(5), .integer(60)
    ),
  ])
  func derivedValuesOfMigratedInputsAreRecomputed(
    first: String, mapping: String, second: String, text: String, value: Value, expected: Value
  ) throws {
    func model(_ version: Int, _ attributes: String, _ more: String = "") throws -> Model {
      try ShopVersions.model(
        #"{"format": 1, "name": "M", "version": \#(version), \#(more)"entities": [{"name": "Row", "attributes": [\#(attributes), "#
          + #"{"name": "twice", "type": "integer", "optional": true, "derived": "\#(text)"}]}]}"#)
    }
    var store = try TestStore(try model(1, first))
    let row = try store.insert("Row", value.isNull ? [:] : ["n": value])
    try store.store.close()
    // A new property, because the hash of a new version must differ.
    let later = try model(2, second + #", {"name": "extra", "type": "bool", "default": false}"#, mapping)
    try ShopVersions.migrate(store.directory, to: [later])
    store = try ShopVersions.opened(later, store.directory)
    let twice = try store.property("Row.twice")
    #expect(try store.all("Row").first { $0.id.key == row.key }?[twice] == expected)
    #expect(try StoreCheckRun(store).findings.isEmpty)
  }

  /// An object that was deleted and taken back before a mapping has in all states what the mapping gave it, and
  /// restoring an early one takes nothing from it.
  @Test func objectDeletedBeforeMappingHasMappedValue() throws {
    let models = try [Self.first, Self.mapped].map { try ShopVersions.model($0) }
    var store = try TestStore(models[0])
    let cow = try store.insert("Animal", ["name": .string("cow"), "nick": .string("early")])
    let early = try store.store.head.revision
    try store.must([Change(.delete, cow, base: .max)])
    _ = try store.undo()
    try store.must([try store.update(cow, "Animal.nick", .string("late"))])
    try store.store.close()
    try ShopVersions.migrate(store.directory, to: [models[1]])
    store = try ShopVersions.opened(models[1], store.directory)
    let label = try store.property("Animal.label")
    #expect(try state(store, at: early)[cow.key]?[label] == .string("cow/late"))
    let differences = try store.store.differences(DifferenceRequest(from: early, to: 0)) {
      #expect(!$0.properties.map(\.number).contains(label.number))
    }
    #expect(differences.at.revision > early)
    let request = RestoreRequest(store.nextID(), .everything, at: early)
    _ = try store.store.commit([.restore(request, author: "ann")], now: store.now + 1)
    #expect(try store.all("Animal").first?[label] == .string("cow/late"))
    #expect(try StoreCheckRun(store).findings.isEmpty)
  }

  /// Barns that have as much history as animals.
  private static let large = first.replacingOccurrences(
    of: #"{"name": "Barn", "attributes": [{"name": "name", "type": "string"}]"#,
    with: """
      {"name": "Barn", "attributes": [{"name": "name", "type": "string"}, {"name": "door", "type": "string", "optional": true},
      {"name": "roof", "type": "string", "optional": true}, {"name": "wall", "type": "string", "optional": true}]
      """)

  /// The new version has a label computed from a kept and a removed property, a derived label, an order of animals, and
  /// counts of all relationships.
  private static let mapped =
    large
    .replacingOccurrences(
      of: #""version": 1, "#,
      with: #""version": 2, "mapping": {"Animal.label": "concat(name, '/', ifNull(nick, '?'))"}, "#
    )
    .replacingOccurrences(
      of: #"{"name": "nick", "type": "string", "optional": true}"#,
      with:
        #"{"name": "label", "type": "string", "optional": true}, {"name": "loud", "type": "string", "derived": "uppercase(name)"}, {"name": "tagged", "type": "integer", "derived": "tags.@count"}"#
    )
    .replacingOccurrences(
      of: #"{"name": "door", "#,
      with: #"{"name": "stock", "type": "integer", "derived": "animals.@count"}, {"name": "door", "#
    )
    .replacingOccurrences(
      of: #""inverse": "home", "toMany": true}"#, with: #""inverse": "home", "toMany": true, "ordered": true}"#
    )
    .replacingOccurrences(
      of: #"{"name": "Tag", "attributes": [{"name": "name", "type": "string"}]"#,
      with:
        #"{"name": "Tag", "attributes": [{"name": "name", "type": "string"}, {"name": "uses", "type": "integer", "derived": "animals.@count"}]"#
    )

  /// Before the migration an object has the label that the migration gave it; an object deleted before has the label
  /// that it would have got then; the same applies to its place in an order. Derived values were computed from the
  /// values of that time, and counts counted the objects of that time.
  @Test(arguments: SeedSweep.seeds(2).map { $0 + 91 })
  func pastShowsMappedValuesAndOriginalDerivedValues(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let models = try [Self.large, Self.mapped].map { try ShopVersions.model($0) }
    var store = try TestStore(models[0])
    var states = [Revision: State]()
    for _ in 0..<150 {
      try grow(store, &random)
      states[try store.store.head.revision] = try state(store)
    }
    let token = try store.store.head
    try store.store.close()
    try ShopVersions.migrate(store.directory, to: [models[1]])
    store = try ShopVersions.opened(models[1], store.directory)
    let plan = try MigrationPlan.infer(from: models[0], to: models[1])
    let (label, loud) = (try store.property("Animal.label"), try store.property("Animal.loud"))
    let (name, tagged) = (try store.property("Animal.name"), try store.property("Animal.tagged"))
    let (stock, uses) = (try store.property("Barn.stock"), try store.property("Tag.uses"))
    let (home, tags) = (try store.property("Animal.home"), try store.property("Animal.tags"))
    let place = try #require(home.relationship?.position.flatMap { models[1].property($0) })
    let made = try state(store)
    var next = made
    var expected = [Revision: State]()
    for (revision, old) in states.sorted(by: { $0.key > $1.key }) {
      var reported = try projected(old, by: plan, nil: .null)
      for key in Array(reported.keys) {
        guard var image = reported[key], models[1].entity(image.id.entity)?.property(label.number) != nil else {
          continue
        }
        // The deleted object is included.
        if let later = made[key] ?? next[key] { (image[label], image[place]) = (later[label], later[place]) }
        image[tagged] = .integer(Int64(image[tags].objectIDs.count))
        if case .string(let text) = image[name] { image[loud] = .string(text.uppercased()) }
        reported[key] = image
      }
      let animals = reported.values.filter { models[1].entity($0.id.entity)?.property(home.number) != nil }
      for (key, image) in reported {
        guard let entity = models[1].entity(image.id.entity) else { continue }
        let (owners, counts): ([ObjectID], Property)
        if entity.property(stock.number) != nil {
          (owners, counts) = (animals.flatMap { $0[home].objectIDs }, stock)
        } else if entity.property(uses.number) != nil {
          (owners, counts) = (animals.flatMap { $0[tags].objectIDs }, uses)
        } else {
          continue
        }
        reported[key]?[counts] = .integer(Int64(owners.filter { $0 == image.id }.count))
      }
      expected[revision] = reported
      next = reported
    }
    for _ in 0..<40 { try grow(store, &random) }
    var (labels, counts) = (Set<Value>(), Set<Value>())
    for (revision, expectation) in expected.sorted(by: { $0.key > $1.key }) {
      let reported = try state(store, at: revision)
      #expect(reported == expectation, "seed \(seed), revision \(revision)")
      for (owner, count) in [(stock.owner, stock), (uses.owner, uses)] {
        counts.formUnion(reported.values.filter { $0.id.entity == owner }.map { $0[count] })
      }
      for image in reported.values where models[1].entity(image.id.entity)?.property(label.number) != nil {
        labels.insert(image[label])
      }
    }
    #expect(labels.count > 5 && counts.count > 2)
    try expectEachByItself(expected, store, seed: seed)
    let chosen = try #require(expected.keys.sorted().dropFirst(expected.count / 2).first)
    let request = RestoreRequest(store.nextID(), .everything, at: chosen)
    let result = try store.store.commit([.restore(request, author: "ann")], now: store.now + 1)[0]
    guard case .committed = result.outcome else { return #expect(Bool(false), "\(result.outcome)") }
    // An order comes back as an order; its places may be others.
    func unplaced(_ state: State) -> [UniqueID: [Value]] {
      state.mapValues { image in
        var image = image
        if models[1].entity(image.id.entity)?.property(place.number) != nil { image[place] = .null }
        return image.values
      }
    }
    #expect(try unplaced(state(store)) == unplaced(expected[chosen] ?? [:]), "seed \(seed)")
    // The token can't be continued: no commit contains the results of the mapping.
    do {
      _ = try store.store.follow(FollowRequest(since: token))
      #expect(Bool(false), "followed")
    } catch let refusal as Refusal {
      #expect(refusal.code == .limit && refusal.message.contains(" without commits"))
    }
    #expect(try StoreCheckRun(store).findings.isEmpty)
  }

  @Test func unorderedHistoryIsReportedWhenFollowedAcrossMigration() throws {
    let old = try ShopVersions.filled()
    let token = try old.store.head
    try old.store.close()
    let model = try ShopVersions.model(
      ShopVersions.second.replacingOccurrences(
        of: #""mapping": {"Article.label": "concat(name, '-', ifNull(origin, '?'))"},"#, with: ""
      ).replacingOccurrences(of: #"{"name": "label", "type": "string"},"#, with: ""))
    let migrated = try ShopVersions.migrate(old.directory, to: [model]).revision
    let store = try ShopVersions.opened(model, old.directory)
    #expect(try state(store, at: migrated) == state(store))
    let (before, count) = (try state(store, at: migrated - 1), try store.property("Shop.count"))
    #expect(before.values.contains { $0.id.entity == count.owner && $0[count] == .integer(4) })
    do {
      _ = try store.store.follow(FollowRequest(since: token))
      #expect(Bool(false), "followed")
    } catch let refusal as Refusal {
      #expect(
        refusal.code == .limit && refusal.message.contains("which put Shop.articles in order without commits"))
    }
  }
}
