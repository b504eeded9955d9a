import Foundation
import GraphModel

/// Writes files that only this user may read, completely or not at all.
struct PrivateFileWriter {
  /// Whether existing files are replaced.
  let replaces: Bool

  /// - Throws: `StoreFailure(.alreadyThere)` if a file exists that must not be replaced.
  func check(_ paths: [String]) throws {
    if replaces { return }
    if let path = paths.first(where: { access($0, F_OK) == 0 }) {
      throw StoreFailure(
        .alreadyThere, "\(path) already exists",
        advice: "Give --show to print the hash of its key, or --replace to create another key, which clients must then "
          + "trust anew.")
    }
  }

  /// Writes a file beside its place, syncs it, and gives it its name.
  func write(_ text: String, to path: String) throws {
    let directory = (path as NSString).deletingLastPathComponent
    if !directory.isEmpty {
      // The open reports an error with its cause.
      try? FileManager.default.createDirectory(
        atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }
    let draft = path + ".new"
    unlink(draft)
    let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw Self.failure(draft) }
    var rest = Array(text.utf8)[...]
    var isWritten = true
    while isWritten, !rest.isEmpty {
      let count = rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
      isWritten = count > 0
      if isWritten { rest = rest.dropFirst(count) }
    }
    isWritten = isWritten && fsync(descriptor) == 0
    let failure = Self.failure(draft)
    close(descriptor)
    guard isWritten else {
      unlink(draft)
      throw failure
    }
    guard rename(draft, path) == 0 else { throw Self.failure(path) }
  }

  private static func failure(_ path: String) -> StoreFailure {
    StoreFailure(
      .inputOutput, "\(path) can't be written", cause: String(cString: strerror(errno)),
      advice: "Give other paths with --certificate and --key.")
  }
}
