import CommandLineIO
import TerminalCells

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The state and steps of the driver's thread between two reads of its mailbox. Only that thread uses it.
struct DriverLoop {
  let file: TerminalFile
  var writer: ScreenWriter
  /// The newest grid that has not been drawn.
  var newest: Grid?
  /// Sequences to send before the grid.
  var sequences: [UInt8] = []
  private(set) var isHungUp = false

  private var decoder = TerminalDecoder()
  /// The time at which the decoder's timeout expires, in the clock's milliseconds.
  private var deadline: Int?
  /// The last drawn grid, for a complete redraw.
  private var last: Grid?
  /// Bytes of a frame or a sequence that the terminal has not accepted yet. No new frame is encoded before all of
  /// them are written, so that the terminal matches the writer's state.
  private var pending: ArraySlice<UInt8> = []
  private var isHeld = false
  private var endings = TerminationSignals()
  /// The deadline for the answers to the terminal queries; nil after the last answer.
  private var answersDeadline: Int?
  /// Bytes of the signal pipe that were read while waiting for answers.
  private var unhandled: [UInt8] = []

  /// The time by which a terminal that does not read can delay its restoration, in milliseconds.
  private static let maximumDelayMilliseconds: CInt = 200

  /// The time within which the terminal must answer queries, in milliseconds. Leaving earlier waits for the answers,
  /// because they would otherwise reach the editor or shell that comes next. With a terminal that never answers, this
  /// costs the delay once.
  static let answersMilliseconds = 1_000

  init(file: TerminalFile, depth: ColorDepth) {
    self.file = file
    writer = ScreenWriter(depth: depth)
  }

  /// Takes over the terminal, also after a shell has used it and may have changed it.
  mutating func enter() {
    CrashGuard.arm(file)
    file.makeRaw()
    pending = (TerminalSequences.enter + TerminalSequences.questions)[...]
    writer.forget()
    newest = newest ?? last
    isHeld = true
    answersDeadline = Self.now + Self.answersMilliseconds
    write()
  }

  /// Restores the terminal.
  mutating func leave() {
    guard isHeld else { return }
    isHeld = false
    pending = []
    // Must happen before the shell's screen returns: input typed there belongs to the shell.
    awaitAnswers()
    file.write(TerminalSequences.leave, withinMilliseconds: Self.maximumDelayMilliseconds)
    file.restoreLine()
    CrashGuard.disarm()
  }

  /// Reads until the last answer, the deadline, or a signal to end. Other input is dropped, like all input that was
  /// typed for this program.
  private mutating func awaitAnswers() {
    defer { answersDeadline = nil }
    while !isHungUp, let deadline = answersDeadline, Self.now < deadline {
      var waited = [
        pollfd(fd: SignalPipe.readEnd, events: Int16(POLLIN), revents: 0),
        pollfd(fd: file.descriptor, events: Int16(POLLIN), revents: 0),
      ]
      guard poll(&waited, 2, CInt(clamping: deadline - Self.now)) > 0 else { continue }
      if waited[0].revents != 0 {
        unhandled += SignalPipe.drain()
        if unhandled.contains(where: { SignalPipe.ending.contains(CInt($0)) }) { return }
      }
      if CInt(waited[1].revents) & POLLIN != 0 { _ = read() }
      if CInt(waited[1].revents) & (POLLHUP | POLLERR | POLLNVAL) != 0 { isHungUp = true }
    }
  }

  /// Restores the terminal, suspends the program, and takes over the terminal when it resumes.
  mutating func stop() {
    leave()
    SignalPipe.stop()
    enter()
  }

  /// Writes what the terminal accepts without blocking.
  mutating func write() {
    while isHeld, !isHungUp {
      if pending.isEmpty {
        if !sequences.isEmpty {
          pending = sequences[...]
          sequences = []
        } else if let grid = newest {
          newest = nil
          last = grid
          pending = writer.bytes(for: grid)[...]
        }
        if pending.isEmpty { return }
      }
      switch file.write(pending) {
      case .bytes(let count): pending = pending.dropFirst(count)
      case .wouldBlock: return
      case .over: isHungUp = true
      }
    }
  }

