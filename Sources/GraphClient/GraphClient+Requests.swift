import GraphModel
import GraphReplica
import GraphWire

/// Questions with a single answer, or an answer in parts.
extension GraphClient {
  func ask(_ question: ReplicaRequest) -> ReplyStream {
    lastRequest += 1
    let number = lastRequest
    let stream = ReplyStream { [weak self] in self?.handle(.more(number)) }
    guard state != .closed else {
      stream.end(Refusal(.unavailable, "the connection is closed"))
      return stream
    }
    replies[number] = stream
    handle(.ask(number, question))
    return stream
  }

  /// The newest commits after a revision and up to another (0: the newest), newest first.
  /// - Parameter changes: the maximum number of changes of each commit, 0 for author and time only; nil for all of
  ///   them.
  public func log(
    after: Revision = 0, through: Revision = 0, limit: Int, changes: UInt64? = nil
  ) async throws -> [CommitEntry] {
    try await log(LogRequest(after: after, limit: UInt64(limit), through: through, changes: changes))
  }

  /// The commits of a log request, in its order.
  public func log(_ request: LogRequest) async throws -> [CommitEntry] {
    let stream = ask(.log(request))
    var commits = [CommitEntry]()
    while case .log(let part, let last)? = try await stream.nextAnswer() {
      commits += part
      if last { break }
    }
    return commits
  }

  /// The server's status.
  /// - Throws: `Refusal` when there is no connection.
  public func status() async throws -> ServerStatus {
    guard case .status(let status)? = try await ask(.status).nextAnswer() else {
      throw Refusal(.unavailable, "the server sent no status")
    }
    return status
  }
}
