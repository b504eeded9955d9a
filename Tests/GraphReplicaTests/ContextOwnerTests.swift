import GraphModel
import GraphReplica
import GraphTesting
import GraphWire
import Testing

/// The notifications of a context's owner, by which each call on the context takes effect.
@Suite struct ContextOwnerTests {
  private final class Owner: ContextOwner {
    private(set) var count = 0
    var answer: () -> Void = {}

    func contextHasWork() {
      count += 1
      answer()
    }

    nonisolated(nonsending) func fill(_ load: LoadID) async throws {}
  }

  @Test func ownerIsNotifiedOnceUntilItTakesActions() throws {
    let script = try ReplicaTranscript()
    let owner = Owner()
    script.context.owner = owner
    // Events that the owner passes to the context do not notify it.
    #expect(script.connect() == ["welcomed"])
    #expect(owner.count == 0)
    let query = script.context.follow(entity: script.note)
    #expect(owner.count == 1)
    script.context.unfollow(query)
    #expect(owner.count == 1)
    #expect(script.lines().first == "> follow")
    script.context.unfollow(script.context.follow(entity: script.note))
    #expect(owner.count == 2)
  }

  @Test func saveIsSentAndEditsAreNot() throws {
    let script = try ReplicaTranscript()
    let owner = Owner()
    script.context.owner = owner
    #expect(script.connect() == ["welcomed"])
    let note = try #require(script.context.insert(script.note))
    note["text"] = .string("Buy milk")
    #expect(owner.count == 0)
    #expect(script.context.save() != nil)
    #expect(owner.count == 1)
    #expect(script.lines() == ["> commit 1: insert"])
    #expect(script.context.save() == nil)
    #expect(owner.count == 1)
    // The undo is queued behind the save.
    script.context.undo(UndoRequest(script.context.newTransactionID()))
    #expect(owner.count == 2)
  }

  @Test func loadsOfContextsAndChildrenAreNotified() throws {
    let script = try ReplicaTranscript()
    let owner = Owner()
    script.context.owner = owner
    #expect(script.connect() == ["welcomed"])
    let child = script.context.makeChild()
    #expect(child.owner === owner)
    let fault = try #require(child.fault(script.id(7)))
    _ = child.load([fault])
    #expect(owner.count == 1)
    script.context.sendLoads()
    #expect(script.lines() == ["> fetch Note: id IN {7}"])
    _ = child.load([fault])
    #expect(owner.count == 2)
  }

  @Test func contextOfThePastHasItsOwnOwner() throws {
    let script = try ReplicaTranscript()
    let (owner, other) = (Owner(), Owner())
    script.context.owner = owner
    let past = script.context.makePast(at: 5)
    #expect(past.owner == nil)
    past.owner = other
    let fault = try #require(past.fault(script.id(7)))
    _ = past.load([fault])
    #expect(owner.count == 0 && other.count == 1)
    #expect(past.takePastRequests().fetches.count == 1 && past.takeActions().isEmpty)
    _ = past.load([fault])
    #expect(other.count == 2)
  }

  @Test func ownerMayAnswerDuringTheCall() throws {
    let script = try ReplicaTranscript()
    let owner = Owner()
    script.context.owner = owner
    #expect(script.connect() == ["welcomed"])
    var sent = [[String]]()
    owner.answer = { [unowned script] in sent.append(script.lines()) }
    let note = try #require(script.context.insert(script.note))
    script.context.save()
    note["text"] = .string("Buy milk")
    script.context.moveWindow(of: 99, offset: 0)
    #expect(sent == [["> commit 1: insert"]])
  }

  @Test func contextOutlivesItsOwner() throws {
    let script = try ReplicaTranscript()
    var owner: Owner? = Owner()
    script.context.owner = owner
    #expect(script.context.owner != nil)
    owner = nil
    #expect(script.context.owner == nil)
    #expect(script.connect() == ["welcomed"])
    _ = script.context.follow(entity: script.note)
    #expect(script.lines() == ["> follow"])
  }
}
