import GraphModel
import GraphReplica
import GraphTesting
import GraphWire
import Testing

/// Live queries whose readers wait for the relationships of their objects.
@Suite struct AwaitedPrefetchTests {
  /// A context that follows notes with their boards, as query 4; the first note has arrived with its board.
  private static func following(_ script: ReplicaTranscript) throws -> QueryID {
    #expect(script.connect(head: 1) == ["welcomed"])
    let query = script.context.follow(entity: script.note, prefetch: try script.tree("board"))
    script.context.awaitPrefetches(of: query)
    #expect(script.lines() == ["> follow"])
    #expect(script.receive(.subscribed(query: 4, resumed: false), 2) == [])
    let first = try script.image(5, 1, ["board": .object(script.id(1, of: "Board"))])
    #expect(script.receive(script.last([first], at: 1), 2) == [])
    #expect(
      script.receive(.advance(revision: 1, fingerprint: 1_000)) == ["query 1 has 1 at 1", "> fetch Board: id IN {1}"])
    #expect(Self.isAwaited(script, query))
    #expect(script.receive(script.last([try script.image(1, of: "Board", 1)], at: 1), 3) == ["load 1 is here"])
    #expect(script.changes.last?.prefetched == [query] && !Self.isAwaited(script, query))
    return query
  }

  /// Whether relationships of a note are awaited; those of any note for nil.
  private static func isAwaited(_ script: ReplicaTranscript, _ query: QueryID, _ number: UInt64? = nil) -> Bool {
    let id = number.map { script.id($0) }
    return script.context.awaitsPrefetch(of: query) { id == nil || $0 == id }
  }

  private static func insertion(
    _ script: ReplicaTranscript, _ number: UInt64, board: UInt64, at revision: Revision
  ) throws -> ToClient.Body {
    let image = try script.image(number, revision, ["board": .object(script.id(board, of: "Board"))])
    return script.delta(4, revision, [Delta.Change(kind: .inserted, id: image.id, object: image)])
  }

  /// Observers of a commit find out at once which of its objects are not complete.
  @Test func objectThatJoinsIsAwaited() throws {
    let script = try ReplicaTranscript()
    let query = try Self.following(script)
    var awaited = [Bool]()
    let token = script.context.observe { [unowned script] _ in awaited.append(Self.isAwaited(script, query, 6)) }
    #expect(
      script.receive(try Self.insertion(script, 6, board: 2, at: 2)) == [
        "revision 2 changes [1]", "> fetch Board: id IN {2}",
      ])
    #expect(awaited == [true])
    #expect(!Self.isAwaited(script, query, 5))
    #expect(script.receive(script.last([try script.image(2, of: "Board", 2)], at: 2), 4) == ["load 2 is here"])
    #expect(awaited == [true, false] && script.changes.last?.prefetched == [query])
    // A board that is held needs no request.
    #expect(
      script.receive(try Self.insertion(script, 7, board: 2, at: 3)) == ["revision 3 changes [1]", "load 3 is here"])
    #expect(awaited == [true, false, false, false])
    withExtendedLifetime(token) {}
  }

  @Test func objectThatRefersToAnotherOneIsAwaited() throws {
    let script = try ReplicaTranscript()
    let query = try Self.following(script)
    let edit = Edit(try script.number("board"), .set(.object(try script.id(2, of: "Board"))))
    #expect(
      script.receive(script.delta(4, 2, [script.update(5, [edit], previous: 1)])) == [
        "revision 2 changes [1]", "> fetch Board: id IN {2}",
      ])
    #expect(Self.isAwaited(script, query, 5))
    #expect(script.receive(script.last([try script.image(2, of: "Board", 2)], at: 2), 4) == ["load 2 is here"])
    #expect(!Self.isAwaited(script, query))
  }

  @Test func refusedReadIsReported() throws {
    let script = try ReplicaTranscript()
    let query = try Self.following(script)
    _ = script.receive(try Self.insertion(script, 6, board: 2, at: 2))
    let refusal = Refusal(.limit, "too much")
    #expect(script.receive(.refused(refusal), 4) == ["load 2 failed: limit"])
    #expect(script.changes.last?.failedPrefetches == [query: refusal])
  }

  /// The objects stay incomplete until the next connection.
  @Test func lostConnectionIsNoFailure() throws {
    let script = try ReplicaTranscript()
    let query = try Self.following(script)
    _ = script.receive(try Self.insertion(script, 6, board: 2, at: 2))
    #expect(script.handle(.disconnected) == [])
    #expect(Self.isAwaited(script, query, 6))
    #expect(script.connect(head: 2) == ["welcomed", "> follow since 2"])
    #expect(
      script.receive(.subscribed(query: 4, resumed: true), 2) == ["query 1 goes on from 2", "> fetch Board: id IN {2}"])
    #expect(
      script.receive(script.last([try script.image(2, of: "Board", 2)], at: 2), 3) == [
        "load 2 is here", "load 3 is here",
      ])
    #expect(script.changes.last?.prefetched == [query] && script.changes.allSatisfy(\.failedPrefetches.isEmpty))
    #expect(!Self.isAwaited(script, query))
  }
}
