import Foundation
import GraphModel
import GraphStore
import GraphStoreTools
import GraphTesting
import Testing

/// Any byte of the database may flip: either the store reports it, or no answer has changed.
@Suite struct BitFlipTests {
  enum Kind: String, CaseIterable, Sendable { case stickies, company }

  @Test(arguments: Kind.allCases) func bitFlipsAreDetectedOrHarmless(kind: Kind) throws {
    let store = try kind == .stickies ? Self.stickies() : Self.company()
    try store.store.close()
    let model = store.model
    let (directory, file) = (store.directory.path, store.directory.path + "/graph.sqlite")
    let sound = try #require(FileManager.default.contents(atPath: file).map(Array.init))
    #expect(try StoreCheck.run(directory: directory, model: model, heldObjects: 3).isEmpty)
    let answers = try StoreContents(directory, model)
    #expect(answers.images.count > 30)
    #expect(answers.commits.count > 20)
    let written = sound.indices.filter { sound[$0] != 0 }
    var (found, unharmed) = (0, 0)
    let seeds = SeedSweep.seeds(60).map { kind == .stickies ? 2 * $0 : 2 * $0 + 1 }
    for seed in seeds {
      var random = SeededGenerator(seed: seed)
      // Half of them where something is written: pages of small tables are mostly empty.
      let place =
        random.chance(50) ? random.pick(written) ?? 0 : Int.random(in: 0..<sound.count, using: &random)
      let mask = UInt8.random(in: 1...255, using: &random)
      try Self.write(sound, flipping: place, by: mask, to: file)
      // A failure to open is an answer, too.
      let findings = try? StoreCheck.run(directory: directory, model: model, heldObjects: 3)
      guard let findings, findings.isEmpty else {
        found += 1
        continue
      }
      unharmed += 1
      let after = try? StoreContents(directory, model)
      #expect(
        after == answers, "seed \(seed): byte \(place) of \(kind), by \(mask), changes an answer and is not found")
    }
    // Neither may be all of them: then the test would show nothing.
    #expect(found > seeds.count / 10, "\(found) of \(seeds.count) were found")
    #expect(unharmed > 0)
  }

  private static func write(_ bytes: [UInt8], flipping place: Int, by mask: UInt8, to file: String) throws {
    for suffix in ["-wal", "-shm", ""] { unlink(file + suffix) }
    var bytes = bytes
    bytes[place] ^= mask
    try Data(bytes).write(to: URL(fileURLWithPath: file))
  }

  /// All answers of a store: every object, the whole history, and the head.
  private struct StoreContents: Equatable {
    var images = [[UInt8]]()
    var commits: [CommitRecord]
    var head: Token
    var next: [Int64]

    init(_ directory: String, _ model: Model) throws {
      let store = try SQLiteStore(directory: directory, model: model)
      defer { try? store.close() }
      var found = [[UInt8]]()
      for entity in model.entities {
        _ = try store.fetch(.init(entity: entity.number)) { found.append($0.binary) }
      }
      images = found
      commits = try store.commits(after: 0, through: nil, maximumChanges: 1_000_000)
      head = try store.head
      next = try store.statistics().sequences.map(\.next)
    }
  }

  // MARK: - Stores with something of everything

  private static func stickies() throws -> TestStore {
    let store = try TestStore(try Fixtures.stickies())
    var random = SeededGenerator(seed: 7)
    let boards = try ["Plans", "Ideas"].map { try store.insert("Board", ["name": .string($0)]) }
    let tags = try ["home", "work", "später"].map { try store.insert("Tag", ["name": .string($0)]) }
    let words = ["milk", "bread", "Ann", "café", "tomorrow", "🍞", "meeting", "x"]
    var notes = [ObjectID]()
    for number in 0..<40 {
      let length = number % 10 == 0 ? 900 : 12
      let text = (0..<length).map { _ in words.randomElement(using: &random) ?? "" }.joined(separator: " ")
      notes.append(
        try store.insert(
          "Note",
          [
            "text": .string(text), "board": .object(boards[number % 2]), "x": .double(Double(number) * 1.5),
            "tags": .objects(Array(tags.prefix(number % 4))), "pinned": .bool(number % 3 == 0),
            "origin": number % 5 == 0 ? .string("import:\(number)") : .null,
          ]))
    }
    try store.must(
      (0..<10).map { try store.insertion("Link", ["from": .object(notes[$0]), "to": .object(notes[$0 + 1])]) })
    let text = try store.property("Note.text").number
    for note in notes.prefix(12) {
      let splice = Edit(text, .splice([TextSplice(offset: 0, length: 0, insertion: "Now: ")]))
      try store.must([Change(.update, note, base: .max, edits: [splice])])
    }
    store.author = "bob"
    try store.must(notes.suffix(4).map { Change(.delete, $0) })
    try store.must([store.update(notes[3], "Note.color", .string("teal"))])
    _ = try store.undo()
    return store
  }

  private static func company() throws -> TestStore {
    let store = try TestStore(try Fixtures.company())
    let projects = try (0..<12).map {
      try store.insert("Project", ["title": .string("project \($0)"), "year": .integer(Int64(2_000 + $0))])
    }
    var people = [ObjectID]()
    for number in 0..<25 {
      var values: [String: Value] = [
        "name": .string("person \(number)"), "age": .integer(Int64(number)), "score": .double(Double(number) / 3),
        "salary": .decimal(try #require(DecimalValue("\(number * 1_000).5"))), "active": .bool(number % 2 == 0),
        "badge": .uuid(UniqueID(high: UInt64(number), low: 5)), "photo": .data([1, 2, UInt8(number)]),
        "home": .string("https://example.org/\(number)"), "extra": .string("{\"n\":\(number)}"),
        "bio": .string("was born and worked as number \(number)"), "projects": .objects([projects[number % 12]]),
      ]
      if let manager = people.last { values["manager"] = .object(manager) }
      people.append(try store.insert("Person", values))
    }
    for number in 0..<6 {
      _ = try store.insert("Robot", ["name": .string("robot \(number)"), "volts": .integer(220)])
      let desk = try store.insert("Desk", ["place": .string("room \(number)")])
      try store.must([store.update(people[number], "Person.desk", .object(desk))])
      _ = try store.insert("Step", ["label": .string("step"), "project": .object(projects[number])])
    }
    try store.must([Change(.delete, people[24])])
    try store.must([Change(.delete, people[23])])
    _ = try store.undo()
    return store
  }
}
