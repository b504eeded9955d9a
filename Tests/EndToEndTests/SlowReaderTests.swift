import Foundation
import GraphModel
import GraphWire
import Testing

/// A client that follows a query and then reads nothing, while others write as fast as they can: its cost to the daemon
/// stays within docs/protocol.md, and it has the same objects as the others when it reads again.
///
/// `SLOW_READER_SECONDS` is the duration, `SLOW_READER_COMMITS` the least number of commits a second;
/// scripts/soak-slow-reader sets both.
@Suite struct SlowReaderTests {
  private static let seconds = number("SLOW_READER_SECONDS") ?? 5
  private static let leastCommitsPerSecond = number("SLOW_READER_COMMITS") ?? 0
  /// With fewer bytes for the other clients the test would prove nothing: this is several times the slow client's
  /// backlog limit.
  private static let leastVolume = 48 << 20

  private static let notes = 64
  private static let text = String(repeating: "x", count: 8_000)
  /// The backlog that one connection may have.
  private static let backlog = 4 << 20
  /// Memory that the allocator and SQLite's page caches may still take after a while of full use.
  private static let slack = 12 << 20
  /// The cost of one lagging client that is fed again: the backlog that all connections may have together.
  private static let totalBacklog = 64 << 20

  private static func number(_ name: String) -> Double? {
    ProcessInfo.processInfo.environment[name].flatMap { Double($0) }
  }

  @Test func stalledReaderUsesBoundedMemoryAndConverges() async throws {
    let scene = try await DaemonFixture()
    let board = try await scene.board()
    let writer = try await scene.client()
    let inserts = try (1...Self.notes).map {
      try scene.insertion([("text", .string(Self.text)), ("board", .object(board))], temporary: UInt64($0))
    }
    let ids = try await writer.commit(inserts).identities
    try #require(ids.count == Self.notes)
    let load = WriteLoad(writer: writer, notes: ids, property: try scene.property("x").number)
    let witness = try await scene.client()
    _ = try await witness.follow(scene.entity.number, wholeObjects: true)

    // Fills the ring of recent commits and every cache before the measurement, for the same time as the measurement.
    let warmUp = ContinuousClock.now
    while ContinuousClock.now - warmUp < .seconds(Self.seconds) || witness.bytesReceived < 48 << 20 {
      try await load.run(witness, scene.bystander)
    }
    let before = try scene.daemon.memory("VmRSS")
    let (toldBefore, commitsBefore) = (witness.bytesReceived, load.commits)

    let slow = try await scene.client()
    let request = try await slow.send(.subscribe(Subscribe(entity: scene.entity.number, wholeObjects: true)))
    guard case .subscribed(let query, _, _) = try await slow.reply(to: request) else { throw RawClient.ReadTimeout() }
    var view = ClientView(query: query, request: request)
    view.take(objects: try await slow.result(under: request).objects)

    let start = ContinuousClock.now
    while ContinuousClock.now - start < .seconds(Self.seconds)
      || witness.bytesReceived - toldBefore < Self.leastVolume
    {
      try await load.run(witness, scene.bystander)
    }
    let elapsed = (ContinuousClock.now - start) / .seconds(1)
    let reported = witness.bytesReceived - toldBefore
    let rate = Double(load.commits - commitsBefore) / elapsed
    let growth = try scene.daemon.memory("VmRSS") - before
    #expect(rate >= Self.leastCommitsPerSecond, "\(Int(rate)) commits a second")
    #expect(reported > 2 * (Self.backlog + Self.slack), "only \(reported) bytes were sent to the clients that read")
    #expect(growth < Self.backlog + Self.slack, "\(growth >> 10) KiB more, of \(reported >> 10) KiB sent to the others")

    // The slow client reads again, while no client writes.
    let (fresh, at) = try await witness.fetch(Fetch(entity: scene.entity.number))
    for message in slow.unasked { view.take(message) }
    slow.dropUnasked()
    while view.reached < at.revision {
      let message = try #require(try await slow.next(), "the daemon hung up on the slow reader")
      if view.take(message) { try await slow.send(.more(of: request)) }
    }
    #expect(view.objects == Dictionary(uniqueKeysWithValues: fresh.map { ($0.id, $0) }))
    let peak = try scene.daemon.memory("VmHWM") - before
    #expect(peak < Self.totalBacklog, "\(peak >> 10) KiB more while the slow reader caught up")
    print(
      "slow reader: \(Int(rate)) commits/s for \(Int(elapsed)) s, \(reported >> 20) MiB reported to the others, memory grew by "
        + "\(growth >> 10) KiB, by \(peak >> 10) KiB at most, \(view.resets) resets")
    try await scene.expectUndisturbed()
    try scene.end()
  }

  /// Commits many times at once, then waits until the readers have caught up.
  private final class WriteLoad {
    private let writer: RawClient
    private let notes: [ObjectID]
    private let property: PropertyNumber
    private(set) var commits = 0

    init(writer: RawClient, notes: [ObjectID], property: PropertyNumber) {
      self.writer = writer
      self.notes = notes
      self.property = property
    }

    func run(_ witness: RawClient, _ bystander: RawClient) async throws {
      var requests = [UInt64]()
      for note in notes {
        commits += 1
        let edit = Edit(property, .set(.double(Double(commits))))
        requests.append(
          try await writer.send(
            .commit(writer.transaction([Change(.update, note, base: .max, edits: [edit])]))))
      }
      for request in requests {
        guard try await writer.reply(to: request).revision != nil else { throw RawClient.ReadTimeout() }
      }
      // The answer follows all deltas so far.
      _ = try await witness.reply(to: witness.send(.ping))
      witness.dropUnasked()
      _ = try await bystander.reply(to: bystander.send(.ping))
    }
  }

  /// The result of a live query with complete objects at a client, resets included.
  private struct ClientView {
    let query: UInt64
    let request: UInt64
    private(set) var objects = [ObjectID: ObjectImage]()
    /// All changes up to this revision have arrived.
    private(set) var reached: Revision = 0
    private(set) var resets = 0
    private var incoming: [ObjectID: ObjectImage]?

    init(query: UInt64, request: UInt64) {
      self.query = query
      self.request = request
    }

    mutating func take(objects images: [ObjectImage]) {
      for image in images { objects[image.id] = image }
    }

    /// Whether another chunk must be requested.
    @discardableResult
    mutating func take(_ message: ToClient) -> Bool {
      switch message.body {
      case .delta(let delta) where delta.query == query && incoming == nil:
        for change in delta.changes {
          if let object = change.object, change.kind != .removed { objects[change.id] = object }
          if change.kind == .removed { objects[change.id] = nil }
        }
      case .advance(let revision, _): reached = revision
      case .reset:
        resets += 1
        incoming = [:]
      case .chunk(let chunk) where message.request == request:
        for image in chunk.objects { incoming?[image.id] = image }
        guard chunk.end != nil else { return true }
        objects = incoming ?? objects
        incoming = nil
      default: break
      }
      return false
    }
  }
}
