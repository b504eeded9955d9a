import Foundation
import GraphModel
import GraphReplica
import GraphStore
import GraphTesting
import GraphWire
import Testing

/// The forecast of a save, compared with the store's result: the same engine over the held objects and over the whole
/// graph.
@Suite struct ForecastTests {
  /// A store, and a connected context that holds all of it.
  private struct ForecastFixture {
    let store: TestStore
    let context: ObjectContext
    var objects: [ManagedObject]

    init(_ store: TestStore, holds: (ObjectImage) -> Bool = { _ in true }) throws {
      self.store = store
      let model = store.model
      context = ObjectContext(
        model: model, replica: Replica(id: UniqueID(high: 1, low: 1), author: "ann", model: model.hash))
      context.handle(.connected)
      let head = try store.store.head.revision
      let welcome = Welcome(
        model: model, head: Token(store: UniqueID(high: 7, low: 7), revision: head, fingerprint: 1), session: 1,
        server: "", resumed: false, maximumFrameSize: 1 << 20, heartbeatMilliseconds: 15_000, principal: "ann",
        role: .editor)
      context.handle(.received(ToClient(1, .welcome(welcome))))
      _ = context.takeActions()
      var images = [ObjectImage]()
      for entity in model.entities where entity.parent == nil { images += try store.all(entity.name) }
      objects = context.register(images.filter(holds))
    }

    func objects(of entity: String) throws -> [ManagedObject] {
      let family = try store.entity(entity).family
      return objects.filter { family.contains($0.entity.number) }
    }

    func insert(_ entity: String, in context: ObjectContext? = nil) throws -> ManagedObject {
      try #require((context ?? self.context).insert(try store.entity(entity)))
    }

    /// The changes that the save sends.
    func saved() throws -> [Change] {
      let id = context.save()
      for action in context.takeActions() {
        if case .send(let message) = action, case .commit(let transaction) = message.body {
          return transaction.changes
        }
      }
      #expect(id == nil, "a save of a connected context goes out")
      return []
    }
  }

  /// One object of a commit, without its id.
  private struct ObjectEffect: Hashable {
    let kind: ObjectChange.Kind
    let values: [Value]?
  }

  private struct ViolationKey: Hashable {
    let id: ObjectID
    let property: PropertyNumber
    let rule: String
    let message: String

    init(_ violation: Violation) {
      (id, property, rule) = (violation.id, violation.property, violation.rule)
      message = violation.message
    }
  }

  // MARK: - Random edits

  private func value(for property: Property, in desk: ForecastFixture, _ random: inout SeededGenerator) -> Value? {
    // The server sets its own properties; a client attempts to set them only now and then.
    guard let attribute = property.attribute,
      attribute.derivation == nil && attribute.assignment == nil || random.chance(2)
    else { return nil }
    if property.isOptional, random.chance(15) { return .null }
    switch attribute.kind {
    case .bool: return .bool(random.chance(50))
    case .integer: return .integer(random.chance(90) ? Int64(random.below(9)) : -1)
    case .double: return .double(Double(random.below(9)) / 2)
    case .decimal: return DecimalValue("\(random.below(90))").map(Value.decimal)
    case .string where random.chance(5): return .string("")
    case .string where property.name.hasSuffix("zip"): return .string("1234\(random.below(9))")
    case .string: return .string("A\(random.below(60))")
    case .text: return .string(random.pick(["one two", "one", "", "two three"]) ?? "")
    case .enumeration: return .string(random.pick(["junior", "senior"]) ?? "")
    case .date: return .date(random.date(near: desk.store.now))
    case .uuid: return .uuid(UniqueID(high: 0, low: UInt64(random.below(4))))
    case .data: return .data(random.chance(80) ? [1, 2] : Array(repeating: 0, count: 20))
    case .uri: return .string("a:a")
    case .json: return .string("{\"a\":1}")
    }
  }

