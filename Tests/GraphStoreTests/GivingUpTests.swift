import GraphModel
import GraphStore
import GraphTesting
import Testing

/// Fetches that nobody waits for any more: a thread that reads is one of a few.
@Suite struct GivingUpTests {
  @Test func aSearchThatFindsNothingForLongIsGivenUpInTheMiddle() throws {
    let (store, request) = try TestStore.withEndlessSearch()
    var asked = 0
    let ended = try store.store.answer(
      request,
      while: {
        asked += 1
        return true
      }, { _ in })
    #expect(ended.count == 0)
    try #require(asked > 3, "SQLite has too little to do for anybody to give it up")

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
    // The connection is as good as before.
    #expect(try store.store.answer(request) { _ in }.count == 0)
    #expect(try store.all("Person").count == 61)
  }
}
