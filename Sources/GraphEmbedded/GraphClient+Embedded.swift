import Foundation
import GraphClient
import GraphModel
import GraphReplica

/// Opens a graph in this process: the same client, without a daemon.
extension GraphClient {
  /// Opens the graph in a folder, or creates one, and connects to it.
  ///
  /// Rules, conflicts, live queries, history and durability work as with a daemon. Several clients of the folder in
  /// this process see each other's commits. When the last client is closed, the store is closed: `close()` then returns
  /// when another process can open it.
  /// - Parameters:
  ///   - folder: the URL of a folder on a local disk; it is created if it does not exist, readable by this user only.
  ///   - classes: the generated classes, `CompanyModel.classes`; without them objects are read by names of properties.
  ///   - options: the client's options. Their logger receives the log of the store, too.
  ///   - graph: the settings of the store, if no other client has opened it.
  ///   - actor: the actor that the client belongs to: the caller's.
  /// - Throws: `StoreFailure` if the store can't be opened, `MigrationRefusal` if it can't be migrated, and the
  ///   `Refusal` of a client whose model is not the open one.
  public static func embedded(
    at folder: URL, model: Model, classes: [ManagedObject.Type] = [],
    options: GraphClient.Options = GraphClient.Options(author: "embedded"),
    graph: EmbeddedGraph.Options = EmbeddedGraph.Options(), actor: isolated any Actor = #isolation
  ) async throws -> GraphClient {
    let source = try await GraphSource(folder, model: model, options: graph, log: options.logger)
    // The graph is opened before the client connects, because the error of the client would only be that there is no
    // connection.
    let lease = GraphLease(source)
    try await lease.open()
    var options = options
    options.localServer = lease.server
    do {
      return try await connect(
        to: .unix(path: source.folder), model: model, classes: classes, options: options, actor: actor)
    } catch {
      await lease.end()
      throw error
    }
  }

  /// Opens the graph in a folder, and closes the client when the body returns or throws, or its task is cancelled.
  ///
  /// A cancellation has the effects that `GraphClient.withClient` describes.
  /// - Throws: the errors of `embedded`, any error of the body, and `CancellationError`.
  @discardableResult
  public static func withEmbedded<Result>(
    at folder: URL, model: Model, classes: [ManagedObject.Type] = [],
    options: GraphClient.Options = GraphClient.Options(author: "embedded"),
    graph: EmbeddedGraph.Options = EmbeddedGraph.Options(), actor: isolated any Actor = #isolation,
    _ body: nonisolated(nonsending) (GraphClient) async throws -> Result
  ) async throws -> Result {
    try await embedded(at: folder, model: model, classes: classes, options: options, graph: graph).closeAfter(body)
  }
}

/// Opening a graph of a generated model: `CompanyModel.embedded(at: folder, author: "ann@example")`.
extension ServedModel {
  /// Opens the graph in a folder, or creates one, as an author.
  /// - Parameter author: the author of the client's commits, 1 to 256 bytes of UTF-8.
  /// - Throws: the errors of `GraphClient.embedded`.
  public static func embedded(
    at folder: URL, author: String, graph: EmbeddedGraph.Options = EmbeddedGraph.Options(),
    actor: isolated any Actor = #isolation
  ) async throws -> GraphClient {
    try await embedded(at: folder, options: GraphClient.Options(author: author), graph: graph, actor: actor)
  }

  /// Opens the graph in a folder, or creates one, with other options of the client, such as a logger.
  /// - Throws: the errors of `GraphClient.embedded`.
  public static func embedded(
    at folder: URL, options: GraphClient.Options, graph: EmbeddedGraph.Options = EmbeddedGraph.Options(),
    actor: isolated any Actor = #isolation
  ) async throws -> GraphClient {
    try await GraphClient.embedded(
      at: folder, model: model, classes: classes, options: options, graph: graph, actor: actor)
  }

  /// Opens the graph in a folder as an author, and closes the client when the body returns or throws, or its task is
  /// cancelled.
  /// - Throws: the errors of `GraphClient.embedded`, and any error of the body.
  @discardableResult
  public static func withEmbedded<Result>(
    at folder: URL, author: String, graph: EmbeddedGraph.Options = EmbeddedGraph.Options(),
    actor: isolated any Actor = #isolation,
    _ body: nonisolated(nonsending) (GraphClient) async throws -> Result
  ) async throws -> Result {
    try await withEmbedded(
      at: folder, options: GraphClient.Options(author: author), graph: graph, actor: actor, body)
  }

  /// Opens the graph in a folder with other options of the client, and closes the client when the body returns or
  /// throws, or its task is cancelled.
  /// - Throws: the errors of `GraphClient.embedded`, and any error of the body.
  @discardableResult
  public static func withEmbedded<Result>(
    at folder: URL, options: GraphClient.Options, graph: EmbeddedGraph.Options = EmbeddedGraph.Options(),
    actor: isolated any Actor = #isolation,
    _ body: nonisolated(nonsending) (GraphClient) async throws -> Result
  ) async throws -> Result {
    try await embedded(at: folder, options: options, graph: graph, actor: actor).closeAfter(body)
  }
}
