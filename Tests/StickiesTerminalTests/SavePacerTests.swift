import Testing

@testable import StickiesTerminal

@Suite struct SavePacerTests {
  @Test func firstChangeIsSentImmediatelyAndNextAfterReply() {
    var pacer = SavePacer()
    #expect(pacer.due == nil)
    pacer.change()
    #expect(pacer.isDue(at: 0))
    pacer.sent(at: 0)
    pacer.change()
    #expect(pacer.due == nil, "one is in flight")
    pacer.answered()
    #expect(pacer.due == 100)
    #expect(!pacer.isDue(at: 99))
    #expect(pacer.isDue(at: 100))
  }

  @Test func slowReplySendsRemainingChangesImmediately() {
    var pacer = SavePacer()
    pacer.change()
    pacer.sent(at: 0)
    pacer.change()
    pacer.answered()
    #expect(pacer.isDue(at: 5_000))
  }

  @Test func typingForASecondIsAtMostElevenSaves() {
    var pacer = SavePacer()
    var saves = 0
    for time in Int64(0)..<1_000 {
      pacer.change()
      guard pacer.isDue(at: time) else { continue }
      pacer.sent(at: time)
      pacer.answered()
      saves += 1
    }
    #expect(saves == 10)
  }
}
