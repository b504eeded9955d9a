import GRDB
import GraphModel
import GraphStoreTools
import GraphTesting
import Testing

@testable import GraphStore

/// Clocks that are wrong for a while. Revisions define the order; times are those of the clock.
@Suite struct ClockTests {
  private static let day: Timestamp = 86_400_000_000
  private let model: Model

  init() throws { model = try Fixtures.stickies() }

  /// A commit at a time.
  @discardableResult
  private func commit(_ store: TestStore, at time: Timestamp) throws -> Revision {
    // The store's own clock advances by a second with each commit.
    store.now = time - 1_000_000
    _ = try store.insert("Tag", ["name": .string("t\(try store.store.head.revision)")])
    return try store.store.head.revision
  }

  private func log(_ store: TestStore, _ request: LogRequest) throws -> [Revision] {
    var revisions = [Revision]()
    _ = try store.store.log(request) { revisions.append($0.revision) }
    return revisions
  }

  @Test func futureClockDoesNotShiftLaterTimes() throws {
    let store = try TestStore(model)
    let start = store.now
    try commit(store, at: start)
    try commit(store, at: start + 200 * Self.day)
    try commit(store, at: start + 5_000_000)
    let times = try store.store.commits(after: 0, through: nil, maximumChanges: 10).map(\.time)
    #expect(times == [start, start + 200 * Self.day, start + 5_000_000])
    #expect(try store.store.revision(at: start + 5_000_000).revision == 3)
    #expect(try store.store.revision(at: start + 4_999_999).revision == 1)
    #expect(try store.store.revision(at: start + 200 * Self.day).revision == 3)
    #expect(try store.store.revision(at: .max).revision == 3)
    try store.reopen()
    #expect(try store.store.revision(at: start + 5_000_000).revision == 3)
    try store.expectSound()
  }

  @Test func newestCommitInFutureIsHead() throws {
    let store = try TestStore(model)
    let start = store.now
    try commit(store, at: start)
    try commit(store, at: start + 200 * Self.day)
    #expect(try store.store.revision(at: .max).revision == 2)
    #expect(try store.store.revision(at: start + Self.day).revision == 1)
  }

  /// A search for a time finds the same commit as a look at every commit.
  @Test(arguments: UInt64(1)...8) func timeLookupToleratesSetbacks(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let store = try TestStore(model)
    var times = [Timestamp]()
    var time = store.now
    for _ in 0..<40 {
      time += random.chance(25) ? Int64.random(in: -20...20, using: &random) : Int64.random(in: 0...2, using: &random)
      try commit(store, at: time)
      times.append(time)
    }
    var first: Revision = 1
    for floor in [0, 7, 23] as [Revision] {
      if floor > 0 { try store.prune(through: floor) }
      first = floor + 1
      let kept = times.enumerated().map { (revision: Revision($0 + 1), time: $1) }.filter { $0.revision >= first }
      let moments = Set(times.flatMap { [$0 - 1, $0, $0 + 1] }).sorted()
      for moment in moments {
        let words = "seed \(seed), floor \(floor), \(moment)"
        if let expected = kept.last(where: { $0.time <= moment }) {
          let found = try store.store.revision(at: moment)
          #expect(found.revision == expected.revision && found.time == expected.time, "\(words)")
        }
        let until = moments.randomElement(using: &random) ?? moment
        let filter = HistoryFilter(since: moment, until: until)
        let expected = kept.filter { $0.time >= moment && $0.time < until }.map(\.revision)
        #expect(try log(store, LogRequest(limit: 100, filter: filter, oldestFirst: true)) == expected, "\(words)")
        let since = kept.filter { $0.time >= moment }.map(\.revision)
        #expect(
          try log(store, LogRequest(limit: 100, filter: HistoryFilter(since: moment), oldestFirst: true)) == since,
          "\(words)")
        let before = kept.filter { $0.time < moment }.map(\.revision)
        #expect(
          try log(store, LogRequest(limit: 100, filter: HistoryFilter(until: moment), oldestFirst: true)) == before,
          "\(words)")
      }
      try store.expectSound()
    }
  }

  @Test func idsIncreaseAfterSetback() throws {
    let store = try TestStore(model)
    let start = store.now
    store.now = start + 200 * Self.day
    let ahead = try store.insert("Tag", ["name": .string("ahead")])
    store.now = start
    let behind = try store.insert("Tag", ["name": .string("behind")])
    try store.reopen()
    let restarted = try store.insert("Tag", ["name": .string("restarted")])
    let restartedAgain = try store.insert("Tag", ["name": .string("restarted again")])
    #expect(ahead < behind && behind < restarted && restarted < restartedAgain)
  }

  @Test func clockRecordsAreVerified() throws {
    for damage in [
      "DELETE FROM _setback", "UPDATE _setback SET time = time + 1", "UPDATE _setback SET revision = 2",
      "INSERT INTO _setback VALUES (3, 1, 2)",
    ] {
      let store = try TestStore(model)
      let start = store.now
      for time in [start + Self.day, start, start + 1] { try commit(store, at: time) }
      try commit(store, at: start - Self.day)
      try store.store.close()
      try DatabaseQueue(path: store.directory.path + "/graph.sqlite").inDatabase { database in
        if damage.contains("= 2") { try database.execute(sql: "DELETE FROM _setback WHERE revision = 2") }
        try database.execute(sql: damage)
      }
      let findings = try StoreCheck.run(directory: store.directory.path, model: model)
      #expect(findings.contains { $0.kind == .history }, "\(damage)")
    }
  }

  // MARK: - Pruning

  @Test func commitFromFutureDoesNotBlockPruning() throws {
    let store = try TestStore(model)
    let start = store.now
    for time in [start, start + 1, start + 500 * Self.day, start + 2, start + 80 * Self.day, start + 100 * Self.day] {
      try commit(store, at: time)
    }
    let policy = HistoryPolicy(age: 90 * Self.day)
    // At 100 days the first four are older than 90; the time of the third does not matter.
    #expect(try store.store.pruning(policy, now: start + 100 * Self.day).floor == 4)
    #expect(try store.store.pruning(policy, now: start + 60 * Self.day).commits == 0)
    try store.prune(through: 4)
    try store.expectSound()
  }

  @Test func commitFromPastDoesNotPruneNewerOnes() throws {
    let store = try TestStore(model)
    let start = store.now
    for time in [start, start + 1, start - 10_000 * Self.day, start + 2] { try commit(store, at: time) }
    let policy = HistoryPolicy(age: 90 * Self.day)
    #expect(try store.store.pruning(policy, now: start + 3).commits == 0)
  }
}
