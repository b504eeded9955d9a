import GraphModel
import GraphReplica
import GraphTesting
import GraphWire
import Testing

@testable import GraphClient

/// A part of the commits after a token, as a reader of them receives it.
@Suite struct FollowedCommitsTests {
  private let store = UniqueID(high: 1, low: 1)
  private let note = ObjectID(key: UniqueID(high: 1, low: 9), entity: 3)
  private let other = ObjectID(key: UniqueID(high: 1, low: 10), entity: 3)

  private func token(_ revision: Revision) -> Token {
    Token(store: store, revision: revision, fingerprint: UInt64(revision))
  }

  private func commit(_ revision: Revision, of id: ObjectID) -> CommitEntry {
    let change = ObjectChange(kind: .inserted, id: id, before: nil, after: nil)
    return CommitEntry(
      CommitRecord(
        revision: revision, time: 0, author: "ann", transaction: TransactionID(replica: store, sequence: 1),
        fingerprint: UInt64(revision), changes: [change]))
  }

  private func page(_ revisions: [Revision], at: Revision, _ damage: DamageNotice = DamageNotice()) -> FollowedPage {
    FollowedPage(
      entries: revisions.map { commit($0, of: $0 == 2 ? note : other) }, at: token(at), head: token(9), damage: damage)
  }

  @Test func stateBehindLastMatchFollowsIt() {
    let all = page([2, 3], at: 7).commits(upTo: nil, after: token(1))
    #expect(all.map(\.token) == [token(2), token(3), token(7)])
    #expect(all.map(\.commit?.revision) == [2, 3, nil])
    #expect(page([2, 3], at: 3).commits(upTo: nil, after: token(1)).map(\.token) == [token(2), token(3)])
    #expect(page([2, 3], at: 7).commits(upTo: 2, after: token(1)).map(\.token) == [token(2)])
    #expect(page([], at: 7).commits(upTo: 2, after: token(1)).isEmpty)
  }

  @Test func damageFollowsSoundCommits() {
    let damage = DamageNotice(objects: [note], commits: [4])
    let found = page([2, 3, 5], at: 5, damage).commits(upTo: nil, after: token(1))
    #expect(found.map(\.commit?.revision) == [2, 3, 5, nil])
    #expect(found.last?.token == token(5))
    #expect(found.map(\.damage) == [DamageNotice(), DamageNotice(), DamageNotice(), damage])
    // Only damage was found.
    let alone = page([], at: 4, DamageNotice(commits: [4])).commits(upTo: nil, after: token(3))
    #expect(alone.map(\.token) == [token(4)])
    #expect(alone.first?.damage.commits == [4])
  }

  /// A copy of the graph must not go past a commit that it can't apply.
  @Test func readerWithoutDamageStopsInFrontOfIt() {
    func revisions(_ damage: DamageNotice, upTo end: Revision? = nil) -> [Revision?] {
      page([1, 2, 3, 5], at: 5, damage).soundCommits(upTo: end).map(\.commit?.revision)
    }
    #expect(revisions(DamageNotice(commits: [4])) == [1, 2, 3])
    #expect(revisions(DamageNotice(objects: [note], commits: [4])) == [1])
    #expect(revisions(DamageNotice(objects: [note])) == [1])
    #expect(revisions(DamageNotice(commits: [4]), upTo: 2) == [1, 2])
  }
}
