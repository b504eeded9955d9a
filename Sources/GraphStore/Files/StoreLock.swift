// Tests: MovedFilesTests.swift
import Foundation
import GraphLog
import GraphModel

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The exclusive lock on a data directory, held by one daemon at a time.
///
/// It is a lock on a separate file, which the kernel releases however the holder ends. The file contains the holder's
/// process ID for the error message.
package final class StoreLock: Sendable {
  package let path: String
  /// The identity of the locked file, regardless of what its name refers to later.
  let identity: FileIdentity
  private let descriptor: Int32

  /// The maximum number of attempts if the file is replaced between opening and locking.
  private static let attempts = 100

  package init(directory: String) throws {
    let path = directory + "/lock"
    self.path = path
    for _ in 0..<Self.attempts {
      let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
      guard descriptor >= 0 else { throw StoreFiles.failure("the lock \(path) can't be opened", errno) }
      do {
        try Self.acquire(descriptor, path, directory)
      } catch {
        close(descriptor)
        throw error
      }
      // A file that lost its name in the meantime locks nothing: the next process would create another one.
      guard let identity = FileIdentity(descriptor: descriptor), identity == FileIdentity(of: path) else {
        close(descriptor)
        continue
      }
      let line = Array("\(getpid())\n".utf8)
      ftruncate(descriptor, 0)
      _ = pwrite(descriptor, line, line.count, 0)
      (self.identity, self.descriptor) = (identity, descriptor)
      return
    }
    throw StoreFailure(
      .cannotLock, "\(path) can't be locked", cause: "another program replaces it again and again",
      advice: "End the program that removes files in \(directory).")
  }

  private static func acquire(_ descriptor: Int32, _ path: String, _ directory: String) throws {
    if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return }
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

  /// Checks that the name still refers to the locked file, before an action that requires the lock.
  package func verify() throws {
    if FileIdentity(of: path) == identity { return }
    throw StoreFailure(
      .moved, "\(path) was moved, replaced or removed while this process held it",
      advice: "Another program may use the directory now: stop both, put the directory back, and run this again.")
  }

  /// Releases the directory before the object is destroyed.
  package func release() { flock(descriptor, LOCK_UN) }

  /// Unlocks explicitly, because a child process that has not reached its exec yet also holds the descriptor.
  deinit {
    flock(descriptor, LOCK_UN)
    close(descriptor)
  }
}