  private func edit(_ desk: inout ForecastFixture, in context: ObjectContext, _ random: inout SeededGenerator) throws {
    let model = desk.store.model
    if desk.objects.isEmpty || random.chance(35) {
      let entities = model.entities.filter { !$0.isAbstract }
      guard let entity = random.pick(entities), let made = context.insert(entity) else { return }
      for property in entity.properties where property.attribute != nil {
        // A composite is given whole, or not.
        if random.chance(property.name.contains(".") ? 80 : property.isOptional ? 30 : 4) { continue }
        if let value = value(for: property, in: desk, &random) { made.setValue(value, for: property.number) }
      }
      desk.objects.append(made)
    }
    guard let picked = random.pick(desk.objects), let object = context.object(for: picked) ?? Optional(picked),
      !object.isDeleted
    else { return }
    if random.chance(12) { return context.delete(object) }
    guard let property = random.pick(Array(object.entity.properties)) else { return }
    guard let relationship = property.relationship else {
      if let value = value(for: property, in: desk, &random) { object.setValue(value, for: property.number) }
      return
    }
    let family = model.entity(relationship.destination)?.family ?? []
    guard let wanted = random.pick(desk.objects.filter { family.contains($0.entity.number) }),
      let other = context.object(for: wanted) ?? Optional(wanted), !other.isDeleted
    else { return }
    if !relationship.isToMany {
      object.setValue(random.chance(20) ? .null : .object(other.id), for: property.number)
    } else if random.chance(25) {
      object.remove(other, from: property.number)
    } else {
      object.add(other, to: property.number)
    }
  }

