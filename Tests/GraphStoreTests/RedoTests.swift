import GRDB
import GraphModel
import GraphStore
import GraphStoreTools
import GraphTesting
import Testing

/// A second store that is made only from the entries of another one. Many other tests compare such stores with theirs
/// (`expectSound`); these tests concern the entries themselves.
@Suite struct RedoTests {
  /// People, projects and desks, some deleted and revived, with batches of several slices.
  private func company(seed: UInt64, configure: (inout SQLiteStore.Options) -> Void = { _ in }) throws -> TestStore {
    var random = SeededGenerator(seed: seed)
    let store = try TestStore(try Fixtures.company(), configure: configure)
    for number in 0..<12 {
      let project = try store.insert("Project", ["title": .string("t\(number)"), "year": .integer(Int64(number))])
      var values: [String: Value] = ["name": .string("p\(number)"), "bio": .string("a cat")]
      if random.chance(50) { values["projects"] = .objects([project]) }
      if let boss = random.pick(try store.all("Person")) { values["manager"] = .object(boss.id) }
      _ = try store.insert("Person", values)
    }
    for image in try store.all("Person") where random.chance(40) {
      try store.must([try store.update(image.id, "Person.bio", .string("the CAT"))])
    }
    if let leaving = random.pick(try store.all("Person")) {
      _ = try store.commit([Change(.delete, leaving.id, base: .max)])
      _ = try store.undo()
    }
    _ = try store.batch(
      "Person",
      .update(
        BatchTests.predicate("bio != \"\"", "Person", store),
        [try BatchTests.assignment("Person.age", "age + 1", store)]))
    _ = try store.batch("Project", .delete(BatchTests.predicate("year > 7", "Project", store)))
    return store
  }

  @Test(arguments: [UInt64(1), 2, 3]) func groupsOfAnySizeGiveSameStore(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let store = try company(seed: seed)
    let twin = try RedoTwin(of: store)
    var rest = store.recorder.all[...]
    while !rest.isEmpty {
      let group = rest.prefix(Int.random(in: 1...5, using: &random))
      rest = rest.dropFirst(group.count)
      try twin.apply(Array(group))
      guard let last = group.last, !last.isLast else { continue }
      // A group that ends within a batch has not applied its parts; they are sent again.
      let start = try #require(store.recorder.all.firstIndex { $0.revision == last.revision })
      let end = try #require(store.recorder.all.lastIndex { $0.revision == last.revision })
      try twin.apply(Array(store.recorder.all[start...end]))
      rest = store.recorder.all[(end + 1)...]
    }
    #expect(try twin.store.head == store.store.head)
    #expect(try twin.differences(from: store) == [], "seed \(seed)")
  }

  @Test func appliedEntryHasNoEffect() throws {
    let store = try company(seed: 4)
    let twin = try RedoTwin(of: store)
    try twin.apply(store.recorder.all)
    try twin.apply(store.recorder.all)
    #expect(try twin.differences(from: store) == [])
  }

  /// Ids, sequences, marks and names continue as in the first store.
  @Test func nextCommitsAreThoseOfFirstStore() throws {
    let store = try company(seed: 5) { $0.random = { 7 } }
    let twin = try RedoTwin(of: store)
    try twin.apply(store.recorder.all)
    try twin.store.close()
    let second = try TestStore(store.model, directory: twin.directory) { $0.random = { 7 } }
    let replica = UniqueID(high: 8, low: 8)
    for one in [store, second] {
      for number in 1...80 {
        let person = try #require(try one.all("Person", sort: "name").first)
        let robot = Change(
          .insert, .temporary(1, entity: try one.entity("Robot").number),
          edits: [try one.edit("Robot.name", .string("r\(number)"))])
        let age = Change(.update, person.id, base: .max, edits: [try one.edit("Person.age", .integer(Int64(number)))])
        let transaction = Transaction(
          id: TransactionID(replica: replica, sequence: UInt64(number)), policy: .error, changes: [robot, age])
        let result = try one.store.commit(
          [.transaction(transaction, author: "bob")], now: store.now + Int64(number) * 1_000_000)[0]
        #expect(result.record != nil)
      }
    }
    #expect(try StoreComparison.differences(store.directory.path, second.directory.path) == [])
  }

