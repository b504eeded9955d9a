import GraphModel
import GraphReplica
import GraphTesting
import GraphWire
import Testing

/// Relationships that are followed from a result: a request for each step and each thousand objects.
@Suite struct PrefetchTests {
  @Test func eachStepIsOneRequestFromPreviousObjects() throws {
    let script = try ReplicaTranscript()
    let (home, work) = (try script.id(1, of: "Board"), try script.id(2, of: "Board"))
    let tag = try script.id(1, of: "Tag")
    let notes = try FaultTests.fetched(
      script,
      [
        script.image(5, 1, ["board": .object(home), "tags": .objects([tag])]),
        script.image(6, 1, ["board": .object(work)]), script.image(7, 1, ["board": .object(home)]),
      ])
    _ = script.context.load(try script.tree("board.notes, tags, outgoing, board"), of: notes)
    script.context.sendLoads()
    #expect(
      script.lines() == [
        "> fetch Board: id IN {1, 2}", "> fetch Tag: id IN {1}", "> fetch Link: from IN {5, 6, 7}",
      ])
    #expect(script.receive(script.last([try script.image(1, of: "Tag", 1)], at: 1), 3) == [])
    let link = try script.image(9, of: "Link", 1, ["from": .object(script.id(6)), "to": .object(script.id(5))])
    #expect(script.receive(script.last([link], at: 1), 4) == [])
    let boards = [try script.image(1, of: "Board", 1), try script.image(2, of: "Board", 1)]
    // The level is complete: on from the boards.
    #expect(script.receive(script.last(boards, at: 1), 2) == ["> fetch Note: board IN {1, 2}"])
    let other = try script.image(8, 1, ["board": .object(work)])
    let members =
      try [5, 7].map { try script.image($0, 1, ["board": .object(home)]) }
      + [script.image(6, 1, ["board": .object(work)]), other]
    #expect(script.receive(script.last(members, at: 2), 5) == ["load 1 is here"])

