import Dispatch
import Glibc
import StickiesKit

/// Ctrl-C while a command waits: a line that is written over goes, a sentence says how things stand, and the program ends
/// as the signal ends it, so that a script that called it ends, too.
final class Interruption {
  private let source: any DispatchSourceSignal
  private let previous: (@convention(c) (Int32) -> Void)?

  /// - Parameters:
  ///   - sentence: what is told; nil where there is nothing to tell.
  ///   - draft: a file that nobody needs then.
  init(_ sentence: String? = nil, removing draft: String? = nil) {
    previous = signal(SIGINT, SIG_IGN)
    source = DispatchSource.makeSignalSource(signal: SIGINT, queue: .global())
    source.setEventHandler {
      if isatty(2) == 1 { StandardError.write("\r\u{1B}[K", terminator: "") }
      if let sentence { StandardError.write("stickies: interrupted: \(sentence)") }
      if let draft { unlink(draft) }
      Self.end()
    }
    source.resume()
  }

  deinit {
    source.cancel()
    signal(SIGINT, previous)
  }

  /// By the signal, to this thread: one to the process could come back as an event.
  private static func end() {
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGINT)
    signal(SIGINT, SIG_DFL)
    pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    raise(SIGINT)
  }

  /// Of what is committed part by part.
  static let inCommits = "what is in the log stays, the rest is not committed"
  /// Of what does nothing twice.
  static let runAgain = "what is done is done; run it again for the rest"
  /// Of one commit, which may have been on its way.
  static let allOrNothing = "all of it is committed, or nothing; the log says which"
}
