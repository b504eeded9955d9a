import GraphHub
import GraphModel
import GraphStore
import GraphTesting
import GraphWire
import Synchronization
import Testing

/// A live query on an object's own attributes is matched on the commit records alone: once its first result has been
/// read, no SQL runs for it. A hub and a real store, every statement of every connection counted.
@Suite struct StatementCountTests {
  private struct StatementTotals: Equatable {
    var byReaders = 0
    var byWriter = 0
  }

  /// Any thread that runs a statement counts.
  private final class Counter: Sendable {
    let count = Mutex(StatementTotals())

    func add(isReader: Bool) {
      count.withLock { if isReader { $0.byReaders += 1 } else { $0.byWriter += 1 } }
    }
  }

  /// Performs the hub's actions at once.
  private struct Server {
    var hub: Hub
    let store: SQLiteStore
    var request: UInt64 = 0
    var deltas = 0
    var outcomes = [Outcome]()

    mutating func send(_ body: ToServer.Body, _ session: SessionID) throws {
      request += 1
      try perform(.received(ToServer(request, body), from: session))
    }

    mutating func perform(_ event: HubEvent) throws {
      var events = [event]
      while !events.isEmpty {
        for action in hub.handle(events.removeFirst()) {
          switch action {
          case .commit(let ticket, let request):
            let result = try store.commit([request], now: 1)[0]
            outcomes.append(result.outcome)
            events.append(.committed([(ticket, result)]))
          case .read(let ticket, .objects(let fetch), _, _):
            let end = ReadCompletion(at: try store.fetch(fetch) { _ in }, lastFrame: [])
            events.append(.readFinished(ticket, .success(end)))
          case .collect(let ticket, let fetch, _, _):
            var images = [ObjectImage]()
            let at = try store.fetch(fetch) { images.append($0) }
            let order = SortOrder(fetch.sort, model: store.model)
            events.append(.collected(ticket, order.sortedWithKeys(images)))
            events.append(.collectFinished(ticket, .success(at)))
          case .history(let ticket, let after, let through):
            let records = try store.commits(after: after, through: through, maximumChanges: 1_000)
            events.append(.history(ticket, .success(records)))
          case .watch(let query, let number, let visibility):
            store.watch(query, number: number, seenBy: visibility)
          case .unwatch(let number): store.unwatch(number)
          case .findReplica(_, let session): events.append(.foundReplica(.success(nil), session: session))
          case .recognize(let ticket, let token):
            events.append(.recognized(ticket, try store.recognizes(token)))
          case .send(let bytes, let session):
            deltas += try Self.deltas(bytes)
            events.append(.drained(session, bytes: bytes.count))
          case .broadcast(let bytes, let sessions):
            deltas += try Self.deltas(bytes) * sessions.count
            for session in sessions { events.append(.drained(session, bytes: bytes.count)) }
          default: break
          }
        }
      }
    }

    private static func deltas(_ bytes: [UInt8]) throws -> Int {
      var decoder = FrameDecoder()
      decoder.append(bytes)
      var count = 0
      while let body = try decoder.next() {
        var reader = BinaryReader(body)
        if case .delta = try ToClient(from: &reader).body { count += 1 }
      }
      return count
    }
  }

  /// The values that a round of commits gives to each note.
  private enum Round {
    case edit([String: Value])
    case delete
    /// Another note is inserted on the same board.
    case insert
  }

  private static let moves = [
    Round.edit(["x": .double(100), "color": .string("blue")]), .edit(["x": .double(200), "color": .string("pink")]),
    .edit(["x": .double(300), "color": .string("blue")]), .delete,
  ]

