import GraphHub
import GraphModel
import GraphWire

extension Bench {
  private static let orderCounts = [1_000, 100_000, 1_000_000]
  private static let windowCount: UInt64 = 100
  private static let windowRows: UInt64 = 20
  private static let windowCommits = 2_000

  /// Measures a hundred windows of one order, in a hub without a store and sockets: a commit, a move of a window, and
  /// the memory per row.
  func measureWindows() throws {
    var (commits, moves, memory) = ([Double](), [Double](), [Double]())
    for count in Self.orderCounts {
      let before = ProcessFigures.value(of: "VmRSS", in: "/proc/self/status")
      var served = try WindowedHub(rows: count)
      try served.open(windows: Self.windowCount, rows: Self.windowRows)
      // An order reuses memory that a smaller one released before, so the figure can only become lower.
      memory.append((ProcessFigures.value(of: "VmRSS", in: "/proc/self/status") - before) * 1_024 / Double(count))
      commits.append(median(try (0..<Self.windowCommits).map { number in try served.commit(number) }) * 1e6)
      moves.append(median(try (0..<Self.windowCommits).map { number in try served.move(number) }) * 1e6)
    }
    // The logarithm of 1,000,000 is twice that of 1,000.
    Figure(
      name: "a commit beside 100 windows: 1,000,000 rows beside 1,000", unit: "µs", ours: commits.last ?? .nan,
      limit: 2 * (commits.first ?? .nan), aim: .atMost(1)
    ).report()
    let columns = Self.orderCounts.map { Figure.text(Double($0)) }.joined(separator: " | ")
    say("\n| an order of so many rows, 100 windows | \(columns) |\n|" + String(repeating: " --- |", count: 4))
    for (name, values) in [
      ("a commit that moves a row, µs", commits), ("moving a window, µs", moves), ("bytes of memory a row", memory),
    ] {
      say("| \(name) | \(values.map(Figure.text).joined(separator: " | ")) |")
    }
  }
}

/// A hub with simulated store and clients: answers the hub's requests, and reads all that it sends.
private struct WindowedHub {
  private static let store = UniqueID(high: 7, low: 7)
  /// One session with several windows, at different parts of one order.
  private static let session: SessionID = 1

  private let model: Model
  private var hub: Hub
  private let person: Entity
  private let score: Property
  private var rows: [ObjectImage]
  private var revision: Revision = 1
  private var request: UInt64 = 0
  private var actions = [HubAction]()
  private var windows = [UInt64]()

  init(rows count: Int) throws {
    model = try Model(parsing: Staff.source.utf8)
    guard let person = model.entity(named: "Person"), let score = person.property(named: "score") else {
      throw BenchmarkError(description: "there are no people")
    }
    (self.person, self.score) = (person, score)
    rows = (0..<count).map { number in
      var image = ObjectImage(
        id: ObjectID(key: UniqueID(high: 1, low: UInt64(number)), entity: person.number), revision: 1,
        values: Array(repeating: .null, count: person.slotCount))
      for (name, value) in Staff.values(ofPerson: number, teams: max(1, count / 20)) {
        if let property = person.property(named: name) { image[property] = value }
      }
      image[score] = .double(Double(number * 104_729 % 1_000_003))
      return image
    }
    var limits = HubLimits()
    // One order of a million people exceeds the daemon's limit for all orders.
    limits.orderBytes = 4 << 30
    limits.queriesPerSession = 1_000
    hub = Hub(model: model, head: Token(store: Self.store, revision: 1, fingerprint: 1), limits: limits)
    try handle(.opened(Self.session))
    try say(.hello(Hello(model: nil, replica: UniqueID(high: 1, low: 1), author: "bench")))
  }

