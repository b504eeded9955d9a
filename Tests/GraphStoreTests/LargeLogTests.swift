import GraphModel
import GraphStore
import GraphTesting
import Testing

/// Logs and differences over commits of many objects read each commit a few times, not once for each of its objects.
@Suite struct LargeLogTests {
  private static let people = 5_000
  /// More changes than the last commits that are remembered may have.
  private static let updates: Int64 = 12

  private struct LogFixture {
    let store: TestStore
    let ids: [ObjectID]
    let count = StatementCounter()

    /// A commit that makes people, and others that change all of them: one of these is a batch's, in parts.
    init() throws {
      let count = count
      store = try TestStore(try Fixtures.company(), sliceObjects: 1_000) { options in
        options.hooks.willRunStatement = count.add
      }
      let people = try (0..<LargeLogTests.people).map { [store] in
        try store.insertion("Person", ["name": .string("n\($0)"), "age": .integer(0)])
      }
      ids = try store.must(people)
      for age in 1...updates {
        if age == 5 {
          let wish = Batch.Assignment(try store.property("Person.age").number, .value(.integer(age)))
          _ = try store.batch("Person", .update(.always, [wish]))
        } else {
          try store.must(ids.map { try store.update($0, "Person.age", .integer(age)) })
        }
      }
      _ = count.reset()
    }
  }

  /// One store for all; the undo is the last, because it commits.
  @Test func eachLargeCommitIsReadOnce() throws {
    let scene = try LogFixture()
    for read in [readLog, readLogWithoutChanges, readTooLargeLogs, abandonLog, readDifferences, undoStep] {
      _ = scene.count.reset()
      try read(scene)
    }
  }

  private func readLog(_ scene: LogFixture) throws {
    let (store, count) = (scene.store, scene.count)
    let all = try store.store.commits(after: 0, through: nil, maximumChanges: 1_000_000)
    _ = count.reset()
    let age = try store.property("Person.age")
    var reported = [CommitRecord]()
    _ = try store.store.log(LogRequest()) { reported.append($0) }
    #expect(reported.reversed() == all)
    // A few reads for each object in each page, and a few for each commit in each page.
    #expect(count.reset() < 15 * Self.people)
    reported = []
    _ = try store.store.log(LogRequest(oldestFirst: true, changes: 100)) { reported.append($0) }
    #expect(reported.map(\.revision) == all.map(\.revision))
    #expect(reported.map(\.changes) == all.map { Array($0.changes.prefix(100)) })
    #expect(count.reset() < 15 * 100)
    // Of the past, however much is newer.
    var early = [CommitRecord]()
    let request = LogRequest(
      limit: 2, through: 4, filter: HistoryFilter(entities: [try store.entity("Person").number]), changes: 3)
    _ = try store.store.log(request) { early.append($0) }
    #expect(early.map(\.revision) == [4, 3])
    #expect(early.map(\.more) == [Self.people - 3, Self.people - 3])
    #expect(early.flatMap(\.changes).map { $0.after?[age] } == [3, 3, 3, 2, 2, 2].map { .integer($0) })
    #expect(count.reset() < 300)
  }

  /// A log without changes reads no objects.
  private func readLogWithoutChanges(_ scene: LogFixture) throws {
    let (store, count) = (scene.store, scene.count)
    var reported = [CommitRecord]()
    _ = try store.store.log(LogRequest(changes: 0)) { reported.append($0) }
    #expect(reported.count == 1 + Int(Self.updates))
    #expect(reported.allSatisfy { $0.changes.isEmpty })
    #expect(reported.map { $0.summary?.count ?? $0.more } == reported.map { _ in Self.people })
    #expect(count.reset() < 50)
  }

  /// A log with too many changes is refused before its first entry.
  private func readTooLargeLogs(_ scene: LogFixture) throws {
    // The changes of the batch are not listed.
    let all = Int(Self.updates) * Self.people
    for oldestFirst in [false, true] {
      for (most, isReported) in [(all, true), (all - 1, false)] {
        var (reported, refused) = (0, Refusal?.none)
        do {
          _ = try scene.store.store.log(
            LogRequest(oldestFirst: oldestFirst), maximumChanges: most, while: { !isReported || reported == 0 },
            { reported += $0.changes.count })
        } catch let refusal as Refusal {
          refused = refusal
        } catch {
          // Cancelled after its first entry.
        }
        #expect((reported > 0) == isReported)
        #expect((refused?.code == .limit) == !isReported, "\(String(describing: refused))")
      }
    }
    // A few changes of each commit are within the limits.
    var reported = 0
    _ = try scene.store.store.log(
      LogRequest(changes: 2), maximumChanges: 24, while: { true }, { reported += $0.changes.count })
    #expect(reported == 24)
    #expect(throws: Refusal.self) {
      try scene.store.store.log(LogRequest(changes: 2), maximumChanges: 23, while: { true }, { _ in })
    }
  }

  /// A log whose reader has gone ends, and the connection continues to work.
  private func abandonLog(_ scene: LogFixture) throws {
    var (asked, reported) = (0, 0)
    #expect(throws: (any Error).self) {
      try scene.store.store.log(
        LogRequest(), maximumChanges: .max,
        while: {
          asked += 1
          return asked < 3
        }, { _ in reported += 1 })
    }
    #expect(asked == 3)
    #expect(reported < 1 + Int(Self.updates))
    // The connection continues to work.
    var newest = [Revision]()
    _ = try scene.store.store.log(LogRequest(limit: 1)) { newest.append($0.revision) }
    #expect(newest == [1 + Self.updates])
  }

  private func readDifferences(_ scene: LogFixture) throws {
    let (store, count) = (scene.store, scene.count)
    let age = try store.property("Person.age")
    var ages = Set<[Value]>()
    var ids = Set<ObjectID>()
    _ = try store.store.differences(DifferenceRequest(from: 2, to: 9)) { difference in
      ids.insert(difference.object.id)
      ages.insert([difference.object[age], difference.properties.first { $0.number == age.number }?.was ?? .null])
    }
    #expect(ids == Set(scene.ids))
    #expect(ages == [[.integer(8), .integer(1)]])
    #expect(count.reset() < 10 * Self.people)
  }

  private func undoStep(_ scene: LogFixture) throws {
    let store = scene.store
    store.author = "bob"
    for name in ["one", "two", "three"] {
      try store.must(scene.ids.map { try store.update($0, "Person.name", .string(name + " \($0)")) })
    }
    store.author = "ann"
    let result = try store.undo()
    #expect(try store.taken(result).conflicts.isEmpty)
    let image = try #require(try store.image(scene.ids[7]))
    #expect(image[try store.property("Person.age")] == .integer(Self.updates - 1))
    #expect(image[try store.property("Person.name")] == .string("three \(scene.ids[7])"))
  }
}