  /// Commits about five notes, with so many live queries about; what they cost. By default they are moved, recolored
  /// and deleted.
  /// - Parameter tagged: whether the notes have a tag.
  private static func commits(
    queries: Int, of entity: String = "Note",
    predicates: (Int) -> [String] = { ["x > \($0)", "color == \"pink\" AND y < \($0)", "text CONTAINS \"\($0)\""] },
    window: (Int) -> Subscribe.Window? = { _ in nil }, rounds: [Round] = moves, tagged: Bool = false
  ) throws -> (reads: StatementTotals, writes: StatementTotals, deltas: Int) {
    let model = try Fixtures.stickies()
    let note = try #require(model.entity(named: "Note"))
    let board = try #require(model.entity(named: "Board"))
    func number(_ name: String, _ entity: Entity) throws -> PropertyNumber {
      try #require(entity.property(named: name)).number
    }
    let directory = try TemporaryDirectory()
    let counter = Counter()
    var options = SQLiteStore.Options()
    // Which changes hold their object whole is drawn by lot.
    options.keyframeInterval = 0
    options.hooks.willRunStatement = { counter.add(isReader: $0) }
    let store = try SQLiteStore(directory: directory.path, model: model, options: options)
    defer { try? store.close() }
    var server = Server(hub: Hub(model: model, head: try store.head), store: store)
    for session in [SessionID(1), 2] {
      try server.perform(.opened(session))
      try server.send(
        .hello(Hello(model: nil, replica: UniqueID(high: 1, low: session), author: "author \(session)")), session)
    }
    var sequence: UInt64 = 0
    func commit(_ changes: [Change]) throws -> [ObjectID] {
      sequence += 1
      let id = TransactionID(replica: UniqueID(high: 1, low: 2), sequence: sequence)
      try server.send(.commit(Transaction(id: id, changes: changes)), 2)
      guard case .committed(let committed)? = server.outcomes.last else {
        throw Refusal(.malformed, "commit \(sequence) was refused")
      }
      return committed.identities.map(\.permanent)
    }
    let owner = ObjectID.temporary(1, entity: board.number)
    let tag = try #require(model.entity(named: "Tag"))
    let mark = ObjectID.temporary(7, entity: tag.number)
    func noteInsert(_ temporary: UInt64, on board: ObjectID) throws -> Change {
      Change(
        .insert, .temporary(temporary, entity: note.number),
        edits: [Edit(try number("board", note), .set(.object(board)))])
    }
    var inserts = try (2...6).map { try noteInsert($0, on: owner) }
    if tagged {
      let tags = Edit(try number("tags", note), .set(.objects([mark])))
      for index in inserts.indices { inserts[index].edits.append(tags) }
      inserts.append(Change(.insert, mark, edits: [Edit(try number("name", tag), .set(.string("T")))]))
    }
    let name = Edit(try number("name", board), .set(.string("B")))
    let made = try commit([Change(.insert, owner, edits: [name])] + inserts)
    let notes = made[1...5]

    let beforeReads = counter.count.withLock { $0 }
    for query in 0..<queries {
      let predicates = predicates(query)
      let followed = try #require(model.entity(named: entity))
      try server.send(
        .subscribe(
          Subscribe(
            entity: followed.number, predicate: predicates[query % predicates.count], window: window(query))), 1)
    }
    let beforeCommits = counter.count.withLock { $0 }
    let deltasBefore = server.deltas
    for round in rounds {
      for id in notes {
        switch round {
        case .edit(let values):
          let edits = try values.sorted { $0.key < $1.key }.map { Edit(try number($0.key, note), .set($0.value)) }
          _ = try commit([Change(.update, id, base: .max, edits: edits)])
        case .delete: _ = try commit([Change(.delete, id, base: .max)])
        case .insert: _ = try commit([noteInsert(9, on: made[0])])
        }
      }
    }
    let after = counter.count.withLock { $0 }
    #expect(sequence == UInt64(1 + 5 * rounds.count))
    return (
      StatementTotals(
        byReaders: beforeCommits.byReaders - beforeReads.byReaders,
        byWriter: beforeCommits.byWriter - beforeReads.byWriter),
      StatementTotals(
        byReaders: after.byReaders - beforeCommits.byReaders, byWriter: after.byWriter - beforeCommits.byWriter),
      server.deltas - deltasBefore
    )
  }

