import GraphModel
import GraphTesting
import GraphWire
import Testing

@testable import GraphHTTP

/// The messages and events of a stream with several queries, without a server. The queries have the numbers 7 and 9.
@Suite struct CombinedFeedTests {
  private let model: Model
  private let entities: [Entity]
  private let head = Token(store: UniqueID(high: 1, low: 2), revision: 5, fingerprint: 7)

  init() throws {
    let model = try Fixtures.company()
    self.model = model
    entities = try ["Desk", "Project"].map { try #require(model.entity(named: $0)) }
  }

  private var queries: [Subscribe] {
    entities.map { Subscribe(entity: $0.number, predicate: "", wholeObjects: true) }
  }

  private func feed(_ lastEventID: String? = nil, limit: Int64? = nil) -> CombinedFeed {
    CombinedFeed(queries, lastEventID: lastEventID, limit: limit, model: model)
  }

  private var welcome: ToClient {
    ToClient(
      1,
      .welcome(
        Welcome(
          model: model, head: head, session: 1, server: "", resumed: false, maximumFrameSize: 1,
          heartbeatMilliseconds: 1, principal: Principal(author: "ann"), role: .owner)))
  }

  private func token(_ revision: Revision) -> Token {
    Token(store: head.store, revision: revision, fingerprint: UInt64(revision))
  }

  private func subscribed(_ number: UInt64, resumed: Bool = false) -> ToClient {
    ToClient(number == 7 ? 2 : 3, .subscribed(query: number, resumed: resumed, known: false))
  }

  private func chunk(_ request: UInt64, at revision: Revision?) -> ToClient {
    ToClient(request, .chunk(Chunk(objects: [], end: revision.map { (token($0), 0) })))
  }

  private func delta(_ query: UInt64, _ revision: Revision) -> ToClient {
    let record = CommitRecord(
      revision: revision, time: 0, author: "ann", transaction: TransactionID(replica: .zero, sequence: 1),
      fingerprint: UInt64(revision), changes: [])
    let id = ObjectID(key: UniqueID(high: query, low: 1), entity: entities[query == 7 ? 0 : 1].number)
    return ToClient(0, .delta(Delta(query: query, commit: record, changes: [Delta.Change(kind: .removed, id: id)])))
  }

  private func advance(_ revision: Revision) -> ToClient {
    ToClient(0, .advance(revision: revision, fingerprint: UInt64(revision)))
  }

  /// The events of messages, each as its name, its data up to the author and the time, and whether it has an id.
  private func events(_ feed: inout CombinedFeed, _ messages: ToClient...) -> [String] {
    var lines = [String]()
    for action in messages.flatMap({ feed.receive($0, nextRequest: 2) }) {
      guard case .write(let bytes, _) = action else {
        lines.append("<\(action)>")
        continue
      }
      let parts = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
      let data = parts[1].replacing(#","author":"ann","time":"1970-01-01T00:00:00.000000Z""#, with: "")
      let id = parts.count > 2 ? " id " + parts[2].split(separator: ".")[1] : ""
      lines.append("\(parts[0].dropFirst("event: ".count)) \(data.dropFirst("data: ".count))\(id)")
    }
    return lines
  }

  /// A feed whose first results are complete at revision 5.
  private func following(limit: Int64? = nil) -> CombinedFeed {
    var feed = feed(limit: limit)
    _ = events(&feed, welcome, subscribed(7), subscribed(9), chunk(2, at: 5), chunk(3, at: 5), advance(5))
    return feed
  }

  private func change(_ query: Int, _ number: UInt64) -> String {
    let entity = entities[query]
    let id = ObjectID(key: UniqueID(high: number, low: 1), entity: entity.number)
    return #"{"query":\#(query),"kind":"removed","object":{"id":"\#(id)","entity":"\#(entity.name)"}}"#
  }

  @Test func idComesWhenAllQueriesAreComplete() {
    var feed = feed()
    #expect(feed.receive(welcome, nextRequest: 2) == queries.map { .send(.subscribe($0)) })
    // The answer begins when the server has accepted all queries.
    #expect(events(&feed, subscribed(7), chunk(2, at: nil)).isEmpty)
    #expect(events(&feed, subscribed(9)) == ["<begin>", #"snapshot {"query":0,"snapshot":[],"more":true}"#])
    // The parts of two snapshots can alternate.
    #expect(events(&feed, chunk(3, at: nil)) == [#"snapshot {"query":1,"snapshot":[],"more":true}"#])
    #expect(events(&feed, chunk(2, at: 5)) == [#"snapshot {"query":0,"snapshot":[],"revision":5}"#])
    // This advance arrives before the last chunk of the other query.
    #expect(events(&feed, delta(7, 6), advance(6)) == [#"commit {"revision":6,"changes":[\#(change(0, 7))]}"#])
    #expect(events(&feed, chunk(3, at: 5)) == [#"snapshot {"query":1,"snapshot":[],"revision":5}"#])
    // The missed deltas follow the snapshot; then everything is complete.
    #expect(
      events(&feed, delta(9, 6), advance(6)) == [
        #"commit {"revision":6,"changes":[\#(change(1, 9))]}"#, #"complete {"revision":6} id 6"#,
      ])
  }

  @Test func advanceBelowAResultDoesNotCompleteIt() {
    var feed = feed()
    _ = events(&feed, welcome, subscribed(7), subscribed(9), chunk(2, at: 5), chunk(3, at: 8))
    #expect(events(&feed, advance(7)).isEmpty)
    #expect(events(&feed, advance(8)) == [#"complete {"revision":8} id 8"#])
  }

  @Test func changesOfACommitAreOneEvent() {
    var feed = following()
    #expect(events(&feed, delta(7, 6), delta(9, 6)).isEmpty)
    #expect(
      events(&feed, advance(6)) == [#"commit {"revision":6,"changes":[\#(change(0, 7)),\#(change(1, 9))]} id 6"#])
    // Commits that a slow client gets together: only the last one is the state of the advance.
    #expect(
      events(&feed, delta(7, 7), delta(9, 8), advance(8)) == [
        #"commit {"revision":7,"changes":[\#(change(0, 7))]}"#,
        #"commit {"revision":8,"changes":[\#(change(1, 9))]} id 8"#,
      ])
    #expect(events(&feed, advance(9)).isEmpty)
  }

  @Test func resetOfOneQueryKeepsTheOthersGoing() {
    var feed = following()
    #expect(events(&feed, ToClient(0, .reset(query: 9, reason: "a batch"))).isEmpty)
    #expect(events(&feed, subscribed(9), ToClient(5, .pong(token(6)))) == [#"heartbeat {"revision":6}"#])
    #expect(events(&feed, delta(7, 7), advance(7)) == [#"commit {"revision":7,"changes":[\#(change(0, 7))]}"#])
    #expect(
      events(&feed, chunk(3, at: 7), advance(7)) == [
        #"snapshot {"query":1,"snapshot":[],"reset":true,"reason":"a batch","revision":7}"#,
        #"complete {"revision":7} id 7"#,
      ])
    #expect(events(&feed, ToClient(6, .pong(token(8)))) == [#"heartbeat {"revision":8} id 8"#])
  }

