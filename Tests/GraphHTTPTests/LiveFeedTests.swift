import GraphModel
import GraphTesting
import GraphWire
import Testing

@testable import GraphHTTP

/// A stream's messages and events, without a server.
@Suite struct LiveFeedTests {
  private let model: Model
  private let entity: Entity
  private let head = Token(store: UniqueID(high: 1, low: 2), revision: 5, fingerprint: 7)

  init() throws {
    model = try Fixtures.company()
    entity = try #require(model.entity(named: "Desk"))
  }

  private func feed(_ lastEventID: String? = nil, limit: Int64? = nil) -> LiveFeed {
    LiveFeed(
      Subscribe(entity: entity.number, predicate: "", wholeObjects: true), lastEventID: lastEventID, limit: limit,
      model: model)
  }

  private var welcome: ToClient {
    ToClient(
      1,
      .welcome(
        Welcome(
          model: model, head: head, session: 1, server: "", resumed: false, maximumFrameSize: 1,
          heartbeatMilliseconds: 1, principal: Principal(author: "ann"), role: .owner)))
  }

  private func text(_ actions: [FeedAction]) -> String {
    actions.map { action in
      if case .write(let bytes, _) = action { String(decoding: bytes, as: UTF8.self) } else { "<\(action)>" }
    }.joined()
  }

  private func chunk(at token: Token?) -> ToClient {
    ToClient(2, .chunk(Chunk(objects: [], end: token.map { ($0, 0) })))
  }

  @Test func snapshotIsCompleteOnlyWithItsID() throws {
    var feed = feed()
    #expect(feed.receive(welcome) == [.send(.subscribe(Subscribe(entity: entity.number, wholeObjects: true)))])
    #expect(
      text(feed.receive(ToClient(2, .subscribed(query: 1, resumed: false))))
        == "<begin>event: snapshot\ndata: {\"snapshot\":[")
    #expect(feed.receive(chunk(at: nil)) == [.write([], more: 2)])
    let end = text(feed.receive(chunk(at: head)))
    #expect(end.hasPrefix("],\"revision\":5}\nid: \(head.store).5."))
    #expect(end.hasSuffix("\n\n"))
    // A part of a snapshot is not completed by anything else.
    var broken = self.feed()
    _ = broken.receive(welcome)
    _ = broken.receive(ToClient(2, .subscribed(query: 1, resumed: false)))
    #expect(broken.receive(ToClient(0, .reset(query: 1, reason: "r"))) == [.abort])
    #expect(broken.hasEnded && broken.receive(chunk(at: head)).isEmpty)
  }

  @Test func heartbeatCarriesTheNewestState() throws {
    var feed = feed()
    _ = feed.receive(welcome)
    _ = feed.receive(ToClient(2, .subscribed(query: 1, resumed: false)))
    #expect(text(feed.receive(ToClient(3, .pong(head)))) == "")
    _ = feed.receive(chunk(at: head))
    let beat = text(feed.receive(ToClient(4, .pong(head))))
    #expect(beat.hasPrefix("event: heartbeat\ndata: {\"revision\":5}\nid: "))
    let lagging = Token(store: head.store, revision: 0, fingerprint: 0)
    #expect(text(feed.receive(ToClient(5, .pong(lagging)))) == "event: heartbeat\ndata: {}\n\n")
  }

  @Test func resetStartsAgainWithItsReason() throws {
    var feed = feed()
    _ = feed.receive(welcome)
    _ = feed.receive(ToClient(2, .subscribed(query: 1, resumed: false)))
    _ = feed.receive(chunk(at: head))
    #expect(feed.receive(ToClient(0, .reset(query: 1, reason: "a large batch"))).isEmpty)
    #expect(text(feed.receive(ToClient(2, .subscribed(query: 1, resumed: false)))).hasPrefix("event: snapshot"))
    #expect(text(feed.receive(chunk(at: head))).contains(#""reset":true,"reason":"a large batch""#))
  }

  @Test func eventsOfOtherRightsHaveAnotherHash() throws {
    var feed = feed()
    _ = feed.receive(welcome)
    _ = feed.receive(ToClient(2, .subscribed(query: 1, resumed: false)))
    _ = feed.receive(chunk(at: head))
    let before = text(feed.receive(ToClient(3, .pong(head))))
    #expect(feed.receive(ToClient(0, .rights(Welcome.GrantEntry.all(of: Rights(user: "ann", role: .reader))))).isEmpty)
    let reader = text(feed.receive(ToClient(4, .pong(head))))
    #expect(before.hasPrefix("event: heartbeat") && reader.hasPrefix("event: heartbeat") && before != reader)
    _ = feed.receive(ToClient(0, .rights(Welcome.GrantEntry.all(of: Rights(user: "ann", role: .owner)))))
    #expect(text(feed.receive(ToClient(5, .pong(head)))) == before)
  }

  @Test func refusalsBeforeTheAnswerAreProblems() throws {
    var greeting = feed()
    let refusal = Refusal(.notAllowed, "no")
    #expect(
      greeting.receive(ToClient(0, .close(code: "notAllowed", message: "no"))) == [.refuse(refusal, isLogin: true)])
    var subscribing = feed()
    _ = subscribing.receive(welcome)
    #expect(subscribing.receive(ToClient(2, .refused(refusal))) == [.refuse(refusal, isLogin: false)])
  }

  @Test func idIsReadBack() throws {
    let id = EventID(head, hash: 0xFF)
    #expect(EventID(id.description) == id)
    for text in ["", "x", "\(id).1", id.description.replacing(".5.", with: ".-5."), "a.5.0.0"] {
      #expect(EventID(text) == nil, "\(text)")
    }
  }

  @Test func limitEndsTheStream() throws {
    var feed = feed(limit: 1)
    _ = feed.receive(welcome)
    _ = feed.receive(ToClient(2, .subscribed(query: 1, resumed: false)))
    let last = feed.receive(chunk(at: head))
    #expect(last.last == .finish && feed.hasEnded)
  }
}
