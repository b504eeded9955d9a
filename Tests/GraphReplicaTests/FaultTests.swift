import GraphModel
import GraphReplica
import GraphTesting
import GraphWire
import Testing

/// Objects of which a context knows only the id, and the number of requests that load them.
@Suite struct FaultTests {
  @Test func referencedObjectIsFaultUntilLoaded() throws {
    let script = try ReplicaTranscript()
    let board = try script.id(7, of: "Board")
    let note = try Self.fetched(script, [script.image(5, 1, ["board": .object(board)])])[0]
    let property = try script.number("board")
    let instance = try #require(note.object(property, ManagedObject.self))
    #expect(instance.id == board && instance.isFault && !note.isFault)
    // Reading does not wait: an unfilled object has the model's default values.
    #expect(instance["name"] == .null && instance["color"] == .string("gray"))
    #expect(!note.isLoaded(property) && script.context.object(board) == nil)
    #expect(note.object(property, ManagedObject.self) === instance)

    #expect(script.context.load([instance]) == 1)
    #expect(script.lines() == [])
    script.context.sendLoads()
    #expect(script.lines() == ["> fetch Board: id IN {7}"])
    #expect(
      script.receive(script.last([try script.image(7, of: "Board", 3, ["name": .string("Home")])], at: 4), 2)
        == ["load 1 is here"])
    #expect(!instance.isFault && instance["name"] == .string("Home") && note.isLoaded(property))
    #expect(note.object(property, ManagedObject.self) === instance)
    #expect(script.changes.map(\.refreshed) == [[board]])
  }

  @Test func faultsAreRequestedPerThousandAndFamily() throws {
    let script = try ReplicaTranscript()
    let boards = try (1...2_500).map { try script.id($0, of: "Board") }
    let tags = try (1...3).map { try script.id($0, of: "Tag") }
    #expect(script.connect() == ["welcomed"])
    let faults = (boards + tags).compactMap { script.context.fault($0) }
    #expect(faults.count == 2_503)
    // The number of callers, and of their calls, does not matter.
    for fault in faults { _ = script.context.load([fault]) }
    _ = script.context.load(faults)
    script.context.sendLoads()
    #expect(
      script.lines() == [
        "> fetch Board: id IN 1000 ids", "> fetch Board: id IN 1000 ids", "> fetch Board: id IN 500 ids",
        "> fetch Tag: id IN {1, 2, 3}",
      ])
    // A load in progress is not requested again; later callers wait for it.
    let late = script.context.load([faults[0], faults[2_000]])
    script.context.sendLoads()
    #expect(script.lines() == [])
    let images = try (1...2_500).map { try script.image($0, of: "Board", 1) }
    #expect(script.receive(script.last(Array(images[..<1_000]), at: 1), 2).count == 1_000)
    #expect(!faults[999].isFault && faults[1_000].isFault)
    #expect(script.receive(script.last(Array(images[1_000..<2_000]), at: 1), 3).count == 1_000)
    let last = script.receive(script.last(Array(images[2_000...]), at: 1), 4)
    #expect(last.count == 501 && last.contains("load \(late) is here"))
    let words = try (1...3).map { try script.image($0, of: "Tag", 1) }
    #expect(script.receive(script.last(words, at: 1), 5).count == 4)
    #expect(!faults.contains { $0.isFault })
  }

  @Test func firingOneFaultFillsAllHeldOnes() throws {
    let script = try ReplicaTranscript()
    #expect(script.connect() == ["welcomed"])
    let faults = try (1...3).compactMap { script.context.fault(try script.id($0, of: "Board")) }
    let other = try #require(script.context.fault(script.id(1, of: "Tag")))
    _ = script.context.load([faults[1]], bringsOthers: true)
    script.context.sendLoads()
    #expect(script.lines() == ["> fetch Board: id IN {2, 1, 3}"])
    let images = try (1...3).map { try script.image($0, of: "Board", 1) }
    #expect(script.receive(script.last(images, at: 1), 2) == ["load 1 is here"])
    #expect(!faults.contains { $0.isFault } && other.isFault)
  }

  @Test func iteratingListRequestsOncePerThousand() throws {
    let script = try ReplicaTranscript()
    let notes = try Self.fetched(
      script, (1...1_500).map { try script.image($0, 1, ["board": .object(try script.id($0, of: "Board"))]) })
    let tree = try script.tree("board")
    var lines = [String]()
    var request: UInt64 = 1
    for (place, note) in notes.enumerated() {
      guard let load = script.context.load(tree, of: note) else { continue }
      script.context.sendLoads()
      request += 1
      lines += script.lines()
      let range = place..<min(place + 1_000, 1_500)
      let images = try range.map { try script.image(UInt64($0 + 1), of: "Board", 1) }
      #expect(script.receive(script.last(images, at: 1), request) == ["load \(load) is here"])
    }
    #expect(lines == ["> fetch Board: id IN 1000 ids", "> fetch Board: id IN 500 ids"])
    let property = try script.number("board")
    #expect(notes.allSatisfy { $0.object(property, ManagedObject.self)?.isFault == false })
  }

  @Test func unknownFaultIsDeleted() throws {
    let script = try ReplicaTranscript()
    let board = try script.id(7, of: "Board")
    let note = try Self.fetched(script, [script.image(5, 1, ["board": .object(board)])])[0]
    let instance = try #require(script.context.fault(board))
    _ = script.context.load([instance])
    script.context.sendLoads()
    #expect(script.lines() == ["> fetch Board: id IN {7}"])
    #expect(script.receive(script.last([], at: 9), 2) == ["load 1 is here"])
    #expect(instance.isDeleted && !instance.isFault)
    #expect(note.object(try script.number("board"), ManagedObject.self) == nil)
    #expect(script.changes.map(\.deleted) == [[board]])
  }

  @Test func replyCountsOnlyWhenComplete() throws {
    let script = try ReplicaTranscript()
    #expect(script.connect() == ["welcomed"])
    let faults = try (1...2).compactMap { script.context.fault(try script.id($0, of: "Board")) }
    _ = script.context.load(faults)
    script.context.sendLoads()
    #expect(script.lines() == ["> fetch Board: id IN {1, 2}"])
    let first = ToClient.Body.chunk(Chunk(objects: [try script.image(1, of: "Board", 1)]))
    #expect(script.receive(first, 2) == ["> more of 2"])
    #expect(faults.allSatisfy { $0.isFault })
    #expect(script.handle(.disconnected) == ["load 1 failed: unavailable"])
    #expect(faults.allSatisfy { $0.isFault })
    // Without a connection no caller waits.
    _ = script.context.load(faults)
    script.context.sendLoads()
    #expect(script.lines() == ["load 2 failed: unavailable"])
    #expect(script.connect() == ["welcomed"])
    _ = script.context.load(faults)
    script.context.sendLoads()
    #expect(script.lines() == ["> fetch Board: id IN {1, 2}"])
  }

  @Test func faultIsEditedWithoutKnownValues() throws {
    let script = try ReplicaTranscript()
    #expect(script.connect() == ["welcomed"])
    let note = try #require(script.context.fault(script.id(5)))
    note["text"] = .string("mine")
    #expect(script.context.save() != nil)
    let sent = script.context.takeActions().compactMap { action -> Transaction? in
      if case .send(let message) = action, case .commit(let transaction) = message.body { transaction } else { nil }
    }
    // The whole text against revision 0: the server sees a conflict with everything that others have written there.
    let edit = Edit(try script.number("text"), .set(.string("mine")))
    #expect(sent.flatMap(\.changes) == [Change(.update, script.id(5), base: 0, edits: [edit])])
    // An answer without the object does not make one of defaults.
    let reply = ToClient.Body.committed(
      CommitResult(revision: 3, fingerprint: 3_000, identities: [], conflicts: []), objects: [], isComplete: false)
    #expect(script.receive(reply, 2) == ["saved 1 as 3"])
    #expect(note.isFault && !note.hasChanges)
  }

  @Test func toManyReturnsKnownMembersAndMissingIDs() throws {
    let script = try ReplicaTranscript()
    let tags = try (1...3).map { try script.id($0, of: "Tag") }
    let note = try Self.fetched(script, [script.image(5, 1, ["tags": .objects(tags)])])[0]
    let property = try script.number("tags")
    let instances = note.objects(property, ManagedObject.self)
    #expect(instances.map(\.id) == tags && instances.allSatisfy { $0.isFault } && !note.isLoaded(property))
    // Removing members does not need their values.
    note.setValue(.objects([tags[1]]), for: property)
    #expect(note.objects(property, ManagedObject.self).map(\.id) == [tags[1]])
    script.context.rollback()
    #expect(note.objects(property, ManagedObject.self).map(\.id) == tags)
  }

  /// Notes that came with one fetch.
  static func fetched(_ script: ReplicaTranscript, _ images: [ObjectImage]) throws -> [ManagedObject] {
    #expect(script.connect(head: 1) == ["welcomed"])
    return script.context.register(images)
  }
}

extension ReplicaTranscript {
  func id(_ number: UInt64, of entity: String) throws -> ObjectID {
    let entity = try #require(model.entity(named: entity)).number
    return ObjectID(key: UniqueID(high: entity == note.number ? 1 : 100 + UInt64(entity), low: number), entity: entity)
  }

  func image(
    _ number: UInt64, of entity: String, _ revision: Revision, _ values: [String: Value] = [:]
  ) throws -> ObjectImage {
    let entity = try #require(model.entity(named: entity))
    var image = ObjectImage(
      id: try id(number, of: entity.name), revision: revision, values: entity.initialValues)
    for (name, value) in values { image[try #require(entity.property(named: name))] = value }
    return image
  }

  func tree(_ text: String, of entity: String = "Note") throws -> RelationshipTree {
    try RelationshipTree(parsing: text, entity: try #require(model.entity(named: entity)), model: model)
  }
}
