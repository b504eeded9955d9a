#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Ends the process by a signal, so that its parent sees the signal and not an exit code.
package enum SignalExit {
  /// Performs the default action of a signal that a handler has received.
  ///
  /// The signal is sent to this thread, because one to the process could be delivered to a handler again. It is
  /// unblocked first: threads of a pool, and threads that these create, block all signals, and a blocked signal that
  /// was sent to a thread is dropped when the thread ends.
  package static func end(by number: Int32) {
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, number)
    signal(number, SIG_DFL)
    pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    raise(number)
  }
}
