import GraphModel
import GraphReplica
import GraphWire

/// A context whose server is a closure of the same program, without a socket and a store. With it, benchmarks and tests
/// measure the cost of a result and of a commit in the client alone.
public final class ScriptedContext: ContextOwner {
  /// The context.
  public let context: ObjectContext
  /// Called with each message of the context to its server; it answers with `receive`.
  public var answer: ((ToServer) -> Void)?

  /// A context without a connection.
  /// - Parameter author: the author of its commits.
  public init(model: Model, author: String) {
    context = ObjectContext(
      model: model, replica: Replica(id: UniqueID(high: 1, low: 1), author: author, model: model.hash))
    context.owner = self
  }

  /// Begins the connection: the context sends its hello.
  public func connect() {
    context.handle(.connected)
    contextHasWork()
  }

  /// Follows all objects of an entity, without a controller.
  public func follow(_ entity: Entity) { _ = context.follow(entity: entity) }

  /// Delivers a message of the server.
  /// - Parameter request: the request that it answers; 0 for none.
  public func receive(_ body: ToClient.Body, answering request: UInt64 = 0) {
    context.handle(.received(ToClient(request, body)))
    contextHasWork()
  }

  /// Passes the messages of the context to `answer`.
  package func contextHasWork() {
    for action in context.takeActions() {
      if case .send(let message) = action { answer?(message) }
    }
  }

  /// Returns at once: loads are answered before their callers wait for them.
  nonisolated(nonsending) package func fill(_ load: LoadID) async throws {}
}
