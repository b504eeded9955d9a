import GraphControllers
import GraphModel
import GraphTesting
import Testing

/// One window for each arranged object, opened and closed by reconciling; operations on a window never change its
/// object.
@Suite struct WindowSetTests {
  private typealias Script = WindowTranscript

  @Test func everyArrangedObjectHasOneWindow() {
    let script = WindowTranscript()
    #expect(script.arrange([1, 2, 3]) == ["opened #1 for 1", "opened #2 for 2", "opened #3 for 3"])
    #expect(script.arrange([3, 1, 2]) == [])
    #expect(script.order == ["3", "1", "2"])
    #expect(script.arrange([3, 4]) == ["closed #1 for 1", "closed #2 for 2", "opened #4 for 4"])
    #expect(script.order == ["3", "4"])
    #expect(script.arrange([4, 4, 3, 4]) == [])
    #expect(script.order == ["4", "3"])
    #expect(script.made == 4)
  }

  @Test func closedWindowStaysClosedAndKeepsItsObject() {
    let script = WindowTranscript()
    _ = script.arrange([1, 2])
    #expect(script.lines(script.windows.close(Script.id(1))) == ["closed #1 for 1"])
    #expect(script.arrange([1, 2], script.commit(5, by: "ben")) == [])
    #expect(script.windows.isClosedByUser(Script.id(1)))
    #expect(script.order == ["2"])
    script.windows.reopen(Script.id(1))
    #expect(script.arrange([1, 2]) == ["opened #3 for 1"])
    #expect(script.lines(script.windows.close(Script.id(9))) == [])
  }

  @Test func restoredObjectGetsNewWindow() {
    let script = WindowTranscript()
    _ = script.arrange([1])
    _ = script.windows.close(Script.id(1))
    #expect(script.arrange([], script.commit(5, by: "ben", deleted: [1])) == [])
    #expect(script.arrange([1], script.commit(6, by: "ben")) == ["opened #2 for 1"])
  }

  // MARK: - Gone under an editor

  @Test func deleteOfEditedObjectReportsAuthorAndOffersText() {
    let script = WindowTranscript()
    _ = script.arrange([1, 2])
    script.windows[Script.id(1)]?.type("milk and bread")
    #expect(
      script.arrange([2], script.commit(5, by: "ben", deleted: [1])) == [
        "lost #1 for 1: ben deleted it while it was edited here: 'milk and bread'"
      ])
    #expect(script.order == ["2", "1"])
    #expect(script.windows.removalReason(of: Script.id(1))?.revision == 5)
    #expect(script.arrange([2, 3], script.commit(6, by: "cem")) == ["opened #3 for 3"])
    #expect(script.order == ["2", "3", "1"])
    #expect(script.lines(script.windows.resolveRemoval(Script.id(1))) == ["closed #1 for 1"])
    #expect(script.order == ["2", "3"])
    #expect(script.lines(script.windows.resolveRemoval(Script.id(2))) == [])
  }

  @Test func editedObjectLeavingFilterIsReported() {
    let script = WindowTranscript()
    _ = script.arrange([1, 2])
    script.windows[Script.id(1)]?.editor = "all of it is sent"
    #expect(
      script.arrange([2], script.commit(5, by: "ben")) == [
        "lost #1 for 1: ben changed it: it is no longer shown here: 'all of it is sent'"
      ])
    #expect(script.arrange([2, 1], script.commit(6, by: "ben")) == ["returned #1 for 1"])
    #expect(script.windows.removalReason(of: Script.id(1)) == nil)
    #expect(
      script.arrange([2]) == [
        "lost #1 for 1: it is no longer shown here: 'all of it is sent'"
      ])
    #expect(
      script.arrange([2], script.commit(7, by: "cem", deleted: [1])) == [
        "lost #1 for 1: cem deleted it while it was edited here: 'all of it is sent'"
      ])
    #expect(script.made == 2)
  }

  @Test func unsentTextKeepsWindowAfterEditorCloses() {
    let script = WindowTranscript()
    _ = script.arrange([1])
    script.windows[Script.id(1)]?.type("offline")
    #expect(
      script.arrange([], script.commit(5, by: "ben", deleted: [1])) == [
        "lost #1 for 1: ben deleted it while it was edited here: 'offline'"
      ])
  }
}
