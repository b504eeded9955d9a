import GraphModel
import GraphStore
import GraphTesting
import Synchronization
import Testing

/// Fetches whose client no longer waits; they must free their threads.
@Suite struct FetchCancellationTests {
  @Test func fruitlessSearchIsInterrupted() throws {
    let (store, request) = try TestStore.withEndlessSearch()
    var asked = 0
    let ended = try store.store.answer(
      request,
      while: {
        asked += 1
        return true
      }, { _ in })
    #expect(ended.count == 0)
    try #require(asked > 3, "the fetch is too short to be cancelled")

    asked = 0
    #expect(throws: (any Error).self) {
      try store.store.answer(
        request,
        while: {
          asked += 1
          return asked < 3
        }, { part in Issue.record("there is no such person: \(part)") })
    }
    #expect(asked == 3)
    // The connection continues to work.
    #expect(try store.store.answer(request) { _ in }.count == 0)
    #expect(try store.all("Person").count == 61)
  }

  /// A batch selects its objects on the writer's thread, so other commits wait for it.
  @Test func selectionOfBatchIsInterrupted() throws {
    let (store, search) = try TestStore.withEndlessSearch()
    try expectInterruption(of: search.predicate, in: store)
  }

  /// Nested so deep, a predicate is evaluated in memory.
  @Test func selectionOfBatchInMemoryIsInterrupted() throws {
    let store = try TestStore(try Fixtures.company())
    _ = try store.insert("Person", ["name": .string("n"), "bio": .string(String(repeating: "a", count: 300_000))])
    let text = (0..<12).reduce("bio MATCHES \".*a.{12}x\"") { inner, _ in "NOT (\(inner) AND name != \"x\")" }
    let predicate = try GraphPredicate(parsing: text, entity: try store.entity("Person"), model: store.model)
    try expectInterruption(of: predicate, in: store)
  }

  private func expectInterruption(of predicate: GraphPredicate, in store: TestStore) throws {
    let asked = Mutex(0)
    var job = BatchJob(
      Batch(
        id: store.nextID(), policy: .error, entity: try store.entity("Person").number, operation: .delete(predicate)),
      author: "ann")
    job.selectionRefusal = { _ in
      asked.withLock { asked in
        asked += 1
        return asked < 3 ? nil : Refusal(.limit, "the time is over")
      }
    }
    let (head, count) = (try store.store.head, try store.all("Person").count)
    guard case .refused(let refusal) = try store.store.commit([.batch(job)], now: store.now)[0].outcome else {
      Issue.record("an interrupted batch was committed")
      return
    }
    #expect(refusal == Refusal(.limit, "the time is over"))
    #expect(asked.withLock { $0 } == 3)
    #expect(try store.store.head == head)
    // The writer continues.
    _ = try store.insert("Person", ["name": .string("another")])
    #expect(try store.all("Person").count == count + 1)
  }

  /// The maximum number of arguments of `concat`.
  private static let copies = Array(repeating: "bio", count: 20).joined(separator: ", ")

  /// One row with a long text: SQLite has a single instruction to run, and memory one object to judge.
  @Test(arguments: [
    "bio LIKE \"*a*b*c*d*e*aaaaaaaaaaaaaaaaaaaaaaaaab\"", "bio MATCHES \".*a.{12}x\"",
    "bio CONTAINS \"aaaaaaaaaaaaaaaaaaaaaaab\"", "bio CONTAINS[cd] \"aaaaaaaaaaaaaaaaaaaaaaab\"",
    "lowercase(bio) CONTAINS[d] \"aaaaaaaaaaaaaaaaaaaaaaab\"",
    "trimmed(trimmed(trimmed(trimmed(concat(\(Self.copies)))))) == \"q\"",
  ])
  func functionOverLongTextIsInterrupted(condition: String) throws {
    let store = try TestStore(try Fixtures.company())
    // Half of the text is not ASCII, so that folding visits its scalars.
    let text = String(repeating: "a", count: 200_000) + String(repeating: "é", count: 100_000)
    _ = try store.insert("Person", ["name": .string("n"), "bio": .string(text)])
    let person = try store.entity("Person")
    // Alone, and nested so deep that the predicate is evaluated in memory.
    let deep = (0..<12).reduce(condition) { inner, _ in "NOT (\(inner) AND name != \"x\")" }
    for condition in [condition, deep] {
      let predicate = try GraphPredicate(parsing: condition, entity: person, model: store.model)
      let request = FetchRequest(entity: person.number, predicate: predicate)
      var asked = 0
      let whole = try store.store.answer(
        request,
        while: {
          asked += 1
          return true
        }, { _ in })
      #expect(whole.count == 0)
      try #require(asked > 3, "\(condition) asks too seldom")
      asked = 0
      #expect(throws: (any Error).self) {
        try store.store.answer(
          request,
          while: {
            asked += 1
            return asked < 3
          }, { part in Issue.record("what was interrupted has no answer: \(part)") })
      }
      // After the first refusal it is not called again.
      #expect(asked == 3)
      #expect(try store.store.answer(request) { _ in }.count == 0)
    }
  }

  /// Memory evaluates so many conditions, and prepares all of them before the first object.
  @Test func preparationOfManyPatternsIsInterrupted() throws {
    let store = try TestStore(try Fixtures.company())
    let person = try store.entity("Person")
    let condition = (0..<1_100).map { "bio MATCHES \"a\($0)\"" }.joined(separator: " OR ")
    let predicate = try GraphPredicate(parsing: condition, entity: person, model: store.model)
    let request = FetchRequest(entity: person.number, predicate: predicate)
    var asked = 0
    #expect(throws: (any Error).self) {
      try store.store.answer(
        request,
        while: {
          asked += 1
          return asked < 100
        }, { part in Issue.record("there is no person: \(part)") })
    }
    #expect(asked == 100)
    #expect(try store.store.answer(request) { _ in }.count == 0)
  }
}
