import GraphClient
import GraphModel
import GraphReplica
import GraphTesting
import GraphWire
import Testing

/// Objects and relationships that a program loads without naming the client.
@MainActor
@Suite(.timeLimit(.minutes(1))) struct ObjectLoadingTests {
  @Test func faultAndItsMembersAreLoaded() async throws {
    try await ServedGraph.serve { graph in
      let (ann, bob) = (try await graph.connect(), try await graph.connect { $0.author = "bob" })
      let steps = try #require(graph.project.property(named: "steps")).number
      let project = graph.insert("one", into: ann)
      let entity = try #require(graph.model.entity(named: "Step"))
      let step = try #require(ann.context.insert(entity))
      step["label"] = .string("dig")
      ToMany<ManagedObject>(project, steps).insert(step)
      let committed = try #require(try await ann.save()).committed
      #expect(ToMany<ManagedObject>(project, steps).count == 1)

      let past = bob.graph(at: committed.revision)
      for context in [bob.context, past.context] {
        let theirs = try #require(context.fault(project.id) as? Project)
        #expect(theirs.isFault)
        try await theirs.load()
        #expect(!theirs.isFault && theirs["title"] == .string("one"))
        let members = ToMany<ManagedObject>(theirs, steps)
        #expect(!members.isKnown)
        #expect(try await members.load().map { $0["label"] } == [.string("dig")])
        #expect(members.isKnown && members.isLoaded && members.count == 1)
      }
      #expect(past.context.owner === past)
      await bob.close()
      await ann.close()
    }
  }

  @Test func loadedMembersNeedNoConnectionAndOthersAreRefused() async throws {
    try await ServedGraph.serve { graph in
      let client = try await graph.connect()
      let steps = try #require(graph.project.property(named: "steps")).number
      let committed = try await client.commit([graph.insertion("one")], policy: .error).committed
      let id = try #require(committed.identities.first?.permanent)
      let project = try #require(client.context.fault(id) as? Project)
      // The object first, then its members.
      #expect(try await ToMany<ManagedObject>(project, steps).load().isEmpty)
      #expect(!project.isFault)
      await client.close()
      #expect(try await ToMany<ManagedObject>(project, steps).load().isEmpty)
      let other = try #require(client.context.fault(ObjectID(key: UniqueID(high: 1, low: 1), entity: id.entity)))
      await #expect(throws: Refusal.self) { try await other.load() }
    }
  }
}
