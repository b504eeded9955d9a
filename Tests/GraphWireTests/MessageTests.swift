import GraphModel
import GraphTesting
import GraphWire
import Testing

@Suite struct MessageTests {
  private static let id = ObjectID(key: UniqueID(high: 5, low: 6), entity: 2)
  private static let image = ObjectImage(id: id, revision: 9, values: [.string("a"), .null, .double(1.5)])
  private static let token = Token(store: UniqueID(high: 1, low: 2), revision: 3, fingerprint: 4)
  private static let edit = Edit(3, .splice([TextSplice(offset: 1, length: 2, insertion: "é")]))

  static let toServer: [ToServer] = [
    ToServer(
      1,
      .hello(Hello(model: ModelHash(bytes: Array(0..<16)), replica: id.key, author: "ann", program: "p", token: token))),
    ToServer(2, .model), ToServer(3, .fetch(Fetch(entity: 1, predicate: "x > 1", sort: "-x", limit: 5, offset: 6))),
    ToServer(
      4,
      .commit(
        Transaction(
          id: TransactionID(replica: id.key, sequence: 7), policy: .objectTrump,
          undo: UndoGroup(scope: id.key, group: 8, name: "Move"),
          changes: [
            Change(.insert, .temporary(1, entity: 2), edits: [Edit(1, .set(.bool(false)))]),
            Change(.update, id, base: 3, edits: [edit, Edit(4, .members(added: [id], removed: [id]))]),
            Change(.update, id, edits: [Edit(5, .place([id], after: id)), Edit(5, .place([id], after: nil))]),
            Change(.delete, id, base: 9, onlyIf: Precondition(revision: 9)),
            Change(.update, id, base: 9, onlyIf: Precondition(revision: 8, properties: [3, 4])),
          ]))),
    ToServer(5, .undo(UndoRequest(TransactionID(replica: id.key, sequence: 1), revision: 3))),
    ToServer(5, .undo(UndoRequest(TransactionID(replica: id.key, sequence: 1), scope: .zero, redo: true))),
    ToServer(6, .undoState(scope: id.key)), ToServer(7, .undoState(scope: nil)),
    ToServer(
      6, .subscribe(Subscribe(entity: 1, predicate: "TRUEPREDICATE", wholeObjects: true, replaces: 4, since: token))),
    ToServer(
      6, .subscribe(Subscribe(entity: 1, since: token, window: .init(sort: "-x", offset: 3, limit: 20)))),
    ToServer(6, .subscribe(Subscribe(entity: 1, window: .init(limit: 0)))),
    ToServer(7, .moveWindow(query: 3, offset: 0, limit: 20)),
    ToServer(7, .unsubscribe(query: 3)), ToServer(8, .more(of: 7)), ToServer(9, .cancel(of: 7)),
    ToServer(9, .log(after: 1, limit: 2, through: 3)),
    ToServer(10, .status), ToServer(23, .browserLogin(user: "ann")), ToServer(11, .ping),
    ToServer(12, .close(code: "c", message: "m")),
    ToServer(20, .revisionAt(-5)), ToServer(21, .fetch(Fetch(entity: 1, at: 0))),
    ToServer(22, .fetch(Fetch(entity: 1, at: 120))),
    ToServer(13, .presence([1, 2])),
    ToServer(
      14,
      .log(
        LogRequest(
          limit: 3, filter: HistoryFilter(authors: ["ann"], entities: [2], object: "a", since: 1, until: 2),
          oldestFirst: true))), ToServer(15, .why(id, 3)),
    ToServer(16, .restore(RestoreRequest(TransactionID(replica: id.key, sequence: 1), .contents(id)))),
    ToServer(17, .restore(RestoreRequest(TransactionID(replica: id.key, sequence: 1), .everything, at: 3))),
    ToServer(18, .changes(.follow(FollowRequest(since: token, limit: 4, waits: true)))),
    ToServer(19, .changes(.differences(DifferenceRequest(from: 0, to: 3, object: id, contents: true, entities: [2])))),
  ]

