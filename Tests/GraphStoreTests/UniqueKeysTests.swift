import GraphModel
import GraphStore
import GraphTesting
import Testing

/// Unique keys that collide, become free and change owners inside one transaction: only the final state counts, and
/// SQL's constraints, which check row by row, never fire.
@Suite struct UniqueKeysTests {
  private func tag(_ store: TestStore, _ name: String) throws -> Change {
    try store.insertion("Tag", ["name": .string(name)])
  }

  private func rename(_ store: TestStore, _ id: ObjectID, _ name: String) throws -> Change {
    try store.update(id, "Tag.name", .string(name))
  }

  private func names(_ store: TestStore, _ ids: [ObjectID]) throws -> [String?] {
    try ids.map { try store.value($0, "Tag.name").stringValue }
  }

  @Test func duplicateInsertsAreRefusedOrMerged() throws {
    let store = try TestStore(try Fixtures.stickies())
    let refusal = try #require(try store.refusal([tag(store, "a"), tag(store, "b"), tag(store, "a")]))
    #expect(refusal.code == .unique)
    #expect(refusal.violations.map(\.rule) == ["unique", "unique"], "each violates the other's key")
    #expect(try store.all("Tag").isEmpty && store.store.head.revision == 0)
    for policy in MergePolicy.allCases where policy != .error {
      let ids = try store.must([tag(store, "\(policy)"), tag(store, "other"), tag(store, "\(policy)")], policy: policy)
      #expect(ids[0] == ids[2] && ids[0] != ids[1])
      try store.must([Change(.delete, ids[1])])
    }
    #expect(try StoreCheckRun(store).findings.isEmpty)
  }

  /// Other objects are not affected: a key that the transaction itself frees conflicts with nothing.
  @Test(arguments: MergePolicy.allCases)
  func freedKeyIsAvailableInSameTransaction(policy: MergePolicy) throws {
    let store = try TestStore(try Fixtures.stickies())
    let first = try store.insert("Tag", ["name": .string("a")])
    // In either order.
    let second = try store.must([Change(.delete, first), tag(store, "a")], policy: policy)[0]
    let third = try store.must([tag(store, "a"), Change(.delete, second)], policy: policy)[0]
    #expect(Set([first, second, third]).count == 3)
    #expect(try store.all("Tag").map(\.id) == [third])
    // One object changes its name.
    let fourth = try store.must([rename(store, third, "b"), tag(store, "a")], policy: policy)[0]
    #expect(try names(store, [third, fourth]) == ["b", "a"])
    #expect(try StoreCheckRun(store).findings.isEmpty)
  }