    let (board, outgoing) = (try script.number("board"), try script.number("outgoing"))
    let instance = try #require(notes[1].object(board, ManagedObject.self))
    let inverse = try #require(instance.entity.property(named: "notes")).number
    #expect(instance.objects(inverse, ManagedObject.self).map(\.id) == [script.id(6), script.id(8)])
    #expect(instance.isLoaded(inverse) && notes.allSatisfy { $0.isLoaded(outgoing) && $0.isLoaded(board) })
    #expect(notes.map { $0.objects(outgoing, ManagedObject.self).count } == [0, 1, 0])
    #expect(!notes[0].isLoaded(try script.number("incoming")))
  }

  @Test func otherSideOfManyToManyIsRequestedByInverse() throws {
    let script = try ReplicaTranscript()
    #expect(script.connect() == ["welcomed"])
    let tags = script.context.register([try script.image(1, of: "Tag", 1), try script.image(2, of: "Tag", 1)])
    _ = script.context.load(try script.tree("notes", of: "Tag"), of: tags)
    script.context.sendLoads()
    #expect(script.lines() == ["> fetch Note: ANY tags.id IN {1, 2}"])
    let note = try script.image(5, 1, ["tags": .objects(tags.map(\.id))])
    #expect(script.receive(script.last([note], at: 1), 2) == ["load 1 is here"])
    let inverse = try #require(tags[0].entity.property(named: "notes")).number
    #expect(tags.allSatisfy { $0.objects(inverse, ManagedObject.self).map(\.id) == [script.id(5)] })
    #expect(tags.allSatisfy { $0.isLoaded(inverse) })
  }

  @Test func prefetchedObjectsLiveWithTheirOwner() throws {
    let script = try ReplicaTranscript()
    let board = try script.id(1, of: "Board")
    var notes = try FaultTests.fetched(
      script, [script.image(5, 1, ["board": .object(board)]), script.image(6, 1, ["board": .object(board)])])
    _ = script.context.load(try script.tree("board.notes"), of: notes)
    script.context.sendLoads()
    #expect(script.lines() == ["> fetch Board: id IN {1}"])
    #expect(
      script.receive(script.last([try script.image(1, of: "Board", 1)], at: 1), 2) == ["> fetch Note: board IN {1}"])
    let members = try (5...6).map { try script.image($0, 1, ["board": .object(board)]) }
    #expect(script.receive(script.last(members, at: 1), 3) == ["load 1 is here"])
    // No caller holds the board's instance; one of the notes is enough to keep it.
    notes.removeLast()
    #expect(script.context.object(board) != nil)
    let instance = try #require(script.context.object(board))
    let inverse = try #require(instance.entity.property(named: "notes")).number
    #expect(instance.isLoaded(inverse))
    notes.removeAll()
    // A caller that holds only the board keeps none of its notes.
    #expect(script.context.object(script.id(5)) == nil)
    #expect(!instance.isLoaded(inverse) && instance.objects(inverse, ManagedObject.self).isEmpty)
  }

  /// Follows the notes with their boards. The first result has the note 5 on the board 1, which has been requested.
  private func followNotes(_ script: ReplicaTranscript) throws -> (query: QueryID, note: ObjectImage) {
    #expect(script.connect(head: 1) == ["welcomed"])
    let query = script.context.follow(entity: script.note, prefetch: try script.tree("board"))
    #expect(script.lines() == ["> follow"])
    #expect(script.receive(.subscribed(query: 4, resumed: false), 2) == [])
    let note = try script.image(5, 1, ["board": .object(script.id(1, of: "Board"))])
    #expect(script.receive(script.last([note], at: 1), 2) == [])
    #expect(
      script.receive(.advance(revision: 1, fingerprint: 1_000)) == ["query 1 has 1 at 1", "> fetch Board: id IN {1}"])
    return (query, note)
  }

  @Test func newObjectsOfLiveQueryAreOneRequestPerCommit() throws {
    let script = try ReplicaTranscript()
    let boards = try (1...3).map { try script.id($0, of: "Board") }
    let (query, _) = try followNotes(script)
    let load = try #require(script.context.prefetch(of: query).load)
    #expect(script.receive(script.last([try script.image(1, of: "Board", 1)], at: 1), 3) == ["load \(load) is here"])
    #expect(script.context.prefetch(of: query).load == nil)
    #expect(script.context.object(boards[0]) != nil)

    // A commit with three newcomers, two of them on boards that are not here.
    let newcomers = try zip(UInt64(6)..., [boards[1], boards[2], boards[0]]).map { number, board in
      let image = try script.image(number, 2, ["board": .object(board)])
      return Delta.Change(kind: .inserted, id: image.id, object: image)
    }
    #expect(
      script.receive(script.delta(4, 2, newcomers)) == ["revision 2 changes [1]", "> fetch Board: id IN {2, 3}"])
    // Observers receive them at once, with their boards as faults.
    #expect(script.changes.last?.inserted == newcomers.map(\.id))
    let board = try script.number("board")
    #expect(script.context.object(script.id(6))?.object(board, ManagedObject.self)?.isFault == true)
    let images = try (2...3).map { try script.image($0, of: "Board", 2) }
    #expect(script.receive(script.last(images, at: 2), 4) == ["load 2 is here"])
    #expect(script.changes.last?.refreshed == [boards[1], boards[2]] && script.changes.last?.queries == [query])
    #expect(script.context.object(script.id(6))?.object(board, ManagedObject.self)?.isFault == false)

    // A change of an attribute sends no request.
    let edit = Edit(board, .set(.object(boards[2])))
    #expect(
      script.receive(script.delta(4, 3, [script.update(5, [edit], previous: 1)])) == [
        "revision 3 changes [1]", "load 3 is here",
      ])
    #expect(script.context.object(script.id(5))?.object(board, ManagedObject.self)?.id == boards[2])
  }

  @Test func interruptedPrefetchResumesWithQuery() throws {
    let script = try ReplicaTranscript()
    let (query, _) = try followNotes(script)
    // The callers that wait for the first result wait on.
    #expect(script.handle(.disconnected) == [])
    #expect(script.context.prefetch(of: query).load == 1)
    #expect(script.connect(head: 1) == ["welcomed", "> follow since 1"])
    #expect(
      script.receive(.subscribed(query: 4, resumed: true), 2) == ["query 1 goes on from 1", "> fetch Board: id IN {1}"])
    #expect(
      script.receive(script.last([try script.image(1, of: "Board", 1)], at: 1), 3) == [
        "load 1 is here", "load 2 is here",
      ])
    #expect(script.context.prefetch(of: query).load == nil)
    #expect(script.context.prefetch(of: query).failure == nil)
    let board = try script.id(1, of: "Board")
    #expect(script.context.object(board) != nil)
    // After its end, the query keeps no objects.
    script.context.unfollow(query)
    #expect(script.context.object(board) == nil)
  }

  /// The result was reloaded before the connection was lost.
  @Test func callersOfEarlierResultWaitForNextConnectionToo() throws {
    let script = try ReplicaTranscript()
    let (query, note) = try followNotes(script)
    #expect(script.context.prefetch(of: query).load == 1)
    #expect(script.receive(.reset(query: 4, reason: "too far behind")) == [])
    #expect(script.receive(.subscribed(query: 4, resumed: false), 2) == [])
    #expect(script.receive(script.last([note], at: 2), 2) == [])
    _ = script.receive(.advance(revision: 2, fingerprint: 2_000))
    #expect(script.context.prefetch(of: query).load == 2)
    #expect(script.handle(.disconnected) == [])
    #expect(script.connect(head: 2) == ["welcomed", "> follow since 2"])
    #expect(
      script.receive(.subscribed(query: 4, resumed: true), 2) == ["query 1 goes on from 2", "> fetch Board: id IN {1}"])
    #expect(
      script.receive(script.last([try script.image(1, of: "Board", 1)], at: 2), 3).sorted() == [
        "load 1 is here", "load 2 is here", "load 3 is here",
      ])
  }

  @Test func interruptedPrefetchEndsWithItsQuery() throws {
    let script = try ReplicaTranscript()
    let (query, _) = try followNotes(script)
    #expect(script.handle(.disconnected) == [])
    // A connection that is lost before the query is followed again changes nothing.
    #expect(script.connect(head: 1) == ["welcomed", "> follow since 1"])
    #expect(script.handle(.disconnected) == [])
    #expect(script.context.prefetch(of: query).load == 1)
    #expect(script.connect(head: 1) == ["welcomed", "> follow since 1"])
    #expect(script.receive(.refused(Refusal(.notAllowed, "")), 2).first == "load 1 failed: notAllowed")
    #expect(script.context.prefetch(of: query).load == nil)
  }

  @Test func onlyRelationshipsCanBePrefetched() throws {
    let script = try ReplicaTranscript()
    #expect(throws: Refusal(.malformed, "Note has no relationship text")) { try script.tree("board,text") }
    #expect(throws: Refusal(.malformed, "Board has no relationship tags")) { try script.tree("board.tags") }
    #expect(try script.tree("board.notes,tags") == script.tree("tags, board.notes, board"))
  }
}
