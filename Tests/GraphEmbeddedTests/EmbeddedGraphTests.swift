import Foundation
import GraphEmbedded
import GraphModel
import GraphReplica
import GraphTesting
import Testing

@testable import GraphClient

/// A graph that a program opens itself: the same calls and rules as with a daemon.
@MainActor
@Suite(.timeLimit(.minutes(1))) struct EmbeddedGraphTests {
  @Test func savedObjectIsStillThereAfterReopening() async throws {
    let folder = try EmbeddedFolder()
    let ann = try await folder.open()
    #expect(ann.state == .connected && ann.welcome?.server == "embedded")
    let project = folder.insert("one", into: ann)
    let saved = try #require(try await ann.save())
    #expect(saved.committed.revision == 1 && !project.id.isTemporary)
    await ann.close()
    #expect(try await folder.titles() == ["one"])
  }

  @Test func clientsOfOneFolderFollowEachOther() async throws {
    let folder = try EmbeddedFolder()
    let ann = try await folder.open(as: "ann")
    // The same folder by another path, as with a link.
    let bob = try await GraphClient.embedded(
      at: folder.directory.url(of: "graph/../graph"), model: folder.model, classes: [Project.self],
      options: GraphClient.Options(author: "bob"))
    var snapshots = bob.live(Project.self).makeAsyncIterator()
    #expect(try await snapshots.next()?.count == 0)
    let project = folder.insert("one", into: ann)
    try await ann.save()
    let shown = try #require(try await snapshots.next())
    #expect(shown.map { $0["title"] } == [.string("one")])
    #expect(shown.difference?.author == "ann" && shown.first?.id == project.id)
    shown.first?["title"] = .string("two")
    try await bob.save()
    #expect(try await ann.titles == ["two"])
    await bob.close()
    await ann.close()
  }

  @Test func rulesRefuseAsThoseOfServer() async throws {
    let folder = try EmbeddedFolder()
    /// The refusals of changes that break rules, as code, message and violations.
    func refusals(of client: GraphClient) async throws -> [String] {
      _ = try await client.commit([folder.insertion("one")], policy: .error)
      let unknown = ObjectID(key: UniqueID(high: 1, low: 1), entity: folder.project.number)
      let mistakes = [
        [folder.insertion(nil)], [folder.insertion("one")],
        [folder.insertion("two", number: 1), folder.insertion("two", number: 2)],
        [Change(.update, unknown, base: .max, edits: [Edit(folder.year.number, .set(.integer(1)))])],
      ]
      var texts = [String]()
      for changes in mistakes {
        do {
          _ = try await client.commit(changes, policy: .error)
          texts.append("committed")
        } catch let refusal as Refusal {
          let violations = refusal.violations.map { "\($0.property) \($0.rule) \($0.message)" }
          texts.append("\(refusal.code) \(refusal.message) \(violations) \(refusal.conflicts.map(\.kind))")
        }
      }
      return texts
    }
    let client = try await folder.open()
    let embedded = try await refusals(of: client)
    #expect(try await client.titles == ["one"])
    await client.close()
    try await folder.withServedClient { served in
      let texts = try await refusals(of: served)
      #expect(texts == embedded)
    }
    #expect(embedded.count == 4 && !embedded.contains("committed"), "\(embedded)")
    #expect(embedded[0].hasPrefix("invalid ") && embedded[1].hasPrefix("unique "), "\(embedded)")
  }

  @Test func secondAuthorLosesConflict() async throws {
    let folder = try EmbeddedFolder()
    let (ann, bob) = (try await folder.open(as: "ann"), try await folder.open(as: "bob"))
    _ = try await ann.commit([folder.insertion("one")], policy: .error)
    let (first, second) = (
      try #require(try await ann.fetchOne(Project.self)), try #require(try await bob.fetchOne(Project.self))
    )
    first["title"] = .string("of ann")
    second["title"] = .string("of bob")
    try await ann.save()
    let error = await #expect(throws: GraphError.self) { try await bob.attempt { _ = try await bob.save() } }
    guard case .conflict(let values, let authors) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(authors == ["ann"] && values.map(\.property) == ["title"])
    #expect(values.first?.theirs == .string("of ann"))
    await bob.close()
    await ann.close()
  }

  @Test func lostConnectionIsMadeAgain() async throws {
    let folder = try EmbeddedFolder()
    let ann = try await folder.open()
    _ = try await ann.commit([folder.insertion("one")], policy: .error)
    var states = ann.states.makeAsyncIterator()
    #expect(await states.next() == .connected)
    ann.transport?.close()
    while let state = await states.next(), state != .connected {
      guard case .reconnecting = state else {
        Issue.record("\(state)")
        return
      }
    }
    #expect(try await ann.titles == ["one"])
    await ann.close()
  }

  // MARK: - Closing

  @Test func storeClosesWithItsLastClient() async throws {
    let folder = try EmbeddedFolder()
    let (ann, bob) = (try await folder.open(as: "ann"), try await folder.open(as: "bob"))
    await ann.close()
    #expect(folder.failureOfOtherStore()?.code == .inUse)
    _ = try await bob.commit([folder.insertion("one")], policy: .error)
    await bob.close()
    #expect(folder.failureOfOtherStore() == nil)
    // A further close waits for nothing and releases nothing.
    await bob.close()
    #expect(try await folder.titles() == ["one"])
  }

  @Test func clientWithOptionsOfAnotherIsCountedApart() async throws {
    let folder = try EmbeddedFolder()
    let ann = try await folder.open()
    let second = try await GraphClient.connect(to: ann.address, model: folder.model, options: ann.options)
    await second.close()
    _ = try await ann.commit([folder.insertion("one")], policy: .error)
    let third = try await GraphClient.connect(to: ann.address, model: folder.model, options: ann.options)
    await ann.close()
    #expect(folder.failureOfOtherStore()?.code == .inUse)
    #expect(try await third.count(of: folder.project) == 1)
    await third.close()
    #expect(folder.failureOfOtherStore() == nil)
  }

  @Test func clientThatIsDroppedReleasesGraph() async throws {
    let folder = try EmbeddedFolder()
    do {
      let client = try await folder.open()
      _ = try await client.commit([folder.insertion("one")], policy: .error)
    }
    // The time limit of the suite ends a wait for a graph that stays open.
    while folder.failureOfOtherStore() != nil { await Task.yield() }
    #expect(try await folder.titles() == ["one"])
  }

  @Test func requestsOfClosedClientAreRefused() async throws {
    let folder = try EmbeddedFolder()
    let ann = try await folder.open()
    await ann.close()
    #expect(ann.ending == Refusal(.unavailable, "the client was closed"))
    let refusal = await #expect(throws: Refusal.self) { _ = try await ann.titles }
    #expect(refusal?.code == .unavailable)
  }

  /// A client as the result of a task: it stays on the main actor.
  @MainActor private struct Opened {
    let client: GraphClient
  }

  @Test func clientsThatOpenTogetherShareOneStore() async throws {
    let folder = try EmbeddedFolder()
    let opening = (0..<8).map { number in Task { Opened(client: try await folder.open(as: "client \(number)")) } }
    var clients = [GraphClient]()
    for task in opening { clients.append(try await task.value.client) }
    _ = try await clients[0].commit([folder.insertion("one")], policy: .error)
    for client in clients {
      #expect(try await client.titles == ["one"])
      #expect(try await client.status().sessions == 7)
    }
    let closing = clients.map { client in Task { await client.close() } }
    for task in closing { await task.value }
    #expect(folder.failureOfOtherStore() == nil)
  }

  @Test func graphThatClosesIsOpenedAgain() async throws {
    let folder = try EmbeddedFolder()
    var client = try await folder.open()
    for number in 0..<5 {
      _ = try await client.commit([folder.insertion("\(number)")], policy: .error)
      let last = client
      let closing = Task { await last.close() }
      // Lets the close begin.
      await Task.yield()
      client = try await folder.open()
      #expect(try await client.titles.count == number + 1)
      await closing.value
    }
    await client.close()
    #expect(folder.failureOfOtherStore() == nil)
  }

  @Test func saveDuringCloseIsCommittedCompletelyOrNotAtAll() async throws {
    let folder = try EmbeddedFolder()
    for round in 0..<10 {
      let ann = try await folder.open()
      for number in 0..<20 { _ = folder.insert("\(round) \(number)", into: ann) }
      let saving = Task { try await ann.save() }
      // The save sends its transaction first, and then waits for the answer.
      await Task.yield()
      await ann.close()
      var isAcknowledged = false
      do {
        isAcknowledged = try await saving.value != nil
      } catch let refusal as Refusal {
        #expect(refusal.code == .unavailable)
      }
      let titles = try await folder.titles().filter { $0.hasPrefix("\(round) ") }
      #expect(titles.count == 20 || (titles.isEmpty && !isAcknowledged))
    }
  }

  @Test func closeOfOneClientKeepsSavesOfAnother() async throws {
    let folder = try EmbeddedFolder()
    let (ann, bob) = (try await folder.open(as: "ann"), try await folder.open(as: "bob"))
    _ = folder.insert("one", into: bob)
    let saving = Task { try await bob.save() }
    await ann.close()
    #expect(try await saving.value?.committed.revision == 1)
    await bob.close()
    #expect(try await folder.titles() == ["one"])
  }

  @Test func scopeClosesGraphWhenItThrows() async throws {
    struct Failure: Error {}
    let folder = try EmbeddedFolder()
    await #expect(throws: Failure.self) {
      try await GraphClient.withEmbedded(at: folder.url, model: folder.model) { client in
        _ = try await client.commit([folder.insertion("one")], policy: .error)
        throw Failure()
      }
    }
    #expect(folder.failureOfOtherStore() == nil)
    #expect(try await folder.titles() == ["one"])
  }

  @Test func cancelledScopeWithUnsavedEditsThrows() async throws {
    let folder = try EmbeddedFolder()
    let (url, model) = (folder.url, folder.model)
    let (begun, begin) = AsyncStream.makeStream(of: Void.self)
    let scope = Task { @MainActor in
      try await GraphClient.withEmbedded(at: url, model: model, classes: [Project.self]) { client in
        _ = Project(in: client.context)
        begin.yield()
        while !Task.isCancelled { await Task.yield() }
        return 7
      }
    }
    for await _ in begun { break }
    scope.cancel()
    await #expect(throws: CancellationError.self) { try await scope.value }
    #expect(folder.failureOfOtherStore() == nil)
  }

  @Test func scopeOfGeneratedModelHasItsClassesAndAuthor() async throws {
    let folder = try EmbeddedFolder()
    let title = try await GeneratedCompany.withEmbedded(at: folder.url, author: "ann") { client in
      let project = folder.insert("one", into: client)
      let saved = try #require(try await client.save())
      #expect(
        try await client.log(limit: 10).contains { $0.revision == saved.committed.revision && $0.author == "ann" })
      return project["title"].stringValue
    }
    #expect(title == "one" && folder.failureOfOtherStore() == nil)
  }
}

/// The declaration that the generator would write for the company's model.
private enum GeneratedCompany: ServedModel {
  static let model: Model = {
    do { return try Fixtures.company() } catch { preconditionFailure("\(error)") }
  }()
  static let classes: [ManagedObject.Type] = [Project.self]
}
