import GraphModel
import GraphStore
import GraphTesting
import Testing

/// Readers that continue from a token: the accepted tokens, and the messages for the others.
@Suite struct FollowTests {
  let store: TestStore
  let board: ObjectID

  init() throws {
    store = try TestStore(try Fixtures.stickies())
    board = try store.insert("Board", ["name": .string("B")])
    _ = try store.insert("Tag", ["name": .string("t")])
  }

  private func follow(_ token: Token, entity: String? = nil, limit: UInt64 = 0) throws -> CommitPage {
    let filter = HistoryFilter(entities: try entity.map { [try store.entity($0).number] } ?? [])
    return try store.store.follow(FollowRequest(since: token, filter: filter, limit: limit))
  }

  private func refusal(_ token: Token) -> Refusal? {
    #expect(throws: Refusal.self) { _ = try follow(token) }
  }

  private var beginning: Token { Token(store: store.store.storeID, revision: 0, fingerprint: 0) }

  @Test func everyCommitIsFollowedOnce() throws {
    let first = try follow(beginning, limit: 1)
    #expect(first.commits.map(\.revision) == [1])
    #expect(first.at.revision == 1)
    #expect(first.at.fingerprint == first.commits.first?.fingerprint)
    let second = try follow(first.at, limit: 1)
    #expect(second.commits.map(\.revision) == [2])
    #expect(second.at == second.head)
    #expect(try follow(second.at).commits.isEmpty)
    try store.reopen()
    #expect(try follow(first.at).commits == second.commits)
  }

  @Test func filteredCommitsAdvanceTheToken() throws {
    let part = try follow(beginning, entity: "Link")
    #expect(part.commits.isEmpty)
    #expect(part.at == part.head)
    #expect(try follow(beginning, entity: "Tag").commits.map(\.revision) == [2])
  }

  @Test func tokenOfOtherStoreIsRefused() throws {
    var token = try store.store.head
    token.store = UniqueID(high: 9, low: 9)
    let refusal = refusal(token)
    #expect(refusal?.code == .notFound)
    #expect(refusal?.message.contains("another store") == true)
  }

  @Test func tokenOfOtherHistoryIsRefused() throws {
    // Two stores with one history, as after the restore of a backup; then each has its own commits.
    let backup = try store.twin()
    _ = try store.insert("Tag", ["name": .string("mine")])
    let ahead = try store.store.head
    let tooNew = #expect(throws: Refusal.self) { _ = try backup.store.follow(FollowRequest(since: ahead)) }
    #expect(tooNew?.code == .notFound)
    #expect(tooNew?.message.contains("ahead of the store") == true)
    _ = try backup.insert("Tag", ["name": .string("theirs")])
    let other = #expect(throws: Refusal.self) { _ = try backup.store.follow(FollowRequest(since: ahead)) }
    #expect(other?.code == .notFound)
    #expect(other?.message.contains("restored from a backup") == true)
  }

  @Test func tokenRoundTrips() throws {
    let token = try store.store.head
    #expect(Token(token.description) == token)
    let wide = Token(store: UniqueID(high: .max, low: .max), revision: .max, fingerprint: .max)
    #expect(Token(wide.description) == wide)
    #expect(Token(beginning.description) == beginning)
    for text in [
      "", "1", token.description.uppercased(), token.description + "0", String(token.description.dropLast()),
      token.description.replacing(".", with: ".0", maxReplacements: 1), " " + token.description, "..",
    ] {
      #expect(Token(text) == nil, "\(text)")
    }
  }

  // MARK: - Differences

  private func differences(_ request: DifferenceRequest) throws -> [ObjectDifference] {
    var found = [ObjectDifference]()
    _ = try store.store.differences(request) { found.append($0) }
    return found
  }

  @Test func contentsOfObjectAreFollowedWithIt() throws {
    let other = try store.insert("Board", ["name": .string("other")])
    let notes = try [board, other].map { try store.insert("Note", ["board": .object($0)]) }
    let revision = try store.store.head.revision
    for note in notes { try store.must([store.update(note, "Note.x", .double(5))]) }
    try store.must([store.insertion("Link", ["from": .object(notes[0]), "to": .object(notes[1])])])
    let moved = try store.insert("Note", ["board": .object(board)])
    try store.must([store.update(moved, "Note.board", .object(other))])
    let contents = DifferenceRequest(from: revision, object: board, contents: true)
    let found = try differences(contents)
    let link = try #require(try store.all("Link").first)
    #expect(Set(found.map(\.object.id)) == [notes[0], link.id])
    #expect(found.count == 2)
    let x = try store.property("Note.x").number
    let changed = found.first { $0.object.id == notes[0] }?.properties.first { $0.number == x }
    #expect(changed?.was == .double(0))
    // A note counts if it was on the board at either end.
    let later = DifferenceRequest(from: revision + 4, object: board, contents: true)
    #expect(try differences(later).map(\.object.id) == [moved])
    let alone = DifferenceRequest(from: revision, object: notes[1])
    #expect(try differences(alone).map(\.object.id) == [notes[1]])
    #expect(try differences(DifferenceRequest(from: revision, object: board)).isEmpty)
  }

  @Test func unknownRevisionsAreRefused() throws {
    let head = try store.store.head.revision
    for (request, code) in [
      (DifferenceRequest(from: head + 1), Refusal.Code.notFound), (DifferenceRequest(from: 1, to: head + 1), .notFound),
      (DifferenceRequest(from: -1), .malformed), (DifferenceRequest(from: 0, entities: [99]), .malformed),
      (DifferenceRequest(from: 0, object: ObjectID(key: UniqueID(high: 9, low: 9), entity: 0)), .notFound),
    ] {
      let refusal = #expect(throws: Refusal.self) { _ = try differences(request) }
      #expect(refusal?.code == code)
    }
  }
}
