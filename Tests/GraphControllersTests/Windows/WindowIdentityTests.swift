import GraphControllers
import GraphModel
import GraphTesting
import Testing

/// A window stays open when the server assigns the permanent id of its object.
@Suite struct WindowIdentityTests {
  private typealias Script = WindowTranscript

  @Test func windowKeepsControllerFocusAndTextWhenIDBecomesPermanent() throws {
    let script = WindowTranscript()
    #expect(script.arrange(ids: [Script.id(1), Script.new(1)]) == ["opened #1 for 1", "opened #2 for new 1"])
    script.windows.setFocus(Script.new(1))
    script.windows[Script.new(1)]?.type("typed")
    script.windows.send([Script.new(1)])

    #expect(script.answer(1, is: 8, at: 5) == ["#2: new 1 is 8"])
    let window = try #require(script.windows[Script.id(8)])
    #expect(window.serial == 2)
    #expect(window.id == Script.id(8))
    #expect(window.unsentText == "typed")
    #expect(script.focus == "8")
    #expect(script.order == ["1", "8"])
    #expect(script.arrange([8, 1], script.commit(5, by: "ann")) == [])
    #expect(script.made == 2)
  }

  @Test func ownDeltaOpensNoSecondWindow() {
    let script = WindowTranscript()
    _ = script.arrange(ids: [Script.new(1)])
    script.windows.send([Script.new(1)])
    #expect(script.arrange(ids: [Script.id(8), Script.new(1)], script.commit(5, by: "ann")) == [])
    #expect(script.arrange(ids: [Script.id(8), Script.new(1)]) == [])
    #expect(script.answer(1, is: 8, at: 5) == ["#1: new 1 is 8"])
    #expect(script.arrange([8]) == [])
    #expect(script.made == 1)
  }

  @Test func replacedTemporaryIDClosesNoWindow() {
    let script = WindowTranscript()
    _ = script.arrange(ids: [Script.new(1)])
    script.windows.send([Script.new(1)])
    #expect(script.arrange([8], script.commit(5, by: "ann")) == [])
    #expect(script.order == ["new 1"])
    #expect(script.answer(1, is: 8, at: 5) == ["#1: new 1 is 8"])
    #expect(script.arrange([8]) == [])
  }

  @Test func objectsOfOthersOpenWithoutWaitingForReply() {
    let script = WindowTranscript()
    _ = script.arrange(ids: [Script.new(1)])
    script.windows.send([Script.new(1)])
    #expect(script.arrange(ids: [Script.id(7), Script.new(1)], script.commit(4, by: "ben")) == ["opened #2 for 7"])
  }

  @Test func ownObjectOfOtherClientOpensAfterReply() {
    let script = WindowTranscript()
    _ = script.arrange(ids: [Script.new(1)])
    script.windows.send([Script.new(1)])
    #expect(script.arrange(ids: [Script.id(7), Script.new(1)], script.commit(4, by: "ann")) == [])
    #expect(
      script.arrange(ids: [Script.id(7), Script.id(8), Script.new(1)], script.commit(5, by: "ann")) == [])
    #expect(script.answer(1, is: 8, at: 5) == ["#1: new 1 is 8", "opened #2 for 7"])
    #expect(script.arrange([7, 8]) == [])
    #expect(script.order == ["7", "8"])
    #expect(script.arrange([7, 8, 9], script.commit(6, by: "ann")) == ["opened #3 for 9"])
  }

  @Test func refusedInsertReleasesHeldObjects() {
    let script = WindowTranscript()
    _ = script.arrange(ids: [Script.new(1)])
    script.windows.send([Script.new(1)])
    _ = script.arrange(ids: [Script.id(7), Script.new(1)], script.commit(4, by: "ann"))
    #expect(script.lines(script.windows.withdraw([Script.new(1)])) == ["opened #2 for 7"])
    #expect(script.arrange([7]) == ["closed #1 for new 1"])
  }

  @Test func windowClosedBeforeReplyStaysClosed() {
    let script = WindowTranscript()
    _ = script.arrange(ids: [Script.new(1)])
    script.windows.send([Script.new(1)])
    _ = script.windows.close(Script.new(1))
    #expect(script.arrange(ids: [Script.id(8), Script.new(1)], script.commit(5, by: "ann")) == [])
    #expect(script.answer(1, is: 8, at: 5) == [])
    #expect(script.arrange([8]) == [])
    #expect(script.windows.isClosedByUser(Script.id(8)))
  }

  @Test func insertMatchingExistingObjectKeepsEditedWindow() {
    let script = WindowTranscript()
    _ = script.arrange(ids: [Script.id(8), Script.new(1)])
    script.windows[Script.new(1)]?.type("typed")
    script.windows.send([Script.new(1)])
    #expect(script.answer(1, is: 8, at: 5) == ["closed #1 for 8", "#2: new 1 is 8"])
    #expect(script.order == ["8"])
    #expect(script.windows[Script.id(8)]?.unsentText == "typed")
  }
}