  @Test func liveQueryRunsNoStatementAfterFirstResult() throws {
    let without = try Self.commits(queries: 0)
    let with = try Self.commits(queries: 50)
    // The first results are read, and the commits concern the queries.
    #expect(without.reads == StatementTotals() && with.reads.byReaders >= 50)
    #expect(without.deltas == 0 && with.deltas >= 20)
    #expect(without.writes.byWriter >= 20)
    #expect(with.writes.byReaders == 0, "a live query was read again")
    #expect(with.writes.byWriter == without.writes.byWriter, "a commit costs statements for live queries")
  }

  /// Fifty windows on one order: one read for all of them, and none for their later changes.
  @Test func windowsOfOneOrderCostOneStatement() throws {
    let without = try Self.commits(queries: 0)
    func window(_ query: Int) -> Subscribe.Window { .init(sort: "-x", offset: UInt64(query % 5), limit: 3) }
    let one = try Self.commits(queries: 1, predicates: { _ in ["x > 0 OR color == \"pink\""] }, window: window)
    let fifty = try Self.commits(queries: 50, predicates: { _ in ["x > 0 OR color == \"pink\""] }, window: window)
    #expect(one.reads.byReaders >= 1 && fifty.reads == one.reads, "\(one.reads) \(fifty.reads)")
    #expect(one.deltas > 0 && fifty.deltas > one.deltas)
    #expect(fifty.writes.byReaders == 0, "a window was read again")
    #expect(fifty.writes.byWriter == without.writes.byWriter, "a commit costs statements for windows")
  }

  /// Boards whose notes have certain texts, tags by their notes' numbers: the commits change other things.
  @Test func irrelevantCommitReadsNothingForPathQuery() throws {
    let without = try Self.commits(queries: 0)
    let tags = try Self.commits(queries: 50, of: "Tag") {
      ["ANY notes.text == \"\($0)\"", "notes.@max.number > \($0)"]
    }
    #expect(tags.reads.byReaders >= 50)
    #expect(tags.deltas == 0)
    #expect(tags.writes.byReaders == 0)
    #expect(tags.writes.byWriter == without.writes.byWriter, "\(tags.writes) \(without.writes)")
    let others = try Self.commits(queries: 50, of: "Tag") {
      [
        "SUBQUERY(notes, $n, $n.text == \"\($0)\" AND $n.number > 3).@count > 0", "notes.@sum.number == \(1_000 + $0)",
        "notes.@count > 0 AND ALL notes.text BEGINSWITH \"\($0)\"",
        "notes.@count > 0 AND NONE notes.text CONTAINS \"\"", "ANY notes.text SEARCH \"\($0)\"",
      ]
    }
    #expect(others.reads.byReaders >= 50 && others.deltas == 0)
    #expect(others.writes.byReaders == 0)
    #expect(others.writes.byWriter == without.writes.byWriter, "\(others.writes) \(without.writes)")
    let links = try Self.commits(queries: 50, of: "Link") { ["label == \"\($0)\" AND from.board.name == \"\($0)\""] }
    #expect(links.deltas == 0)
    // The objects that lead to an inserted or deleted note are in the same commit.
    #expect(links.writes.byReaders == 0)
    #expect(links.writes.byWriter == without.writes.byWriter, "\(links.writes) \(without.writes)")
    let comers = try Self.commits(queries: 0, rounds: [.insert, .insert])
    let awaited = try Self.commits(
      queries: 50, of: "Link", predicates: { ["from.board.name == \"\($0)\" AND to.x > 1000"] },
      rounds: [.insert, .insert])
    #expect(awaited.deltas == 0 && awaited.writes.byReaders == 0)
    #expect(awaited.writes.byWriter == comers.writes.byWriter, "\(awaited.writes) \(comers.writes)")
  }

