import GraphHub
import GraphModel
import GraphStore
import GraphTesting
import GraphWire
import Synchronization
import Testing

@testable import GraphServer

/// A log of more changes than are taken back at once.
@Suite struct LargeLogTests {
  @Test(arguments: [UInt64(1), 3, 100])
  func aLogOfTooManyChangesIsReadObjectByObjectAndSaysTheSame(limit: UInt64) throws {
    let store = try TestStore(try Fixtures.company())
    let manager = try store.insert("Person", ["name": .string("Ann")])
    _ = try store.must(
      try (0..<20).map {
        try store.insertion("Person", ["name": .string("person \($0)"), "manager": .object(manager)])
      })
    let team = try store.all("Person", "manager != NULL")
    _ = try store.must(try team.map { try store.update($0.id, "Person.age", .integer(7)) })
    _ = try store.must(team.map { Change(.delete, $0.id, base: .max) })
    _ = try store.undo()
    _ = try store.must([try store.update(manager, "Person.name", .string("Eve"))])
    let reads = StoreReads(store: store.store, searchLimit: .seconds(60))
    let (all, head) = try log(reads, limit, store)
    #expect(all.contains { $0.count > 40 } && head == 6)
    for most in [0, 10, 30, 70] {
      var narrow = reads
      narrow.largestLog.changes = most
      #expect(try log(narrow, limit, store) == (all, head))
    }
    var narrow = reads
    narrow.largestLog.bytes = 1
    #expect(try log(narrow, limit, store) == (all, head))
  }

  /// The frames of a log, and the revision at which it was read.
  private func log(_ reads: StoreReads, _ limit: UInt64, _ store: TestStore) throws -> (
    frames: [[UInt8]], head: Revision
  ) {
    let heard = Heard()
    let stream = ReadStream(directory: store.directory.path) { output in
      heard.outputs.withLock { $0.append(output) }
    }
    reads.run(.log(LogRequest(limit: limit)), 1, into: stream)
    var (frames, head) = ([[UInt8]](), Revision?.none)
    for output in heard.outputs.withLock({ $0 }) {
      switch output {
      case .frame(let frame): frames.append(frame)
      case .finished(let result): head = try result.get().revision
      }
    }
    return (frames, try #require(head))
  }

  /// Guarded by its mutex, though the read runs on this thread.
  private final class Heard: Sendable {
    let outputs = Mutex<[ReadStream.Output]>([])
  }
}
