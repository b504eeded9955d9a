import Foundation
import GraphModel

#if canImport(Glibc)
  import Glibc
#endif

/// One daemon for each data directory: a lock on a file of its own, which the kernel gives back however its holder
/// ends. The holder's process number stands in the file for the message.
final class StoreLock: Sendable {
  private let descriptor: Int32

  init(directory: String) throws {
    let path = directory + "/lock"
    descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw StoreFiles.failure("the lock \(path) can't be opened", errno) }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      let code = errno
      var bytes = [UInt8](repeating: 0, count: 32)
      let count = read(descriptor, &bytes, bytes.count)
      guard code == EWOULDBLOCK else {
        throw StoreFailure(
          .cannotLock, "\(path) can't be locked", cause: String(cString: strerror(code)),
          advice: "Use a data directory on a local file system: without locks two daemons could ruin the store.")
      }
      let holder = String(decoding: bytes.prefix(max(0, count)).prefix { $0 != 0x0A }, as: UTF8.self)
      throw StoreFailure(
        .inUse, "the data directory \(directory) is in use by process \(holder)",
        advice: "Stop that stickiesd first, or give this one another --data.")
    }
    let line = Array("\(getpid())\n".utf8)
    ftruncate(descriptor, 0)
    _ = pwrite(descriptor, line, line.count, 0)
  }

  /// Gives the directory back before the object goes.
  func release() { flock(descriptor, LOCK_UN) }

  /// Unlocked in words: a child of this process that has not reached its exec yet holds the descriptor, too. Runs for a
  /// lock that was not got as well, since `init` throws with everything in place: the one place that closes.
  deinit {
    flock(descriptor, LOCK_UN)
    close(descriptor)
  }
}
