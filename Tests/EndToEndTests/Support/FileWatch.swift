import Foundation

/// Notices each write to a file, or to the files of a folder, since the watch was made, by inotify.
final class FileWatch: Sendable {
  private let descriptor: Int32

  init(_ path: String) throws {
    descriptor = inotify_init1(O_CLOEXEC)
    guard descriptor >= 0, inotify_add_watch(descriptor, path, UInt32(IN_MODIFY)) >= 0 else {
      throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
    }
  }

  deinit { close(descriptor) }

  /// Returns at the next write that no earlier call has reported; false if there is none in time.
  func waitForWrite(seconds: Int32) async -> Bool {
    // A thread of its own: tests run on few threads, and the wait blocks one.
    await withCheckedContinuation { continuation in
      Thread.detachNewThread { continuation.resume(returning: self.block(seconds: seconds)) }
    }
  }

  private func block(seconds: Int32) -> Bool {
    var event = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    guard poll(&event, 1, seconds * 1_000) == 1 else { return false }
    // Several writes may be read as one; the caller reads the file after each.
    var buffer = [UInt8](repeating: 0, count: 4_096)
    return read(descriptor, &buffer, buffer.count) > 0
  }
}
