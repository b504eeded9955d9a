import Foundation
import GraphModel

/// Starts threads that are known to run. `Thread.start` says nothing when the system gives no thread, and a server
/// without its writer would accept commits and never answer them.
enum ServerThread {
  private final class Body: Sendable {
    let run: @Sendable () -> Void

    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
  }

  /// Bytes; SQLite's parser and deep predicates recurse.
  static let stackSize = 8 << 20

  /// Runs `body` on a thread of its own, which ends with it.
  /// - Parameters:
  ///   - name: what the system's tools show, up to 15 bytes.
  ///   - stackSize: in bytes.
  /// - Throws: `StoreFailure(.noThreads)`; then `body` never runs.
  static func start(
    _ name: String, stackSize: Int = stackSize, _ body: @escaping @Sendable () -> Void
  ) throws {
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    var code = pthread_attr_setstacksize(&attributes, stackSize)
    var thread = pthread_t()
    // Given to the thread, which releases it; taken back when there is none.
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
}
