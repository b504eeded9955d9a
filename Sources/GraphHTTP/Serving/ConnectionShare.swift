// Tests: ConnectionLimitTests.swift

/// The connections that an interface may have open, out of those that the descriptor limit allows.
///
/// A refused connection occupies a descriptor until its client has read the answer, so it comes out of the same share.
struct ConnectionShare {
  /// The maximum number of served connections.
  let served: Int
  /// The maximum number of further connections that get an answer before they are closed.
  let refused: Int

  /// - Parameters:
  ///   - maximum: the maximum number of served connections.
  ///   - available: the number of connections that the descriptor limit allows the interface.
  init(maximum: Int, available: Int) {
    precondition(maximum > 0 && available > 0, "an interface serves connections")
    // With a single descriptor, connections above the limit get no answer.
    refused = min(HTTPLimits.refusedConnections, available / 8)
    served = min(maximum, available - refused)
  }
}
