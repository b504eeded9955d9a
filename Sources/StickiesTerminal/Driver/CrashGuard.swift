import Synchronization
import TerminalCells

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Restores the terminal when the program dies, by a crash or by a call of `exit`.
///
/// Everything that a handler needs is prepared in advance: the bytes, the termios and the previous handlers are in
/// memory that is never moved or freed.
enum CrashGuard {
  /// Signals that end a program: its own faults, and sent signals that the program does not handle.
  static let fatal: [CInt] = [
    SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGABRT, SIGFPE, SIGQUIT, SIGSYS, SIGALRM, SIGVTALRM, SIGPROF, SIGUSR1, SIGUSR2,
    SIGXCPU, SIGXFSZ, SIGIO, SIGPWR, SIGSTKFLT,
  ]
  private static let slots = 65

  /// The state that the handler reads. Only `arm` writes it, before it sets `isArmed`, and only one terminal can be
  /// armed.
  private struct HandlerState {
    /// The descriptor that the driver's thread uses.
    var driver: CInt
    /// The guard's own descriptor of the same terminal.
    var descriptor: CInt
    /// A descriptor of /dev/null.
    let nowhere: CInt
    var line: termios
    var bytes: UnsafeMutablePointer<UInt8>
    var count: Int
    /// The previous handlers, indexed by signal number.
    var before: UnsafeMutablePointer<sigaction>
  }

  // Unsafe because pointers are not Sendable. The pointer is a constant; its memory is written while `isArmed` is
  // false and read while it is true, and `isArmed` orders both.
  private nonisolated(unsafe) static let prepared: UnsafeMutablePointer<HandlerState> = {
    let place = UnsafeMutablePointer<HandlerState>.allocate(capacity: 1)
    let bytes = UnsafeMutablePointer<UInt8>.allocate(capacity: TerminalSequences.leave.count)
    bytes.initialize(from: TerminalSequences.leave, count: TerminalSequences.leave.count)
    let before = UnsafeMutablePointer<sigaction>.allocate(capacity: slots)
    before.initialize(repeating: sigaction(), count: slots)
    place.initialize(
      to: HandlerState(
        driver: -1, descriptor: -1, nowhere: open("/dev/null", O_RDWR | O_CLOEXEC), line: termios(), bytes: bytes,
        count: TerminalSequences.leave.count, before: before))
    return place
  }()

  private static let isArmed = Atomic<Bool>(false)
  private static let isInstalled = Atomic<Bool>(false)

  /// Ensures that the terminal is restored, however the program ends.
  static func arm(_ file: TerminalFile) {
    let own = fcntl(file.descriptor, F_DUPFD_CLOEXEC, 0)
    prepared.pointee.driver = file.descriptor
    prepared.pointee.descriptor = own < 0 ? file.descriptor : own
    prepared.pointee.line = file.saved
    isArmed.store(true, ordering: .releasing)
    guard !isInstalled.exchange(true, ordering: .relaxed) else { return }
    atexit { CrashGuard.giveBack() }
    for signal in fatal {
      var action = sigaction()
      let handler: @convention(c) (CInt, UnsafeMutablePointer<siginfo_t>?, UnsafeMutableRawPointer?) -> Void = {
        number, info, _ in
        let wasSent = if let info { CrashGuard.wasSent(number, code: info.pointee.si_code) } else { true }
        CrashGuard.terminate(number, wasSent: wasSent)
      }
      #if canImport(Darwin)
        action.__sigaction_u.__sa_sigaction = handler
      #else
        action.__sigaction_handler.sa_sigaction = handler
      #endif
      // Runs on the alternate stack, if the thread has one: its own may have overflowed.
      action.sa_flags = SA_ONSTACK | SA_SIGINFO
      sigfillset(&action.sa_mask)
      sigaction(signal, &action, prepared.pointee.before + Int(signal))
    }
  }

  /// Disarms the guard after a regular restore of the terminal.
  static func disarm() {
    guard isArmed.exchange(false, ordering: .acquiring) else { return }
    if prepared.pointee.descriptor != prepared.pointee.driver { close(prepared.pointee.descriptor) }
  }

  /// Whether a signal was sent, rather than caused by a fault. A fault has a positive code; `abort`, by which the
  /// runtime ends a program, has the code of a signal sent by a thread.
  static func wasSent(_ signal: CInt, code: CInt) -> Bool {
    #if canImport(Darwin)
      code <= 0 && signal != SIGABRT
    #else
      code <= 0 && !(signal == SIGABRT && Int(code) == Int(SI_TKILL))
    #endif
  }

  /// The limit for restoring an unresponsive terminal: the length of a pause in milliseconds, and the number of
  /// pauses.
  private static var pauseMilliseconds: CInt { 10 }
  private static var pauses: Int { 20 }

  /// Restores the terminal. Async-signal-safe: `dup2`, `tcflush`, `tcsetattr`, `poll` and `write` are in POSIX's
  /// list; `isArmed` is an atomic and `prepared` a constant, both of which `arm` has used before any handler was
  /// installed, so that reading them initializes, allocates and locks nothing; the two properties above are computed.
  /// The descriptor is non-blocking and retries are limited: a terminal that does not read cannot block a dying
  /// program.
  private static func giveBack() {
    guard isArmed.exchange(false, ordering: .acquiring) else { return }
    // The driver's thread is still running and would draw the rest of its frame on the restored screen.
    if prepared.pointee.descriptor != prepared.pointee.driver {
      dup2(prepared.pointee.nowhere, prepared.pointee.driver)
    }
    var done = 0
    for _ in 0..<pauses where done < prepared.pointee.count {
      let written = write(
        prepared.pointee.descriptor, prepared.pointee.bytes + done, prepared.pointee.count - done)
      if written > 0 {
        done += written
      } else {
        // Sleeps instead of polling for POLLOUT: while a write of the driver is in progress, the terminal may be
        // ready and the write fail anyway.
        poll(nil, 0, pauseMilliseconds)
      }
    }
    // Drops pending input so that mouse reports do not reach the shell.
    tcflush(prepared.pointee.descriptor, TCIFLUSH)
    tcsetattr(prepared.pointee.descriptor, TCSANOW, &prepared.pointee.line)
  }

  /// Restores the terminal and lets the signal end the program. A fault goes to the previous handler, which reports
  /// its place; a sent signal to the default action, because the previous handler would let the program continue.
  /// `sigaction`, `signal` and `raise` are async-signal-safe. The signal is blocked while its handler runs, so it is
  /// delivered again as soon as this returns. `errno` need not be preserved, because no code runs afterwards.
  private static func terminate(_ number: CInt, wasSent: Bool) {
    giveBack()
    if wasSent {
      signal(number, SIG_DFL)
    } else {
      sigaction(number, prepared.pointee.before + Int(number), nil)
    }
    raise(number)
  }
}
