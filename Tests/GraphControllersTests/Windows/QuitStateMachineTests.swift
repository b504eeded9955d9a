import GraphControllers
import Testing

/// The conversation about quitting, event by event.
@Suite struct QuittingTests {
  private let two = UnsentChangesPrompt(count: 2)

  /// A user quits with two unsent changes.
  private func requested(canSend: Bool) -> QuitStateMachine {
    var quitting = QuitStateMachine.idle
    #expect(quitting.request(unsent: 2, canSend: canSend) == (canSend ? .showSending : .ask(two)))
    return quitting
  }

  @Test func quitWithoutUnsentChangesDoesNotAsk() {
    for canSend in [true, false] {
      var quitting = QuitStateMachine.idle
      #expect(quitting.request(unsent: 0, canSend: canSend) == .quit)
      #expect(quitting == .quitting(discards: false))
    }
  }

  @Test func questionContainsNumberOfChanges() {
    #expect(UnsentChangesPrompt(count: 1).sentence == "1 change is not on the server yet")
    #expect(two.sentence == "2 changes are not on the server yet")
  }

  @Test func sendableChangesAreSentWithoutAsking() {
    var quitting = requested(canSend: true)
    // More may be changed until all of it is there.
    #expect(quitting.objectChanged() == nil)
    #expect(quitting.changesSent(leavesTexts: false) == .quit)
    #expect(quitting == .quitting(discards: false))
  }

  @Test func slowSendAsksOnce() {
    var quitting = requested(canSend: true)
    #expect(quitting.sendTimedOut(unsent: 2) == .ask(two))
    #expect(quitting.sendTimedOut(unsent: 2) == nil)
    #expect(quitting.refused(unsent: 2) == nil)
    #expect(quitting.request(unsent: 2, canSend: true) == nil)
    #expect(quitting == .asking(two))
    // A change that has been sent meanwhile needs no answer.
    #expect(quitting.changesSent(leavesTexts: false) == .quit)
  }

  @Test func sendingCanBeCancelledByStaying() {
    var quitting = requested(canSend: true)
    #expect(quitting.cancelSending() == .stay)
    #expect(quitting == .idle)
    #expect(quitting.cancelSending() == nil)
    #expect(quitting.changesSent(leavesTexts: false) == nil)
    #expect(quitting.sendTimedOut(unsent: 2) == nil)
  }

  @Test func everyChoiceHasItsEffect() {
    var quitting = requested(canSend: false)
    #expect(quitting.answer(.cancel) == .stay)
    #expect(quitting == .idle)
    #expect(quitting.answer(.discard) == nil)

    quitting = requested(canSend: false)
    #expect(quitting.answer(.discard) == .quit)
    #expect(quitting == .quitting(discards: true))

    quitting = requested(canSend: false)
    #expect(quitting.answer(.wait) == .continueWork)
    #expect(quitting == .waiting)
    #expect(quitting.changesSent(leavesTexts: false) == .quit)
    #expect(quitting == .quitting(discards: false))
  }

  @Test func changeWhileWaitingCancelsQuit() {
    var quitting = requested(canSend: false)
    _ = quitting.answer(.wait)
    #expect(quitting.objectChanged() == .stay)
    #expect(quitting.changesSent(leavesTexts: false) == nil)
    #expect(quitting.objectChanged() == nil)
  }

  @Test func waitingUserIsAskedAgainOnRepeatOrRefusal() {
    var quitting = requested(canSend: false)
    _ = quitting.answer(.wait)
    #expect(quitting.sendTimedOut(unsent: 2) == nil)
    #expect(quitting.request(unsent: 2, canSend: false) == .ask(two))
    _ = quitting.answer(.wait)
    #expect(quitting.refused(unsent: 1) == .ask(UnsentChangesPrompt(count: 1)))
  }

  @Test func textWithoutObjectPreventsQuitting() {
    var quitting = requested(canSend: true)
    #expect(quitting.changesSent(leavesTexts: true) == .stay)
    quitting = requested(canSend: false)
    #expect(quitting.changesSent(leavesTexts: true) == nil)
    #expect(quitting == .asking(two))
    _ = quitting.answer(.wait)
    #expect(quitting.changesSent(leavesTexts: true) == .stay)
    #expect(quitting == .idle)
  }
}