  /// Subscribes to windows throughout the order, in its middle and at its ends.
  mutating func open(windows count: UInt64, rows limit: UInt64) throws {
    for number in 0..<count {
      let offset = number * UInt64(rows.count) / count
      try say(
        .subscribe(
          Subscribe(entity: person.number, window: .init(sort: "score,name", offset: offset, limit: limit))))
    }
    guard windows.count == Int(count) else {
      throw BenchmarkError(description: "the hub made \(windows.count) windows of \(count)")
    }
  }

  /// Commits a change that moves one object. Returns the seconds of the hub's work, including reading its messages.
  mutating func commit(_ number: Int) throws -> Double {
    let index = number * 7_919 % rows.count
    let before = rows[index]
    revision += 1
    let value = Value.double(Double((number + 7) * 611_953 % 1_000_003))
    (rows[index].revision, rows[index][score]) = (revision, value)
    let record = CommitRecord(
      revision: revision, time: revision, author: "somebody", transaction: TransactionID(replica: .zero, sequence: 0),
      fingerprint: UInt64(revision),
      changes: [
        ObjectChange(
          kind: .updated, id: before.id, before: before, after: rows[index], edits: [Edit(score.number, .set(value))])
      ])
    let outcome = Outcome.committed(
      CommitResult(revision: revision, fingerprint: UInt64(revision), identities: [], conflicts: []))
    // No client waits for the reply.
    let event = HubEvent.committed([(StoreRequestID(.max), WriteResult(outcome: outcome, record: record))])
    return try timed { try handle(event) }
  }

  /// Moves a window, by at least half of its rows.
  mutating func move(_ number: Int) throws -> Double {
    let place = number % windows.count
    let offset = UInt64(number * 7_919 % max(1, rows.count - 20))
    let query = windows.removeFirst()
    let before = windows.count
    let seconds = try timed { try say(.moveWindow(query: query, offset: offset, limit: 20)) }
    guard windows.count == before + 1 else { throw BenchmarkError(description: "window \(place) did not move") }
    return seconds
  }

  private mutating func say(_ body: ToServer.Body) throws {
    request += 1
    try handle(.received(ToServer(request, body), from: Self.session))
  }

  /// Performs all pending actions of the hub.
  private mutating func handle(_ event: HubEvent) throws {
    var events = [event]
    while !events.isEmpty {
      actions.removeAll(keepingCapacity: true)
      hub.handle(events.removeFirst(), into: &actions)
      for action in actions {
        switch action {
        case .send(let bytes, let id):
          try read(bytes)
          events.append(.drained(id, bytes: bytes.count))
        case .findReplica(_, let session): events.append(.foundReplica(.success(nil), session: session))
        case .broadcast(let bytes, let ids):
          for id in ids { events.append(.drained(id, bytes: bytes.count)) }
        case .collect(let ticket, let fetch, _, session: _):
          let sorted = SortOrder(fetch.sort, model: model).sortedWithKeys(rows)
          for start in stride(from: 0, to: sorted.count, by: 1_000) {
            events.append(.collected(ticket, Array(sorted[start..<min(start + 1_000, sorted.count)])))
          }
          let head = Token(store: Self.store, revision: revision, fingerprint: UInt64(revision))
          events.append(.collectFinished(ticket, .success(head)))
        default: break
        }
      }
    }
  }

  /// Reads the numbers of windows and skips everything else.
  private mutating func read(_ bytes: [UInt8]) throws {
    var decoder = FrameDecoder()
    decoder.append(bytes)
    while let body = try decoder.next() {
      let kind = body.withUnsafeBytes { WireClient.field($0) }
      guard [WireClient.Kind.subscribed, .windowMoved, .refused].contains(where: { $0.rawValue == kind }) else {
        continue
      }
      var reader = BinaryReader(body)
      switch try ToClient(from: &reader).body {
      case .subscribed(let query, _, _): windows.append(query)
      case .windowMoved(let moved): windows.append(moved.query)
      case .refused(let refusal): throw BenchmarkError(description: "refused: \(refusal.message)")
      default: break
      }
    }
  }
}
