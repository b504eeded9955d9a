// Tests: PrivateFileTests.swift

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A file that only this user may read, which is written completely or not at all.
package struct PrivateFile: Sendable {
  /// The path of the file.
  package let path: String

  /// The file at a path; it need not exist.
  package init(path: String) { self.path = path }

  /// A file that could not be written.
  package struct WriteFailure: Error {
    /// The path of the file, or of the draft that was to become it.
    package let path: String
    /// The system's description.
    package let cause: String

    fileprivate init(_ path: String) { (self.path, cause) = (path, String(cString: strerror(errno))) }
  }

  /// Whether there is a file.
  package var exists: Bool { access(path, F_OK) == 0 }

  /// Writes a draft beside the file, syncs it, and gives it the file's name. Creates missing directories, which only
  /// this user may read.
  /// - Throws: `WriteFailure`; the file is then unchanged.
  package func write(_ text: String) throws(WriteFailure) {
    createDirectories()
    let draft = path + ".new"
    unlink(draft)
    let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw WriteFailure(draft) }
    guard writeBytes(Array(text.utf8), to: descriptor), fsync(descriptor) == 0 else {
      let failure = WriteFailure(draft)
      close(descriptor)
      unlink(draft)
      throw failure
    }
    close(descriptor)
    guard rename(draft, path) == 0 else {
      let failure = WriteFailure(path)
      unlink(draft)
      throw failure
    }
  }

  /// If a directory can't be created, the following `open` fails and reports the cause.
  private func createDirectories() {
    for (index, character) in zip(path.indices, path).dropFirst() where character == "/" {
      mkdir(String(path[..<index]), 0o700)
    }
  }
}

/// Writes all bytes to a descriptor. This function is outside the type, whose method would hide the system call of the
/// same name.
private func writeBytes(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
  var rest = bytes[...]
  while !rest.isEmpty {
    let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
    if count <= 0 { return false }
    rest = rest.dropFirst(count)
  }
  return true
}