  @Test(arguments: [0, 1, 2])
  func forecastMatchesStore(kind: Int) throws {
    let model = try [Fixtures.company, Fixtures.workplace, Fixtures.ordered][kind]()
    var (committed, refused, goneAlong) = (0, 0, 0)
    for seed in UInt64(1)...40 {
      var random = SeededGenerator(seed: seed * 10 + UInt64(kind))
      let store = try TestStore(model)
      for step in 0..<12 {
        var desk = try ForecastFixture(store)
        let scratch = random.chance(40) ? desk.context.makeChild() : desk.context
        for _ in 0...random.below(5) { try edit(&desk, in: scratch, &random) }
        let forecast = scratch.forecast(now: store.now + 1_000_000)
        if scratch !== desk.context { scratch.save() }
        #expect(
          desk.context.forecast(now: store.now + 1_000_000).deleted == forecast.deleted,
          "a child foresees what its parent does; model \(kind), seed \(seed), step \(step)")
        let changes = try desk.saved()
        guard !changes.isEmpty else { continue }
        let result = try store.commit(changes)
        switch result.outcome {
        case .refused(let refusal):
          refused += 1
          let theirs = refusal.violations.filter { $0.rule != "count" || $0.id.isTemporary }
          #expect(
            Set(forecast.violations.map(ViolationKey.init)) == Set(theirs.map(ViolationKey.init)),
            "model \(kind), seed \(seed), step \(step): \(refusal)")
        case .committed(let outcome):
          committed += 1
          let temporary = Dictionary(
            uniqueKeysWithValues: outcome.identities.map { ($0.permanent, $0.temporary) })
          func fates(_ changes: [ObjectChange], _ names: [ObjectID: ObjectID]) -> [ObjectID: ObjectEffect] {
            Dictionary(
              uniqueKeysWithValues: changes.map { change in
                let values = change.after?.values.map { value -> Value in
                  switch value {
                  case .object(let id): return .object(names[id] ?? id)
                  // Only the server decides the order of two new objects.
                  case .objects(let ids): return .objects(ids.map { names[$0] ?? $0 }.sorted())
                  default: return value
                  }
                }
                return (names[change.id] ?? change.id, ObjectEffect(kind: change.kind, values: values))
              })
          }
          let record = try #require(result.record)
          #expect(forecast.violations.isEmpty, "model \(kind), seed \(seed), step \(step)")
          #expect(
            fates(forecast.changes, [:]) == fates(record.changes, temporary),
            "model \(kind), seed \(seed), step \(step)")
          goneAlong += forecast.deleted.count - changes.count { $0.kind == .delete }
        }
      }
    }
    #expect(committed > 100, "\(committed) of the saves were taken")
    #expect(kind == 2 || refused > 30, "\(refused) of the saves were refused")
    #expect(kind == 2 || goneAlong > 0, "something went along with a delete")
  }

  // MARK: - Single cases

  @Test func cascadeIsForecastWithoutSideEffects() throws {
    let store = try TestStore(try Fixtures.company())
    let project = try store.insert("Project", ["title": .string("a"), "year": .integer(1)])
    let steps = try (0..<2).map { try store.insert("Step", ["label": .string("\($0)"), "project": .object(project)]) }
    let desk = try ForecastFixture(store)
    let held = try #require(desk.context.object(project))
    desk.context.delete(held)
    #expect(desk.context.forecast().deleted == ([project] + steps).sorted())
    #expect(desk.context.object(steps[0])?.isDeleted == false, "the server says when it goes")
    #expect(desk.context.takeActions().isEmpty, "a forecast sends no request")
    #expect(desk.context.hasChanges)
  }

  @Test func deniedDeleteIsForecastWithReferrers() throws {
    let store = try TestStore(try Fixtures.company())
    let boss = try store.insert("Person", ["name": .string("boss")])
    let worker = try store.insert("Person", ["name": .string("worker"), "manager": .object(boss)])
    let desk = try ForecastFixture(store)
    desk.context.delete(try #require(desk.context.object(boss)))
    let forecast = desk.context.forecast()
    #expect(forecast.violations.map(\.rule) == ["deny"])
    #expect(desk.context.foreseenRefusal() == nil)
    desk.context.delete(try #require(desk.context.object(worker)))
    #expect(desk.context.forecast().deleted == [boss, worker].sorted(), "deny is judged over all that goes")
  }

  @Test func unsentInsertIsValidated() throws {
    let store = try TestStore(try Fixtures.workplace())
    let desk = try ForecastFixture(store)
    let child = desk.context.makeChild()
    let person = try desk.insert("Person", in: child)
    person.setValue(.integer(3), for: try store.property("Person.rate").number)
    person.setValue(.integer(-1), for: try store.property("Person.hours").number)
    #expect(Set(child.forecast().violations.map(\.rule)) == ["required", "paidForHours"], "all at once")
    person.setValue(.string("Ann"), for: try store.property("Person.name").number)
    person.setValue(.integer(4), for: try store.property("Person.hours").number)
    let forecast = child.forecast()
    #expect(forecast.violations.isEmpty)
    let image = try #require(forecast.changes.first { $0.kind == .inserted }?.after)
    #expect(image.id == person.id, "the image has the temporary id")
    #expect(image[try store.property("Person.pay")] == .integer(12), "what is derived is there")
    #expect(image[try store.property("Person.key")] == .string("ann"))
    #expect(desk.context.forecast().changes.isEmpty, "the parent has not heard of it")
  }

  /// Only the server knows a count: others may have left by then, and objects that are deleted or leave here no longer
  /// count.
  @Test func derivedCountRefusesNoSave() throws {
    let store = try TestStore(try Fixtures.workplace())
    let unit = try store.insert("Team")
    let people = try (0..<6).map { number in
      try store.insert(
        "Person", ["name": .string("A\(number)")].merging(number < 5 ? ["unit": .object(unit)] : [:]) { $1 })
    }
    let desk = try ForecastFixture(store)
    let home = try store.property("Person.unit").number
    let last = try #require(desk.context.object(people[5]))
    last.setValue(.object(unit), for: home)
    #expect(desk.context.forecast().violations.map(\.rule) == ["small"])
    #expect(desk.context.foreseenRefusal() == nil)
    desk.context.delete(try #require(desk.context.object(people[0])))
    #expect(desk.context.forecast().violations.isEmpty)
    desk.context.rollback()
    try #require(desk.context.object(people[1])).setValue(.null, for: home)
    #expect(try desk.saved().count == 1)
    last.setValue(.object(unit), for: home)
    #expect(desk.context.forecast().violations.isEmpty, "who leaves is on the way")
  }

  @Test func timestampsAreValidatedOnlyWithTime() throws {
    let model = try Model(
      parsing: """
        {"format": 1, "name": "Chores", "version": 1, "entities": [{"name": "Chore", "attributes": [
          {"name": "number", "type": "integer", "assigned": "sequence"},
          {"name": "touched", "type": "date", "assigned": "updated"},
          {"name": "starts", "type": "integer", "optional": true}, {"name": "ends", "type": "integer", "optional": true},
          {"name": "done", "type": "date", "optional": true}],
         "rules": [{"name": "isPast", "predicate": "done == NULL OR done <= touched"},
           {"name": "isForward", "predicate": "starts == NULL OR ends == NULL OR starts <= ends"}]}]}
        """.utf8)
    let store = try TestStore(model)
    let id = try store.insert("Chore", ["starts": .integer(3), "ends": .integer(5)])
    let desk = try ForecastFixture(store)
    let chore = try #require(desk.context.object(id))
    chore.setValue(.date(store.now), for: try store.property("Chore.done").number)
    #expect(desk.context.forecast().violations.isEmpty && desk.context.foreseenRefusal() == nil)
    #expect(desk.context.forecast(now: Date(microseconds: store.now - 1)).violations.map(\.rule) == ["isPast"])
    chore.setValue(.integer(4), for: try store.property("Chore.ends").number)
    chore.setValue(.integer(9), for: try store.property("Chore.starts").number)
    #expect(desk.context.foreseenRefusal()?.violations.map(\.rule) == ["isForward"])
    desk.context.rollback()
    chore.setValue(.integer(9), for: try store.property("Chore.starts").number)
    #expect(desk.context.forecast().violations.map(\.rule) == ["isForward"])
    #expect(desk.context.foreseenRefusal() == nil, "another client may have moved the end")
  }

  @Test func referencesToDiscardedInsertAreOmitted() throws {
    let store = try TestStore(try Fixtures.company())
    let desk = try ForecastFixture(store)
    let boss = try desk.insert("Person")
    let name = try store.property("Person.name").number
    boss.setValue(.string("boss"), for: name)
    #expect(try desk.saved().count == 1)
    let worker = try desk.insert("Person")
    worker.setValue(.string("worker"), for: name)
    worker.setValue(.object(boss.id), for: try store.property("Person.manager").number)
    worker.setValue(.integer(-1), for: try store.property("Person.age").number)
    #expect(desk.context.foreseenRefusal()?.violations.map(\.rule) == ["minimum"], "who is on the way is no hindrance")
    desk.context.delete(boss)
    #expect(desk.context.forecast().violations.map(\.rule) == ["minimum"])
  }

  /// Under trump policies an insert becomes the object that has its key.
  @Test func insertWithPossibleUniqueMatchIsNotRefused() throws {
    let store = try TestStore(try Fixtures.company())
    let desk = try ForecastFixture(store)
    let person = try desk.insert("Person")
    person.setValue(.string("ann"), for: try store.property("Person.name").number)
    person.setValue(.integer(-1), for: try store.property("Person.age").number)
    #expect(desk.context.foreseenRefusal() != nil && desk.context.foreseenRefusal(policy: .overwrite) == nil)
    #expect(desk.context.foreseenRefusal(policy: .storeTrump) == nil)
  }

  @Test func unloadedObjectsAreNotValidated() throws {
    let store = try TestStore(try Fixtures.company())
    let boss = try store.insert("Person", ["name": .string("boss")])
    let desk = try ForecastFixture(store) { $0.id != boss }
    let fault = try #require(desk.context.fault(boss))
    fault.setValue(.integer(-5), for: try store.property("Person.age").number)
    let worker = try desk.insert("Person")
    worker.setValue(.string("boss"), for: try store.property("Person.name").number)
    worker.setValue(.object(boss), for: try store.property("Person.manager").number)
    #expect(desk.context.forecast().violations.isEmpty, "neither the fault's values nor whose name it has are known")
    worker.setValue(.integer(200), for: try store.property("Person.age").number)
    #expect(desk.context.foreseenRefusal()?.violations.map(\.rule) == ["maximum"])
    #expect(desk.context.foreseenRefusal()?.violations.map(\.id) == [worker.id])
  }
}