  /// Notes have tags here. The commits change properties on the paths, but to values that no query compares.
  @Test func unmatchedValueCostsNoStatement() throws {
    let rounds = (1...3).map { Round.edit(["text": .string("round \($0)"), "x": .double(Double($0))]) }
    let without = try Self.commits(queries: 0, rounds: rounds, tagged: true)
    func with(_ entity: String, _ predicates: @escaping (Int) -> [String]) throws -> (
      writes: StatementTotals, deltas: Int
    ) {
      let counted = try Self.commits(queries: 50, of: entity, predicates: predicates, rounds: rounds, tagged: true)
      #expect(counted.writes.byReaders == 0)
      return (counted.writes, counted.deltas)
    }
    let tags = try with("Tag") { query in
      [
        "ANY notes.text == \"text \(query)\"", "ANY notes.x > \(1_000 + query)",
        "ANY notes.text IN {\"a \(query)\", \"b \(query)\"}", "ANY notes.x BETWEEN {\(-20 - query), -10}",
        "SUBQUERY(notes, $n, $n.text == \"text \(query)\").@count > 0",
      ]
    }
    #expect(tags.deltas == 0)
    #expect(tags.writes == without.writes, "\(tags.writes) \(without.writes)")
    let links = try with("Link") { query in
      ["from.text == \"text \(query)\"", "to.x > \(1_000 + query)", "from.text CONTAINS \"text \(query)\""]
    }
    #expect(links.deltas == 0)
    #expect(links.writes == without.writes, "\(links.writes) \(without.writes)")
    // A query that needs the count follows the path and receives the change.
    let awaited = try with("Tag") { _ in ["ANY notes.text == \"round 2\""] }
    #expect(awaited.deltas > 0)
    #expect(awaited.writes.byWriter > without.writes.byWriter)
  }

  /// Comparisons of every kind, words and calculations: the commit's record is all that is read for them.
  @Test func conditionsOnOwnAttributesCostNoStatement() throws {
    let rounds = (1...3).map { round in
      Round.edit([
        "text": .string("round \(round) of many"), "x": .double(Double(round)), "y": .double(Double(-round)),
        "color": .string(round == 2 ? "pink" : "blue"), "pinned": .bool(round == 1),
      ])
    }
    let without = try Self.commits(queries: 0, rounds: rounds)
    let predicates: [(Int) -> String] = [
      { "text SEARCH \"round \($0)\"" }, { _ in "text SEARCH \"man\"" }, { "text ==[cd] \"ROUND \($0) of many\"" },
      { "text BEGINSWITH \"round \($0)\"" }, { _ in "text ENDSWITH[c] \"MANY\"" }, { "text LIKE \"*\($0)*\"" },
      { "text MATCHES \"round [0-\($0 % 9)].*\"" }, { "length(text) > \($0)" }, { "x BETWEEN {0, \($0)}" },
      { "x + y == 0 AND x < \($0)" }, { "x IN {\($0), 2}" }, { "NOT (color == \"pink\") AND x != \($0)" },
      { "pinned == TRUE OR x > \($0)" }, { "board != NULL AND x > \($0)" }, { "origin == NULL AND y < \(-$0)" },
      { "oneOf(color, \"pink\", \"blue\") == \"pink\" AND x < \($0)" }, { "created < \"2030-01-01\" AND x > \($0)" },
    ]
    let with = try Self.commits(
      queries: 3 * predicates.count, predicates: { query in predicates.map { $0(query % 5) } }, rounds: rounds)
    #expect(with.reads.byReaders >= predicates.count)
    #expect(with.deltas >= 3 * predicates.count)
    #expect(with.writes.byReaders == 0, "a live query was read again")
    #expect(with.writes.byWriter == without.writes.byWriter, "\(with.writes) \(without.writes)")
  }
}
