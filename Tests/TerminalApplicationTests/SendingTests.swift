import TerminalApplication
import TerminalCells
import Testing

/// Events go to the front window, then up the responder chain.
@Suite struct SendingTests {
  @Test func unhandledKeyPassesWholeResponderChain() throws {
    let script = try ApplicationTranscript.running()
    script.key("x")
    #expect(
      script.turn() == ["front: x", "controller: x", "application: x", "delegate: x"])
    script.controller.takes = [.character("x")]
    script.key("x")
    #expect(script.turn() == ["front: x", "controller: x"])
    script.front.takes = [.character("x")]
    script.key("x")
    #expect(script.turn() == ["front: x"])
  }

  @Test func closedWindowPassesKeysToNextWindow() throws {
    let script = try ApplicationTranscript.running()
    script.application.orderOut(script.front)
    #expect(script.log.take() == ["front resigned key", "back is key"])
    #expect(script.front.application == nil)
    script.key("x")
    #expect(script.turn() == ["back: x", "application: x", "delegate: x"])
    script.application.orderOut(script.back)
    _ = script.log.take()
    script.key("x")
    #expect(script.turn() == ["application: x", "delegate: x"])
  }

  @Test func editorHandlesLettersFirstAndMenuHandlesControlKeysFirst() throws {
    let script = try ApplicationTranscript.running()
    script.delegate.on(.open) { script.log.add("opens") }
    script.delegate.on(.save) { script.log.add("saves") }
    script.front.takes = [.character("o"), .character("s")]
    script.key("o")
    script.key("s", .control)
    #expect(script.turn() == ["front: o", "saves"])
    script.front.takes = []
    script.key("o")
    #expect(script.turn().last == "opens")
  }

  @Test func disabledControlKeyIsPassedToEditor() throws {
    let script = try ApplicationTranscript.running()
    script.front.takes = [.character("s")]
    script.delegate.on(.save, state: { .disabled }, perform: { script.log.add("saves") })
    script.key("s", .control)
    #expect(script.turn() == ["front: Ctrl-S"])
  }

  // MARK: - Commands

  @Test func firstRespondingTargetHandlesCommand() throws {
    let script = try ApplicationTranscript.running()
    #expect(!script.application.send(.save))
    #expect(script.application.state(ofCommand: .save) == .disabled)
    script.delegate.on(.save) { script.log.add("delegate saves") }
    script.controller.on(
      .save, state: { CommandState(isChecked: true, title: "Save Page") }, perform: { script.log.add("page saves") })
    #expect(script.application.target(for: .save) === script.controller)
    #expect(script.application.state(ofCommand: .save).title == "Save Page")
    #expect(script.application.send(.save))
    #expect(script.log.take() == ["page saves"])
    script.application.makeKey(script.back)
    _ = script.log.take()
    #expect(script.application.send(.save))
    #expect(script.log.take() == ["delegate saves"])
  }

  @Test func disabledTargetHidesLaterOnes() throws {
    let script = try ApplicationTranscript.running()
    script.delegate.on(.save) { script.log.add("delegate saves") }
    script.front.on(.save, state: { .disabled }, perform: {})
    #expect(!script.application.send(.save))
    #expect(script.log.take() == [])
  }

  // MARK: - Mouse

  @Test func pressActivatesWindowAndCapturesMouse() throws {
    let script = try ApplicationTranscript.running()
    script.mouse(.press(.left), 1, 1)
    #expect(
      script.turn() == [
        "front resigned key", "back is key", "back: press(TerminalCells.MouseButton.left) at 1,1",
      ])
    #expect(script.application.windows.last === script.front)
    script.front.takesMouse = true
    script.mouse(.release(.left), 1, 1)
    script.mouse(.press(.left), 13, 4)
    script.mouse(.drag(.left), 0, 0)
    script.mouse(.release(.left), 39, 7)
    script.mouse(.move, 13, 4)
    #expect(
      script.turn() == [
        "back: release(TerminalCells.MouseButton.left) at 1,1", "back resigned key", "front is key",
        "front: press(TerminalCells.MouseButton.left) at 13,4", "front: drag(TerminalCells.MouseButton.left) at 0,0",
        "front: release(TerminalCells.MouseButton.left) at 39,7", "front: move at 13,4",
      ])
    script.mouse(.move, 0, 0)
    #expect(script.turn() == ["back: move at 0,0"])
    script.front.takesMouse = false
    script.mouse(.move, 13, 4)
    #expect(script.turn() == ["front: move at 13,4", "controller: move at 13,4"])
  }

  // MARK: - Modes

  @Test func modalWindowReceivesInputAndNetworkContinues() throws {
    let script = try ApplicationTranscript.running()
    let question = FakeWindow("question", script.log, frame: Rect(x: 0, y: 6, width: 5, height: 1))
    script.application.beginModal(question)
    #expect(script.application.mode == .modal)
    #expect(script.turn() == ["front resigned key", "question is key"])
    script.key("y")
    script.mouse(.press(.left), 13, 4)
    script.post(.deltas([1]))
    #expect(script.turn() == ["question: y", "application: y", "delegate: y", "deltas [1]"])
    script.application.makeKey(script.front)
    #expect(question.isKey)
    let late = FakeWindow("late", script.log, frame: Rect(x: 0, y: 0, width: 5, height: 1))
    script.application.orderFront(late)
    #expect(script.application.frontWindow === question)
    #expect(question.isKey)
    script.application.endModal(question)
    #expect(script.application.mode == .default)
    #expect(late.isKey)
  }

  /// At any place, and with any requests in between.
  @Test func keyWindowIsRestoredAfterModalWindow() throws {
    let script = try ApplicationTranscript.running()
    let question = FakeWindow("question", script.log, frame: Rect(x: 0, y: 6, width: 5, height: 1))
    let second = FakeWindow("second", script.log, frame: Rect(x: 0, y: 6, width: 5, height: 1))
    let application = script.application
    application.makeKey(script.back)
    application.beginModal(question)
    #expect(application.settledKeyWindow === script.back)
    application.beginModal(second)
    #expect(application.settledKeyWindow === script.back)
    application.endModal(question)
    #expect(second.isKey)
    application.endModal(second)
    #expect(script.back.isKey)
    #expect(application.settledKeyWindow === script.back)
    // Requests made meanwhile are handled afterwards.
    application.beginModal(question)
    application.makeKey(script.front)
    #expect(question.isKey)
    application.endModal(question)
    #expect(script.front.isKey)
    // Events for a removed window are dropped.
    application.beginModal(question)
    application.orderOut(script.front)
    application.endModal(question)
    #expect(script.back.isKey)
  }

  @Test func closedWindowReleasesMouse() throws {
    let script = try ApplicationTranscript.running()
    script.application.beginTracking(script.front)
    script.application.orderOut(script.back)
    #expect(script.application.mode == .tracking)
    script.application.orderOut(script.front)
    #expect(script.application.mode == .default)
  }

  @Test func arrangingWindowsKeepsKeyWindow() throws {
    let script = try ApplicationTranscript.running()
    let panel = FakeWindow("panel", script.log, frame: Rect(x: 0, y: 0, width: 5, height: 1))
    let elsewhere = FakeWindow("elsewhere", script.log, frame: Rect(x: 0, y: 0, width: 5, height: 1))
    script.application.orderBack(panel)
    script.application.arrange([script.front, elsewhere, script.back])
    #expect(script.application.windows.map(\.title) == ["front", "back", "panel"])
    #expect(script.front.isKey)
    #expect(script.application.runTurn(at: 0).grid != nil)
    script.application.arrange([script.front, script.back])
    #expect(script.application.runTurn(at: 0).grid == nil)
    script.application.beginModal(panel)
    script.application.arrange([panel, script.back, script.front])
    #expect(script.application.windows.map(\.title) == ["back", "front", "panel"])
  }
}
