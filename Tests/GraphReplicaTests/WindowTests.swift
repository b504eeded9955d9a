import GraphModel
import GraphReplica
import GraphTesting
import GraphWire
import Testing

/// Windows in a context. Notes are named by the low half of their ids.
@Suite struct WindowTests {
  private static func window(_ query: UInt64, _ revision: Revision, _ changes: [Delta.Change], total: UInt64? = nil)
    -> ToClient.Body
  {
    var delta = Delta(
      query: query,
      commit: CommitRecord(
        revision: revision, time: 0, author: "bob", transaction: TransactionID(replica: .zero, sequence: 0),
        fingerprint: UInt64(revision) * 1_000, changes: []), changes: changes)
    delta.total = total
    return .delta(delta)
  }

  private static func rows(_ script: ReplicaTranscript, _ numbers: [UInt64], of total: UInt64, at revision: Revision)
    throws -> ToClient.Body
  {
    .chunk(
      Chunk(
        objects: try numbers.map { try script.image($0, 1) },
        end: (at: script.token(revision), count: UInt64(numbers.count)), total: total))
  }

  private static func moved(
    _ script: ReplicaTranscript, _ query: UInt64, _ numbers: [UInt64], new: [UInt64], at revision: Revision
  ) throws -> ToClient.Body {
    .windowMoved(
      WindowMoved(
        query: query, rows: numbers.map { script.id($0) }, objects: try new.map { try script.image($0, 1) }, total: 9,
        at: script.token(revision)))
  }

  private static func shown(_ script: ReplicaTranscript, _ query: QueryID) -> [UInt64] {
    script.context.window(of: query)?.objects.map(\.id.key.low) ?? []
  }

