import GraphModel
import GraphReplica
import GraphWire

/// Following the whole store from a token: for backups, for other programs, for whoever must not miss a commit.
extension GraphClient {
  /// A commit, and where a reader stands that has taken it.
  public struct FollowedCommit: Sendable {
    /// Nil where nothing fitted the filter: only the token has moved.
    public var commit: CommitEntry?
    /// Kept somewhere, it is where the next reader goes on.
    public var token: Token
  }

  /// The commits behind a token, the oldest first, each once, over every reconnect. The next part is asked for when the one
  /// before it has been taken: a slow reader holds nothing up.
  /// - Parameters:
  ///   - since: where an earlier reader stopped.
  ///   - filter: authors, entities, an object; a commit comes with the changes that fit.
  ///   - untilNow: end where the store stands when it is asked first, instead of waiting for what comes.
  /// - Returns: commits; the server's `Refusal` comes with the first of them: `notFound` for a token of another store, or of
  ///   one that was restored from a backup since, `pruned` for one whose commits history no longer has.
  public func commits(
    since: Token, filter: HistoryFilter = HistoryFilter(), untilNow: Bool = false
  ) -> CommitSequence {
    CommitSequence(client: self, since: since, filter: filter, untilNow: untilNow)
  }

  /// Commits behind a token. Each of its iterators begins at the token.
  public struct CommitSequence: AsyncSequence, Sendable {
    let client: GraphClient
    let since: Token
    let filter: HistoryFilter
    let untilNow: Bool

    nonisolated public func makeAsyncIterator() -> Iterator {
      Iterator(client: client, position: since, filter: filter, untilNow: untilNow)
    }

    /// Asks for part after part.
    public struct Iterator: AsyncIteratorProtocol {
      let client: GraphClient
      var position: Token
      let filter: HistoryFilter
      let untilNow: Bool
      private var waiting = [FollowedCommit]()[...]
      private var end: Revision?
      /// Questions in a row that came to nothing: a server that can't read its store is not asked for ever.
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
          // The question was lost with its connection; it is asked again on the next.
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
        // What was read without finding anything need not be read again by the next reader.
        if at.revision > commits.last?.revision ?? position.revision, end.map({ at.revision <= $0 }) ?? true {
          waiting.append(FollowedCommit(commit: nil, token: at))
        }
        position = at
      }
    }
  }

  /// The one answer to a question; the wait for it ends with the task.
  private func answer(_ question: Question) async throws -> Answer? {
    let stream = ask(question)
    do {
      return try await withTaskCancellationHandler {
        try await stream.nextAnswer()
      } onCancel: {
        Task { @MainActor in stream.end(Refusal(.notAllowed, "the wait was given up")) }
      }
    } catch {
      try Task.checkCancellation()
      throw error
    }
  }

  /// Returns when there is a connection: at once, or when it has been made again.
  /// - Returns: false when there will be none.
  private func waitForConnection() async -> Bool {
    await reconnection()
    return state == .connected
  }
}
