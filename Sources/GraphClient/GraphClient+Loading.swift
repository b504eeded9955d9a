import GraphModel
import GraphReplica

/// Faults of the present, and the loads that fill them.
extension GraphClient {
  /// The objects that satisfy a predicate, without their values: one request, which returns ids. Objects that the
  /// context holds are returned as they are, all others as faults.
  public func faults<Object: ManagedObject>(
    of type: Object.Type, where predicate: GraphPredicate = .always, sort: [SortKey] = [], limit: Int? = nil
  ) async throws -> [Object] {
    let ids = try await identifiers(of: try entity(of: type), where: predicate, sort: sort, limit: limit)
    return context.faults(ids).compactMap { $0 as? Object }
  }

  /// The same with a predicate and an order that the compiler checks.
  public func faults<Object: ManagedObject>(
    of type: Object.Type, where predicate: (ObjectPath<Object, ExactlyOne>) -> TypedPredicate,
    sort: [(ObjectPath<Object, ExactlyOne>) -> TypedSortKey] = [], limit: Int? = nil
  ) async throws -> [Object] {
    let (predicate, order) = (GraphPredicate(type, where: predicate), [SortKey](type, sort))
    return try await faults(of: type, where: predicate, sort: order, limit: limit)
  }

  /// Waits for a load of the context; all loads of the same turn of the main actor are sent together.
  /// - Throws: `Refusal`, `unavailable` when there is no connection.
  public func fill(_ load: LoadID) async throws {
    guard state != .closed else { throw Refusal(.unavailable, "the connection is closed") }
    try await withCheckedThrowingContinuation { continuation in
      filling[load, default: []].append(continuation)
      guard !isCollecting else { return }
      isCollecting = true
      Task { [weak self] in
        self?.isCollecting = false
        self?.context.sendLoads()
        self?.perform()
      }
    }
  }

  func end(_ load: LoadID, _ refusal: Refusal?) {
    for waiting in filling.removeValue(forKey: load) ?? [] {
      if let refusal { waiting.resume(throwing: refusal) } else { waiting.resume() }
    }
  }
}
