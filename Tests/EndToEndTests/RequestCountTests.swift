import Foundation
import GraphClient
import GraphModel
import GraphReplica
import GraphTesting
import GraphWire
import StickiesKit
import StickiesModel
import Testing

/// The number of fetches on the wire for twelve hundred notes, each on its own board: one for each step of a path and
/// each thousand objects, not one for each object.
@Suite(.serialized) struct RequestCountTests {
  private static let count = 1_200

  /// A daemon with the notes, a proxy that counts, and a client behind it.
  @MainActor
  private struct RequestCountFixture {
    let daemon: Daemon
    let proxy: CuttingProxy
    let writer: GraphClient
    let reader: GraphClient

    init() async throws {
      daemon = try Daemon()
      try daemon.start()
      proxy = try CuttingProxy(to: daemon.socket, cutAfter: nil)
      writer = try await Self.connect(to: daemon.socket, "writer@test")
      reader = try await Self.connect(to: proxy.address, "reader@test")
      let context = writer.context
      let tags = ["a", "b", "c"].map { name in
        let tag = Tag(in: context)
        tag.name = name
        return tag
      }
      var last: Note?
      for number in 0..<RequestCountTests.count {
        let note = try add(number)
        note.tags.insert(tags[number % 3])
        note.tags.insert(tags[(number + 1) % 3])
        if let last, number % 10 == 0 {
          let link = Link(in: context)
          (link.from, link.to) = (note, last)
        }
        last = note
      }
      try await writer.save()
    }

    private static func connect(to address: ServerAddress, _ author: String) async throws -> GraphClient {
      try await GraphClient.connect(
        to: address, model: StickiesModel.model, classes: StickiesModel.classes, options: .init(author: author))
    }

    /// An unsaved note on a new board.
    @discardableResult
    func add(_ number: Int) throws -> Note {
      let board = Board(in: writer.context)
      let note = Note(in: writer.context)
      board.name = "board \(number)"
      note.text = "\(number)"
      note.board = board
      return note
    }

    /// The entities of the fetches since the last call.
    func fetches() -> [String] {
      proxy.takeFetches().map { reader.context.model.entity($0.entity)?.name ?? "?" }.sorted()
    }

    func end() async {
      await reader.close()
      await writer.close()
      proxy.stop()
      #expect(daemon.stop() == 0)
    }
  }

  @Test @MainActor func prefetchFetchesOncePerStepAndThousandObjects() async throws {
    let stage = try await RequestCountFixture()
    let notes = try await stage.reader.fetch(Note.self, prefetch: [\.board, \.tags, \.outgoing.each.to])
    #expect(notes.count == Self.count)
    // The links' other ends have just been loaded and are read once more, because a prefetch reads the present values.
    #expect(stage.fetches() == ["Board", "Board", "Link", "Link", "Note", "Note", "Tag"])
    // The following steps need no request.
    for note in notes {
      let board = try #require(note.board)
      #expect(!board.isFault && board.name == "board \(note.text)")
      #expect(note.tags.count == 2 && note.tags.allSatisfy { !$0.isFault && !$0.name.isEmpty })
    }
    #expect(notes.reduce(0) { $0 + $1.outgoing.count } == Self.count / 10 - 1)
    #expect(notes.flatMap(\.outgoing).allSatisfy { $0.to?.isFault == false })
    #expect(stage.fetches() == [])

    // From one tag over its notes to their boards: the other side of a many-to-many.
    let tag = try #require(try await stage.reader.fetch(Tag.self, where: { $0.name == "a" }).first)
    let worn = try await stage.reader.load(\.notes, of: tag)
    try await stage.reader.load([\.notes.each.board], of: [tag])
    #expect(worn.count == 2 * Self.count / 3)
    #expect(stage.fetches() == ["Board", "Note", "Note", "Tag"])
    await stage.end()
  }

  @Test @MainActor func twelveHundredFaultsAreTwoFetches() async throws {
    let stage = try await RequestCountFixture()
    let reader = stage.reader
    let notes = try await reader.fetch(Note.self)
    let boards = notes.compactMap(\.board)
    #expect(boards.count == Self.count && boards.allSatisfy { $0.isFault })
    #expect(stage.fetches() == ["Note"])

    // Each load is a task; all loads run at the same time.
    let tasks = boards.map { board in Task { try await reader.load(board) } }
    for task in tasks { try await task.value }
    #expect(boards.allSatisfy { !$0.isFault })
    #expect(stage.fetches() == ["Board", "Board"])

    // Loads one object after the other along a list, without a prefetch.
    for note in notes {
      #expect(try await reader.load(\.tags, of: note).count == 2)
      _ = try await reader.load(\.incoming, of: note)
    }
    #expect(stage.fetches() == ["Link", "Link", "Tag"])
    #expect(notes.reduce(0) { $0 + $1.incoming.count } == Self.count / 10 - 1)

    // Held objects are not read again.
    try await reader.load(boards)
    for board in boards { try await reader.load(board) }
    #expect(stage.fetches() == [])
    await stage.end()
  }

  @Test @MainActor func loopOverFaultsIsTwoFetches() async throws {
    let stage = try await RequestCountFixture()
    let boards = try await stage.reader.fetch(Note.self).compactMap(\.board)
    for board in boards {
      try await stage.reader.load(board)
      #expect(board.name.hasPrefix("board "))
    }
    #expect(stage.fetches() == ["Board", "Board", "Note"])

    // A fetch may bring faults itself.
    let tags = try await stage.reader.faults(of: Tag.self, where: { $0.name != "c" }, sort: [\.name.descending])
    #expect(tags.count == 2 && tags.allSatisfy { $0.isFault })
    for tag in tags { try await stage.reader.load(tag) }
    #expect(tags.map(\.name) == ["b", "a"])
    #expect(stage.fetches() == ["Tag", "Tag"])
    await stage.end()
  }

  @Test @MainActor func objectsLoadTheirOwnRelationships() async throws {
    let stage = try await RequestCountFixture()
    let notes = try await stage.reader.fetch(Note.self)
    #expect(stage.fetches() == ["Note"])
    for note in notes {
      let board = try #require(try await note.load(\.board))
      #expect(board.name == "board \(note.text)")
      #expect(try await note.tags.load().count == 2)
      try await note.incoming.load()
    }
    #expect(stage.fetches() == ["Board", "Board", "Link", "Link", "Tag"])
    #expect(notes.reduce(0) { $0 + $1.incoming.count } == Self.count / 10 - 1)
    await stage.end()
  }

  @Test @MainActor func newObjectsOfLiveQueryAreOneFetchPerCommit() async throws {
    let stage = try await RequestCountFixture()
    let context = stage.reader.context
    let query = try await stage.reader.follow(Note.self, prefetch: [\.board])
    #expect(stage.fetches() == ["Board", "Board"])
    let result = context.result(of: query, as: Note.self)
    #expect(result.count == Self.count && result.allSatisfy { $0.board?.isFault == false })

    let (changes, sink) = AsyncStream.makeStream(of: ObjectsDidChange.self)
    let token = context.observe { sink.yield($0) }
    var following = changes.makeAsyncIterator()
    for number in 1...50 { try stage.add(Self.count + number) }
    try await stage.writer.save()
    let reported = try #require(await following.next())
    #expect(reported.inserted.count == 50 && reported.queries == [query])
    let loaded = try #require(await following.next())
    #expect(loaded.refreshed.count == 50 && loaded.queries == [query])
    #expect(stage.fetches() == ["Board"])
    #expect(context.result(of: query, as: Note.self).allSatisfy { $0.board?.isFault == false })
    token.cancel()
    await stage.end()
  }
}
