import GraphModel
import GraphStore
import GraphTesting
import Testing

/// History as a user with a role on one board sees it: log, follow, differences, the origin of a value, and errors.
@Suite struct VisibleHistoryTests {
  private let store: TestStore
  private let mine: ObjectID
  private let theirs: ObjectID
  /// A reader of the board `mine`.
  private let visibility: Visibility?

  init() throws {
    store = try TestStore(try ScopedGraph.model())
    mine = try store.insert("Board", ["title": .string("mine")])
    theirs = try store.insert("Board", ["title": .string("theirs")])
    visibility = Visibility(Rights(user: "u9", grants: [Grant(.reader, on: mine.key)]), model: store.model)
  }

  private func note(_ text: String, on board: ObjectID, next: ObjectID? = nil) throws -> ObjectID {
    var values: [String: Value] = ["text": .string(text), "board": .object(board)]
    if let next { values["next"] = .object(next) }
    return try store.insert("Note", values)
  }

  /// The visible changes, newest commit first: the sign of the kind, and the text of a note.
  private func log(_ filter: HistoryFilter = HistoryFilter(), limit: UInt64 = 0) throws -> [String] {
    var request = LogRequest(limit: limit)
    request.filter = filter
    var lines = [String]()
    let text = try store.property("Note.text")
    _ = try store.store.log(request, seenBy: visibility, maximumChanges: .max, while: { true }) { commit in
      #expect(commit.more == 0)
      for change in commit.changes where change.id.entity == text.owner {
        let sign =
          switch change.kind {
          case .inserted: "+"
          case .updated: "~"
          case .deleted: "-"
          }
        lines.append(sign + (((change.after ?? change.before)?[text].stringValue) ?? "?"))
      }
    }
    return lines
  }

  @Test func logShowsEachChangeThatIsVisible() throws {
    let moving = try note("moves", on: theirs)
    _ = try note("hidden", on: theirs)
    try store.must([store.update(moving, "Note.board", .object(mine))])
    try store.must([store.update(moving, "Note.text", .string("edited"))])
    try store.must([store.update(moving, "Note.board", .object(theirs))])
    try store.must([store.update(moving, "Note.text", .string("secret"))])
    #expect(try log() == ["-edited", "~edited", "+moves"])
    // The limit counts what is visible.
    #expect(try log(limit: 1) == ["-edited"])
    #expect(try log(limit: 2) == ["-edited", "~edited"])
  }

  @Test func logNamesNoInvisibleObject() throws {
    let hidden = try note("hidden", on: theirs)
    let shown = try note("shown", on: mine, next: hidden)
    let next = try store.property("Note.next")
    _ = try store.store.log(LogRequest(limit: 1), seenBy: visibility, maximumChanges: .max, while: { true }) {
      let change = $0.changes.first { $0.id == shown }
      #expect(change?.after?[next] == .null)
    }
    try store.must([store.update(shown, "Note.next", .null)])
    _ = try store.store.log(LogRequest(limit: 1), seenBy: visibility, maximumChanges: .max, while: { true }) {
      #expect($0.changes.first?.edits.isEmpty == true && $0.changes.first?.before?[next] == .null)
    }
  }

  private func refusal(_ body: () throws -> Void) -> Refusal? {
    do {
      try body()
      return nil
    } catch {
      return error as? Refusal
    }
  }

  /// Byte for byte as for an object that never existed.
  @Test func invisibleObjectIsNotFound() throws {
    let hidden = try note("hidden", on: theirs)
    let unknown = ObjectID(key: UniqueID(high: hidden.key.high, low: hidden.key.low ^ 1), entity: hidden.entity)
    let text = try store.property("Note.text").number
    let head = try store.store.head.revision
    let requests: [(ObjectID) throws -> Void] = [
      { _ = try store.store.origin(of: text, of: $0, seenBy: visibility) },
      { id in
        let request = DifferenceRequest(from: 0, to: head, object: id)
        _ = try store.store.differences(request, seenBy: visibility) { _ in }
      },
      { _ = try log(HistoryFilter(object: $0.description)) },
    ]
    for request in requests {
      let (first, second) = (refusal { try request(hidden) }, refusal { try request(unknown) })
      #expect(first?.code == .notFound && first?.code == second?.code)
      #expect(first?.message == second?.message.replacing(unknown.description, with: hidden.description))
    }
    // The beginning of an id is not a way to find it, either.
    let prefix = String(hidden.description.prefix(8))
    #expect(refusal { _ = try log(HistoryFilter(object: prefix)) }?.message.contains(hidden.description) == false)
    for at in [nil, head] {
      var found = 0
      let request = FetchRequest(entity: hidden.entity, predicate: .identifiers([hidden]), at: at)
      let end = try store.store.answer(request, seenBy: visibility, while: { true }) { _ in found += 1 }
      #expect(found == 0 && end.count == 0)
    }
  }

