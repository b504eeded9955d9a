// Tests: BackgroundContextTests.swift
import GraphModel
import GraphReplica
import GraphWire

/// A client with its own actor, for work that must not block the caller's actor, such as the main actor.
///
/// ```swift
/// let background = try await client.makeBackgroundContext()
/// try await background.perform { client in
///   let overdue = try await client.fetch(Project.self, where: { $0.due < .now })
///   for project in overdue { project.isLate = true }
///   try await client.save()
/// }
/// ```
///
/// Each background context has a connection, a session and objects of its own: contexts work at the same time, and
/// conflict as the clients of two programs do. An object does not leave its context; its id does, and other contexts
/// fetch it. The connection ends with `close`, or when the background context is released.
public final class BackgroundContext: Sendable {
  private let owner: ContextActor
  private let link: ClientLink

  private init(owner: ContextActor, link: ClientLink) { (self.owner, self.link) = (owner, link) }

  // The actor is kept by its client's mailbox until the client is closed.
  deinit { link.closeLater() }

  /// Connects a background context to a server.
  /// - Throws: `ConnectFailure`, `SecurityFailure`, or the server's `Refusal`.
  public static func connect(
    to address: ServerAddress, model: Model, classes: [ManagedObject.Type] = [], options: GraphClient.Options
  ) async throws -> BackgroundContext {
    let owner = ContextActor()
    let link = try await owner.connect(to: address, model, classes, options)
    return BackgroundContext(owner: owner, link: link)
  }

  /// Runs a body on the context's actor. Calls are made one after the other, in the order of their calls, so that a
  /// save of one body has no edits of another. A later body finds the edits that a body leaves unsaved.
  ///
  /// A body that calls `perform` of its own context would wait for itself.
  /// - Throws: any error of the body; `CancellationError` at once if the task is cancelled before the body has begun.
  @discardableResult
  public func perform<Result: Sendable>(
    _ body: @Sendable (GraphClient) async throws -> Result
  ) async throws -> Result { try await owner.perform(body) }

  /// The connection's current state, and each later one.
  public var states: AsyncStream<GraphClient.State> { link.states.makeStream() }

  /// Closes the connection after writing all sent messages. Unsaved edits are lost; a running body's requests are
  /// refused.
  public func close() async { await link.close() }
}

/// The actor that a background context's client belongs to.
private actor ContextActor {
  private var client: GraphClient?
  private var isBusy = false
  /// Bodies that wait for the running one.
  private var waiting = [CancellableWait]()

  func connect(
    to address: ServerAddress, _ model: Model, _ classes: [ManagedObject.Type], _ options: GraphClient.Options
  ) async throws -> ClientLink {
    let client = try await GraphClient.connect(to: address, model: model, classes: classes, options: options)
    self.client = client
    return client.link
  }

  func perform<Result: Sendable>(_ body: @Sendable (GraphClient) async throws -> Result) async throws -> Result {
    if isBusy { try await waitForTurn() }
    isBusy = true
    defer { passTurn() }
    try Task.checkCancellation()
    guard let client else { preconditionFailure("a background context is connected when it is made") }
    return try await body(client)
  }

  private func waitForTurn() async throws {
    let wait = CancellableWait()
    waiting.append(wait)
    do { try await wait.wait() } catch {
      waiting.removeAll { $0 === wait }
      throw error
    }
  }

  /// Lets the first body that waits run, unless its task is cancelled. The context stays busy until it runs, so that
  /// no later call comes before it.
  private func passTurn() {
    while !waiting.isEmpty {
      if waiting.removeFirst().end() { return }
    }
    isBusy = false
  }
}

extension ServedModel {
  /// Connects a background context to a server of this model, from any actor or none.
  /// - Throws: `ConnectFailure`, `SecurityFailure`, or the server's `Refusal`.
  public static func makeBackgroundContext(
    to address: ServerAddress, options: GraphClient.Options
  ) async throws -> BackgroundContext {
    try await BackgroundContext.connect(to: address, model: model, classes: classes, options: options)
  }

  /// Connects a background context to a server of this model as an author, from any actor or none.
  /// - Parameter author: the author of the client's commits, 1 to 256 bytes of UTF-8; the server does not verify it.
  /// - Throws: `ConnectFailure`, `SecurityFailure`, or the server's `Refusal`.
  public static func makeBackgroundContext(
    to address: ServerAddress, author: String
  ) async throws -> BackgroundContext {
    try await makeBackgroundContext(to: address, options: GraphClient.Options(author: author))
  }
}
