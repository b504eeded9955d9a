import Foundation
import GraphModel

/// Starts threads and reports failures to do so.
///
/// `Thread.start` does not report when the system refuses a thread, and a server without its writer would accept
/// commits but never answer them.
enum ServerThread {
  private final class Body: Sendable {
    let run: @Sendable () -> Void

    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
  }

  /// The stack size in bytes; SQLite's parser and deep predicates recurse.
  static let stackSize = 8 << 20

  /// Runs `body` on a new thread, which ends with it.
  /// - Parameters:
  ///   - name: the thread's name in the system's tools, up to 15 bytes.
  ///   - stackSize: the size of the stack in bytes.
  /// - Throws: `StoreFailure(.noThreads)`; then `body` never runs.
  static func start(
    _ name: String, stackSize: Int = stackSize, _ body: @escaping @Sendable () -> Void
  ) throws {
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    var code = pthread_attr_setstacksize(&attributes, stackSize)
    var thread = pthread_t()
    // The thread releases the argument; without a thread it is released below.
    let argument = Unmanaged.passRetained(
      Body {
        Thread.current.name = String(name.prefix(15))
        body()
      })
    if code == 0 {
      code = pthread_create(
        &thread, &attributes,
        { argument in
          if let argument { Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run() }
          return nil
        }, argument.toOpaque())
    }
    guard code == 0 else {
      argument.release()
      throw StoreFailure(
        .noThreads, "the thread \"\(name)\" can't be started", cause: String(cString: strerror(code)),
        advice: "Raise the limit of this user's processes (ulimit -u, TasksMax in a unit of systemd) or free memory, "
          + "then start stickiesd again.")
    }
    pthread_detach(thread)
  }

  /// Lowers the calling thread's priority for good; a program without privileges cannot raise it again.
  ///
  /// On Linux a priority belongs to a thread. Elsewhere it belongs to the process and is left alone.
  static func lowerPriority(by niceness: Int32) {
    #if os(Linux)
      _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, niceness)
    #endif
  }
}
