import GraphControllers
import Testing

/// The conversation about quitting, event by event.
@Suite struct QuittingTests {
  private let two = UnsentChangesPrompt(count: 2)

  /// The conversation after somebody wanted to quit with two unsent changes.
  private func requested(canSend: Bool) -> QuitStateMachine {
    var quitting = QuitStateMachine.stays
    #expect(quitting.request(unsent: 2, canSend: canSend) == (canSend ? .showSending : .ask(two)))
    return quitting
  }

  @Test func quitWithoutUnsentChangesDoesNotAsk() {
    for canSend in [true, false] {
      var quitting = QuitStateMachine.stays
      #expect(quitting.request(unsent: 0, canSend: canSend) == .quit)
      #expect(quitting == .quits(discards: false))
    }
  }

  @Test func questionContainsNumberOfChanges() {
    #expect(UnsentChangesPrompt(count: 1).sentence == "1 change is not on the server yet")
    #expect(two.sentence == "2 changes are not on the server yet")
  }

  @Test func sendableChangesAreSentWithoutAsking() {
    var quitting = requested(canSend: true)
    // More may be changed until all of it is there.
    #expect(quitting.somethingChanged() == nil)
    #expect(quitting.everythingIsSent(leavesTexts: false) == .quit)
    #expect(quitting == .quits(discards: false))
  }

  @Test func slowSendAsksOnce() {
    var quitting = requested(canSend: true)
    #expect(quitting.takesTooLong(unsent: 2) == .ask(two))
    #expect(quitting.takesTooLong(unsent: 2) == nil)
    #expect(quitting.refused(unsent: 2) == nil)
    #expect(quitting.request(unsent: 2, canSend: true) == nil)
    #expect(quitting == .asking(two))
    // What has arrived meanwhile needs no answer.
    #expect(quitting.everythingIsSent(leavesTexts: false) == .quit)
  }

  @Test func sendingCanBeCancelledByStaying() {
    var quitting = requested(canSend: true)
    #expect(quitting.giveUp() == .stay)
    #expect(quitting == .stays)
    #expect(quitting.giveUp() == nil)
    #expect(quitting.everythingIsSent(leavesTexts: false) == nil)
    #expect(quitting.takesTooLong(unsent: 2) == nil)
  }

  @Test func everyChoiceHasItsEffect() {
    var quitting = requested(canSend: false)
    #expect(quitting.answer(.cancel) == .stay)
    #expect(quitting == .stays)
    #expect(quitting.answer(.discard) == nil)

    quitting = requested(canSend: false)
    #expect(quitting.answer(.discard) == .quit)
    #expect(quitting == .quits(discards: true))

    quitting = requested(canSend: false)
    #expect(quitting.answer(.wait) == .goOn)
    #expect(quitting == .waiting)
    #expect(quitting.everythingIsSent(leavesTexts: false) == .quit)
    #expect(quitting == .quits(discards: false))
  }

  @Test func changeWhileWaitingCancelsQuit() {
    var quitting = requested(canSend: false)
    _ = quitting.answer(.wait)
    #expect(quitting.somethingChanged() == .stay)
    #expect(quitting.everythingIsSent(leavesTexts: false) == nil)
    #expect(quitting.somethingChanged() == nil)
  }

  @Test func waitingUserIsAskedAgainOnRepeatOrRefusal() {
    var quitting = requested(canSend: false)
    _ = quitting.answer(.wait)
    #expect(quitting.takesTooLong(unsent: 2) == nil)
    #expect(quitting.request(unsent: 2, canSend: false) == .ask(two))
    _ = quitting.answer(.wait)
    #expect(quitting.refused(unsent: 1) == .ask(UnsentChangesPrompt(count: 1)))
  }

  @Test func textWithoutObjectPreventsQuitting() {
    var quitting = requested(canSend: true)
    #expect(quitting.everythingIsSent(leavesTexts: true) == .stay)
    quitting = requested(canSend: false)
    #expect(quitting.everythingIsSent(leavesTexts: true) == nil)
    #expect(quitting == .asking(two))
    _ = quitting.answer(.wait)
    #expect(quitting.everythingIsSent(leavesTexts: true) == .stay)
    #expect(quitting == .stays)
  }
}
