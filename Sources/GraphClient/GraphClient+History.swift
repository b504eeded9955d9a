import GraphModel
import GraphReplica
import GraphWire

/// The past: what was there comes back, why a value is what it is, and what two states differ in. The server reads all of
/// it from history; what is unsaved in the context is no part of it.
extension GraphClient {
  // MARK: - Restore

  /// Brings an object back, or gives it back what it had, as a new commit. `committed.conflicts` of the answer name what
  /// could not be as it was: the other end of a relationship is gone (`deleted`) or taken (`changed`).
  /// - Parameters:
  ///   - revision: the state to go back to; nil, for an object that is deleted: the one just before that.
  ///   - contents: with everything that was in it: what its delete would have taken along.
  /// - Throws: `Refusal`: `notFound` for what was not there, `conflict` when there is nothing to restore, or any that a
  ///   commit can meet.
  public func restore(_ id: ObjectID, at revision: Revision? = nil, contents: Bool = true) async throws -> Saved {
    try await restore(contents ? .contents(id) : .object(id), at: revision)
  }

  /// Makes the whole graph what it was, as a new commit: what was made since is deleted. Revision 0 is the empty graph.
  public func restoreEverything(at revision: Revision) async throws -> Saved {
    try await restore(.everything, at: revision)
  }

  private func restore(_ scope: RestoreRequest.Scope, at revision: Revision?) async throws -> Saved {
    // Servers that don't tell it from none would take what was there just before the delete.
    guard revision != 0 || scope == .everything else {
      throw Refusal(.notFound, "at revision 0 nothing was there")
    }
    let id = context.newTransactionID()
    context.restore(RestoreRequest(id, scope, at: revision))
    return try await answer(to: id)
  }

  // MARK: - Why

  /// Who gave a property the value that it has, when, in which transaction, what it replaced, and what lost to it.
  /// - Parameter id: of an object that is there, or was.
  /// - Throws: `Refusal`: `notFound` for an object that never was, `malformed` for a property that is kept at its other
  ///   end.
  public func why(_ property: Property, of id: ObjectID) async throws -> ValueOrigin {
    guard case .why(let origin)? = try await ask(.why(id, property.number)).nextAnswer() else {
      throw Refusal(.unavailable, "the server did not say where the value comes from")
    }
    return origin
  }

  // MARK: - Differences

  /// What two states differ in, object by object: by entity, and by id. Read part by part, as they are taken.
  public func differences(_ request: DifferenceRequest) -> DifferenceSequence {
    DifferenceSequence(stream: ask(.changes(.differences(request))))
  }

  /// The differences of two states, in parts. It can be gone through once.
  @MainActor
  public struct DifferenceSequence: AsyncSequence {
    let stream: ReplyStream

    /// Takes part after part.
    public struct Iterator: AsyncIteratorProtocol {
      let stream: ReplyStream

      @MainActor
      public mutating func next() async throws -> [ObjectDifference]? { try await stream.nextDifferences() }
    }

    nonisolated public func makeAsyncIterator() -> Iterator { Iterator(stream: stream) }
  }
}
