import Foundation

/// A file system of its own in memory, where this user may mount one.
public final class MountedDisk {
  private let folder: TemporaryDirectory

  /// The path of the mounted file system.
  public var path: String { folder.path }

  /// Creates a file system; nil where this user may not mount one.
  public init?(mebibytes: Int) throws {
    folder = try TemporaryDirectory()
    guard Self.run("mount", "-t", "tmpfs", "-o", "size=\(mebibytes)m", "stickies-test", folder.path) else { return nil }
  }

  /// Makes the file system read-only.
  public func remountForReadingOnly() -> Bool { Self.run("mount", "-o", "remount,ro", path) }

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
