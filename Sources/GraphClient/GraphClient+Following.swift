import GraphModel
import GraphReplica
import GraphWire

/// Follows the store's commits from a token, for backups and other programs that must not miss a commit.
extension GraphClient {
  /// A commit, and the token of a reader that has processed it.
  public struct FollowedCommit: Sendable {
    /// Nil if nothing matched the filter: only the token has advanced.
    public var commit: CommitEntry?
    /// Persisted, it is where the next reader continues.
    public var token: Token
  }

  /// The commits after a token, the oldest first, each once, across reconnects. A part is requested when the previous
  /// one has been consumed: a slow reader delays nothing else.
  /// - Parameters:
  ///   - since: the token at which an earlier reader stopped.
  ///   - filter: authors, entities, an object; a commit contains only the changes that match.
  ///   - untilNow: end at the state of the store at the first request, instead of waiting for further commits.
  /// - Returns: commits; the server's `Refusal` is thrown with the first of them: `notFound` for a token of another
  ///   store, or of one that was restored from a backup since, `pruned` for one whose commits history no longer has.
  public func commits(
    since: Token, filter: HistoryFilter = HistoryFilter(), untilNow: Bool = false
  ) -> CommitSequence {
    CommitSequence(client: self, since: since, filter: filter, untilNow: untilNow)
  }

  /// The commits after a token. Each of its iterators begins at the token.
  public struct CommitSequence: AsyncSequence, Sendable {
    let client: GraphClient
    let since: Token
    let filter: HistoryFilter
    let untilNow: Bool

    nonisolated public func makeAsyncIterator() -> Iterator {
      Iterator(client: client, position: since, filter: filter, untilNow: untilNow)
    }

    /// Requests one part after another.
    public struct Iterator: AsyncIteratorProtocol {
      let client: GraphClient
      var position: Token
      let filter: HistoryFilter
      let untilNow: Bool
      private var waiting = [FollowedCommit]()[...]
      private var end: Revision?
      /// Consecutive failed requests: a server that can't read its store is not asked forever.
      private var failures = 0
      private static let maximumFailures = 10

      init(client: GraphClient, position: Token, filter: HistoryFilter, untilNow: Bool) {
        self.client = client
        self.position = position
        self.filter = filter
        self.untilNow = untilNow
      }

      @MainActor
      public mutating func next() async throws -> FollowedCommit? {
        while waiting.isEmpty {
          try Task.checkCancellation()
          if let end, position.revision >= end { return nil }
          try await askForMore()
        }
        return waiting.popFirst()
      }

      @MainActor
      private mutating func askForMore() async throws {
        let request = FollowRequest(since: position, filter: filter, waits: !untilNow)
        let (commits, at, head): ([CommitEntry], Token, Token)
        do {
          let answer = try await client.answer(.changes(.follow(request)))
          guard case .followed(let found, let reached, let newest)? = answer else {
            throw Refusal(.unavailable, "the server did not say what was committed")
          }
          (commits, at, head) = (found, reached, newest)
          failures = 0
        } catch let refusal as Refusal where refusal.code == .unavailable && failures < Self.maximumFailures {
          // The request was lost with its connection: repeat it on the next.
          failures += 1
          guard await client.waitForConnection() else { throw refusal }
          return
        }
        if untilNow, end == nil { end = head.revision }
        let store = position.store
        waiting =
          commits.map { commit in
            FollowedCommit(
              commit: commit, token: Token(store: store, revision: commit.revision, fingerprint: commit.fingerprint))
          }[...]
        if let end { waiting = waiting.prefix { $0.token.revision <= end } }
        // The next reader need not read commits again that did not match.
        if at.revision > commits.last?.revision ?? position.revision, end.map({ at.revision <= $0 }) ?? true {
          waiting.append(FollowedCommit(commit: nil, token: at))
        }
        position = at
      }
    }
  }

  /// The single answer to a question; cancelling the task ends the wait.
  private func answer(_ question: ReplicaRequest) async throws -> RequestResult? {
    let stream = ask(question)
    do {
      return try await withTaskCancellationHandler {
        try await stream.nextAnswer()
      } onCancel: {
        Task { @MainActor in stream.end(Refusal(.notAllowed, "the wait was cancelled")) }
      }
    } catch {
      try Task.checkCancellation()
      throw error
    }
  }

  /// Waits until there is a connection.
  /// - Returns: false if there will be none.
  private func waitForConnection() async -> Bool {
    await reconnection()
    return state == .connected
  }
}