  /// The timeout with which `poll` waits without a limit.
  private static let noLimit: CInt = -1

  /// Waits until something happens and returns the events.
  mutating func wait() -> [DriverEvent] {
    var waited = [
      pollfd(fd: SignalPipe.readEnd, events: Int16(POLLIN), revents: 0),
      // A terminal that was released is not polled: another program reads it.
      pollfd(
        fd: isHeld ? file.descriptor : -1, events: Int16(pending.isEmpty ? POLLIN : POLLIN | POLLOUT), revents: 0),
    ]
    // Other threads may wake poll earlier, so the time is checked, not the return value.
    let left = !unhandled.isEmpty ? 0 : isHeld ? deadline.map { max(0, $0 - Self.now) } : nil
    let count = poll(&waited, 2, left.map { CInt(clamping: $0) } ?? Self.noLimit)
    if count < 0 { return [] }
    var events = [DriverEvent]()
    if let deadline, isHeld, Self.now >= deadline, waited[1].revents == 0 {
      events += decoder.deadline().map(DriverEvent.terminal)
      self.deadline = decoder.deadlineMilliseconds.map { Self.now + $0 }
    }
    let received = unhandled + (waited[0].revents != 0 ? SignalPipe.drain() : [])
    unhandled = []
    for byte in received { events += handle(CInt(byte)) }
    let revents = CInt(waited[1].revents)
    if isHeld, revents & POLLIN != 0 { events += read() }
    // A hung-up terminal is always readable and returns nothing.
    if isHeld, revents & (POLLHUP | POLLERR | POLLNVAL) != 0 { isHungUp = true }
    return events
  }

  private mutating func read() -> [DriverEvent] {
    var buffer = [UInt8](repeating: 0, count: 4096)
    switch file.read(into: &buffer) {
    case .bytes(let count):
      let events = decoder.feed(buffer.prefix(count))
      deadline = decoder.deadlineMilliseconds.map { Self.now + $0 }
      if events.contains(.answer(.attributes)) { answersDeadline = nil }
      for case .answer(.mode(2026, let value)) in events where value == 1 || value == 2 {
        writer.isSynchronizing = true
      }
      return events.map(DriverEvent.terminal)
    case .wouldBlock: return []
    case .over:
      isHungUp = true
      return []
    }
  }

  /// Milliseconds of the monotonic clock.
  static var now: Int {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return time.tv_sec * 1000 + time.tv_nsec / 1_000_000
  }

  private mutating func handle(_ signal: CInt) -> [DriverEvent] {
    switch signal {
    case SIGWINCH: return [.terminal(.resize(file.size))]
    case SIGTSTP:
      guard isHeld else {
        SignalPipe.stop()
        return []
      }
      stop()
      return [.resumed, .terminal(.resize(file.size))]
    case SIGCONT:
      // Follows SIGSTOP, which cannot be handled: the shell has used the terminal.
      guard isHeld else { return [] }
      leave()
      enter()
      return [.resumed, .terminal(.resize(file.size))]
    case SIGINT, SIGTERM, SIGHUP:
      guard endings.endsAtOnce(signal, at: Self.now) else {
        return decoder.endPaste().map(DriverEvent.terminal) + [.terminate(signal: signal)]
      }
      // The system and the shell both send SIGHUP when a terminal is closed; the program still keeps unsent texts.
      if signal == SIGHUP, file.isClosed {
        isHungUp = true
        return []
      }
      // A forced end does not wait for answers.
      answersDeadline = nil
      leave()
      SignalExit.end(by: signal)
      return []
    default: return []
    }
  }

  /// Handles signals that arrived during the restoration, when the loop no longer reads the pipe. A second one still
  /// ends the program at once.
  mutating func handlePendingSignals() {
    for byte in unhandled + SignalPipe.drain() {
      let signal = CInt(byte)
      guard SignalPipe.ending.contains(signal), endings.endsAtOnce(signal, at: Self.now) else { continue }
      if signal != SIGHUP || !file.isClosed { SignalExit.end(by: signal) }
    }
  }
}