  static func toClient() throws -> [ToClient] {
    let model = try Fixtures.stickies()
    let record = CommitRecord(
      revision: 3, time: -5, author: "bob", transaction: TransactionID(replica: id.key, sequence: 1), fingerprint: 12,
      undo: UndoGroup(scope: .zero, group: 1, name: "n"), undoes: 2, redoes: 1,
      changes: [ObjectChange(kind: .updated, id: id, before: image, after: image, edits: [edit])])
    var status = ServerStatus()
    status.server = "s"
    status.counters = [.init(property: 1, next: 2)]
    let conflict = Conflict(
      kind: .changed, id: id, property: 1, mine: .null, theirs: .integer(-1), author: "x", revision: 2, mineWon: true)
    return [
      ToClient(
        1,
        .welcome(
          Welcome(
            model: model, head: token, session: 3, server: "s", resumed: true, maximumFrameSize: 9,
            heartbeatMilliseconds: 8, lastSequence: 7,
            principal: Principal(id: "user:1", name: "ann"), role: .reader))),
      ToClient(
        2,
        .refused(
          Refusal(
            .invalid, "m", conflicts: [conflict], violations: [Violation(id: id, property: 1, rule: "r", message: "m")])
        )),
      ToClient(3, .model(source: "{}", hash: model.hash)), ToClient(4, .chunk(Chunk(objects: [image]))),
      ToClient(4, .chunk(Chunk(objects: [], end: (token, 1)))),
      ToClient(
        5,
        .committed(
          CommitResult(
            revision: 1, fingerprint: 2, identities: [.init(temporary: .temporary(1, entity: 2), permanent: id)],
            conflicts: [conflict]), objects: [image], isComplete: true)),
      ToClient(6, .undoState(UndoState())),
      ToClient(6, .revisionAt(RevisionAtTime(revision: 2, time: -5, author: "bob", head: token))),
      ToClient(6, .undoState(UndoState(undo: UndoStep(group: nil, oldest: 3, newest: 3, count: 1)))),
      ToClient(6, .subscribed(query: 3, resumed: true)), ToClient(7, .unsubscribed(query: 3)),
      ToClient(
        0,
        .delta(
          Delta(
            query: 1, commit: record,
            changes: [
              Delta.Change(.inserted(image), wholeObjects: false),
              Delta.Change(.updated(image, edits: [edit], previous: 2), wholeObjects: true),
              Delta.Change(.removed(image, deleted: true), wholeObjects: false),
            ]))),
      ToClient(
        0,
        .delta(
          Delta(
            query: 1, commit: record,
            changes: [Delta.Change(kind: .inserted, id: image.id, object: image, place: 0)], total: 0))),
      ToClient(0, .delta(Delta(query: 1, commit: record, changes: [], total: 9))),
      ToClient(3, .chunk(Chunk(objects: [image], end: (at: token, count: 1), total: 0))),
      ToClient(4, .windowMoved(WindowMoved(query: 2, rows: [id, image.id], objects: [image], total: 7, at: token))),
      ToClient(0, .advance(revision: 3, fingerprint: 4)), ToClient(0, .reset(query: 1, reason: "r")),
      ToClient(8, .log([CommitEntry(record)], last: true)), ToClient(9, .status(status)), ToClient(10, .pong(token)),
      ToClient(8, .log([], last: true, damage: DamageNotice(objects: [id], commits: [2, 9]))),
      ToClient(4, .chunk(Chunk(objects: [], end: (token, 1), damage: DamageNotice(objects: [id, image.id])))),
      ToClient(0, .close(code: "c", message: "m")),
      ToClient(0, .presence(session: 1, author: "a", state: [1], left: true)),
      ToClient(
        9,
        .why(
          ValueOrigin(
            kind: .updated, value: .integer(1), revision: 3, author: "a", undoes: 2, deletion: 9,
            overwrittenValues: [.init(value: .integer(2), revision: 4, time: 5, author: "b")]))),
      ToClient(9, .followed([CommitEntry(record)], at: token, head: token)),
      ToClient(9, .followed([], at: token, head: token, damage: DamageNotice(objects: [id], commits: [3]))),
      ToClient(9, .differences([], last: true, damage: DamageNotice(objects: [id], commits: [2, 9]))),
      ToClient(
        9,
        .differences(
          [ObjectDifference(kind: .updated, object: image, properties: [.init(1, was: .string("z"))])], last: true)),
    ]
  }

