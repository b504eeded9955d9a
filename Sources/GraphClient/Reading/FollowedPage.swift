// Tests: FollowedCommitsTests.swift
import GraphModel
import GraphWire

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

  /// The commits, and the state after them if it is newer, or if something is damaged.
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

  /// The commits before the first damage.
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
