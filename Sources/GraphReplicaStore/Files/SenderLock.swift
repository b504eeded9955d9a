// Tests: UnsentFileTests.swift
import GraphModel
import GraphStore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The lock of the one process that sends a replica's edits. The system releases it when the process ends.
package final class SenderLock: Sendable {
  private let descriptor: Int32

  /// Takes the lock of a replica's folder.
  /// - Returns: nil if another process has it.
  package static func acquire(folder: String) throws -> SenderLock? {
    let path = folder + "/sending.lock"
    let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw StoreFiles.failure("\(path) can't be opened", errno) }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      let code = errno
      close(descriptor)
      if code == EWOULDBLOCK { return nil }
      throw StoreFiles.failure("\(path) can't be locked", code)
    }
    return SenderLock(descriptor)
  }

  private init(_ descriptor: Int32) { self.descriptor = descriptor }

  deinit { close(descriptor) }
}
