import Dispatch
import Glibc

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
      signal(SIGINT, SIG_DFL)
      kill(getpid(), SIGINT)
    }
    source.resume()
  }

  deinit {
    source.cancel()
    signal(SIGINT, previous)
  }

  /// Of a commit that may have been on its way.
  static let inCommits = "what is in the log stays, the rest is not committed"
  static let runAgain = "what is done is done; run it again for the rest"
  static let allOrNothing = "all of it is committed, or nothing; the log says which"
}
