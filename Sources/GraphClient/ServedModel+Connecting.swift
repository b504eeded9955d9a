// Tests: ClientLifetimeTests.swift
import GraphModel
import GraphReplica
import GraphWire

/// Connecting to a server of a generated model: `CompanyModel.connect(to: server, author: "ann@example")`.
extension ServedModel {
  /// Connects to a server of this model. The first connection is not retried: the caller receives the error.
  /// - Throws: `ConnectFailure`, `SecurityFailure`, or the server's `Refusal`.
  public static func connect(
    to address: ServerAddress, options: GraphClient.Options, actor: isolated any Actor = #isolation
  ) async throws -> GraphClient {
    try await GraphClient.connect(to: address, model: model, classes: classes, options: options)
  }

  /// Connects to a server of this model as an author, with the usual options.
  /// - Parameter author: the author of the client's commits, 1 to 256 bytes of UTF-8; the server does not verify it.
  /// - Throws: `ConnectFailure`, `SecurityFailure`, or the server's `Refusal`.
  public static func connect(
    to address: ServerAddress, author: String, actor: isolated any Actor = #isolation
  ) async throws -> GraphClient {
    try await connect(to: address, options: GraphClient.Options(author: author))
  }

  /// Runs calls that connect, and throws their errors by kind, so that a `catch` matches them. Other errors are thrown
  /// as they are. A connected client has the same method.
  ///
  /// ```swift
  /// do {
  ///   client = try await CompanyModel.attempt { try await CompanyModel.connect(to: server, author: "ann@example") }
  /// } catch GraphError.unavailable(let sentence) {
  ///   retryLater(sentence)
  /// }
  /// ```
  @discardableResult
  public static func attempt<Result>(_ body: () async throws -> Result) async throws -> Result {
    do {
      return try await body()
    } catch {
      throw GraphError(error, in: model) ?? error
    }
  }

  /// Connects, and closes the client when the body returns or throws, or its task is cancelled.
  /// - Throws: `ConnectFailure`, `SecurityFailure` or `Refusal` of the connection, and any error of the body.
  @discardableResult
  public static func withClient<Result>(
    to address: ServerAddress, options: GraphClient.Options, actor: isolated any Actor = #isolation,
    _ body: (GraphClient) async throws -> Result
  ) async throws -> Result {
    try await connect(to: address, options: options).closeAfter(body)
  }

  /// Connects as an author, with the usual options, and closes the client when the body returns or throws, or its task
  /// is cancelled.
  /// - Parameter author: the author of the client's commits, 1 to 256 bytes of UTF-8; the server does not verify it.
  /// - Throws: `ConnectFailure`, `SecurityFailure` or `Refusal` of the connection, and any error of the body.
  @discardableResult
  public static func withClient<Result>(
    to address: ServerAddress, author: String, actor: isolated any Actor = #isolation,
    _ body: (GraphClient) async throws -> Result
  ) async throws -> Result {
    try await connect(to: address, author: author).closeAfter(body)
  }
}
