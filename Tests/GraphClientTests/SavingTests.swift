import Foundation
import GraphClient
import GraphModel
import GraphReplica
import GraphTesting
import GraphWire
import Testing

/// Saves and commits of a client, and their outcomes when the connection is lost.
@MainActor
@Suite(.timeLimit(.minutes(1))) struct SavingTests {
  @Test func saveIsAcknowledgedWithRevisionAndPermanentID() async throws {
    try await ServedGraph.serve { graph in
      let client = try await graph.connect()
      let project = graph.insert("one", into: client)
      #expect(project.id.isTemporary)
      let saved = try #require(try await client.save())
      #expect(saved.committed.revision == 1)
      #expect(!project.id.isTemporary && project.revision == 1)
      #expect(!client.context.hasChanges)
      #expect(try await client.save() == nil)
      #expect(try await client.status().head.revision == 1)
      await client.close()
    }
  }

  @Test func refusedSaveLeavesEditsUnsaved() async throws {
    try await ServedGraph.serve { graph in
      let client = try await graph.connect()
      _ = try await client.commit([graph.insertion("one")], policy: .error)
      let project = graph.insert("one", into: client)
      await #expect(throws: Refusal.self) { try await client.save() }
      #expect(client.context.hasChanges && project.isInserted)
      project["title"] = .string("two")
      #expect(try await client.save()?.committed.revision == 2)
      #expect(try await client.titles == ["one", "two"])
      await client.close()
    }
  }

  @Test func outcomeOfSaveWithClosureIsReported() async throws {
    try await ServedGraph.serve { graph in
      let client = try await graph.connect()
      #expect(!client.save { _ in Issue.record("nothing was saved") })
      _ = graph.insert("one", into: client)
      let outcome = await withCheckedContinuation { (answer: CheckedContinuation<Result<SaveResult, Refusal>, Never>) in
        #expect(client.save { answer.resume(returning: $0) })
      }
      #expect(try outcome.get().committed.revision == 1)
      await client.close()
    }
  }

  @Test func batchUpdateChangesObjectsThatMatchTypedPredicate() async throws {
    try await ServedGraph.serve { graph in
      let client = try await graph.connect()
      for title in ["one", "two"] { _ = graph.insert(title, into: client) }
      try await client.save()
      let year = client.context.model.property(Project.self, \.year)
      let updated = try await client.batchUpdate(
        Project.self, where: { $0.title == "two" }, set: [(year, .value(.integer(1999)))])
      #expect(updated.changed == 1)
      #expect(try await client.fetch(Project.self, where: { $0.year == 1999 }).map(\.title) == ["two"])
      await client.close()
    }
  }

  @Test func undoneCommitIsRedone() async throws {
    try await ServedGraph.serve { graph in
      let client = try await graph.connect()
      _ = try await client.commit([graph.insertion("one")], policy: .error)
      #expect(try await client.undoState().undo != nil)
      _ = try await client.undo()
      #expect(try await client.titles == [])
      _ = try await client.redo()
      #expect(try await client.titles == ["one"])
      let refusal = await #expect(throws: Refusal.self) { _ = try await client.redo() }
      #expect(refusal?.code == .notFound)
      await client.close()
    }
  }

  /// The proxy forwards hello, welcome and commit, drops the reply, and refuses further connections. The client's
  /// address then leads to the restarted server itself.
  @Test func unansweredCommitIsAcknowledgedOnceAfterRestart() async throws {
    try await ServedGraph.serve { graph in
      let proxy = try CuttingProxy(to: graph.address, cutAfter: 3, isLast: true)
      defer { proxy.stop() }
      let link = try AddressLink(to: proxy.address, in: graph.directory)
      let witness = try await graph.connect()
      let (commits, committed) = AsyncStream.makeStream(of: Revision.self)
      witness.watch([(graph.project, .always)]) { event in
        switch event {
        case .loaded(_, _, let at): committed.yield(at.revision)
        case .changed(let update): committed.yield(update.revision)
        default: break
        }
      }

      let client = try await graph.connect(to: link.address)
      let insertion = graph.insertion("one")
      let saved = Task { try await client.commit([insertion], policy: .error) }
      for await revision in commits where revision == 1 { break }
      await client.wait { if case .reconnecting = $0 { true } else { false } }
      await witness.close()
      try await graph.stop()
      try await graph.start()
      try link.lead(to: graph.address)

      #expect(try await saved.value.committed.revision == 1)
      #expect(proxy.wasCut)
      #expect(try await client.status().head.revision == 1)
      #expect(try await client.titles == ["one"])
      await client.close()
    }
  }

  @Test func objectsOfADeleteRuleAreDeletedHere() async throws {
    try await ServedGraph.serve { graph in
      let client = try await graph.connect()
      try await graph.insertStep(by: client)
      let project = try #require(try await client.fetch(Project.self, prefetch: [\.steps]).first)
      let step = try #require(try await client.fetch(Step.self).first)
      client.context.delete(project)
      let saved = try #require(try await client.save())
      #expect(Set(saved.deleted) == [project.id, step.id] && saved.isComplete)
      #expect(step.isDeleted)
      // The objects come back under their ids.
      try await client.undo()
      #expect(!step.isDeleted && step["label"] == .string("a") && !project.isDeleted)
      await client.close()
    }
  }

  @Test func outcomeOfLostCommitIsUnknownToClientThatDoesNotReconnect() async throws {
    try await ServedGraph.serve { graph in
      let proxy = try CuttingProxy(to: graph.address, cutAfter: 3, isLast: true)
      defer { proxy.stop() }
      let client = try await graph.connect(to: proxy.address) {
        $0.reconnects = false
        $0.outcomeMilliseconds = 0
      }
      let refusal = await #expect(throws: Refusal.self) {
        _ = try await client.commit([graph.insertion("one")], policy: .error)
      }
      #expect(refusal == GraphClient.unknownOutcome)
      #expect(client.state == .closed && client.ending == GraphClient.unknownOutcome)
    }
  }

  @Test func offlineEditThatViolatesRuleIsRefusedAtOnce() async throws {
    try await ServedGraph.serve { graph in
      let client = try await graph.connect()
      let project = graph.insert("one", into: client)
      try await client.save()
      try await graph.stop()
      await client.wait { if case .reconnecting = $0 { true } else { false } }
      project["title"] = .null
      let refusal = await #expect(throws: Refusal.self) { try await client.save() }
      #expect(refusal?.code == .invalid)
      #expect(client.context.hasChanges)
      project["title"] = .string("two")
      let saved = Task { try await client.save() }
      try await graph.start()
      #expect(try await saved.value?.committed.revision == 2)
      #expect(try await client.titles == ["two"])
      await client.close()
    }
  }
}

/// A socket's address that can lead to another socket while clients use it.
private struct AddressLink {
  let address: ServerAddress
  private let path: String

  init(to target: ServerAddress, in directory: TemporaryDirectory) throws {
    path = directory.path + "/link"
    address = .unix(path: path)
    try lead(to: target)
  }

  func lead(to target: ServerAddress) throws {
    guard case .unix(let socket) = target else { throw Refusal(.malformed, "\(target) is no Unix socket") }
    try FileManager.default.createSymbolicLink(atPath: path + ".new", withDestinationPath: socket)
    // Replaces the previous link in one step.
    #expect(rename(path + ".new", path) == 0)
  }
}
