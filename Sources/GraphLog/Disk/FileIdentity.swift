// Tests: MovedLogTests.swift, MovedFilesTests.swift
import FileNumber

/// The identity of a file: its device and inode. An open file's inode number is never reused.
package struct FileIdentity: Hashable, Sendable {
  private let device: UInt64
  private let number: UInt64

  /// The identity of the file that a path refers to, through links; nil if there is none.
  package init?(of path: String) {
    var (device, number) = (UInt64(0), UInt64(0))
    guard fileNumberOfPath(path, &device, &number) == 0 else { return nil }
    self.init(device: device, number: number)
  }

  /// The identity of an open file.
  package init?(descriptor: Int32) {
    var (device, number) = (UInt64(0), UInt64(0))
    guard fileNumberOfDescriptor(descriptor, &device, &number) == 0 else { return nil }
    self.init(device: device, number: number)
  }

  /// The identity of a file on a simulated disk.
  package init(device: UInt64, number: UInt64) { (self.device, self.number) = (device, number) }
}
