import GraphControllers
import GraphModel
import GraphReplica
import GraphWire
import Testing

/// A results controller over a window of a longer result. Books are named by the low half of their ids; their ranks are
/// ten times that.
@Suite struct WindowedResultsTests {
  /// A context whose server is the test.
  private final class Script {
    let model: Model
    let book: Entity
    let context: ObjectContext
    private let store = UniqueID(high: 7, low: 7)

    init() throws {
      model = try Model(parsing: LiveGraph.source.utf8)
      book = try #require(model.entity(named: "Book"))
      context = ObjectContext(
        model: model, replica: Replica(id: UniqueID(high: 1, low: 1), author: "ann", model: model.hash))
      context.handle(.connected)
      receive(
        .welcome(
          Welcome(
            model: model, head: token(1), session: 1, server: "", resumed: false, maximumFrameSize: 1 << 20,
            heartbeatMilliseconds: 15_000, principal: "ann", role: .editor)), 1)
      _ = said()
    }

    func token(_ revision: Revision) -> Token {
      Token(store: store, revision: revision, fingerprint: UInt64(revision))
    }

    func id(_ number: UInt64) -> ObjectID { ObjectID(key: UniqueID(high: 1, low: number), entity: book.number) }

    func image(_ number: UInt64) throws -> ObjectImage {
      var image = ObjectImage(
        id: id(number), revision: 1, values: book.storedProperties.map { $0.attribute?.defaultValue ?? .null })
      image[try #require(book.property(named: "rank"))] = .integer(Int64(10 * number))
      return image
    }

    func receive(_ body: ToClient.Body, _ request: UInt64 = 0) { context.handle(.received(ToClient(request, body))) }

    /// The requests to the server.
    func said() -> [ToServer.Body] {
      context.takeActions().compactMap { if case .send(let message) = $0 { message.body } else { nil } }
    }

    /// A controller of three rows, which has the first three of nine.
    func controller() throws -> ResultsController {
      let rank = try #require(book.property(named: "rank")).number
      var request = ResultsRequest(entity: book.number, sort: [SortKey(rank)])
      request.window = ResultsWindow(limit: 3)
      let controller = ResultsController(request, in: context)
      controller.performFetch()
      guard case .subscribe(let subscribe)? = said().first else {
        Issue.record("nothing was asked")
        return controller
      }
      #expect(subscribe.window == .init(sort: "rank", offset: 0, limit: 3))
      receive(.subscribed(query: 4, resumed: false), 2)
      let objects = try [1, 2, 3].map { try image($0) }
      receive(.chunk(Chunk(objects: objects, end: (at: token(1), count: 3), total: 9)), 2)
      receive(.advance(revision: 1, fingerprint: 1))
      return controller
    }

    func delta(_ query: UInt64, _ revision: Revision, _ changes: [Delta.Change], total: UInt64? = nil) {
      var delta = Delta(
        query: query,
        commit: CommitRecord(
          revision: revision, time: 0, author: "bob", transaction: TransactionID(replica: .zero, sequence: 0),
          fingerprint: UInt64(revision), changes: []), changes: changes)
      delta.total = total
      receive(.delta(delta))
    }
  }

  private func rows(_ controller: ResultsController) -> [UInt64] { controller.snapshot.map(\.key.low) }

  @Test func windowHasItsRowsAndTotalCount() throws {
    let script = try Script()
    let controller = try script.controller()
    #expect(controller.state == .loaded && rows(controller) == [1, 2, 3])
    #expect(controller.count == 3 && controller.totalCount == 9 && controller.offset == 0)
  }

  @Test func insertedRowPushesLastRowOut() throws {
    let script = try Script()
    let controller = try script.controller()
    let transcript = ResultsTranscript()
    controller.delegate = transcript
    script.delta(
      4, 2,
      [
        Delta.Change(kind: .removed, id: script.id(3)),
        Delta.Change(kind: .inserted, id: script.id(0), object: try script.image(0), place: 0),
      ], total: 10)
    #expect(rows(controller) == [0, 1, 2] && controller.totalCount == 10)
    #expect(
      transcript.taken() == [
        "3: will change", "3: 3 removed from 0.2", "3: 0 inserted at 0.0", "3: did change 3 to 3",
      ])
  }

  /// An object after the window was inserted.
  @Test func totalCountAloneIsReported() async throws {
    let script = try Script()
    let controller = try script.controller()
    var reader = controller.updates.makeAsyncIterator()
    #expect(try await reader.next()?.difference == nil)
    let transcript = ResultsTranscript()
    controller.delegate = transcript
    script.delta(4, 2, [], total: 10)
    #expect(rows(controller) == [1, 2, 3] && controller.totalCount == 10)
    #expect(transcript.taken() == ["3: will change", "3: did change 3 to 3"])
    let update = try await reader.next()
    #expect(update?.difference?.isEmpty == true && update?.difference?.revision == 2)
    // The same number again is no change.
    script.delta(4, 3, [], total: 10)
    #expect(transcript.taken().isEmpty)
  }

  @Test func movedWindowIsReportedAsOneDifference() throws {
    let script = try Script()
    let controller = try script.controller()
    let transcript = ResultsTranscript()
    controller.delegate = transcript
    controller.move(to: ResultsWindow(offset: 2, limit: 3))
    #expect(script.said() == [.moveWindow(query: 4, offset: 2, limit: 3)])
    #expect(rows(controller) == [1, 2, 3])
    script.receive(
      .windowMoved(
        WindowMoved(
          query: 5, rows: [3, 4, 5].map { script.id($0) }, objects: try [4, 5].map { try script.image($0) }, total: 9,
          at: script.token(1))), 3)
    script.receive(.advance(revision: 1, fingerprint: 1))
    #expect(rows(controller) == [3, 4, 5] && controller.offset == 2)
    #expect(transcript.taken().last == "3: did change 3 to 3")
    // Rows that left the window are not kept.
    #expect(script.context.object(script.id(1)) == nil)
  }

  @Test func controllerWithoutWindowCannotBeMoved() throws {
    let script = try Script()
    let rank = try #require(script.book.property(named: "rank")).number
    let controller = ResultsController(
      ResultsRequest(entity: script.book.number, sort: [SortKey(rank)]), in: script.context)
    controller.performFetch()
    #expect(script.said().count == 1)
    controller.move(to: ResultsWindow(offset: 2, limit: 3))
    #expect(script.said().isEmpty && controller.offset == 0)
  }
}
