import Glibc
import Synchronization

/// Signals as bytes of a pipe, so that they come in order with everything else that the driver waits for; and the way for
/// other threads to wake it.
enum SignalPipe {
  /// What is heard while a terminal is held.
  static let heard: [CInt] = [SIGWINCH, SIGTSTP, SIGCONT, SIGINT, SIGTERM, SIGHUP]
  /// The byte that only wakes.
  static let wake: UInt8 = 0

  /// The pipe's ends; made once, with the first driver, and never closed: a handler may run at any time.
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

  /// Puts the handlers in place. Whatever was there before is not kept: nobody else in the program handles these.
  static func install() {
    _ = ends
    for signal in heard { install(signal) }
    // A terminal that is gone is an error of `write`, not the end.
    signal(SIGPIPE, SIG_IGN)
  }

  static func install(_ signal: CInt) {
    var action = sigaction()
    // Async-signal-safe: `write` is in POSIX's list, the pipe is a constant that `install` has used before, so that reading it
    // initializes nothing; the pipe never blocks (when it is full, more signals say nothing new), and `errno` is put back.
    action.__sigaction_handler.sa_handler = { number in
      let before = errno
      SignalPipe.send(UInt8(truncatingIfNeeded: number))
      errno = before
    }
    action.sa_flags = SA_RESTART
    sigaction(signal, &action, nil)
  }

  /// Gives the signals their usual effect again; that a terminal went away no longer matters if it did.
  static func uninstall(isHungUp: Bool = false) {
    for signal in heard { Glibc.signal(signal, isHungUp && signal == SIGHUP ? SIG_IGN : SIG_DFL) }
  }

  static func send(_ byte: UInt8) {
    withUnsafePointer(to: byte) { _ = write(ends.write, $0, 1) }
  }

  /// The bytes that wait.
  static func drain() -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: 64)
    let count = buffer.withUnsafeMutableBytes { read(ends.read, $0.baseAddress, $0.count) }
    return Array(buffer.prefix(max(0, count)))
  }

  /// Stops the program as Ctrl-Z would, and returns when it goes on; at once, if nobody could make it go on. `raise` is
  /// for this thread, so that it stands still before it returns.
  static func stop() {
    // Going on is what follows here: it need not be heard too.
    Glibc.signal(SIGCONT, SIG_DFL)
    Glibc.signal(SIGTSTP, SIG_DFL)
    // A thread has the mask of the one that made it, and those of a pool let no signal through.
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
