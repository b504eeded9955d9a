import GraphModel
import GraphTesting
import GraphWire
import Testing

@testable import GraphClient

/// The callers that wait for loads.
@MainActor
@Suite(.timeLimit(.minutes(1))) struct LoadWaitersTests {
  @MainActor private final class Owner {
    var waiters = LoadWaiters()
    var outcomes = [String]()

    func wait(for load: UInt64) async -> String {
      do {
        let wait = CancellableWait()
        outcomes.append(waiters.add(wait, for: load) ? "first" : "joins")
        try await wait.wait()
        return "filled"
      } catch {
        return "\((error as? Refusal)?.message ?? "\(error)")"
      }
    }
  }

  @Test func firstCallerOfTurnBeginsCollection() async {
    let owner = Owner()
    async let one = owner.wait(for: 1)
    async let two = owner.wait(for: 2)
    async let again = owner.wait(for: 1)
    while owner.outcomes.count < 3 { await Task.yield() }
    #expect(owner.outcomes == ["first", "joins", "joins"])
    owner.waiters.endCollection()
    owner.waiters.finish(1, nil)
    // A load without a caller.
    owner.waiters.finish(3, nil)
    owner.waiters.fail(Refusal(.unavailable, "lost"))
    #expect(await [one, two, again].sorted() == ["filled", "filled", "lost"])
    async let next = owner.wait(for: 4)
    while owner.outcomes.count < 4 { await Task.yield() }
    #expect(owner.outcomes.last == "first")
    owner.waiters.finish(4, Refusal(.notFound, "gone"))
    #expect(await next == "gone")
  }

  @Test func lastCallerToLeaveIsKnown() async {
    var waiters = LoadWaiters()
    let (one, two) = (CancellableWait(), CancellableWait())
    _ = waiters.add(one, for: 1)
    _ = waiters.add(two, for: 1)
    let leavesAnother = !waiters.remove(one, for: 1)
    let leavesNone = waiters.remove(two, for: 1)
    // Its load has ended at the same time.
    let isKnown = !waiters.remove(two, for: 1)
    #expect(leavesAnother && leavesNone && !isKnown)
  }

  /// The client is closed in the turn in which the load begins.
  @Test func loadOfThePastEndsWithItsClient() async throws {
    try await ServedGraph.serve { graph in
      let client = try await graph.connect()
      _ = try await client.commit([graph.insertion("one")], policy: .error)
      let past = client.graph(at: 1)
      let faults = past.context.faults(try await client.identifiers(of: graph.project))
      // They run in this order.
      let load = Task { try await past.load(faults) }
      let close = Task { await client.close() }
      await #expect(throws: Refusal(.unavailable, "the client was closed")) { try await load.value }
      await close.value
      #expect(faults.count == 1 && faults.allSatisfy(\.isFault))
    }
  }

  @Test func loadsOfOneTurnShareRequest() async throws {
    try await ServedGraph.serve { graph in
      let proxy = try CuttingProxy(to: graph.address, cutAfter: nil)
      defer { proxy.stop() }
      let client = try await graph.connect(to: proxy.address)
      try await graph.insertMany(10, by: client)
      let faults = try await client.faults(of: Project.self)
      #expect(faults.count == 10 && faults.allSatisfy(\.isFault))
      _ = proxy.takeFetches()
      let loads = faults.map { fault in Task { try await client.load([fault]) } }
      for load in loads { try await load.value }
      #expect(proxy.takeFetches().count == 1)
      #expect(faults.allSatisfy { !$0.isFault })
      await client.close()
    }
  }
}