  /// Its values lie behind damage; the change itself is known.
  @Test func changeWithoutValuesIsSentWithItsID() throws {
    let id = ObjectID(key: UniqueID(high: 1, low: 9), entity: 3)
    for kind in [ObjectChange.Kind.inserted, .updated, .deleted] {
      let record = CommitRecord(
        revision: 1, time: 0, author: "a", transaction: TransactionID(replica: id.key, sequence: 1), fingerprint: 2,
        changes: [ObjectChange(kind: kind, id: id, before: nil, after: nil)])
      let entry = CommitEntry(record)
      #expect(entry.changes.map(\.id) == [id])
      #expect(entry.changes.allSatisfy { $0.object == nil && $0.edits.isEmpty && $0.deleted == (kind == .deleted) })
      let log = ToClient(0, .log([entry], last: true))
      #expect(try ToClient(binary: log.binary) == log)
    }
  }

  @Test func everyMessageRoundTrips() throws {
    for message in Self.toServer { #expect(try ToServer(binary: message.binary) == message) }
    for message in try Self.toClient() { #expect(try ToClient(binary: message.binary) == message) }
  }

  @Test func truncatedMessageNeverTraps() throws {
    for bytes in Self.toServer.map(\.binary) {
      for length in 0..<bytes.count { _ = try? ToServer(binary: bytes[..<length]) }
    }
    for bytes in try Self.toClient().map(\.binary) {
      for length in 0..<bytes.count { _ = try? ToClient(binary: bytes[..<length]) }
    }
    #expect(throws: MalformedMessage.self) { try ToServer(binary: [UInt8]()) }
  }

  @Test func randomBytesNeverTrap() throws {
    let messages = try Self.toServer.map(\.binary) + Self.toClient().map(\.binary)
    var refused = 0
    for seed in UInt64(0)..<20_000 {
      var random = SeededGenerator(seed: seed)
      var bytes = random.pick(messages) ?? []
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        guard let index = bytes.indices.randomElement(using: &random) else { continue }
        bytes[index] = UInt8.random(in: 0...255, using: &random)
      }
      if (try? ToServer(binary: bytes)) == nil { refused += 1 }
      if (try? ToClient(binary: bytes)) == nil { refused += 1 }
    }
    #expect(refused > 10_000)
  }

  @Test func framesAreSplitAtAnyBoundary() throws {
    let stream = Self.toServer.flatMap { Frame.encode($0) }
    for size in [1, 2, 3, 7, 64, stream.count] {
      var decoder = FrameDecoder()
      var messages = [ToServer]()
      for start in stride(from: 0, to: stream.count, by: size) {
        decoder.append(stream[start..<min(start + size, stream.count)])
        while let bytes = try decoder.next() { messages.append(try ToServer(binary: bytes)) }
      }
      #expect(messages == Self.toServer)
      #expect(decoder.isAtBoundary)
    }
  }

  @Test func smallFramesAfterLargeOneAreSplit() throws {
    func frame(_ body: [UInt8]) -> [UInt8] {
      var frame = [0, 0, 0, 0] + body
      Frame.setLength(&frame)
      return frame
    }
    let bodies = [[1], [UInt8](repeating: 2, count: 3 << 20), [3, 3], [UInt8](repeating: 4, count: 2 << 20), [5]]
    let stream = bodies.flatMap(frame)
    for size in [1 << 16, 3 << 20, (3 << 20) + 9, stream.count] {
      var decoder = FrameDecoder()
      var found = [[UInt8]]()
      for start in stride(from: 0, to: stream.count, by: size) {
        decoder.append(stream[start..<min(start + size, stream.count)])
        while let body = try decoder.next() { found.append(Array(body)) }
      }
      #expect(found == bodies, "in parts of \(size)")
      #expect(decoder.isAtBoundary)
    }
  }

  @Test func frameLimitIsExact() throws {
    for (length, isLegal) in [(99, true), (100, true), (101, false)] {
      var decoder = FrameDecoder(maximumFrameSize: 100)
      decoder.append([0, 0, 0, UInt8(length)] + [UInt8](repeating: 1, count: length))
      if isLegal {
        #expect(try decoder.next()?.count == length)
      } else {
        #expect(throws: MalformedMessage.self) { try decoder.next() }
      }
    }
    var empty = FrameDecoder()
    empty.append([0, 0, 0, 0])
    #expect(throws: MalformedMessage.self) { try empty.next() }
  }

  @Test(arguments: [
    ("tcp://127.0.0.1:7417", true), ("tcp://[::1]:1", true), ("unix:///tmp/x", true), ("tcp://host", false),
    ("tcp://:1", false), ("tls://host:7417", true), ("tls://[::1]:1", true), ("tls://:1", false),
    ("tls://ann@host:1", false), ("tls://two words:1", false), ("tls://host:1/x", false),
    ("tls://" + String(repeating: "x", count: 254), false),
    ("tcp://h:99999", false), ("unix://relative", false), ("http://x:1", false), ("", false),
    ("unix:///" + String(repeating: "x", count: 106), true), ("unix:///" + String(repeating: "x", count: 107), false),
  ])
  func addressesAreValidatedCompletely(text: String, isLegal: Bool) throws {
    if isLegal {
      #expect(try ServerAddress(parsing: text).description == text)
    } else {
      #expect(throws: ServerAddress.ParseError.self) { try ServerAddress(parsing: text) }
    }
  }

  @Test(arguments: [
    ("tcp://127.0.0.1:7417/", "nothing may follow the port, not even a /"), ("unix:///", "the path is missing"),
    ("unix:///tmp/", "a path that ends with / is a directory; name a file in it"),
    ("TCP://127.0.0.1:7417", "tcp:// must be in lower case"), ("Unix:///tmp/s", "unix:// must be in lower case"),
    ("tcp://::1:7417", "an IPv6 address needs brackets"), ("tcp://h:+5", "a port is a number from 0 to 65535"),
    ("tcp://h:", "the port is missing; the default is 7417"),
    ("tcp://[::1]", "the port is missing; the default is 7417"),
    ("localhost:7417", "it begins with none of tcp://, tls:// and unix://"),
    ("Tls://host", "tls:// must be in lower case"), ("tls://::1", "an IPv6 address needs brackets"),
    ("tls://host:", "the port is missing; the default is 7417"),
  ])
  func malformedAddressReportsReason(text: String, reason: String) {
    do {
      let address = try ServerAddress(parsing: text)
      Issue.record("\(text) was read as \(address)")
    } catch {
      #expect(error.description == "\"\(text)\" is not an address: \(reason); write \(ServerAddress.forms)")
    }
  }

  @Test func portOfEncryptedAddressHasDefault() throws {
    #expect(try ServerAddress(parsing: "tls://host") == .tls(host: "host", port: 7417))
    #expect(try ServerAddress(parsing: "tls://[::1]") == .tls(host: "::1", port: 7417))
  }

  @Test(arguments: [
    ("unix:///s", true), ("tcp://127.0.0.1:1", true), ("tls://127.9.9.9:1", true), ("tcp://LocalHost:1", true),
    ("tls://[::1]:1", true), ("tcp://0.0.0.0:1", false), ("tcp://127.1:1", false), ("tls://127.0.0.1.evil:1", false),
    ("tcp://128.0.0.1:1", false), ("tcp://localhost.example:1", false), ("tls://[::]:1", false),
  ])
  func loopbackIsRecognized(text: String, isLoopback: Bool) throws {
    #expect(try ServerAddress(parsing: text).isLoopback == isLoopback)
  }
}
