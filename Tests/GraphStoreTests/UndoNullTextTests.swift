import GraphModel
import GraphTesting
import Testing

/// Undo and redo of an optional text over its nulls: a text that begins, is typed in, and is no text again.
@Suite struct UndoNullTextTests {
  let store: TestStore
  let person: ObjectID

  init() throws {
    store = try TestStore(try Fixtures.company())
    store.author = "zoe"
    person = try store.insert("Person", ["name": .string("p")])
    store.author = "ann"
  }

  func bio() throws -> Value { try store.value(person, "Person.bio") }

  func set(_ value: Value, _ group: UndoGroup? = nil) throws {
    try store.must([store.update(person, "Person.bio", value)], undo: group)
  }

  func type(_ offset: Int, _ length: Int, _ insertion: String, _ group: UndoGroup? = nil) throws {
    let splice = TextSplice(offset: offset, length: length, insertion: insertion)
    let edit = Edit(try store.property("Person.bio").number, .splice([splice]))
    try store.must([Change(.update, person, base: .max, edits: [edit])], undo: group)
  }

  /// Goes through the author's steps down to the first and up again, several times.
  func expectStates(_ states: [Value], _ what: String = "") throws {
    for round in 0..<3 {
      for (index, state) in states.enumerated().reversed().dropFirst() {
        #expect(try store.taken(store.undo(scope: .test)).conflicts.isEmpty, "\(what) round \(round), undo \(index)")
        #expect(try bio() == state, "\(what) round \(round), undo \(index)")
      }
      #expect(try store.refused(store.undo(scope: .test)).code == .notFound)
      for (index, state) in states.enumerated().dropFirst() {
        #expect(try store.taken(store.redo(scope: .test)).conflicts.isEmpty, "\(what) round \(round), redo \(index)")
        #expect(try bio() == state, "\(what) round \(round), redo \(index)")
      }
      try store.reopen()
    }
    try store.expectSound()
  }

  @Test func textThatBeganAsNullIsUndoneAndRedone() throws {
    try type(0, 0, "a", .test(1))
    try type(1, 0, "b", .test(2))
    try expectStates([.null, .string("a"), .string("ab")])
  }

  @Test func typedTextIsUndoneAcrossNull() throws {
    try set(.string("the cat"), .test(1))
    try type(4, 3, "dog", .test(2))
    try set(.null, .test(3))
    try type(0, 0, "anew", .test(4))
    try type(0, 4, "", .test(5))
    try set(.null, .test(6))
    try expectStates([
      .null, .string("the cat"), .string("the dog"), .null, .string("anew"), .string(""), .null,
    ])
  }

  @Test func groupAcrossNullIsOneStep() throws {
    try type(0, 0, "one", .test(1))
    try set(.null, .test(1))
    try type(0, 0, "two", .test(1))
    try type(3, 0, "!", .test(2))
    try expectStates([.null, .string("two"), .string("two!")])
  }

  @Test func insertionsOfOthersSurviveInRestoredText() throws {
    try set(.string("cat"), .test(1))
    try type(0, 0, "my ", .test(2))
    try set(.null, .test(3))
    try store.taken(store.undo())
    try store.by("bob") { try type(6, 0, " sat") }
    #expect(try store.taken(store.undo()).conflicts.isEmpty)
    #expect(try bio() == .string("cat sat"))
    // The first step set the text as a whole, and that is not what it is now.
    #expect(try store.refused(store.undo()).conflicts.map(\.author) == ["bob"])
  }

  @Test func textReplacedByOthersStays() throws {
    try set(.string("cat"))
    try type(0, 0, "my ")
    try store.by("bob") {
      try set(.null)
      try set(.string("my cat"))
    }
    #expect(try store.refused(store.undo()).conflicts.map(\.author) == ["bob"])
    #expect(try bio() == .string("my cat"))
  }

  /// The twin keeps the text after each step.
  @Test(arguments: UInt64(1)...20) func undoAndRedoOfAllStepsPassSameTexts(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var states = [Value.null]
    for step in UInt64(1)...12 {
      let before = try bio()
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        let length = try (bio().stringValue ?? "").utf8.count
        let start = random.below(length + 1)
        switch random.below(6) {
        case 0, 1: try set(.null, .test(step))
        case 2: try set(.string(random.pick(["the cat sat", "dog", ""]) ?? ""), .test(step))
        default: try type(start, random.below(length - start + 1), random.pick(["x", "hello ", ""]) ?? "", .test(step))
        }
      }
      let records = try store.store.commits(after: 0, through: nil, maximumChanges: 10_000)
      let isIdle = records.allSatisfy { $0.undo != .test(step) || $0.changes.isEmpty }
      if isIdle { #expect(try bio() == before) } else { states.append(try bio()) }
    }
    try expectStates(states, "seed \(seed):")
  }
}
