import CommandLineIO
import Dispatch

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Handles Ctrl-C while a command waits. It erases the progress line, prints a message, and ends the program by the
/// signal, so that a calling script ends, too.
package final class Interruption {
  private let source: any DispatchSourceSignal
  private let previous: (@convention(c) (Int32) -> Void)?

  /// Installs the handler until it is released.
  /// - Parameters:
  ///   - sentence: the message; nil for none.
  ///   - draft: a file to delete.
  package init(_ sentence: String? = nil, removing draft: String? = nil) {
    previous = signal(SIGINT, SIG_IGN)
    // The handler runs outside of the task, which knows the program.
    let name = RunningProgram.current.name
    source = DispatchSource.makeSignalSource(signal: SIGINT, queue: .global())
    source.setEventHandler {
      if isatty(2) == 1 { StandardError.write("\r\u{1B}[K", terminator: "") }
      if let sentence { StandardError.write("\(name): interrupted: \(sentence)") }
      if let draft { unlink(draft) }
      SignalExit.end(by: SIGINT)
    }
    source.resume()
  }

  deinit {
    source.cancel()
    signal(SIGINT, previous)
  }

  /// For commands that commit in parts.
  package static let inCommits = "the commits in the log stay, the rest is not committed"
  /// For commands that can be repeated without duplicates.
  package static let runAgain = "the finished part stays; run it again for the rest"
  /// For a single commit, which may have been in flight.
  package static let allOrNothing = "either all of it is committed, or nothing; the log shows which"
}
