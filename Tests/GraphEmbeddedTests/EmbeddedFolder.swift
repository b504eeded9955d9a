import Foundation
import GraphClient
import GraphEmbedded
import GraphModel
import GraphReplica
import GraphServer
import GraphStore
import GraphTesting
import Logging
import Testing

/// A project of the company's model.
final class Project: ManagedObject {
  override class var entityName: String { "Project" }
}

/// A folder for an embedded graph of the company's model.
@MainActor
struct EmbeddedFolder {
  let model: Model
  let directory: TemporaryDirectory
  let project: Entity
  let title: Property
  let year: Property

  init() throws {
    model = try Fixtures.company()
    directory = try TemporaryDirectory()
    project = try #require(model.entity(named: "Project"))
    title = try #require(project.property(named: "title"))
    year = try #require(project.property(named: "year"))
  }

  /// The folder, which does not exist before a client opens it.
  var path: String { directory.path + "/graph" }
  var url: URL { URL(filePath: path) }

  /// A client of the graph in this process.
  func open(
    as author: String = "ann", model other: Model? = nil, graph: EmbeddedGraph.Options = EmbeddedGraph.Options()
  ) async throws -> GraphClient {
    var options = GraphClient.Options(author: author)
    options.firstPauseMilliseconds = 2
    options.lastPauseMilliseconds = 20
    return try await GraphClient.embedded(
      at: url, model: other ?? model, classes: [Project.self], options: options, graph: graph)
  }

  /// A client of a server of the same kind on a socket, which runs while the body does.
  func withServedClient(_ body: @MainActor (GraphClient) async throws -> Void) async throws {
    let served = try TemporaryDirectory()
    let address = ServerAddress.unix(path: served.path + "/socket")
    let (listening, listens) = AsyncStream.makeStream(of: Void.self)
    let server = GraphServer(
      store: try SQLiteStore(directory: served.path, model: model),
      configuration: GraphServer.Configuration(addresses: [address]),
      log: Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }, ready: { _ in listens.finish() })
    let running = Task.detached {
      // Otherwise a server that can't start would leave the caller waiting.
      defer { listens.finish() }
      try await server.run()
    }
    for await _ in listening {}
    let outcome: Result<Void, any Error>
    do {
      let client = try await GraphClient.connect(
        to: address, model: model, classes: [Project.self], options: GraphClient.Options(author: "ann"))
      try await body(client)
      await client.close()
      outcome = .success(())
    } catch {
      outcome = .failure(error)
    }
    running.cancel()
    try await running.value
    try outcome.get()
  }

  /// The insertion of a project of 2026. Without a title, the project violates a rule.
  func insertion(_ name: String?, number: UInt64 = 1) -> Change {
    var edits = [Edit(year.number, .set(.integer(2026)))]
    if let name { edits.append(Edit(title.number, .set(.string(name)))) }
    return Change(.insert, .temporary(number, entity: project.number), edits: edits)
  }

  /// Inserts a project of 2026 into a client's context.
  func insert(_ name: String, into client: GraphClient) -> Project {
    let object = Project(in: client.context)
    object["title"] = .string(name)
    object["year"] = .integer(2026)
    return object
  }

  /// The titles of all projects, read by a client of its own.
  func titles() async throws -> [String] {
    let reader = try await open(as: "reader")
    let titles = try await reader.titles
    await reader.close()
    return titles
  }

  /// The failure of opening the folder beside the graph, as another process would; nil if it can be opened.
  func failureOfOtherStore() -> StoreFailure? {
    do {
      try SQLiteStore(directory: path, model: model).close()
      return nil
    } catch {
      return error as? StoreFailure
    }
  }
}

@MainActor
extension GraphClient {
  var titles: [String] {
    get async throws {
      try await fetch(Project.self, where: "", sort: "title").compactMap { $0["title"].stringValue }
    }
  }
}
