import GraphHub
import GraphModel
import GraphTesting
import GraphWire
import Testing

/// Windows of ordered queries, in the hub. Notes are named by the low half of their ids.
@Suite struct WindowTests {
  /// A note at x.
  private static func note(
    _ number: UInt64, x: Double, _ revision: Revision = 1, in script: HubTranscript
  ) throws -> ObjectImage {
    var image = try #require(try script.record(revision).changes.first?.after)
    image.id.key.low = number
    image[try #require(script.note.property(named: "x"))] = .double(x)
    return image
  }

  private static func commit(
    _ revision: Revision, _ changes: [(ObjectImage?, ObjectImage?)], in script: HubTranscript
  ) throws -> CommitRecord {
    var record = try script.record(revision)
    let x = try script.property("x")
    record.changes = changes.compactMap { before, after in
      guard let id = (after ?? before)?.id else { return nil }
      let kind: ObjectChange.Kind = before == nil ? .inserted : after == nil ? .deleted : .updated
      let value = (after ?? before)?[script.note.property(named: "x") ?? script.note.storedProperties[0]] ?? .null
      return ObjectChange(
        kind: kind, id: id, before: before, after: after, edits: kind == .updated ? [Edit(x, .set(value))] : [])
    }
    return record
  }

  private static func window(
    _ script: HubTranscript, offset: UInt64 = 0, limit: UInt64 = 2, since: Token? = nil
  ) -> ToServer.Body {
    .subscribe(
      Subscribe(
        entity: script.note.number, predicate: "color == \"yellow\"", since: since,
        window: .init(sort: "x", offset: offset, limit: limit)))
  }

  /// Session 1 follows the first two of the notes 1 to 5, at x = 10 to 50, all as of revision 1; session 2 commits.
  private static func following(limits: HubLimits = HubLimits()) throws -> HubTranscript {
    var script = try HubTranscript(head: 1, limits: limits)
    try script.open(1)
    try script.open(2)
    #expect(try script.send(window(script), 1) == ["collect #1 for 1", "1 < query 2"])
    #expect(
      try script.collected(1, (1...5).map { try note($0, x: 10 * Double($0), in: script) })
        == [])
    #expect(
      try script.handle(.collectFinished(StoreRequestID(1), .success(script.token(1))))
        == ["1 < rows [1, 2] of 5 at 1", "1 < advance 1"])
    return script
  }

  @Test func rowsOfWindowNameDamagedObjects() throws {
    var script = try HubTranscript(head: 1)
    try script.open(1)
    try script.open(2)
    #expect(try script.send(Self.window(script), 1) == ["collect #1 for 1", "1 < query 2"])
    #expect(try script.collected(1, [Self.note(2, x: 20, in: script)]) == [])
    let damage = DamageNotice(objects: [try Self.note(1, x: 10, in: script).id])
    #expect(
      try script.handle(.collectFinished(StoreRequestID(1), .success(script.token(1)), damage: damage))
        == ["1 < rows [2] of 1 at 1 without [1]", "1 < advance 1"])
    // The order is shared, and both windows report its damage.
    #expect(try script.send(Self.window(script), 2).contains("2 < rows [2] of 1 at 1 without [1]"))
  }

  @Test func windowReportsInsertsRemovalsShiftsAndTotal() throws {
    var script = try Self.following()
    let notes = try (1...5).map { try Self.note($0, x: 10 * Double($0), in: script) }
    // A note moves to the front: the last one leaves the window.
    _ = try script.save(2, sequence: 1)
    let sixth = try Self.note(6, x: 5, 2, in: script)
    #expect(
      try script.committed(2, Self.commit(2, [(nil, sixth)], in: script))
        == ["1 < delta 2 of 2: -2, +6 at 0, 6 in all", "2 < committed 2"])
    // A note is deleted: the next one enters the window.
    _ = try script.save(2, sequence: 2)
    #expect(
      try script.committed(3, Self.commit(3, [(sixth, nil)], in: script))
        == ["1 < delta 2 of 3: -6, +2 at 1, 5 in all", "2 < committed 3"])
    // The first moves behind the second, within the window.
    _ = try script.save(2, sequence: 3)
    let first = try Self.note(1, x: 25, 4, in: script)
    #expect(
      try script.committed(4, Self.commit(4, [(notes[0], first)], in: script))
        == ["1 < delta 2 of 4: ~1 at 1", "2 < committed 4"])
    // The note changes and keeps its position.
    _ = try script.save(2, sequence: 4)
    #expect(
      try script.committed(5, Self.commit(5, [(first, Self.note(1, x: 26, 5, in: script))], in: script))
        == ["1 < delta 2 of 5", "2 < committed 5"])
  }

  @Test func commitOutsideWindowChangesOnlyTotal() throws {
    var script = try Self.following()
    let fourth = try Self.note(4, x: 40, in: script)
    _ = try script.save(2, sequence: 1)
    let moved = try Self.note(4, x: 60, 2, in: script)
    #expect(try script.committed(2, Self.commit(2, [(fourth, moved)], in: script)) == ["2 < committed 2"])
    _ = try script.save(2, sequence: 2)
    #expect(
      try script.committed(3, Self.commit(3, [(moved, nil)], in: script))
        == ["1 < delta 2 of 3: 4 in all", "2 < committed 3"])
  }

  @Test func movedWindowReceivesOnlyNewRows() throws {
    var script = try Self.following()
    #expect(
      try script.send(.moveWindow(query: 2, offset: 1, limit: 3), 1)
        == ["1 < query 3 shows [2, 3, 4] of 5 at 1, new [3, 4]", "1 < advance 1"])
    #expect(try script.send(.moveWindow(query: 2, offset: 0, limit: 3), 1) == ["1 < refused: notFound"])
    #expect(try script.send(.moveWindow(query: 3, offset: 0, limit: 0), 1) == ["1 < refused: malformed"])
    #expect(try script.send(.moveWindow(query: 3, offset: 0, limit: 1_001), 1) == ["1 < refused: limit"])
    _ = try script.save(2, sequence: 1)
    #expect(
      try script.committed(2, Self.commit(2, [(nil, Self.note(6, x: 5, 2, in: script))], in: script))
        == ["1 < delta 3 of 2: -4, +1 at 0, 6 in all", "2 < committed 2"])
  }

  @Test func orderIsReadOnceAndEqualWindowsAreShared() throws {
    var script = try Self.following()
    // The order exists: nothing is read.
    #expect(
      try script.send(Self.window(script), 2) == ["2 < query 2", "2 < rows [1, 2] of 5 at 1", "2 < advance 1"])
    #expect(
      try script.send(Self.window(script, offset: 4), 2)
        == ["2 < query 3", "2 < rows [5] of 5 at 1", "2 < advance 1"])
    // A session that returns after all others have left finds the order still in memory.
    _ = try script.handle(.closed(1))
    _ = try script.handle(.closed(2))
    #expect(script.hub.counts == (sessions: 0, registrations: 0))
    try script.open(3)
    #expect(
      try script.send(Self.window(script, limit: 1), 3) == ["3 < query 4", "3 < rows [1] of 5 at 1", "3 < advance 1"])
  }

  @Test func commitMissedByReadIsApplied() throws {
    var script = try HubTranscript(head: 1)
    try script.open(1)
    try script.open(2)
    #expect(try script.send(Self.window(script), 1) == ["collect #1 for 1", "1 < query 2"])
    let notes = try (1...3).map { try Self.note($0, x: 10 * Double($0), in: script) }
    #expect(try script.collected(1, notes) == [])
    _ = try script.save(2, sequence: 1)
    #expect(try script.committed(2, Self.commit(2, [(notes[0], nil)], in: script)) == ["2 < committed 2"])
    #expect(
      try script.handle(.collectFinished(StoreRequestID(1), .success(script.token(1))))
        == ["1 < rows [2, 3] of 2 at 2", "1 < advance 2"])
  }

  @Test func readAheadOfHubIsDelayed() throws {
    var script = try HubTranscript(head: 1)
    try script.open(1)
    try script.open(2)
    _ = try script.send(Self.window(script), 1)
    let notes = try (1...3).map { try Self.note($0, x: 10 * Double($0), in: script) }
    _ = try script.collected(1, Array(notes.dropFirst()))
    #expect(
      try script.handle(.collectFinished(StoreRequestID(1), .success(script.token(2)))) == ["1 < rows [2, 3] of 2 at 2"]
    )
    _ = try script.save(2, sequence: 1)
    #expect(
      try script.committed(2, Self.commit(2, [(notes[0], nil)], in: script)) == ["2 < committed 2", "1 < advance 2"])
  }

  @Test func largeBatchReloadsOrderAndResetsWindow() throws {
    var script = try Self.following()
    _ = try script.save(2, sequence: 1)
    var record = try script.record(2)
    record.changes = []
    record.summary = ChangeSummary(count: 5_000, entities: [script.note.number])
    #expect(
      try script.committed(2, record) == ["collect #3 for 1", "1 < reset 2", "1 < query 2", "2 < committed 2"])
    // A read from before that commit can't be used.
    #expect(try script.handle(.collectFinished(StoreRequestID(3), .success(script.token(1)))) == ["collect #4 for 1"])
    #expect(try script.collected(4, [Self.note(7, x: 1, 2, in: script)]) == [])
    #expect(
      try script.handle(.collectFinished(StoreRequestID(4), .success(script.token(2))))
        == ["1 < rows [7] of 1 at 2", "1 < advance 2"])
  }

  @Test func resumedWindowReceivesAllRows() throws {
    var script = try Self.following()
    #expect(
      try script.send(Self.window(script, since: script.token(1)), 2)
        == ["2 < query 2", "2 < rows [1, 2] of 5 at 1", "2 < advance 1"])
  }

  @Test func unsupportedOrderIsRefusedWithReason() throws {
    var limits = HubLimits()
    limits.orderRows = 6
    var script = try Self.following(limits: limits)
    _ = try script.save(2, sequence: 1)
    let more: [(ObjectImage?, ObjectImage?)] = try [6, 7].map { (nil, try Self.note($0, x: 100, 2, in: script)) }
    #expect(
      try script.committed(2, Self.commit(2, more, in: script))
        == ["1 < delta 2 of 2: 7 in all", "1 < refused: limit", "2 < committed 2"])
    #expect(script.hub.counts.registrations == 0)

    limits = HubLimits()
    limits.orderBytes = 10_000
    var small = try HubTranscript(head: 1, limits: limits)
    try small.open(1)
    #expect(try small.send(Self.window(small), 1) == ["collect #1 for 1", "1 < query 2"])
    let notes = try (UInt64(1)...50).map { try Self.note($0, x: 1, in: small) }
    #expect(try small.collected(1, notes) == ["cancel #1", "1 < refused: limit"])
  }

  @Test func unusedOrdersAreEvictedFirst() throws {
    var limits = HubLimits()
    limits.orderBytes = 8_000
    var script = try Self.following(limits: limits)
    #expect(try script.send(.unsubscribe(query: 2), 1) == ["1 < query 2 ended"])
    let other = Subscribe(entity: script.note.number, window: .init(sort: "-x", limit: 1))
    #expect(try script.send(.subscribe(other), 1) == ["collect #2 for 1", "1 < query 4"])
    let notes = try (UInt64(1)...9).map { try Self.note($0, x: Double($0), in: script) }
    #expect(try script.collected(2, notes) == [])
    #expect(
      try script.handle(.collectFinished(StoreRequestID(2), .success(script.token(1))))
        == ["1 < rows [9] of 9 at 1", "1 < advance 1"])
    // The first order was removed and is read again.
    #expect(try script.send(Self.window(script), 1) == ["collect #3 for 1", "1 < query 6"])
  }

  @Test func sortOverRelationshipsIsRefused() throws {
    var script = try HubTranscript()
    try script.open(1)
    for sort in ["board.name", "nope"] {
      let subscribe = Subscribe(entity: script.note.number, window: .init(sort: sort, limit: 2))
      #expect(try script.send(.subscribe(subscribe), 1) == ["1 < refused: malformed"], "\(sort)")
    }
    #expect(script.hub.counts.registrations == 0)
  }

  @Test func windowWithoutReadersCancelsItsRead() throws {
    var script = try HubTranscript()
    try script.open(1)
    #expect(try script.send(Self.window(script), 1) == ["collect #1 for 1", "1 < query 2"])
    #expect(try script.handle(.closed(1)) == ["cancel #1"])
    #expect(try script.collected(1, [Self.note(1, x: 1, in: script)]) == [])
    #expect(try script.handle(.collectFinished(StoreRequestID(1), .success(script.token(0)))) == [])
  }

  @Test func commitsDuringReadAreAppliedInSlices() throws {
    var limits = HubLimits()
    limits.carriedChanges = 2
    var script = try HubTranscript(head: 1, limits: limits)
    try script.open(1)
    try script.open(2)
    #expect(try script.send(Self.window(script), 1) == ["collect #1 for 1", "1 < query 2"])
    let notes = try (1...5).map { try Self.note($0, x: 10 * Double($0), in: script) }
    #expect(try script.collected(1, notes) == [])
    _ = try script.save(2, sequence: 1)
    let three: [(ObjectImage?, ObjectImage?)] = notes.prefix(3).map { ($0, nil) }
    #expect(try script.committed(2, Self.commit(2, three, in: script)) == ["2 < committed 2"])
    #expect(
      try script.handle(.collectFinished(StoreRequestID(1), .success(script.token(1)))) == ["continue the order #1"])
    // A commit in between waits for its turn.
    _ = try script.save(2, sequence: 2)
    let sixth = try Self.note(6, x: 5, 3, in: script)
    #expect(try script.committed(3, Self.commit(3, [(nil, sixth)], in: script)) == ["2 < committed 3"])
    #expect(
      try script.handle(.continueOrder(StoreRequestID(1))) == ["1 < rows [6, 4] of 3 at 3", "1 < advance 3"])
  }

  @Test func orderLostBetweenSlicesIsReadAgain() throws {
    var limits = HubLimits()
    limits.carriedChanges = 1
    var script = try HubTranscript(head: 1, limits: limits)
    try script.open(1)
    try script.open(2)
    _ = try script.send(Self.window(script), 1)
    let notes = try (1...3).map { try Self.note($0, x: 10 * Double($0), in: script) }
    _ = try script.collected(1, notes)
    _ = try script.save(2, sequence: 1)
    _ = try script.committed(2, Self.commit(2, [(notes[0], nil), (notes[1], nil)], in: script))
    #expect(
      try script.handle(.collectFinished(StoreRequestID(1), .success(script.token(1)))) == ["continue the order #1"])
    _ = try script.save(2, sequence: 2)
    var record = try script.record(3)
    record.changes = []
    record.summary = ChangeSummary(count: 5_000, entities: [script.note.number])
    #expect(try script.committed(3, record) == ["2 < committed 3"])
    #expect(try script.handle(.continueOrder(StoreRequestID(1))) == ["collect #4 for 1"])
    _ = try script.collected(4, [notes[2]])
    #expect(
      try script.handle(.collectFinished(StoreRequestID(4), .success(script.token(3))))
        == ["1 < rows [3] of 1 at 3", "1 < advance 3"])
    // The continuation of the first read has no effect.
    #expect(try script.handle(.continueOrder(StoreRequestID(1))) == [])
  }

  @Test func idleOrderIsKeptForAMinuteAndFreedOnOtherThread() throws {
    var limits = HubLimits()
    limits.discardedRows = 5
    var script = try Self.following(limits: limits)
    #expect(try script.handle(.tick(1)) == [])
    #expect(try script.send(.unsubscribe(query: 2), 1) == ["1 < query 2 ended"])
    #expect(try script.handle(.tick(59_000)) == [])
    #expect(
      try script.send(Self.window(script), 1) == ["1 < query 3", "1 < rows [1, 2] of 5 at 1", "1 < advance 1"])
    #expect(try script.send(.unsubscribe(query: 3), 1) == ["1 < query 3 ended"])
    #expect(try script.handle(.tick(118_999)) == [])
    #expect(try script.handle(.tick(119_000)) == ["discard an order"])
    #expect(try script.send(Self.window(script), 1) == ["collect #2 for 1", "1 < query 5"])
  }
}
