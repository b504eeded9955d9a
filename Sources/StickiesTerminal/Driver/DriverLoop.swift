import Glibc
import TerminalCells

/// What the driver's thread does between two looks into its mailbox. Only that thread has it.
struct DriverLoop {
  let file: TerminalFile
  var writer: ScreenWriter
  /// The newest grid that has not been drawn.
  var newest: Grid?
  /// What is to be sent before it.
  var sequences: [UInt8] = []
  private(set) var isHungUp = false

  private var decoder = TerminalDecoder()
  /// When the decoder is to be told that nothing came, in the clock's milliseconds.
  private var deadline: Int?
  /// What was drawn last, for the case that all has to be drawn anew.
  private var last: Grid?
  /// Bytes of a frame or a sequence that the terminal has not taken yet. Nothing new is made before it has taken all of
  /// them: what it shows stays what the writer believes.
  private var pending: ArraySlice<UInt8> = []
  private var isHeld = false
  private var endings = EndingSignals()
  /// Until when the questions that were asked may be answered; nil when the last answer is here.
  private var answersDeadline: Int?
  /// Bytes of the signal pipe that were read while answers were waited for.
  private var unheard: [UInt8] = []

  /// How long a terminal that does not read may keep the program from giving it back.
  private static let patienceMilliseconds: CInt = 200

  /// How long a terminal may take for its answers. One that leaves sooner waits for them, or they would land in the editor
  /// or the shell that comes next; a terminal that answers nothing costs this once, and nothing after that time.
  static let answersMilliseconds = 1_000

  init(file: TerminalFile, depth: ColorDepth) {
    self.file = file
    writer = ScreenWriter(depth: depth)
  }

  /// Takes the terminal, or takes it again: a shell may have changed it meanwhile.
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

  /// Gives the terminal back as it was.
  mutating func leave() {
    guard isHeld else { return }
    isHeld = false
    pending = []
    // Before the shell's screen returns: what is typed there is not ours to read.
    awaitAnswers()
    file.write(TerminalSequences.leave, withinMilliseconds: Self.patienceMilliseconds)
    file.restoreLine()
    CrashGuard.disarm()
  }

  /// Reads until the last answer is here, or its time is over, or a signal asks the program to end. What else is read is
  /// dropped, as all is that was typed for us.
  private mutating func awaitAnswers() {
    defer { answersDeadline = nil }
    while !isHungUp, let deadline = answersDeadline, Self.now < deadline {
      var waited = [
        pollfd(fd: SignalPipe.readEnd, events: Int16(POLLIN), revents: 0),
        pollfd(fd: file.descriptor, events: Int16(POLLIN), revents: 0),
      ]
      guard poll(&waited, 2, CInt(clamping: deadline - Self.now)) > 0 else { continue }
      if waited[0].revents != 0 {
        unheard += SignalPipe.drain()
        if unheard.contains(where: { [SIGINT, SIGTERM, SIGHUP].contains(CInt($0)) }) { return }
      }
      if CInt(waited[1].revents) & POLLIN != 0 { _ = read() }
      if CInt(waited[1].revents) & (POLLHUP | POLLERR | POLLNVAL) != 0 { isHungUp = true }
    }
  }

  /// Gives the terminal back, stops the program, and goes on when it goes on.
  mutating func stop() {
    leave()
    SignalPipe.stop()
    enter()
  }

  /// Sends what the terminal takes without making us wait.
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

  /// Waits until something happens, and tells what it was.
  mutating func wait() -> [DriverEvent] {
    var waited = [
      pollfd(fd: SignalPipe.readEnd, events: Int16(POLLIN), revents: 0),
      // One that is not held is not looked at: another program reads it.
      pollfd(
        fd: isHeld ? file.descriptor : -1, events: Int16(pending.isEmpty ? POLLIN : POLLIN | POLLOUT), revents: 0),
    ]
    // Others may wake us more often than that: the time is what counts.
    let left = !unheard.isEmpty ? 0 : isHeld ? deadline.map { max(0, $0 - Self.now) } : nil
    let count = poll(&waited, 2, left.map { CInt(clamping: $0) } ?? -1)
    if count < 0 { return [] }
    var events = [DriverEvent]()
    if let deadline, isHeld, Self.now >= deadline, waited[1].revents == 0 {
      events += decoder.deadline().map(DriverEvent.terminal)
      self.deadline = decoder.deadlineMilliseconds.map { Self.now + $0 }
    }
    let heard = unheard + (waited[0].revents != 0 ? SignalPipe.drain() : [])
    unheard = []
    for byte in heard { events += hear(CInt(byte)) }
    let revents = CInt(waited[1].revents)
    if isHeld, revents & POLLIN != 0 { events += read() }
    // One that is gone is readable for ever and has nothing to read.
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

  private static var now: Int {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return time.tv_sec * 1000 + time.tv_nsec / 1_000_000
  }

  private mutating func hear(_ signal: CInt) -> [DriverEvent] {
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
      // After SIGSTOP, which nobody hears: the shell has had the terminal.
      guard isHeld else { return [] }
      leave()
      enter()
      return [.resumed, .terminal(.resize(file.size))]
    case SIGINT, SIGTERM, SIGHUP:
      guard endings.endsAtOnce(signal, at: Self.now) else {
        return decoder.endPaste().map(DriverEvent.terminal) + [.terminate(signal: signal)]
      }
      // It waits for nothing.
      answersDeadline = nil
      leave()
      Glibc.signal(signal, SIG_DFL)
      raise(signal)
      return []
    default: return []
    }
  }

  /// Signals that came while the terminal was given back were heard, and nobody reads them any more: a second one ends the
  /// program at once all the same.
  mutating func obeyWhatCameMeanwhile() {
    for byte in unheard + SignalPipe.drain() {
      let signal = CInt(byte)
      if [SIGINT, SIGTERM, SIGHUP].contains(signal), endings.endsAtOnce(signal, at: Self.now) { raise(signal) }
    }
  }
}
