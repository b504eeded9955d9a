import GraphModel
import GraphReplica
import GraphTesting
import GraphWire
import Testing

/// Reads of values that a context does not hold, by the members of generated classes.
@Suite struct UnloadedReadTests {
  private final class Reported {
    var errors = [UnloadedReadError]()
  }

  @Test func readOfFaultIsReported() throws {
    let script = try ReplicaTranscript()
    let reported = Reported()
    script.context.unloadedWasRead = { reported.errors.append($0) }
    let fault = try #require(script.context.fault(script.id(5)))
    let (text, board) = (try script.number("text"), try script.number("board"))
    #expect(fault.loadedValue(text) == .string(""))
    #expect(fault.loadedObject(board, ManagedObject.self) == nil)
    #expect(reported.errors.map(\.property) == ["text", "board"])
    #expect(reported.errors.allSatisfy { $0.id == fault.id && $0.entity == "Note" && !$0.isRelationship })
    #expect(reported.errors[0].description == "Note.text was read of a fault: await load() of the object before")
    // A program that reads by number or by name checks `isFault` itself.
    #expect(fault.value(text) == .string("") && fault["text"] == .string(""))
    #expect(reported.errors.count == 2)
  }

  @Test func editedValueOfFaultIsKnown() throws {
    let script = try ReplicaTranscript()
    let reported = Reported()
    script.context.unloadedWasRead = { reported.errors.append($0) }
    let fault = try #require(script.context.fault(script.id(5)))
    fault["x"] = .double(3)
    let pad = script.context.makeChild()
    let child = try #require(pad.object(for: fault))
    #expect(fault.loadedValue(try script.number("x")) == .double(3))
    #expect(child.loadedValue(try script.number("x")) == .double(3))
    #expect(reported.errors.isEmpty)
    _ = child.loadedValue(try script.number("y"))
    // An object does not keep its context.
    withExtendedLifetime(pad) {}
    #expect(reported.errors.map(\.property) == ["y"])
  }

  @Test func heldAndDeletedObjectsAreNotReported() throws {
    let script = try ReplicaTranscript()
    let reported = Reported()
    script.context.unloadedWasRead = { reported.errors.append($0) }
    let note = try ReplicaTests.following(script, [script.image(5, 1, ["text": .string("one")])])
    let made = try #require(script.context.insert(script.note))
    let text = try script.number("text")
    #expect(note.loadedValue(text) == .string("one") && made.loadedValue(text) == .string(""))
    script.context.delete(note)
    #expect(note.loadedValue(text) == .string("one"))
    #expect(reported.errors.isEmpty)
  }

  @Test func contextOfThePastHasTheHandlerOfItsClient() throws {
    let script = try ReplicaTranscript()
    let reported = Reported()
    script.context.unloadedWasRead = { reported.errors.append($0) }
    let past = script.context.makePast(at: 5)
    _ = try #require(past.fault(script.id(5))).loadedValue(try script.number("text"))
    #expect(reported.errors.count == 1)
  }

  @Test func readWithoutHandlerTraps() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let script = try ReplicaTranscript()
      _ = try #require(script.context.fault(script.id(5))).loadedValue(try script.number("text"))
    }
    let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(message.contains("Note.text was read of a fault"))
  }
}
