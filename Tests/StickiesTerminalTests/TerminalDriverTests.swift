import Foundation
import Synchronization
import TerminalCells
import Testing

@testable import StickiesTerminal

/// The driver on a pseudo-terminal, whose other end the test holds. The tests run one after the other, because a
/// program has one terminal.
@Suite(.serialized, .timeLimit(.minutes(1))) struct TerminalDriverTests {
  @Test func terminalStateIsRestored() async throws {
    let terminal = try PseudoTerminal()
    let before = terminal.line
    let (events, driver) = try drive(terminal)
    driver.start()
    var received = events.makeAsyncIterator()
    #expect(await received.next() == .terminal(.resize(Size(width: 100, height: 30))))
    try await terminal.reads("\u{1B}[?1049h")
    #expect(terminal.line != before)

    var grid = Grid(driver.size)
    grid.draw("hello", x: 2, y: 1)
    driver.show(grid)
    try await terminal.reads("\u{1B}[2;3Hhello")
    terminal.types("a\u{1B}[<0;3;5M\u{3}")
    #expect(await received.next() == .terminal(.key(KeyEvent(.character("a")))))
    #expect(await received.next() == .terminal(.mouse(MouseEvent(.press(.left), at: Point(x: 2, y: 4)))))
    // Ctrl-C is a key, not the end.
    #expect(await received.next() == .terminal(.key(KeyEvent(.character("c"), .control))))
    terminal.types("\u{1B}")
    #expect(await received.next() == .terminal(.key(KeyEvent(.escape))))
    // The terminal answers late, or never.
    terminal.types("\u{1B}[?2026;2$y")
    #expect(await received.next() == .terminal(.answer(.mode(2026, value: 2))))
    grid.draw("again", x: 0, y: 0)
    driver.show(grid)
    try await terminal.reads("\u{1B}[?2026h\u{1B}[Hagain".replacing("[H", with: "[1H"))

    await withCheckedContinuation { done in driver.end { done.resume() } }
    try await terminal.reads(String(decoding: TerminalSequences.leave, as: UTF8.self))
    #expect(terminal.line == before)
  }

  @Test func terminalIsLentToOtherProgramAndRedrawn() async throws {
    let terminal = try PseudoTerminal()
    let before = terminal.line
    let (events, driver) = try drive(terminal)
    driver.start()
    var received = events.makeAsyncIterator()
    #expect(await received.next() == .terminal(.resize(Size(width: 100, height: 30))))
    var grid = Grid(Size(width: 100, height: 30))
    grid.draw("drawn", x: 0, y: 0)
    driver.show(grid)
    try await terminal.reads("drawn")
    await withCheckedContinuation { done in driver.suspend { done.resume() } }
    #expect(terminal.line == before)
    try await terminal.reads("\u{1B}[?1049l")
    // While the other program reads nothing, the line echoes typed text at once.
    terminal.types("unread")
    try await terminal.reads("unread")
    driver.resume()
    try await terminal.reads("\u{1B}[?1049h")
    try await terminal.reads("drawn")
    terminal.types("k")
    #expect(await received.next() == .terminal(.key(KeyEvent(.character("k")))))
    await withCheckedContinuation { done in driver.end { done.resume() } }
    #expect(terminal.line == before)
  }

  @Test func lateRepliesAreNotPassedToOtherPrograms() async throws {
    let terminal = try PseudoTerminal()
    let (events, driver) = try drive(terminal)
    driver.start()
    try await terminal.reads("\u{1B}[c")
    let isFree = Mutex(false)
    async let freed: Void = withCheckedContinuation { done in
      driver.suspend {
        isFree.withLock { $0 = true }
        done.resume()
      }
    }
    #expect(!isFree.withLock { $0 })
    terminal.types("\u{1B}]11;rgb:ffff/8080/0000\u{1B}\\\u{1B}[?2026;2$y\u{1B}[?62;22c")
    await freed
    try await terminal.reads(String(decoding: TerminalSequences.leave, as: UTF8.self))
    // The external program receives only the keys typed for it; the line echoes only these.
    let before = terminal.count
    terminal.types("typed")
    try await terminal.reads("typed")
    #expect(terminal.count == before + 5)
    await withCheckedContinuation { done in driver.end { done.resume() } }
    withExtendedLifetime(events) {}
  }

  @Test func unresponsiveTerminalIsRestored() async throws {
    let terminal = try PseudoTerminal()
    let before = terminal.line
    let (_, driver) = try drive(terminal)
    driver.start()
    try await terminal.reads("\u{1B}[c")
    await withCheckedContinuation { done in driver.end { done.resume() } }
    #expect(terminal.line == before)
  }

  @Test func stalledTerminalBlocksNothingAndGetsNewestFrame() async throws {
    let terminal = try PseudoTerminal()
    let (_, driver) = try drive(terminal)
    driver.start()
    try await terminal.reads("\u{1B}[?1049h")
    terminal.isReading = false
    let size = Size(width: 100, height: 30)
    for turn in 0..<500 {
      var grid = Grid(size)
      for row in 0..<30 { grid.draw(String(repeating: "turn \(turn) ", count: 9), x: 0, y: row) }
      driver.show(grid)
      if turn % 100 == 0 { await Task.yield() }
    }
    var last = Grid(size)
    last.draw("NEWEST", x: 0, y: 0)
    driver.show(last)
    terminal.isReading = true
    try await terminal.reads("NEWEST")
    // 500 frames would have been more than a million bytes.
    #expect(terminal.count < 300_000)
    await withCheckedContinuation { done in driver.end { done.resume() } }
  }

  @Test func lostTerminalIsReported() async throws {
    let terminal = try PseudoTerminal()
    let (events, driver) = try drive(terminal)
    driver.start()
    try await terminal.reads("\u{1B}[?1049h")
    terminal.hangUp()
    #expect(await events.contains { $0 == .hangup })
    // Later requests do not wait forever: a program whose window was closed ends.
    await withCheckedContinuation { done in driver.suspend { done.resume() } }
    await withCheckedContinuation { done in driver.end { done.resume() } }
  }

  @Test func secondDriverAndRegularFileAreRefused() async throws {
    #expect(throws: TerminalError.self) { try TerminalDriver(path: "/dev/null", depth: .none) { _ in } }
    let terminal = try PseudoTerminal()
    let (_, driver) = try drive(terminal)
    #expect(throws: TerminalError.alreadyRunning) { try TerminalDriver(path: terminal.path, depth: .none) { _ in } }
    // A finished driver leaves the terminal to the next at once, and answers later requests.
    driver.start()
    await withCheckedContinuation { done in driver.end { done.resume() } }
    let next = try drive(terminal)
    await withCheckedContinuation { done in driver.end { done.resume() } }
    await withCheckedContinuation { done in driver.suspend { done.resume() } }
    withExtendedLifetime((driver, next)) {}
  }

  @Test func earlierCrashHandlerRunsAfterTerminalIsRestored() async {
    await #expect(processExitsWith: .exitCode(PreinstalledSignalHandler.foundTheLineAsItWas)) {
      let terminal = try await PreinstalledSignalHandler.isThere(for: SIGSEGV)
      // The address is not mapped.
      UnsafeMutablePointer<Int>(bitPattern: 8)?.pointee = 1
      terminal.hangUp()
    }
  }

  @Test func abortRestoresTerminal() async {
    await #expect(processExitsWith: .exitCode(PreinstalledSignalHandler.foundTheLineAsItWas)) {
      _ = try await PreinstalledSignalHandler.isThere(for: SIGABRT)
      abort()
    }
  }

  @Test func sentSignalTerminatesWithoutCrashReport() async {
    await #expect(processExitsWith: .signal(SIGSEGV)) {
      let terminal = try await PreinstalledSignalHandler.isThere(for: SIGSEGV)
      raise(SIGSEGV)
      terminal.hangUp()
    }
  }

  /// The driver's thread blocks all signals, because its creator does.
  @Test func secondSignalTerminatesWhileTerminalIsHeld() async {
    await #expect(processExitsWith: .signal(SIGTERM)) {
      let held = try await EndingDriver.hasReceived(SIGTERM)
      kill(getpid(), SIGTERM)
      try await Task.sleep(for: .seconds(10))
      withExtendedLifetime(held) {}
    }
  }

  @Test func secondSignalTerminatesWhileTerminalIsRestored() async {
    await #expect(processExitsWith: .signal(SIGHUP)) {
      let held = try await EndingDriver.hasReceived(SIGHUP)
      // The terminal has not answered, so the restoration takes up to a second.
      held.driver.end {}
      kill(getpid(), SIGHUP)
      try await Task.sleep(for: .seconds(10))
      withExtendedLifetime(held) {}
    }
  }

  /// The last changes are sent after the terminal was restored.
  @Test func differentSignalRightAfterFirstIsIgnoredAfterRestoration() async {
    await #expect(processExitsWith: .success) { ReleasedSignals.receive([SIGTERM], SIGHUP) }
  }

  @Test func sameSignalRightAfterFirstTerminatesAfterRestoration() async {
    await #expect(processExitsWith: .signal(SIGTERM)) { ReleasedSignals.receive([SIGTERM], SIGTERM) }
  }

  @Test func laterDifferentSignalTerminatesAfterRestoration() async {
    await #expect(processExitsWith: .signal(SIGHUP)) {
      ReleasedSignals.receive([SIGTERM], thenAfterMilliseconds: 150, SIGHUP)
    }
  }

  @Test func firstSignalAfterRestorationTerminates() async {
    await #expect(processExitsWith: .signal(SIGTERM)) { ReleasedSignals.receive([], SIGTERM) }
  }

  @Test func hangupIsIgnoredAfterTerminalWasClosed() async {
    await #expect(processExitsWith: .success) { ReleasedSignals.receive([], SIGHUP, isHungUp: true) }
  }

  private func drive(_ terminal: PseudoTerminal) throws -> (AsyncStream<DriverEvent>, TerminalDriver) {
    let (events, feed) = AsyncStream.makeStream(of: DriverEvent.self)
    let driver = try TerminalDriver(path: terminal.path, depth: .direct) { reported in
      for event in reported { feed.yield(event) }
    }
    return (events, driver)
  }
}

