import GraphModel
import GraphReplica
import GraphWire

/// History: restores earlier states, and finds the origin of a value and the differences of two states. The server
/// reads all of it from history; unsaved changes in the context are not part of it.
extension GraphClient {
  // MARK: - Restore

  /// Restores an object, or its earlier values, as a new commit. `committed.conflicts` of the answer lists what could
  /// not be restored: the other end of a relationship is deleted (`deleted`) or taken (`changed`).
  /// - Parameters:
  ///   - revision: the state to go back to; nil, for a deleted object, is the state just before its delete.
  ///   - contents: also restore everything that its delete would have cascaded to.
  /// - Throws: `Refusal`: `notFound` for an object that did not exist, `conflict` when there is nothing to restore,
  ///   or any that a commit can meet.
  public func restore(_ id: ObjectID, at revision: Revision? = nil, contents: Bool = true) async throws -> SaveResult {
    try await restore(contents ? .contents(id) : .object(id), at: revision)
  }

  /// Restores the entire graph to an earlier state, as a new commit: objects inserted since are deleted. Revision 0
  /// is the empty graph.
  public func restoreEverything(at revision: Revision) async throws -> SaveResult {
    try await restore(.everything, at: revision)
  }

  private func restore(_ scope: RestoreRequest.Scope, at revision: Revision?) async throws -> SaveResult {
    // A server that reads revision 0 as none would restore the state just before the delete.
    guard revision != 0 || scope == .everything else {
      throw Refusal(.notFound, "nothing existed at revision 0")
    }
    let id = context.newTransactionID()
    context.restore(RestoreRequest(id, scope, at: revision))
    return try await answer(to: id)
  }

  // MARK: - Why

  /// The origin of a property's value. It has the author, time, transaction, the value that it replaced, and the
  /// values that lost to it.
  /// - Parameter id: of an object that exists, or did.
  /// - Throws: `Refusal`: `notFound` for an object that never existed, `malformed` for a property that is stored at
  ///   its other end.
  public func why(_ property: Property, of id: ObjectID) async throws -> ValueOrigin {
    guard case .why(let origin)? = try await ask(.why(id, property.number)).nextAnswer() else {
      throw Refusal(.unavailable, "the server did not say where the value comes from")
    }
    return origin
  }

  // MARK: - Differences

  /// The differences of two states, object by object, ordered by entity and id. Each part is read when it is
  /// consumed.
  public func differences(_ request: DifferenceRequest) -> DifferenceSequence {
    DifferenceSequence(stream: ask(.changes(.differences(request))))
  }

  /// The differences of two states, in parts. It can be iterated once.
  @MainActor
  public struct DifferenceSequence: AsyncSequence {
    let stream: ReplyStream

    /// Reads one part after another.
    public struct Iterator: AsyncIteratorProtocol {
      let stream: ReplyStream

      @MainActor
      public mutating func next() async throws -> [ObjectDifference]? { try await stream.nextDifferences() }
    }

    nonisolated public func makeAsyncIterator() -> Iterator { Iterator(stream: stream) }
  }
}
