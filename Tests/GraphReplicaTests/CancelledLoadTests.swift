import GraphModel
import GraphReplica
import GraphWire
import Testing

/// Loads whose callers no longer wait: requests that no other load needs are cancelled.
@Suite struct CancelledLoadTests {
  @Test func requestIsCancelledWithItsLastLoad() throws {
    let script = try ReplicaTranscript()
    #expect(script.connect() == ["welcomed"])
    let faults = script.context.faults([script.id(5), script.id(6)])
    let (one, both) = (script.context.load([faults[0]]), script.context.load(faults))
    script.context.sendLoads()
    #expect(script.lines() == ["> fetch Note: id IN {5, 6}"])
    script.context.cancel(one)
    script.context.sendLoads()
    #expect(script.lines() == ["load \(one) failed: cancelled"])
    script.context.cancel(both)
    script.context.sendLoads()
    #expect(script.lines() == ["load \(both) failed: cancelled", "> cancel(of: 2)"])
    // The answer may have been on its way, and a load that has ended can't be cancelled.
    #expect(script.receive(script.last([try script.image(5, 1)], at: 1), 2) == [])
    script.context.cancel(both)
    script.context.sendLoads()
    #expect(script.lines() == [] && faults.allSatisfy(\.isFault))

    let again = script.context.load([faults[0]])
    script.context.sendLoads()
    #expect(script.lines() == ["> fetch Note: id IN {5}"])
    #expect(script.receive(script.last([try script.image(5, 1)], at: 1), 4) == ["load \(again) is here"])
    #expect(!faults[0].isFault)
  }

  @Test func loadCancelledInItsTurnSendsNothing() throws {
    let script = try ReplicaTranscript()
    #expect(script.connect() == ["welcomed"])
    let load = script.context.load(script.context.faults([script.id(5)]))
    script.context.cancel(load)
    script.context.sendLoads()
    #expect(script.lines() == ["load \(load) failed: cancelled"])
  }

  @Test func requestThatWaitsIsNeverSent() throws {
    let script = try ReplicaTranscript()
    #expect(script.connect() == ["welcomed"])
    // Eight requests are sent at once; the ninth waits for an answer.
    let faults = script.context.faults((1...9_000).map { script.id($0) })
    let load = script.context.load(faults)
    script.context.sendLoads()
    #expect(script.lines().count == 8)
    script.context.cancel(load)
    script.context.sendLoads()
    #expect(script.lines() == ["load \(load) failed: cancelled"] + (2...9).map { "> cancel(of: \($0))" })
    // The requests no longer count.
    _ = script.context.load(Array(faults.prefix(8_000)))
    script.context.sendLoads()
    #expect(script.lines().count == 8)
  }

  @Test func prefetchEndsWithItsQuery() throws {
    let script = try ReplicaTranscript()
    #expect(script.connect(head: 1) == ["welcomed"])
    let query = script.context.follow(entity: script.note, prefetch: try script.tree("board"))
    #expect(script.lines() == ["> follow"])
    #expect(script.receive(.subscribed(query: 4, resumed: false), 2) == [])
    let note = try script.image(5, 1, ["board": .object(script.id(1, of: "Board"))])
    #expect(script.receive(script.last([note], at: 1), 2) == [])
    #expect(
      script.receive(.advance(revision: 1, fingerprint: 1_000)) == ["query 1 has 1 at 1", "> fetch Board: id IN {1}"])
    let load = try #require(script.context.prefetch(of: query).load)
    // A caller that waits for the query does not end it.
    script.context.cancel(load)
    script.context.sendLoads()
    #expect(script.lines() == [])
    script.context.unfollow(query)
    #expect(script.lines() == ["load \(load) failed: cancelled", "> unfollow 4", "> cancel(of: 3)"])
  }
}