/// A driver in a process of its own that a signal has asked to end.
private enum EndingDriver {
  static func hasReceived(_ signal: CInt) async throws -> (terminal: PseudoTerminal, driver: TerminalDriver) {
    let terminal = try PseudoTerminal()
    let (events, feed) = AsyncStream.makeStream(of: DriverEvent.self)
    let driver = try TerminalDriver(path: terminal.path, depth: .none) { reported in
      for event in reported { feed.yield(event) }
    }
    driver.start()
    try await terminal.reads("\u{1B}[?1049h")
    kill(getpid(), signal)
    _ = await events.contains { $0 == .terminate(signal: signal) }
    return (terminal, driver)
  }
}

/// Signals in a process of its own, without a terminal. A thread receives its own signals before `raise` returns.
private enum ReleasedSignals {
  /// Receives signals before the release, and one some time after it.
  static func receive(_ before: [CInt], thenAfterMilliseconds delay: UInt32 = 0, _ signal: CInt, isHungUp: Bool = false)
  {
    // Threads of a pool block all signals.
    var ending = sigset_t()
    sigemptyset(&ending)
    for signal in SignalPipe.ending { sigaddset(&ending, signal) }
    pthread_sigmask(SIG_UNBLOCK, &ending, nil)
    SignalPipe.install()
    for signal in before { raise(signal) }
    SignalPipe.uninstall(isHungUp: isHungUp)
    usleep(delay * 1_000)
    raise(signal)
  }
}

/// A handler of crashes that was installed before the driver ends its process with the code that it found.
private enum PreinstalledSignalHandler {
  static let foundTheLineAsItWas: CInt = 42
  private static let line = Atomic<CInt>(-1)

  /// A terminal that a driver holds, in a process that has a handler for this signal.
  static func isThere(for signal: CInt) async throws -> PseudoTerminal {
    let terminal = try PseudoTerminal()
    line.store(open(terminal.path, O_RDWR | O_NOCTTY), ordering: .releasing)
    var action = sigaction()
    action.__sigaction_handler.sa_handler = { _ in
      var found = termios()
      tcgetattr(PreinstalledSignalHandler.line.load(ordering: .acquiring), &found)
      // A line that is held echoes nothing.
      _exit(found.c_lflag & tcflag_t(ECHO) != 0 ? PreinstalledSignalHandler.foundTheLineAsItWas : EXIT_FAILURE)
    }
    sigaction(signal, &action, nil)
    let driver = try TerminalDriver(path: terminal.path, depth: .none) { _ in }
    driver.start()
    try await terminal.reads("\u{1B}[?1049h")
    return terminal
  }
}
