#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif
import Testing

@testable import StickiesTerminal

@Suite struct TerminationSignalsTests {
  @Test func secondInterruptTerminatesOnlyWithinInterval() {
    var signals = TerminationSignals()
    let soon = TerminationSignals.secondMilliseconds
    let first = signals.endsAtOnce(SIGINT, at: 1_000)
    // The program that received the question has continued meanwhile.
    let late = signals.endsAtOnce(SIGINT, at: 1_001 + soon)
    let second = signals.endsAtOnce(SIGINT, at: 1_001 + 2 * soon)
    #expect(!first && !late && second)
  }

  @Test(arguments: [SIGTERM, SIGHUP]) func secondSignalWithoutQuestionTerminates(signal: CInt) {
    var signals = TerminationSignals()
    let first = signals.endsAtOnce(signal, at: 1_000)
    let second = signals.endsAtOnce(signal, at: 9_000_000)
    #expect(!first && second)
  }

  @Test func terminationLongAfterInterruptIsFirst() {
    var signals = TerminationSignals()
    _ = signals.endsAtOnce(SIGINT, at: 1_000)
    let late = signals.endsAtOnce(SIGTERM, at: 9_000_000)
    let then = signals.endsAtOnce(SIGTERM, at: 18_000_000)
    #expect(!late && then)
  }

  /// A service manager sends both.
  @Test func hangupRightAfterTerminationIsSameRequest() {
    var signals = TerminationSignals()
    let first = signals.endsAtOnce(SIGTERM, at: 1_000)
    let same = signals.endsAtOnce(SIGHUP, at: 1_000 + TerminationSignals.sameRequestMilliseconds)
    let second = signals.endsAtOnce(SIGHUP, at: 2_000)
    #expect(!first && !same && second)
  }
}
