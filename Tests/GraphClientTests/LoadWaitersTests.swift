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
        try await withCheckedThrowingContinuation { outcomes.append(waiters.add($0, for: load) ? "first" : "joins") }
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
