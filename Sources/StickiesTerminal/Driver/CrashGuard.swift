import Glibc
import Synchronization
import TerminalCells

/// Gives the terminal back when the program dies: by a crash, or by `exit` in the middle.
///
/// Whatever a handler may need is prepared before: the bytes, the line's state and the handlers that were there lie in memory
/// that is never moved or freed.
enum CrashGuard {
  /// Signals that end a program: by its own fault, or because somebody sent what nobody here waits for.
  static let fatal: [CInt] = [
    SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGABRT, SIGFPE, SIGQUIT, SIGSYS, SIGALRM, SIGVTALRM, SIGPROF, SIGUSR1, SIGUSR2,
    SIGXCPU, SIGXFSZ, SIGIO, SIGPWR, SIGSTKFLT,
  ]
  private static let slots = 65

  /// What the handler reads. Written by `arm` only, before `isArmed` is set, and only one terminal can be armed.
  private struct Prepared {
    /// The number by which the driver's thread has the terminal.
    var driver: CInt
    /// The guard's own number of the same terminal.
    var descriptor: CInt
    /// What takes all and shows nothing.
    let nowhere: CInt
    var line: termios
    var bytes: UnsafeMutablePointer<UInt8>
    var count: Int
    /// The handlers that were there, by the signal's number.
    var before: UnsafeMutablePointer<sigaction>
  }

  // Unsafe, because pointers are not Sendable. It is a constant; what it points to is written while `isArmed` is false and
  // read while it is true, and `isArmed` orders both.
  private nonisolated(unsafe) static let prepared: UnsafeMutablePointer<Prepared> = {
    let place = UnsafeMutablePointer<Prepared>.allocate(capacity: 1)
    let bytes = UnsafeMutablePointer<UInt8>.allocate(capacity: TerminalSequences.leave.count)
    bytes.initialize(from: TerminalSequences.leave, count: TerminalSequences.leave.count)
    let before = UnsafeMutablePointer<sigaction>.allocate(capacity: slots)
    before.initialize(repeating: sigaction(), count: slots)
    place.initialize(
      to: Prepared(
        driver: -1, descriptor: -1, nowhere: open("/dev/null", O_RDWR | O_CLOEXEC), line: termios(), bytes: bytes,
        count: TerminalSequences.leave.count, before: before))
    return place
  }()

  private static let isArmed = Atomic<Bool>(false)
  private static let isInstalled = Atomic<Bool>(false)

  /// From now on the terminal is given back whatever happens.
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
      action.__sigaction_handler.sa_sigaction = { number, info, _ in
        CrashGuard.die(number, wasSent: info.map { CrashGuard.wasSent(number, code: $0.pointee.si_code) } ?? true)
      }
      // On the thread's other stack, if it has one: its own may be what overflowed.
      action.sa_flags = SA_ONSTACK | SA_SIGINFO
      sigfillset(&action.sa_mask)
      sigaction(signal, &action, prepared.pointee.before + Int(signal))
    }
  }

  /// The terminal has been given back in the usual way.
  static func disarm() {
    guard isArmed.exchange(false, ordering: .acquiring) else { return }
    if prepared.pointee.descriptor != prepared.pointee.driver { close(prepared.pointee.descriptor) }
  }

  /// Whether somebody has sent a signal: a fault of the program's own says a positive code, and `abort`, by which the
  /// runtime ends a program, that a thread has sent it.
  static func wasSent(_ signal: CInt, code: CInt) -> Bool {
    code <= 0 && !(signal == SIGABRT && Int(code) == Int(SI_TKILL))
  }

  /// How long a terminal that takes nothing may keep a dying program: so many pauses, in milliseconds.
  private static var pauseMilliseconds: CInt { 10 }
  private static var pauses: Int { 20 }

  /// Async-signal-safe: `dup2`, `tcflush`, `tcsetattr`, `poll` and `write` are in POSIX's list; `isArmed` is an atomic and
  /// `prepared` a constant, both of which `arm` has used before any handler was installed, so that reading them initializes,
  /// allocates and locks nothing, and the two above are computed. The descriptor is non-blocking, and what is full is waited
  /// for a moment only: a terminal that does not read holds up no dying program.
  private static func giveBack() {
    guard isArmed.exchange(false, ordering: .acquiring) else { return }
    // The driver's thread goes on meanwhile, and would draw the rest of its frame on the screen that is given back.
    if prepared.pointee.descriptor != prepared.pointee.driver {
      dup2(prepared.pointee.nowhere, prepared.pointee.driver)
    }
    var done = 0
    for _ in 0..<pauses where done < prepared.pointee.count {
      let written = Glibc.write(
        prepared.pointee.descriptor, prepared.pointee.bytes + done, prepared.pointee.count - done)
      if written > 0 {
        done += written
      } else {
        // No wait for room: where a write of the driver's is still under way there may be room, and no way in.
        poll(nil, 0, pauseMilliseconds)
      }
    }
    // No mouse report lands in the shell.
    tcflush(prepared.pointee.descriptor, TCIFLUSH)
    tcsetattr(prepared.pointee.descriptor, TCSANOW, &prepared.pointee.line)
  }

  /// Gives the terminal back and lets the signal end the program: a fault as it did before, for that handler tells where it
  /// was; what somebody has sent as it does without a handler, for behind that one the program would go on, and nobody looks for
  /// a fault. `sigaction`, `signal` and `raise` are async-signal-safe, and the signal, which is blocked while its handler runs, comes
  /// again as soon as this returns. `errno` needs no care, for nobody goes on after this.
  private static func die(_ signal: CInt, wasSent: Bool) {
    giveBack()
    if wasSent {
      Glibc.signal(signal, SIG_DFL)
    } else {
      sigaction(signal, prepared.pointee.before + Int(signal), nil)
    }
    raise(signal)
  }
}
