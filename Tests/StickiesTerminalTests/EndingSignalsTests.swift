import Glibc
import Testing

@testable import StickiesTerminal

@Suite struct EndingSignalsTests {
  @Test func aSecondInterruptEndsAtOnceOnlyWhereItComesSoon() {
    var signals = EndingSignals()
    let soon = EndingSignals.secondMilliseconds
    let first = signals.endsAtOnce(SIGINT, at: 1_000)
    // Whoever was asked has stayed meanwhile.
    let late = signals.endsAtOnce(SIGINT, at: 1_001 + soon)
    let second = signals.endsAtOnce(SIGINT, at: 1_001 + 2 * soon)
    #expect(!first && !late && second)
  }

  @Test(arguments: [SIGTERM, SIGHUP]) func whereNobodyIsAskedASecondOneEndsAtOnceWhenever(signal: CInt) {
    var signals = EndingSignals()
    let first = signals.endsAtOnce(signal, at: 1_000)
    let second = signals.endsAtOnce(signal, at: 9_000_000)
    #expect(!first && second)
  }

  @Test func hoursBehindAnInterruptATerminationIsAFirstOne() {
    var signals = EndingSignals()
    _ = signals.endsAtOnce(SIGINT, at: 1_000)
    let late = signals.endsAtOnce(SIGTERM, at: 9_000_000)
    let then = signals.endsAtOnce(SIGTERM, at: 18_000_000)
    #expect(!late && then)
  }
}
