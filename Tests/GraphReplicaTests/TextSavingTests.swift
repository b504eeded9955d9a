import GraphModel
import GraphReplica
import GraphTesting
import GraphWire
import Testing

/// The messages for edits of texts and for overwrites.
@Suite struct TextSavingTests {
  /// The changes of the commits that are to be sent now.
  private static func sent(_ script: ReplicaTranscript) -> [Change] {
    script.context.takeActions().flatMap { action -> [Change] in
      guard case .send(let message) = action, case .commit(let transaction) = message.body else { return [] }
      return transaction.changes
    }
  }

  /// A note that was fetched and that no live query brings.
  private static func fetched(_ script: ReplicaTranscript, _ values: [String: Value]) throws -> ManagedObject {
    #expect(script.connect() == ["welcomed"])
    return try #require(script.context.register([try script.image(5, 1, values)]).first)
  }

  @Test func textIsSentAsSplice() throws {
    let script = try ReplicaTranscript()
    let note = try Self.fetched(script, ["text": .string("the cat")])
    note["text"] = .string("the dog")
    #expect(script.context.save() != nil)
    let splice = TextSplice(offset: 4, length: 3, insertion: "dog")
    let edit = Edit(try script.number("text"), .splice([splice]))
    #expect(Self.sent(script) == [Change(.update, script.id(5), base: 1, edits: [edit])])
  }

  @Test func editsAtBothEndsKeepMiddleMergeable() throws {
    let script = try ReplicaTranscript()
    let note = try Self.fetched(script, ["text": .string("the cat sat")])
    note["text"] = .string("THE cat sat")
    note["text"] = .string("THE cat sat down")
    #expect(script.context.save() != nil)
    // On top of a save that will be refused.
    note["text"] = .string("(THE cat sat down")
    note["text"] = .string("(THE cat sat down.")
    let splices = [
      TextSplice(offset: 0, length: 3, insertion: "THE"), TextSplice(offset: 11, length: 0, insertion: " down"),
    ]
    #expect(Self.sent(script).map(\.edits) == [[Edit(try script.number("text"), .splice(splices))]])
    // Refused, and edited further: the splices are exactly the edits of the text.
    #expect(script.receive(.refused(Refusal(.unavailable, "later")), 2) == ["1 was refused: unavailable"])
    note["text"] = .string("(THE cat sat down.)")
    #expect(script.context.save() != nil)
    let more = [
      TextSplice(offset: 0, length: 3, insertion: "(THE"), TextSplice(offset: 11, length: 0, insertion: " down.)"),
    ]
    #expect(Self.sent(script).map(\.edits) == [[Edit(try script.number("text"), .splice(more))]])
  }

  @Test func replacedTextIsSentAsMinimalSplices() throws {
    let script = try ReplicaTranscript()
    let note = try Self.fetched(script, ["text": .string("one two three\nfour\nfive")])
    note["text"] = .string("one TWO three\nfour\nfive six")
    #expect(script.context.save() != nil)
    let splices = [
      TextSplice(offset: 4, length: 3, insertion: "TWO"), TextSplice(offset: 23, length: 0, insertion: " six"),
    ]
    #expect(Self.sent(script).map(\.edits) == [[Edit(try script.number("text"), .splice(splices))]])
  }

  @Test func typedAndRevertedTextIsNoChange() throws {
    let script = try ReplicaTranscript()
    let note = try Self.fetched(script, ["text": .string("the cat")])
    note["text"] = .string("the cats")
    note["text"] = .string("the cat")
    #expect(script.context.save() != nil)
    let none = TextSplice(offset: 0, length: 0, insertion: "")
    #expect(Self.sent(script).map(\.edits) == [[Edit(try script.number("text"), .splice([none]))]])
  }

  @Test func textIsSavedWholeAfterReplyWithoutObject() throws {
    let script = try ReplicaTranscript()
    let note = try Self.fetched(script, ["text": .string("the cat")])
    let text = try script.number("text")
    note["text"] = .string("the cat sat")
    #expect(script.context.save() != nil)
    #expect(Self.sent(script).count == 1)
    let reply = CommitResult(revision: 9, fingerprint: 0, identities: [], conflicts: [])
    #expect(script.receive(.committed(reply, objects: [], isComplete: false), 2) == ["saved 1 as 9"])
    #expect(note["text"] == .string("the cat sat"))
    // Others may have typed before revision 9: no place in the text means anything to the server.
    note["text"] = .string("the cat sat down")
    #expect(script.context.save() != nil)
    let whole = Edit(text, .set(.string("the cat sat down")))
    #expect(Self.sent(script) == [Change(.update, script.id(5), base: 1, edits: [whole])])
    // An image makes the edit possible again.
    let stored = try script.image(5, 10, ["text": .string("the cat sat down")])
    #expect(script.receive(script.committed(10, objects: [stored]), 3) == ["saved 2 as 10"])
    note["text"] = .string("the cat sat down.")
    #expect(script.context.save() != nil)
    let end = Edit(text, .splice([TextSplice(offset: 16, length: 0, insertion: ".")]))
    #expect(Self.sent(script) == [Change(.update, script.id(5), base: 10, edits: [end])])
  }