  @Test func originIsThatOfTheVisibleTime() throws {
    let moving = try store.by("bob") { try note("moves", on: theirs) }
    let text = try store.property("Note.text").number
    try store.by("cleo") { _ = try store.must([store.update(moving, "Note.board", .object(mine))]) }
    let moved = try store.store.head.revision
    let origin = try store.store.origin(of: text, of: moving, seenBy: visibility)
    #expect(origin.author == "cleo" && origin.revision == moved && origin.kind == .inserted)
    #expect(try store.store.origin(of: text, of: moving).author == "bob")
    try store.by("dan") { _ = try store.must([store.update(moving, "Note.text", .string("new"))]) }
    #expect(try store.store.origin(of: text, of: moving, seenBy: visibility).author == "dan")
  }

  /// A former value has the references that were visible at its time, also to objects that are gone or visible now.
  @Test func originHasTheReferencesOfItsTime() throws {
    let next = try store.property("Note.next").number
    let moving = try note("moves", on: theirs)
    let gone = try note("gone", on: mine)
    let first = try note("first", on: mine, next: moving)
    let second = try note("second", on: mine, next: gone)
    try store.must([store.update(first, "Note.next", .null), store.update(second, "Note.next", .null)])
    try store.must([store.update(moving, "Note.board", .object(mine)), Change(.delete, gone, base: .max)])
    let hidden = try store.store.origin(of: next, of: first, seenBy: visibility)
    #expect(hidden.kind == .updated && hidden.replaced == .null)
    #expect(try store.store.origin(of: next, of: second, seenBy: visibility).replaced == .object(gone))
    #expect(try store.store.origin(of: next, of: first).replaced == .object(moving))
    try store.must([store.update(first, "Note.next", .object(moving))])
    #expect(try store.store.origin(of: next, of: first, seenBy: visibility).value == .object(moving))
  }

  @Test func differencesAreThoseOfTheReducedGraph() throws {
    let moving = try note("moves", on: theirs)
    let staying = try note("stays", on: mine)
    let from = try store.store.head.revision
    try store.must([
      store.update(moving, "Note.board", .object(mine)), store.update(staying, "Note.board", .object(theirs)),
    ])
    _ = try note("hidden", on: theirs)
    var kinds = [ObjectID: ObjectChange.Kind]()
    _ = try store.store.differences(DifferenceRequest(from: from), seenBy: visibility) { kinds[$0.object.id] = $0.kind }
    #expect(kinds == [moving: .inserted, staying: .deleted])
  }

  @Test func followPassesInvisibleCommits() throws {
    let begin = try store.store.head
    _ = try note("hidden", on: theirs)
    let empty = try store.store.follow(FollowRequest(since: begin), seenBy: visibility)
    #expect(try empty.commits.isEmpty && empty.at == store.store.head)
    _ = try note("shown", on: mine)
    let page = try store.store.follow(FollowRequest(since: begin), seenBy: visibility)
    #expect(page.commits.count == 1 && page.at == page.head)
    // Only commits that are visible fill a page.
    var request = FollowRequest(since: begin)
    request.limit = 1
    let first = try store.store.follow(request, seenBy: visibility)
    #expect(first.commits.count == 1 && first.at.revision == begin.revision + 2)
  }

  /// A page does not end at a revision at which another user has changed something invisible.
  @Test func followWithAFilterEndsAtNoInvisibleCommit() throws {
    let begin = try store.store.head
    let hidden = try note("hidden", on: theirs)
    let moving = try note("moves", on: mine)
    try store.must([store.update(moving, "Note.board", .object(theirs))])
    for number in 0..<70 { try store.must([store.update(moving, "Note.text", .string("secret \(number)"))]) }
    let last = try note("shown", on: mine)
    let newest = try store.store.head.revision
    let author = try #require(try store.store.follow(FollowRequest(since: begin), seenBy: nil).commits.first?.author)
    let filters = [
      HistoryFilter(authors: [author]), HistoryFilter(authors: ["nobody"]),
      HistoryFilter(entities: [try store.property("Note.text").owner]), HistoryFilter(object: "\(moving.key)"),
    ]
    for (index, filter) in filters.enumerated() {
      var (request, ends, seen) = (FollowRequest(since: begin), [Revision](), [ObjectID]())
      (request.limit, request.filter) = (1, filter)
      repeat {
        let page = try store.store.follow(request, seenBy: visibility)
        seen += page.commits.flatMap(\.changes).map(\.id)
        ends.append(page.at.revision)
        request.since = page.at
      } while try #require(ends.last) < newest
      #expect(!seen.contains(hidden))
      // The insert of the note, its move, and the insert of the last one.
      let visible = [begin.revision + 2, begin.revision + 3, newest]
      let expected = [visible, [newest], visible, Array(visible.prefix(2)) + [newest]][index]
      #expect(ends == expected, "\(filter)")
      #expect(seen == [[moving, moving, last], [], [moving, moving, last], [moving, moving]][index], "\(filter)")
    }
  }
}
