import Dispatch
import Foundation
import Logging
import UnixSignals

/// The daemon's reaction to signals; docs/operating.md has the table.
///
/// SIGTERM and SIGINT end the daemon gracefully. With a terminal, SIGHUP does so as well, because the terminal was
/// closed. Without a terminal, SIGHUP makes the daemon read its certificate again, and a daemon without a certificate
/// ignores it: systemd would take the exit for a success. The daemon ignores other signals that would end it by
/// default.
struct SignalHandler {
  private enum HangUpReaction { case ends, ignored }

  /// For a file size limit and a closed reader, the write itself fails with an error. SIGPROF can't be reported,
  /// because the handler of libdispatch would send the signal to its own thread endlessly.
  private static let silent = [SIGPIPE, SIGXFSZ, SIGPROF]
  private static let reported = [
    (SIGUSR1, "SIGUSR1"), (SIGUSR2, "SIGUSR2"), (SIGALRM, "SIGALRM"), (SIGVTALRM, "SIGVTALRM"), (SIGIO, "SIGIO"),
    (SIGPWR, "SIGPWR"),
  ]

  /// Nil if SIGHUP was ignored at the start, as under `nohup`; it then remains ignored.
  private let hangUp: HangUpReaction?

  /// Takes effect immediately, so that a signal does not interrupt the start.
  init() {
    for number in Self.silent + Self.reported.map(\.0) { signal(number, SIG_IGN) }
    let previous = signal(SIGHUP, SIG_IGN)
    // SIG_IGN is the pointer 1, which is not the address of a function.
    if unsafeBitCast(previous, to: Int.self) == 1 {
      hangUp = nil
    } else if Self.hasTerminal {
      signal(SIGHUP, SIG_DFL)
      hangUp = .ends
    } else {
      hangUp = .ignored
    }
  }

  /// Whether the process has a controlling terminal.
  private static var hasTerminal: Bool {
    let descriptor = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC)
    guard descriptor >= 0 else { return false }
    close(descriptor)
    return true
  }

  /// The signals that end the daemon gracefully.
  var ending: [UnixSignal] { hangUp == .ends ? [.sigterm, .sigint, .sighup] : [.sigterm, .sigint] }

  /// Logs each ignored signal once.
  /// - Parameter reload: called on SIGHUP if it does not end the daemon; nil if there is nothing to reload.
  /// - Returns: the sources, which must be retained for as long as signals are to be handled.
  func watch(_ log: Logger, hangUp reload: (@Sendable () -> Void)?) -> [any DispatchSourceSignal] {
    var ignored = Self.reported.map { ($0.0, "\($0.1) is ignored") }
    var sources = [any DispatchSourceSignal]()
    if hangUp == .ignored, let reload {
      let source = DispatchSource.makeSignalSource(signal: SIGHUP, queue: .global())
      source.setEventHandler(handler: reload)
      source.resume()
      sources.append(source)
    } else if hangUp == .ignored {
      ignored.append(
        (SIGHUP, "SIGHUP is ignored: options are read at the start only, restart the daemon to change them"))
    }
    return sources
      + ignored.map { number, message in
        let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
        let line = OneTimeLogMessage(message)
        source.setEventHandler { line.log(to: log) }
        source.resume()
        return source
      }
  }

  /// `@unchecked Sendable`: a source calls its handler on one thread at a time.
  private final class OneTimeLogMessage: @unchecked Sendable {
    private let message: String
    private var isLogged = false

    init(_ message: String) { self.message = message }

    func log(to log: Logger) {
      guard !isLogged else { return }
      isLogged = true
      log.notice("\(message)")
    }
  }
}
