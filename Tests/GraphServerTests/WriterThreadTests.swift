import Foundation
import GraphHub
import GraphModel
import GraphStore
import GraphTesting
import Synchronization
import Testing

@testable import GraphServer

/// The writer's thread prepares groups of commits, the finishing thread answers them.
@Suite struct WriterThreadTests {
  private func open(_ directory: TemporaryDirectory) throws -> TestStore {
    try TestStore(try Fixtures.company(), directory: directory) { options in
      options.commitLog = SQLiteStore.localLog(in: directory.path)
    }
  }

  private func insert(_ name: String, _ store: TestStore) throws -> WriteRequest {
    let change = try store.insertion("Person", ["name": .string(name)])
    return .transaction(Transaction(id: store.nextID(), policy: .error, changes: [change]), author: "ann")
  }

  /// Collects the results of a writer.
  private final class Answers: Sendable {
    private let events = Mutex([HubEvent]())

    func add(_ event: HubEvent) { events.withLock { $0.append(event) } }

    var committed: [(ticket: StoreRequestID, revision: Revision?)] {
      events.withLock { $0 }.flatMap { event -> [(ticket: StoreRequestID, revision: Revision?)] in
        if case .committed(let results) = event { results.map { ($0.ticket, $0.result.record?.revision) } } else { [] }
      }
    }

    var failed: [StoreRequestID] {
      events.withLock { $0 }.flatMap { event -> [StoreRequestID] in
        if case .commitFailed(let tickets, _) = event { tickets } else { [] }
      }
    }
  }

  /// Every request has one answer, in its order, and everything is answered when `stop` returns.
  @Test func requestsAreAnsweredInOrder() throws {
    let directory = try TemporaryDirectory()
    let store = try open(directory)
    let writer = WriterThread(store: store.store) { 1 }
    let answers = Answers()
    try writer.start { answers.add($0) }
    var fastPath = SingleClientFastPath()
    var tickets = [StoreRequestID]()
    for turn in 0..<100 {
      let requests = try (0..<(1 + turn % 4)).map { place in
        (StoreRequestID(UInt64(turn * 4 + place)), try insert("\(turn) \(place)", store))
      }
      tickets += requests.map(\.0)
      #expect(writer.write(requests, isFree: false, &fastPath) == nil, "other results are awaited")
    }
    writer.stop()
    let committed = answers.committed
    #expect(committed.map(\.ticket) == tickets)
    #expect(committed.map(\.revision) == committed.indices.map { Revision($0 + 1) })
    #expect(answers.failed.isEmpty)
    #expect(try store.store.head.revision == Revision(committed.count))
  }

  /// A store that was moved away refuses commits, and accepts them when it is back.
  @Test func failuresAreAnswers() throws {
    let folder = try TemporaryDirectory()
    let directory = folder.path + "/store"
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    var options = SQLiteStore.Options()
    options.commitLog = SQLiteStore.localLog(in: directory)
    // The names are compared before each commit.
    let time = Mutex<Int64>(0)
    options.monotonicNanoseconds = {
      time.withLock { time in
        time += 1_000_000_000
        return time
      }
    }
    let model = try Fixtures.company()
    let store = try SQLiteStore(directory: directory, model: model, options: options)
    let requests = try TestStore(model)
    let writer = WriterThread(store: store) { 1 }
    let answers = Answers()
    let isAnswered = DispatchSemaphore(value: 0)
    try writer.start { event in
      answers.add(event)
      isAnswered.signal()
    }
    var fastPath = SingleClientFastPath()
    try FileManager.default.moveItem(atPath: directory, toPath: folder.path + "/away")
    _ = writer.write([(StoreRequestID(1), try insert("lost", requests))], isFree: false, &fastPath)
    #expect(isAnswered.wait(timeout: .now() + 60) == .success)
    try FileManager.default.moveItem(atPath: folder.path + "/away", toPath: directory)
    _ = writer.write([(StoreRequestID(2), try insert("kept", requests))], isFree: false, &fastPath)
    writer.stop()
    #expect(answers.failed == [StoreRequestID(1)])
    #expect(answers.committed.map(\.ticket) == [StoreRequestID(2)])
    try store.close()
  }
}
