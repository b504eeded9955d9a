import Foundation
import Synchronization

/// Work on threads of its own beside a measurement.
final class Background: Sendable {
  private let isEnding = Atomic(false)
  private let running = Atomic(0)

  /// Whether some of the work has not ended.
  var isRunning: Bool { running.load(ordering: .acquiring) > 0 }

  /// Repeats each body on a thread until `end`.
  func repeatUntilEnd(_ bodies: [() throws -> Void]) {
    for body in bodies {
      start {
        while !self.isEnding.load(ordering: .acquiring) { try body() }
      }
    }
  }

  /// Runs a body once on a thread.
  func start(_ body: @escaping () throws -> Void) {
    running.add(1, ordering: .acquiringAndReleasing)
    // Each body is used by its own thread only.
    nonisolated(unsafe) let work = body
    Thread.detachNewThread {
      do { try work() } catch {
        print("failed: \(error)")
        exit(1)
      }
      self.running.subtract(1, ordering: .acquiringAndReleasing)
    }
  }

  /// Ends the repeated work, and waits for all of it.
  func end() {
    isEnding.store(true, ordering: .releasing)
    while isRunning { usleep(1_000) }
  }
}