  @Test func resumedQueriesContinueAndOthersStartAgain() throws {
    var first = following()
    let texts = first.receive(ToClient(6, .pong(token(5))), nextRequest: 7).map { action in
      if case .write(let bytes, _) = action { String(decoding: bytes, as: UTF8.self) } else { "" }
    }
    let id = try #require(texts.joined().split(separator: "\n").last?.dropFirst("id: ".count))
    var feed = feed(String(id))
    var resuming = queries
    for index in resuming.indices { resuming[index].since = token(5) }
    #expect(feed.receive(welcome, nextRequest: 2) == resuming.map { .send(.subscribe($0)) })
    #expect(
      events(&feed, subscribed(9, resumed: true), advance(6), subscribed(7)) == [
        "<begin>", #"resumed {"query":1,"revision":5,"since":5}"#,
      ])
    let reason = "the store does not have the state of the event: it was restored, or its history was pruned"
    #expect(
      events(&feed, chunk(2, at: 6), advance(6)) == [
        #"snapshot {"query":0,"snapshot":[],"reset":true,"reason":"\#(reason)","revision":6}"#,
        #"complete {"revision":6} id 6"#,
      ])
  }

  @Test func changedRightsGiveAResumedQueryAnotherNumber() throws {
    let owner = Welcome(
      model: model, head: head, session: 1, server: "", resumed: false, maximumFrameSize: 1, heartbeatMilliseconds: 1,
      principal: Principal(author: "ann"), role: .owner)
    var feed = feed("\(EventID(token(5), hash: EventID.hash(of: queries, owner)))")
    _ = events(&feed, welcome, subscribed(7, resumed: true), subscribed(9, resumed: true))
    #expect(events(&feed, advance(5)) == [#"complete {"revision":5} id 5"#])
    let rights = ToClient(0, .rights(Welcome.GrantEntry.all(of: Rights(user: "ann", role: .reader))))
    #expect(events(&feed, rights, ToClient(0, .reset(query: 9, reason: "your rights were changed"))).isEmpty)
    let renumbered = ToClient(3, .subscribed(query: 11, resumed: false, known: false))
    #expect(
      events(&feed, renumbered, chunk(3, at: 5)) == [
        #"snapshot {"query":1,"snapshot":[],"reset":true,"reason":"your rights were changed","revision":5}"#
      ])
    #expect(events(&feed, advance(5)) == [#"complete {"revision":5} id 5"#])
    #expect(
      events(&feed, delta(7, 6), delta(11, 6), advance(6)) == [
        #"commit {"revision":6,"changes":[\#(change(0, 7)),\#(change(1, 11))]} id 6"#
      ])
  }

  @Test func refusalBeforeTheAnswerIsAProblem() {
    var feed = feed()
    _ = events(&feed, welcome, subscribed(7), chunk(2, at: 5))
    let refusal = Refusal(.malformed, "no")
    #expect(feed.receive(ToClient(3, .refused(refusal)), nextRequest: 4) == [.refuse(refusal, isLogin: false)])
    #expect(feed.receive(subscribed(7), nextRequest: 4).isEmpty)
    var later = following()
    #expect(
      events(&later, ToClient(3, .refused(refusal))) == [#"end {"code":"malformed","message":"no"}"#, "<finish>"])
  }

  @Test func limitCountsEventsAndEndsTheStream() {
    // Two snapshots, the completion, and one commit.
    var feed = following(limit: 4)
    #expect(events(&feed, ToClient(6, .pong(token(5)))).count == 1)
    #expect(events(&feed, delta(7, 6), delta(9, 7), advance(7)).last == "<finish>")
    #expect(feed.stop().isEmpty)
  }
}
