import Foundation
import GraphTesting

/// A file system of its own in memory, where this user may mount one.
final class MountedDisk {
  private let folder: TemporaryDirectory

  var path: String { folder.path }

  /// Nil where nothing may be mounted.
  init?(mebibytes: Int) throws {
    folder = try TemporaryDirectory()
    guard Self.run("mount", "-t", "tmpfs", "-o", "size=\(mebibytes)m", "stickies-test", folder.path) else { return nil }
  }

  func remountForReadingOnly() -> Bool { Self.run("mount", "-o", "remount,ro", path) }

  deinit { _ = Self.run("umount", "-l", path) }

  private static func run(_ command: String...) -> Bool {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = command
    process.standardError = FileHandle.nullDevice
    guard (try? process.run()) != nil else { return false }
    process.waitUntilExit()
    return process.terminationStatus == 0
  }
}