  /// Follows rows 1 to 3 of nine as query 1, the server's query 4, from a first result at revision 1.
  private static func following() throws -> (script: ReplicaTranscript, query: QueryID) {
    let script = try ReplicaTranscript()
    #expect(script.connect(head: 1) == ["welcomed"])
    let query = script.context.follow(entity: script.note, sort: [SortKey(try script.number("x"))], limit: 3)
    #expect(script.lines() == ["> follow"])
    #expect(script.receive(.subscribed(query: 4, resumed: false), 2) == [])
    #expect(script.receive(try rows(script, [1, 2, 3], of: 9, at: 1), 2) == [])
    #expect(
      script.receive(.advance(revision: 1, fingerprint: 1_000)) == ["window 1 shows [1, 2, 3] of 9 from 0 at 1"])
    return (script, query)
  }

  @Test func moveOvertakenByResetIsNotShown() throws {
    let (script, query) = try Self.following()
    script.context.moveWindow(of: query, offset: 2)
    #expect(script.lines() == ["> move 4 to 2+3"])
    // Until the answer arrives, nothing changes.
    _ = script.context.follow(entity: script.note)
    #expect(script.lines() == ["> follow"])
    #expect(script.receive(try Self.moved(script, 5, [3, 4, 5], new: [4, 5], at: 1), 3) == [])
    #expect(script.receive(.advance(revision: 1, fingerprint: 1_000)) == [])
    #expect(script.receive(.reset(query: 5, reason: "too much at once")) == [])
    #expect(script.receive(.subscribed(query: 5, resumed: false), 3) == [])
    #expect(script.receive(try Self.rows(script, [3, 5, 6], of: 8, at: 2), 3) == [])
    #expect(script.receive(.advance(revision: 2, fingerprint: 2_000)) == [])
    #expect(
      script.receive(.subscribed(query: 6, resumed: false), 4) == ["window 1 shows [3, 5, 6] of 8 from 2 at 2"])
    #expect(Self.shown(script, query) == [3, 5, 6])
    // It moves on from there.
    script.context.moveWindow(of: query, offset: 0)
    #expect(script.lines() == ["> move 5 to 0+3"])
  }

  @Test func windowHasOrderedRowsAndCount() throws {
    let (script, query) = try Self.following()
    let window = try #require(script.context.window(of: query))
    #expect(
      window.objects.map(\.id.key.low) == [1, 2, 3] && window.total == 9 && window.offset == 0 && window.limit == 3)
    #expect(script.changes.last?.windows[query]?.inserted == [0, 1, 2])
    #expect(script.changes.last?.windows[query]?.total == 9)
  }

  @Test func commitIsOneChangeWithRowPositions() throws {
    let (script, query) = try Self.following()
    let gone = Delta.Change(kind: .removed, id: script.id(3))
    let new = Delta.Change(kind: .inserted, id: script.id(7), object: try script.image(7, 2), place: 0)
    let countBefore = script.changes.count
    #expect(script.receive(Self.window(4, 2, [gone, new], total: 10)) == ["revision 2 changes [1]"])
    #expect(script.changes.count == countBefore + 1)
    #expect(Self.shown(script, query) == [7, 1, 2])
    let change = try #require(script.changes.last?.windows[query])
    #expect(change.removed == [2] && change.inserted == [0] && change.moved == [] && change.total == 10)

    let edit = Edit(try script.number("x"), .set(.double(5)))
    var move = script.update(7, [edit], previous: 2)
    move.place = 2
    #expect(script.receive(Self.window(4, 3, [move])) == ["revision 3 changes [1]"])
    #expect(Self.shown(script, query) == [1, 2, 7])
    let second = try #require(script.changes.last?.windows[query])
    #expect(second.moved.map { [$0.from, $0.to] } == [[0, 2]] && second.updated == [2] && second.total == nil)
    #expect(script.context.window(of: query)?.total == 10)

    // Another total alone is a change, too.
    #expect(script.receive(Self.window(4, 4, [], total: 11)) == ["revision 4 changes [1]"])
    #expect(script.changes.last?.windows[query]?.total == 11 && script.context.window(of: query)?.total == 11)
  }

  @Test func movedWindowShowsKeptAndNewRows() throws {
    let (script, query) = try Self.following()
    script.context.moveWindow(of: query, offset: 2)
    #expect(script.lines() == ["> move 4 to 2+3"])
    // Moves that are requested meanwhile wait, and only the last of them is sent.
    script.context.moveWindow(of: query, offset: 3)
    script.context.moveWindow(of: query, offset: 4)
    #expect(script.lines() == [])
    #expect(Self.shown(script, query) == [1, 2, 3])
    #expect(script.receive(try Self.moved(script, 5, [3, 4, 5], new: [4, 5], at: 1), 3) == [])
    #expect(
      script.receive(.advance(revision: 1, fingerprint: 1_000))
        == ["> move 5 to 4+3", "window 1 shows [3, 4, 5] of 9 from 2 at 1"])
    #expect(Self.shown(script, query) == [3, 4, 5])
    let change = try #require(script.changes.last?.windows[query])
    #expect(change.removed == [0, 1] && change.inserted == [1, 2] && change.total == nil)
    // Deltas of the old place count while the answer is in transit; a delta of the new one follows its answer.
    let gone = Delta.Change(kind: .removed, id: script.id(3), deleted: true)
    let next = Delta.Change(kind: .inserted, id: script.id(6), object: try script.image(6, 1), place: 2)
    #expect(script.receive(Self.window(5, 2, [gone, next], total: 8)) == ["revision 2 changes [1]"])
    #expect(script.receive(try Self.moved(script, 6, [6, 8], new: [8], at: 2), 4) == [])
    #expect(
      script.receive(.advance(revision: 2, fingerprint: 2_000)) == ["window 1 shows [6, 8] of 9 from 4 at 2"])
    #expect(script.receive(Self.window(6, 3, [], total: 7)) == ["revision 3 changes [1]"])
  }

  @Test func serverWithoutDifferencesSendsAllRows() throws {
    let (script, query) = try Self.following()
    script.context.moveWindow(of: query, offset: 5)
    #expect(script.lines() == ["> move 4 to 5+3"])
    #expect(script.receive(.subscribed(query: 5, resumed: false, known: true), 3) == [])
    #expect(script.receive(try Self.rows(script, [6, 7], of: 7, at: 2), 3) == [])
    #expect(
      script.receive(.advance(revision: 2, fingerprint: 2_000)) == ["window 1 shows [6, 7] of 7 from 5 at 2"])
    #expect(Self.shown(script, query) == [6, 7])
  }

  @Test func queriesOfOneRevisionAreShownTogether() throws {
    let (script, query) = try Self.following()
    let other = script.context.follow(entity: script.note)
    #expect(script.lines() == ["> follow"])
    #expect(script.receive(.subscribed(query: 9, resumed: false), 3) == [])
    #expect(script.receive(script.last([try script.image(1, 1)], at: 1), 3) == [])
    #expect(script.receive(.advance(revision: 1, fingerprint: 1_000)) == ["query 2 has 1 at 1"])
    let new = Delta.Change(kind: .inserted, id: script.id(7), object: try script.image(7, 2), place: 3)
    #expect(script.receive(Self.window(4, 2, [new], total: 10)) == [])
    let countBefore = script.changes.count
    let same = Delta.Change(kind: .inserted, id: script.id(7), object: try script.image(7, 2))
    #expect(script.receive(script.delta(9, 2, [same])) == [])
    #expect(Self.shown(script, query) == [1, 2, 3])
    #expect(script.receive(.advance(revision: 2, fingerprint: 2_000)) == ["revision 2 changes [1, 2]"])
    #expect(script.changes.count == countBefore + 1 && script.changes.last?.queries == [query, other])
    #expect(Self.shown(script, query) == [1, 2, 3, 7])
  }

  @Test func reconnectRestoresRequestedWindow() throws {
    let (script, query) = try Self.following()
    script.context.moveWindow(of: query, offset: 6)
    #expect(script.lines() == ["> move 4 to 6+3"])
    #expect(script.handle(.disconnected) == [])
    #expect(Self.shown(script, query) == [1, 2, 3])
    #expect(script.connect(head: 2) == ["welcomed", "> follow since 1"])
    #expect(script.receive(.subscribed(query: 2, resumed: false, known: true), 2) == [])
    #expect(script.receive(try Self.rows(script, [7, 3], of: 8, at: 2), 2) == [])
    #expect(
      script.receive(.advance(revision: 2, fingerprint: 2_000)) == ["window 1 shows [7, 3] of 8 from 6 at 2"])
    let change = try #require(script.changes.last?.windows[query])
    #expect(change.removed == [0, 1] && change.inserted == [0] && change.total == 8)
  }

  @Test func queryEndedDuringMoveIsEndedUnderNewNumber() throws {
    let (script, query) = try Self.following()
    script.context.moveWindow(of: query, offset: 2)
    #expect(script.lines() == ["> move 4 to 2+3"])
    script.context.unfollow(query)
    #expect(script.lines() == ["> unfollow 4"])
    #expect(script.receive(try Self.moved(script, 5, [3], new: [], at: 1), 3) == ["> unfollow 5"])
  }
}
