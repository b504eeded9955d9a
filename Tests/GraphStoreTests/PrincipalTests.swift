import GraphModel
import GraphStore
import GraphStoreTools
import GraphTesting
import Testing

/// Principals whose ids are not their names: history has the id, and every answer the name.
@Suite struct PrincipalTests {
  private static let bob = Principal(id: "user:b0b", name: "bob")

  private func insert(_ store: TestStore, _ name: String, as account: Principal?) throws {
    store.account = account
    defer { store.account = nil }
    _ = try store.insert("Tag", ["name": .string(name)])
  }

  private func authors(_ store: TestStore, _ filter: [String] = []) throws -> [String] {
    var authors = [String]()
    var request = LogRequest(limit: 100)
    request.filter.authors = filter
    _ = try store.store.log(request) { authors.append($0.author) }
    return authors
  }

  @Test func answersShowTheNameAfterEachRename() throws {
    let store = try TestStore(try Fixtures.stickies())
    try insert(store, "a", as: Self.bob)
    let before = try store.store.head
    #expect(try authors(store) == ["bob"])
    #expect(store.store.hasCommitsOfAccounts)
    try insert(store, "b", as: Principal(id: "user:b0b", name: "robert"))
    for reopens in [false, true] {
      if reopens { try store.reopen() }
      #expect(try authors(store) == ["robert", "robert"])
      let commits = try store.store.commits(after: 0, through: nil, maximumChanges: 100)
      #expect(commits.map(\.author) == ["robert", "robert"])
      #expect(try store.store.follow(FollowRequest(since: before)).commits.map(\.author) == ["robert"])
      #expect(try store.store.revision(at: .max).author == "robert")
      // No fingerprint covers the name.
      #expect(try store.store.recognizes(before))
    }
  }

  @Test func erasedNameIsForgottenAndHistoryKeepsItsChain() throws {
    let store = try TestStore(try Fixtures.stickies())
    try insert(store, "a", as: Principal(id: "user:b0b", name: "Wilhelmina"))
    try insert(store, "b", as: "ann")
    let head = try store.store.head
    try store.store.forgetNames(of: ["user:b0b", "user:eve"])
    for reopens in [false, true] {
      if reopens { try store.reopen() }
      #expect(try authors(store) == ["ann", "user:b0b"])
      #expect(try store.store.head == head && store.store.hasCommitsOfAccounts)
    }
    #expect(try StoreCheckRun(store).findings.isEmpty)
    try insert(store, "c", as: "ann")
    #expect(try authors(store) == ["ann", "ann", "user:b0b"])
  }

  @Test func logFiltersByNameAndNotByID() throws {
    let store = try TestStore(try Fixtures.stickies())
    try insert(store, "a", as: Self.bob)
    // A principal without an account may have the same name.
    try insert(store, "b", as: "bob")
    try insert(store, "c", as: "ann")
    #expect(try authors(store, ["bob"]) == ["bob", "bob"])
    #expect(try authors(store, ["user:b0b"]) == [])
    #expect(try authors(store, ["ann", "bob"]).count == 3)
  }

  @Test func undoStacksBelongToPrincipals() throws {
    let store = try TestStore(try Fixtures.stickies())
    try insert(store, "a", as: Self.bob)
    try insert(store, "b", as: "bob")
    #expect(try store.store.undoState(of: "user:b0b", scope: nil).undo?.newest == 1)
    #expect(try store.store.undoState(of: "bob", scope: nil).undo?.newest == 2)
    store.account = Self.bob
    let refusal = try store.refused(store.undo(2))
    #expect(refusal.code == .notAllowed && refusal.message.contains("was made by bob"))
    // After a rename the stack is the same.
    store.account = Principal(id: "user:b0b", name: "robert")
    _ = try store.taken(store.undo())
    #expect(try authors(store) == ["robert", "bob", "robert"])
    let nothing = try store.refused(store.undo())
    #expect(nothing.code == .notFound && nothing.message.hasPrefix("robert has nothing to undo"))
    // The store does not know the name of an account without commits.
    store.account = Principal(id: "user:e5e", name: "eve")
    #expect(try store.refused(store.undo()).message.hasPrefix("eve has nothing to undo"))
  }

  @Test func conflictNamesTheOtherPrincipalByName() throws {
    let store = try TestStore(try Fixtures.stickies())
    let tag = try store.insert("Tag", ["name": .string("a")])
    store.account = Self.bob
    store.replica = UniqueID(high: 2, low: 2)
    _ = try store.commit([Change(.update, tag, base: 1, edits: [try store.edit("Tag.name", .string("b"))])])
    store.account = nil
    store.replica = UniqueID(high: 1, low: 1)
    let change = Change(.update, tag, base: 1, edits: [try store.edit("Tag.name", .string("c"))])
    let refusal = try store.refused(store.commit([change]))
    #expect(refusal.conflicts.map(\.author) == ["bob"])
    #expect(refusal.message.hasPrefix("bob has changed Tag.name"))
    // The outcome, which history keeps, has the id; a repeated transaction gets the name again.
    let transaction = Transaction(id: store.nextID(), policy: .objectTrump, changes: [change])
    for _ in 0..<2 {
      let result = try store.store.commit([.transaction(transaction, author: "ann")], now: 1)[0]
      guard case .committed(let committed) = result.outcome else {
        Issue.record("\(result.outcome)")
        return
      }
      #expect(committed.conflicts.map(\.author) == ["bob"])
    }
    let name = try store.property("Tag.name").number
    let origin = try store.store.origin(of: name, of: tag)
    #expect(origin.author == "ann" && origin.overwrittenValues.map(\.author) == ["bob"])
  }

  @Test func rolledBackNameIsRecordedAgain() throws {
    let store = try TestStore(try Fixtures.stickies())
    store.account = Self.bob
    // A batch that is refused after its first slice is rolled back.
    let rows = (0..<8).map { [Value.string($0 == 7 ? "t0" : "t\($0)")] }
    let name = try store.property("Tag.name").number
    _ = try store.batch("Tag", .insert([name], rows: rows.count), rows: rows)
    store.account = nil
    try insert(store, "after", as: Self.bob)
    try store.reopen()
    #expect(try authors(store, ["bob"]).first == "bob")
  }
}
