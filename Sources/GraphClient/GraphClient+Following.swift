// Tests: FollowedCommitsTests.swift, HistoryCommandTests.swift
import GraphModel
import GraphReplica
import GraphWire

extension GraphClient {
  /// The commits after a token. Each of its iterators begins at the token.
  public struct CommitSequence: AsyncSequence, Sendable {
    let client: GraphClient
    let since: Token
    let filter: HistoryFilter
    let untilNow: Bool
    let omitsDamage: Bool

    nonisolated public func makeAsyncIterator() -> Iterator {
      Iterator(client: client, position: since, filter: filter, untilNow: untilNow, omitsDamage: omitsDamage)
    }

    /// Requests one part after another.
    public struct Iterator: AsyncIteratorProtocol {
      let client: GraphClient
      var position: Token
      let filter: HistoryFilter
      let untilNow: Bool
      let omitsDamage: Bool
      private var waiting = [FollowedCommit]()[...]
      /// The refusal of damage, which follows the waiting commits.
      private var refusal: Refusal?
      private var end: Revision?
      /// Consecutive failed requests: a server that can't read its store is not asked forever.
      private var failures = 0
      private static let maximumFailures = 10

      init(client: GraphClient, position: Token, filter: HistoryFilter, untilNow: Bool, omitsDamage: Bool) {
        self.client = client
        self.position = position
        self.filter = filter
        self.untilNow = untilNow
        self.omitsDamage = omitsDamage
      }

      @MainActor
      public mutating func next() async throws -> FollowedCommit? {
        while waiting.isEmpty {
          try Task.checkCancellation()
          if let refusal { throw refusal }
          if let end, position.revision >= end { return nil }
          try await requestPart()
        }
        return waiting.popFirst()
      }

      @MainActor
      private mutating func requestPart() async throws {
        let request = FollowRequest(since: position, filter: filter, waits: !untilNow)
        let page: FollowedPage
        do {
          page = try await client.followedPage(request)
          failures = 0
        } catch let refusal as Refusal where refusal.code == .unavailable && failures < Self.maximumFailures {
          // The request was lost with its connection: repeat it on the next.
          failures += 1
          guard await client.waitForConnection() else { throw refusal }
          return
        }
        if untilNow, end == nil { end = page.head.revision }
        if !page.damage.isEmpty, !omitsDamage {
          refusal = page.damage.refusal
          waiting = page.soundCommits(upTo: end)
        } else {
          waiting = page.commits(upTo: end, after: position)
        }
        position = page.at
      }
    }
  }

  /// The next commits after a token; cancelling the task ends the wait.
  private func followedPage(_ request: FollowRequest) async throws -> FollowedPage {
    try await reply(to: .changes(.follow(request))) { part in
      if case .followed(let commits, let at, let head, let damage) = part {
        FollowedPage(entries: commits, at: at, head: head, damage: damage)
      } else {
        nil
      }
    }
  }

  /// Waits until there is a connection.
  /// - Returns: false if there will be none.
  private func waitForConnection() async -> Bool {
    await waitForReconnection()
    return state == .connected
  }
}

/// An answer with commits after a token.
struct FollowedPage {
  let entries: [CommitEntry]
  /// The state up to which history was read.
  let at: Token
  let head: Token
  let damage: DamageNotice

  private func followedCommit(_ commit: CommitEntry) -> GraphClient.FollowedCommit {
    GraphClient.FollowedCommit(
      commit: commit, token: Token(store: at.store, revision: commit.revision, fingerprint: commit.fingerprint))
  }

  private func isWithin(_ revision: Revision, _ end: Revision?) -> Bool {
    if let end { revision <= end } else { true }
  }

  /// The commits, and the state behind them if it is newer, or if something is damaged.
  /// - Parameters:
  ///   - end: the last revision that the reader wants; nil for all of them.
  ///   - position: the reader's position before the page.
  func commits(upTo end: Revision?, after position: Token) -> ArraySlice<GraphClient.FollowedCommit> {
    var followed = entries.filter { isWithin($0.revision, end) }.map(followedCommit)
    let last = if let last = followed.last { last.token } else { position }
    // The next reader need not read commits again that did not match.
    let reached = isWithin(at.revision, end) ? at : last
    if reached.revision > last.revision || !damage.isEmpty {
      followed.append(GraphClient.FollowedCommit(commit: nil, token: reached, damage: damage))
    }
    return followed[...]
  }

  /// The commits in front of the first damage.
  func soundCommits(upTo end: Revision?) -> ArraySlice<GraphClient.FollowedCommit> {
    let objects = Set(damage.objects)
    let firstDamaged = damage.commits.min()
    let sound = entries.prefix { commit in
      if let firstDamaged, commit.revision > firstDamaged { return false }
      return isWithin(commit.revision, end) && !commit.changes.contains { objects.contains($0.id) }
    }
    return sound.map(followedCommit)[...]
  }
}