  @Test func unfinishedBatchAtEndIsNotApplied() throws {
    let store = try company(seed: 6)
    let entries = store.recorder.all
    let end = try #require(entries.lastIndex { !$0.isLast })
    let revision = entries[end].revision
    let twin = try RedoTwin(of: store)
    try twin.apply(Array(entries[...end]))
    #expect(try twin.store.head.revision == revision - 1)
    try twin.apply(entries)
    #expect(try twin.differences(from: store) == [])
  }

  // MARK: - Entries that don't fit

  private func expectRefused(_ entries: [LogEntry], _ twin: RedoTwin, _ words: String) throws {
    let failure = #expect(throws: StoreFailure.self) { try twin.apply(entries) }
    #expect(failure?.code == .corrupt)
    #expect(failure?.cause.contains(words) == true, "\(failure?.cause ?? "")")
  }

  @Test func gapIsRefused() throws {
    let store = try company(seed: 7)
    let twin = try RedoTwin(of: store)
    var entries = store.recorder.all
    entries.remove(at: 3)
    try expectRefused(entries, twin, "does not follow the store's newest revision, 3")
  }

  @Test func missingPartIsRefused() throws {
    let store = try company(seed: 8)
    let entries = store.recorder.all
    let first = try #require(entries.firstIndex { !$0.isLast })
    for missing in [first, first + 1] {
      var some = entries
      some.remove(at: missing)
      try expectRefused(some, try RedoTwin(of: store), "a part of its batch is missing")
    }
    var last = entries
    let end = try #require(entries[first...].firstIndex { $0.isLast })
    last.remove(at: end - 1)
    try expectRefused(last, try RedoTwin(of: store), "differ from its summary")
    try expectRefused(entries.filter(\.isLast), try RedoTwin(of: store), "the parts of its batch are missing")
  }

  @Test func entryOfAnotherPastIsRefused() throws {
    let (store, other) = (try company(seed: 9), try company(seed: 10))
    let twin = try RedoTwin(of: store)
    let entries = store.recorder.all
    try twin.apply(Array(entries[..<5]))
    try expectRefused([other.recorder.all[2]], twin, "another commit with this revision")
    let next = try RedoTwin(of: store)
    try next.apply(Array(entries[..<5]))
    try expectRefused([other.recorder.all[5]], next, "its fingerprint does not follow")
  }

  @Test func damagedObjectIsNotContinued() throws {
    let store = try TestStore(try Fixtures.company())
    let project = try store.insert("Project", ["title": .string("a"), "year": .integer(1)])
    try store.must([try store.update(project, "Project.year", .integer(2))])
    let entries = store.recorder.all
    let twin = try RedoTwin(of: store)
    try twin.apply([entries[0]])
    try twin.store.close()
    let queue = try DatabaseQueue(path: twin.directory.path + "/graph.sqlite")
    try queue.write { try $0.execute(sql: "UPDATE Project SET title = 'x'") }
    try queue.close()
    let second = try SQLiteStore(directory: twin.directory.path, model: store.model)
    #expect(throws: (any Error).self) { try second.apply { body in for entry in entries { try body(entry) } } }
    #expect(try second.head.revision == 1)
  }

  @Test func everyTruncatedEntryIsRefusedOrUnfinished() throws {
    let store = try company(seed: 11)
    for entry in store.recorder.all.prefix(3) {
      let bytes = entry.binary
      #expect(try LogEntry(binary: bytes) == entry)
      for length in 0..<bytes.count {
        // The length of the only field covers all bytes.
        #expect(throws: MalformedMessage.self) { try LogEntry(binary: bytes[..<length]) }
      }
    }
  }

  @Test func flippedBitIsRefused() throws {
    let store = try TestStore(try Fixtures.company())
    _ = try store.insert("Person", ["name": .string("a cat"), "age": .integer(1)])
    let bytes = try #require(store.recorder.all.first).binary
    let twin = try RedoTwin(of: store)
    var refused = 0
    for place in bytes.indices {
      var flipped = bytes
      flipped[place] ^= 1 << (place % 8)
      // A field with another number is skipped; without a missing field the entry is the same.
      guard let entry = try? LogEntry(binary: flipped), entry != store.recorder.all[0], entry.revision == 1 else {
        continue
      }
      #expect(throws: StoreFailure.self, "byte \(place)") { try twin.apply([entry]) }
      refused += 1
    }
    #expect(refused > bytes.count / 2)
    try twin.apply(store.recorder.all)
    #expect(try twin.differences(from: store) == [])
  }
}