  @Test func overwriteSendsSeenRevision() throws {
    let script = try ReplicaTranscript()
    let note = try Self.fetched(script, ["x": .double(1)])
    note["x"] = .double(2)
    _ = script.context.register([try script.image(5, 4, ["x": .double(3), "y": .double(3)])])
    #expect(note["x"] == .double(2) && note["y"] == .double(3))
    #expect(script.context.save(policy: .overwrite) != nil)
    let edit = Edit(try script.number("x"), .set(.double(2)))
    #expect(
      Self.sent(script) == [
        Change(.update, script.id(5), base: 1, edits: [edit]), Change(.update, script.id(5), base: 4),
      ])
  }

  /// Ann's first word is being saved while she types the next. Bob inserts text before it, and then her own commit
  /// arrives.
  @Test func typingDuringSaveIsSentAfterIt() throws {
    let script = try ReplicaTranscript()
    #expect(script.connect() == ["welcomed"])
    _ = script.context.follow(entity: script.note)
    #expect(script.lines() == ["> follow"])
    #expect(script.receive(.subscribed(query: 4, resumed: false), 2) == [])
    #expect(script.receive(script.last([try script.image(5, 1, ["text": .string("[] ()")])], at: 1), 2) == [])
    #expect(script.receive(.advance(revision: 1, fingerprint: 1_000)) == ["query 1 has 1 at 1"])
    let note = try #require(script.context.object(script.id(5)))
    func delta(_ revision: Revision, _ offset: Int, _ words: String) throws -> ToClient.Body {
      let splice = TextSplice(offset: offset, length: 0, insertion: words)
      let edit = Edit(try script.number("text"), .splice([splice]))
      return script.delta(4, revision, [script.update(5, [edit], previous: revision - 1)])
    }
    note["text"] = .string("[] (one)")
    #expect(script.context.save() != nil)
    #expect(script.lines() == ["> commit 1: update"])
    note["text"] = .string("[] (one two)")
    #expect(script.receive(try delta(2, 1, "Bob")) == ["revision 2 changes [1]"])
    #expect(script.receive(try delta(3, 7, "one")) == ["revision 3 changes [1]"])
    #expect(script.receive(try delta(4, 0, "!")) == ["revision 4 changes [1]"])
    #expect(note["text"] == .string("[] (one two)"))
    #expect(script.receive(script.committed(3), 3) == ["saved 1 as 3"])
    #expect(note["text"] == .string("![Bob] (one two)"))
  }
}

extension TextSavingTests {
  /// Text typed into a new object while its insert is unanswered follows the text of the insert.
  @Test(arguments: [false, true], [false, true])
  func typingDuringInsertIsSentAfterIt(isFollowed: Bool, savesAtOnce: Bool) throws {
    let script = try ReplicaTranscript()
    #expect(script.connect() == ["welcomed"])
    if isFollowed {
      _ = script.context.follow(entity: script.note)
      #expect(script.lines() == ["> follow"])
      #expect(script.receive(.subscribed(query: 4, resumed: false), 2) == [])
      #expect(script.receive(script.last([], at: 0), 2) == [])
      #expect(script.receive(.advance(revision: 0, fingerprint: 0)) == ["query 1 has 0 at 0"])
    }
    let note = try #require(script.context.insert(script.note))
    let temporary = note.id
    note["text"] = .string("k")
    #expect(script.context.save() != nil)
    for text in ["ke", "kep", "kept"] { note["text"] = .string(text) }
    note["x"] = .double(3)
    if savesAtOnce { #expect(script.context.save() != nil) }
    #expect(Self.sent(script).map(\.kind) == [.insert])
    let stored = try script.image(5, 1, ["text": .string("k")])
    if isFollowed {
      _ = script.receive(script.delta(4, 1, [Delta.Change(kind: .inserted, id: stored.id, object: stored)]))
    }
    #expect(note["text"] == .string("kept"))
    let reply = script.committed(1, [.init(temporary: temporary, permanent: stored.id)], objects: [stored])
    script.context.handle(.received(ToClient(isFollowed ? 3 : 2, reply)))
    #expect(note["text"] == .string("kept"))
    if !savesAtOnce { #expect(script.context.save() != nil) }
    // The letters follow the inserted one, as of its revision. All of a new text is the client's own.
    let typed = TextSplice(offset: 1, length: 0, insertion: "ept", hasLeftAffinity: true)
    let edit = Edit(try script.number("text"), .splice([typed]))
    #expect(Self.sent(script).last == Change(.update, stored.id, base: 1, edits: [edit]))
    #expect(note["text"] == .string("kept"))
  }
}
