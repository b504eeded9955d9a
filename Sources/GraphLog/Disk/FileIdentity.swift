// Tests: MovedLogTests.swift, MovedFilesTests.swift

#if canImport(Glibc)
  import Glibc
#endif

/// The identity of a file: its device and inode. An open file's inode number is never reused.
package struct FileIdentity: Hashable, Sendable {
  private let device: UInt64
  private let number: UInt64

  /// The identity of the file that a path refers to, through links; nil if there is none.
  package init?(of path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    self.init(status)
  }

  /// The identity of an open file.
  package init?(descriptor: Int32) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return nil }
    self.init(status)
  }

  private init(_ status: stat) { self.init(device: UInt64(status.st_dev), number: UInt64(status.st_ino)) }

  /// The identity of a file on a simulated disk.
  package init(device: UInt64, number: UInt64) { (self.device, self.number) = (device, number) }
}
