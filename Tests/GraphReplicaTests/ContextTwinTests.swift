import GraphModel
import GraphReplica
import GraphTesting
import GraphWire
import Testing

/// Random edits, made twice: edits that children save equal edits in the context itself, and a to-many that is read
/// through its inverse has the members that a search of every object finds.
@Suite struct ContextTwinTests {
  private enum Step {
    case number(Int, Double)
    case words(Int, String)
    case move(Int, Int)
    case tag(Int, Int, isAdded: Bool)
    /// From the other end.
    case adopt(Int, Int)
    case insert
    case delete(Int)
  }

  private static let noteCount = 6
  private static let tags = 3

  private func start() throws -> ReplicaTranscript {
    let script = try ReplicaTranscript()
    #expect(script.connect(head: 1) == ["welcomed"])
    for entity in [script.note] + ["Board", "Tag"].compactMap({ script.model.entity(named: $0) }) {
      _ = script.context.follow(entity: entity)
    }
    _ = script.lines()
    let notes = try (1...UInt64(Self.noteCount)).map { number in
      try script.image(
        number, 1,
        [
          "text": .string("one two three"), "board": .object(script.id(number % 2 + 1, of: "Board")),
          "tags": .objects([script.id(number % 3 + 1, of: "Tag")]),
        ])
    }
    let others = try ["Board", "Tag"].map { name in try (1...3).map { try script.image($0, of: name, 1) } }
    for (place, images) in ([notes] + others).enumerated() {
      _ = script.receive(.subscribed(query: UInt64(place + 1), resumed: false), UInt64(place + 2))
      _ = script.receive(script.last(images, at: 1), UInt64(place + 2))
    }
    #expect(script.receive(.advance(revision: 1, fingerprint: 1_000)).count == 3)
    return script
  }

  private func random(_ random: inout SeededGenerator) -> Step {
    let note = Int.random(in: 0..<Self.noteCount + 2, using: &random)
    let other = Int.random(in: 0..<3, using: &random)
    switch Int.random(in: 0..<12, using: &random) {
    case 0, 1: return .number(note, Double(Int.random(in: 0..<100, using: &random)))
    case 2, 3: return .words(note, ["", "zero ", "one two", "three four"].randomElement(using: &random) ?? "")
    case 4, 5: return .move(note, other)
    case 6, 7: return .tag(note, other, isAdded: true)
    case 8: return .tag(note, other, isAdded: false)
    case 9: return .adopt(note, other)
    case 10: return .insert
    default: return .delete(note)
    }
  }

  /// Notes by their ids, inserted ones behind; deleted ones are passed over.
  private func notes(_ script: ReplicaTranscript, _ context: ObjectContext, _ made: [ObjectID]) -> [ManagedObject?] {
    ((1...UInt64(Self.noteCount)).map { script.id($0) } + made).map { context.fault($0) }
  }

  private func apply(
    _ step: Step, _ script: ReplicaTranscript, _ context: ObjectContext, _ made: inout [ObjectID]
  ) throws {
    let all = notes(script, context, made)
    func note(_ place: Int) -> ManagedObject? { all[place % all.count] }
    func other(_ place: Int, _ entity: String) throws -> ManagedObject {
      try #require(context.fault(try script.id(UInt64(place + 1), of: entity)))
    }
    switch step {
    case .number(let place, let value): note(place)?["x"] = .double(value)
    case .words(let place, let words):
      if let note = note(place) { note["text"] = .string(words + (note["text"].stringValue ?? "").suffix(9)) }
    case .move(let place, let board): note(place)?["board"] = .object(try other(board, "Board").id)
    case .tag(let place, let tag, let isAdded):
      let tag = try other(tag, "Tag")
      if isAdded { note(place)?.add(tag, to: try script.number("tags")) }
      if !isAdded { note(place)?.remove(tag, from: try script.number("tags")) }
    case .adopt(let place, let board):
      let board = try other(board, "Board")
      if let note = note(place) { board.add(note, to: try #require(board.entity.property(named: "notes")).number) }
    case .insert: made.append(try #require(context.insert(script.note)).id)
    case .delete(let place): if let note = note(place) { context.delete(note) }
    }
  }

  /// All values that a context shows. The inverses are checked against the notes.
  private func view(_ script: ReplicaTranscript, _ context: ObjectContext, _ made: [ObjectID]) throws -> [String] {
    let notes = notes(script, context, made)
    var lines = notes.map { note in
      guard let note else { return "gone" }
      return ["x", "text", "board", "tags"].map { "\(note[$0])" }.joined(separator: " ")
    }
    for (entity, property) in [("Board", "board"), ("Tag", "tags")] {
      for number in 1...3 {
        let object = try #require(context.fault(try script.id(UInt64(number), of: entity)))
        let inverse = try #require(object.entity.property(named: "notes")).number
        let found = object.objects(inverse, ManagedObject.self).map(\.id)
        let naive = notes.compactMap { $0 }.filter { $0[property].objectIDs.contains(object.id) }.map(\.id)
        #expect(Set(found) == Set(naive) && found.count == naive.count)
        lines.append("\(entity) \(number): \(found.count)")
      }
    }
    return lines
  }

  private func sent(_ script: ReplicaTranscript) -> [Change] {
    _ = script.context.save()
    return script.context.takeActions().flatMap { action -> [Change] in
      if case .send(let message) = action, case .commit(let transaction) = message.body {
        return transaction.changes
      }
      return []
    }
  }

  @Test(arguments: 1...40 as ClosedRange<UInt64>)
  func editsInChildrenEqualEditsInContext(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let (direct, layered) = (try start(), try start())
    var made = [ObjectID]()
    for _ in 0..<6 {
      let child = layered.context.makeChild()
      // Half of the time the steps go through two layers.
      let context = Bool.random(using: &generator) ? child.makeChild() : child
      var madeThere = made
      for _ in 0..<Int.random(in: 1..<8, using: &generator) {
        let step = random(&generator)
        try apply(step, direct, direct.context, &made)
        try apply(step, layered, context, &madeThere)
        #expect(try view(direct, direct.context, made) == view(layered, context, madeThere), "seed \(seed)")
      }
      #expect(made == madeThere)
      context.save()
      if context !== child { child.save() }
      #expect(try view(layered, layered.context, made) == view(direct, direct.context, made), "seed \(seed)")
      // A dropped child leaves nothing.
      let dropped = layered.context.makeChild()
      var none = made
      try apply(.number(0, 1_000), layered, dropped, &none)
      try apply(.adopt(1, 2), layered, dropped, &none)
      try apply(.delete(2), layered, dropped, &none)
    }
    let (expected, found) = (sent(direct), sent(layered))
    #expect(!expected.isEmpty)
    #expect(found == expected, "seed \(seed)")
  }
}
