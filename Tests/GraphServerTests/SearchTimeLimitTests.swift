import GraphHub
import GraphModel
import GraphStore
import GraphTesting
import GraphWire
import Synchronization
import Testing

@testable import GraphServer

/// How long a fetch may search without finding anything.
@Suite struct SearchTimeLimitTests {
  private static let start = ContinuousClock.now

  private static func second(_ seconds: Double) -> ContinuousClock.Instant { start + .seconds(seconds) }

  @Test func searchContinuesUpToItsLimit() {
    var time = SearchTimeLimit(.seconds(60), from: Self.start)
    func mayContinue(_ second: Double) -> Bool { time.mayContinue(at: Self.second(second)) }
    #expect(mayContinue(59))
    #expect(mayContinue(60))
    #expect(!time.isExceeded)
    #expect(!mayContinue(60.001))
    #expect(time.isExceeded)
    #expect(time.refusal.code == .limit)
    #expect(
      time.refusal.message
        == "the search found nothing for 60 s and was cancelled; narrow it, index the attributes that it compares, "
        + "or raise the server's --search-seconds")
  }

  @Test func everyResultRestartsTheLimit() {
    var time = SearchTimeLimit(.seconds(60), from: Self.start)
    func mayContinue(_ second: Double) -> Bool { time.mayContinue(at: Self.second(second)) }
    for second in stride(from: 60.0, through: 600, by: 60) {
      #expect(mayContinue(second))
      time.restart(at: Self.second(second))
    }
    #expect(mayContinue(660))
    #expect(!mayContinue(661))
    // A cancelled search stays cancelled.
    time.restart(at: Self.second(661))
    #expect(!mayContinue(661))
  }

  /// A reader's thread and a real store: sixty beside each of sixty, for each of sixty.
  @Test func readBeyondLimitIsRefused() throws {
    let (store, fetch) = try TestStore.withEndlessSearch()
    func result(within limit: Duration) throws -> Result<ReadCompletion, Refusal>? {
      let ended = ReadOutcome()
      let stream = ReadStream(directory: store.directory.path) { output in
        if case .finished(let result) = output { ended.result.withLock { $0 = result } }
      }
      StoreReadRunner(store: store.store, searchLimit: limit).run(.objects(fetch), 1, into: stream)
      return ended.result.withLock { $0 }
    }
    guard case .failure(let refusal)? = try result(within: .zero) else {
      Issue.record("a search without any time has an end")
      return
    }
    #expect(refusal.code == .limit)
    #expect(refusal.message.hasPrefix("the search found nothing for 0 s and was cancelled"))
    guard case .success(let end)? = try result(within: .seconds(3_600)) else {
      Issue.record("a search with time enough is not answered")
      return
    }
    #expect(end.at.revision == 2)
  }

  // MARK: - Batches

  private static func task(_ limit: Duration = .seconds(60)) -> BatchTask { BatchTask(searchLimit: limit) { _ in } }

  @Test func selectionOfBatchContinuesUpToTheSameLimit() {
    let task = Self.task()
    func refusal(_ second: Double, found: Int = 0) -> Refusal? {
      task.selectionRefusal(found: found, at: Self.second(second))
    }
    #expect(refusal(0) == nil)
    #expect(refusal(59) == nil)
    // Found objects do not restart it: other commits wait.
    #expect(refusal(60, found: 9) == nil)
    #expect(
      refusal(60.001)?.message
        == "the search found nothing for 60 s and was cancelled; narrow it, index the attributes that it compares, or "
        + "raise the server's --search-seconds")
    #expect(refusal(61)?.code == .limit)
    #expect(
      refusal(61, found: 9)?.message
        == "the search for the objects of the batch did not end within 60 s and was cancelled; narrow it, index the "
        + "attributes that it compares, or raise the server's --search-seconds")
  }

  @Test func disconnectedClientEndsSelection() {
    let task = Self.task()
    #expect(task.selectionRefusal(found: 0, at: Self.start) == nil)
    task.cancel()
    #expect(task.selectionRefusal(found: 0, at: Self.start)?.message == "the batch was cancelled")
  }

  @Test(arguments: [true, false]) func batchBeyondLimitIsRefused(isDelete: Bool) throws {
    let (store, search) = try TestStore.withEndlessSearch()
    let assignment = Batch.Assignment(try store.property("Person.salary").number, .value(.null))
    func outcome(within limit: Duration) throws -> GraphModel.Outcome {
      let operation: Batch.Operation = isDelete ? .delete(search.predicate) : .update(search.predicate, [assignment])
      let task = Self.task(limit)
      var job = BatchJob(
        Batch(id: store.nextID(), policy: .error, entity: search.entity, operation: operation), author: "ann")
      job.selectionRefusal = { task.selectionRefusal(found: $0, at: .now) }
      return try store.store.commit([.batch(job)], now: store.now)[0].outcome
    }
    guard case .refused(let refusal) = try outcome(within: .zero) else {
      Issue.record("a selection without any time has an end")
      return
    }
    #expect(refusal.message.hasPrefix("the search found nothing for 0 s and was cancelled"))
    guard case .committed = try outcome(within: .seconds(3_600)) else {
      Issue.record("a selection with enough time is refused")
      return
    }
    // The writer continues to work.
    #expect(try store.store.head.revision == 2)
    _ = try store.insert("Person", ["name": .string("another")])
  }

  /// Guarded by its mutex, though the read runs on this thread.
  private final class ReadOutcome: Sendable {
    let result = Mutex<Result<ReadCompletion, Refusal>?>(nil)
  }
}