  @Test func duplicateInsertsReportTheirDifferences() throws {
    let source = #"""
      {"format": 1, "name": "Colors", "version": 1, "entities": [{"name": "Tag", "unique": [["name"]], "attributes": [
        {"name": "name", "type": "string"}, {"name": "color", "type": "string", "default": ""}]}]}
      """#
    let store = try TestStore(try Model(parsing: source.utf8))
    for policy in [MergePolicy.storeTrump, .objectTrump] {
      let changes = try ["red", "blue"].map {
        try store.insertion("Tag", ["name": .string("\(policy)"), "color": .string($0)])
      }
      guard case .committed(let committed) = try store.commit(changes, policy: policy).outcome else {
        Issue.record("refused")
        continue
      }
      #expect(committed.conflicts.map(\.kind) == [.unique])
      #expect(committed.conflicts.map(\.mineWon) == [policy == .objectTrump])
      #expect(committed.conflicts.map(\.mine) == [.string("blue")])
      #expect(committed.conflicts.map(\.theirs) == [.string("red")])
    }
    // A refusal names no object that never existed.
    let refusal = try #require(try store.refusal([tag(store, "x"), tag(store, "x")]))
    #expect(refusal.conflicts.allSatisfy { $0.id.isTemporary })
    #expect(refusal.violations.allSatisfy { $0.message.hasPrefix("another new Tag has the same name") })
  }

  @Test func deniedDeleteDoesNotHideOtherErrors() throws {
    let store = try TestStore(try Fixtures.company())
    let boss = try store.insert("Person", ["name": .string("boss")])
    let other = try store.insert("Person", ["name": .string("other"), "manager": .object(boss)])
    let refusal = try #require(
      try store.refusal([
        Change(.delete, boss), try store.insertion("Project", ["year": .integer(1)]),
      ]))
    #expect(refusal.code == .invalid)
    #expect(Set(refusal.violations.map(\.rule)) == ["deny", "required"])
    #expect(try store.refusal([Change(.delete, boss)])?.code == .denied)
    #expect(try store.value(other, "Person.manager") == .object(boss))
  }

  @Test func thousandKeysAreShifted() throws {
    let store = try TestStore(try Fixtures.stickies())
    let count = 1_000
    let ids = try store.must((0..<count).map { try tag(store, "t\($0)") })
    // Each takes the key of the next one, which still has it; the last one's is new.
    try store.must(try ids.enumerated().map { try rename(store, $1, "t\($0 + 1)") })
    #expect(try names(store, ids) == (1...count).map { "t\($0)" })
    // The opposite order, in a circle: the last takes the first one's key.
    try store.must(try ids.enumerated().reversed().map { try rename(store, $1, "t\(($0 + 1) % count + 1)") })
    #expect(try names(store, ids) == (1...count).map { "t\($0 % count + 1)" })
    #expect(try StoreCheckRun(store).findings.isEmpty)
  }

  @Test func shiftOntoTakenKeyIsRefused() throws {
    let store = try TestStore(try Fixtures.stickies())
    let ids = try store.must((0..<10).map { try tag(store, "t\($0)") })
    _ = try store.insert("Tag", ["name": .string("t10")])
    let head = try store.store.head
    let shift = try ids.enumerated().map { try rename(store, $1, "t\($0 + 1)") }
    let refusal = try #require(try store.refusal(shift))
    #expect(refusal.code == .unique)
    #expect(refusal.violations.map(\.id) == [ids[9]])
    #expect(try store.store.head == head)
    #expect(try names(store, ids) == (0..<10).map { "t\($0)" })
  }

  @Test func keyOfDeletedObjectIsAvailableInSameTransaction() throws {
    let store = try TestStore(try Fixtures.stickies())
    let old = try store.insert("Tag", ["name": .string("a")])
    // In either order of the changes, and again and again.
    let first = try store.must([Change(.delete, old), tag(store, "a")])
    let second = try store.must([tag(store, "a"), Change(.delete, first[0])])
    #expect(Set([old] + first + second).count == 3)
    #expect(try names(store, second) == ["a"] && store.all("Tag").count == 1)
    // The key of a renamed object is free, too.
    let third = try store.must([tag(store, "a"), rename(store, second[0], "b")])
    #expect(try names(store, second + third) == ["b", "a"])
    #expect(try StoreCheckRun(store).findings.isEmpty)
  }

  @Test func compoundKeyIsSwappedByEitherProperty() throws {
    let store = try TestStore(try Fixtures.company())
    func project(_ title: String, _ year: Int64) throws -> Change {
      try store.insertion("Project", ["title": .string(title), "year": .integer(year)])
    }
    let ids = try store.must([project("a", 1), project("a", 2), project("b", 1)])
    #expect(try store.refusal([store.update(ids[0], "Project.year", .integer(2))])?.code == .unique)
    #expect(try store.refusal([store.update(ids[2], "Project.title", .string("a"))])?.code == .unique)
    try store.must([
      store.update(ids[0], "Project.year", .integer(2)), store.update(ids[1], "Project.title", .string("b")),
    ])
    #expect(try store.refusal([store.update(ids[1], "Project.year", .integer(1))])?.code == .unique)
    try store.must([
      store.update(ids[1], "Project.year", .integer(1)), store.update(ids[2], "Project.year", .integer(2)),
    ])
    #expect(try StoreCheckRun(store).findings.isEmpty)
  }

  @Test func groupedRequestSeesKeysOfPrecedingOne() throws {
    let store = try TestStore(try Fixtures.stickies())
    let batch = try ["a", "b", "a", "c"].map {
      WriteRequest.transaction(
        Transaction(id: store.nextID(), policy: .error, changes: [try tag(store, $0)]), author: "ann")
    }
    let results = try store.store.commit(batch, now: store.now)
    let isCommitted = results.map { result in if case .committed = result.outcome { true } else { false } }
    #expect(isCommitted == [true, true, false, true])
    #expect(try store.all("Tag").count == 3)
    #expect(try StoreCheckRun(store).findings.isEmpty)
  }
}
