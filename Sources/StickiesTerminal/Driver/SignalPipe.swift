import CommandLineIO
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Delivers signals as bytes of a pipe, in order with the driver's other events. Other threads also wake the driver
/// through it.
enum SignalPipe {
  /// The signals that are handled while a terminal is held.
  static let handled: [CInt] = [SIGWINCH, SIGTSTP, SIGCONT, SIGINT, SIGTERM, SIGHUP]
  /// The signals that ask the program to end.
  static let ending: [CInt] = [SIGINT, SIGTERM, SIGHUP]
  /// A byte that only wakes the driver.
  static let wake: UInt8 = 0

  /// The ends of the pipe. They are created with the first driver and never closed, because a handler may run at any
  /// time.
  private static let ends: (read: CInt, write: CInt) = {
    var pair: [CInt] = [-1, -1]
    pipe(&pair)
    for end in pair {
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
    }
    return (pair[0], pair[1])
  }()

  static var readEnd: CInt { ends.read }

  /// Whether the driver has released the terminal for good and reads the pipe no longer. A handler that another thread
  /// began before `uninstall` may run after it.
  private static let isReleased = Atomic<Bool>(false)

  /// Whether the terminal was closed. SIGHUP then means nothing new.
  private static let isHungUp = Atomic<Bool>(false)

  /// The last signal to end that arrived before the release, and its time: `milliseconds << 8 | signal`; 0 for none.
  private static let lastEnding = Atomic<Int>(0)

  /// Installs the handlers. Previous handlers are not kept: the program handles these signals nowhere else.
  static func install() {
    _ = ends
    isReleased.store(false, ordering: .sequentiallyConsistent)
    isHungUp.store(false, ordering: .sequentiallyConsistent)
    lastEnding.store(0, ordering: .sequentiallyConsistent)
    for signal in handled { install(signal) }
    // A closed terminal is an error of `write` and must not end the program.
    signal(SIGPIPE, SIG_IGN)
  }

  static func install(_ signal: CInt) {
    var action = sigaction()
    // Async-signal-safe: `write`, `clock_gettime`, `signal`, `pthread_sigmask` and `raise` are in POSIX's list, and the
    // pipe and the atomics are constants that `install` has used before, so that reading them initializes nothing. The
    // pipe never blocks (when it is full, further signals add nothing), and `errno` is restored.
    let handler: @convention(c) (CInt) -> Void = { number in
      let before = errno
      SignalPipe.receive(number)
      errno = before
    }
    #if canImport(Darwin)
      action.__sigaction_u.__sa_handler = handler
    #else
      action.__sigaction_handler.sa_handler = handler
    #endif
    action.sa_flags = SA_RESTART
    sigaction(signal, &action, nil)
  }

  /// Passes a signal to the driver or, after its end, ends the program unless the signal belongs to the request that
  /// is already performed.
  ///
  /// The flag is read before the pipe is written: a driver that reads the signal may end before this function does, and
  /// the signal must not count twice. A second signal that arrives between the two is lost, and the end then lasts as
  /// long as without it.
  private static func receive(_ number: CInt) {
    let isEnding = number == SIGINT || number == SIGTERM || number == SIGHUP
    let isReleased = isReleased.load(ordering: .sequentiallyConsistent)
    if isReleased, isEnding, !isSameRequest(number) { SignalExit.end(by: number) }
    if !isReleased, isEnding {
      lastEnding.store(DriverLoop.now << 8 | Int(number), ordering: .sequentiallyConsistent)
    }
    send(UInt8(truncatingIfNeeded: number))
  }

  /// Whether a signal after the release asks for nothing new.
  private static func isSameRequest(_ number: CInt) -> Bool {
    if number == SIGHUP, isHungUp.load(ordering: .sequentiallyConsistent) { return true }
    let last = lastEnding.load(ordering: .sequentiallyConsistent)
    return last != 0 && last & 0xFF != Int(number)
      && DriverLoop.now - last >> 8 <= TerminationSignals.sameRequestMilliseconds
  }

  /// Restores the default actions of the signals that do not ask the program to end; these are handled until it ends.
  /// After a hangup, SIGHUP is ignored. The caller reads the pipe once more afterwards, except after a hangup, when the
  /// program already ends.
  static func uninstall(isHungUp: Bool = false) {
    Self.isHungUp.store(isHungUp, ordering: .sequentiallyConsistent)
    isReleased.store(true, ordering: .sequentiallyConsistent)
    for number in handled where !ending.contains(number) { signal(number, SIG_DFL) }
  }

  static func send(_ byte: UInt8) {
    withUnsafePointer(to: byte) { _ = write(ends.write, $0, 1) }
  }

  /// Reads the pending bytes.
  static func drain() -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: 64)
    let count = buffer.withUnsafeMutableBytes { read(ends.read, $0.baseAddress, $0.count) }
    return Array(buffer.prefix(max(0, count)))
  }

  /// Suspends the program as Ctrl-Z does and returns when it resumes. Returns at once if no shell could resume it.
  /// `raise` signals this thread, so the program is stopped before it returns.
  static func stop() {
    // Resuming continues here, so SIGCONT need not be delivered through the pipe.
    signal(SIGCONT, SIG_DFL)
    signal(SIGTSTP, SIG_DFL)
    // A thread inherits the mask of its creator, and threads of a pool block all signals.
    var stops = sigset_t()
    var before = sigset_t()
    sigemptyset(&stops)
    sigaddset(&stops, SIGTSTP)
    pthread_sigmask(SIG_UNBLOCK, &stops, &before)
    raise(SIGTSTP)
    pthread_sigmask(SIG_SETMASK, &before, nil)
    install(SIGTSTP)
    install(SIGCONT)
  }
}
