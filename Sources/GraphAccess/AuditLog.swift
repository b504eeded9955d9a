// Tests: AuditLogTests.swift
import GraphModel
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The audit log of a data directory: a line of JSON for each login and each refusal, in `audit.log`.
///
/// When the file reaches its maximum size, the log is rotated: `audit.log` is renamed to `audit.log.1`, that file to
/// `audit.log.2`, and so on; the oldest file is removed. The log takes about `maximumFiles` times `maximumFileSize` at
/// most. Changes of users, tokens and grants are logged in `access.sqlite`, in the transaction of each change.
public final class AuditLog: Sendable {
  /// The name of the newest file.
  public static let name = "audit.log"
  /// The size in bytes at which the log is rotated.
  public static let maximumFileSize = 4 << 20
  /// The maximum number of files, including the newest.
  public static let maximumFiles = 4

  private let path: String
  private let fileSize: Int
  /// Held while a line is written or the files are rotated, so that lines do not mix.
  private let writing = Mutex(())

  /// - Parameter fileSize: the size in bytes at which the log is rotated.
  public init(directory: String, fileSize: Int = AuditLog.maximumFileSize) {
    (path, self.fileSize) = (directory + "/" + Self.name, fileSize)
  }

  /// Appends a line. It blocks, so it must not be called on an event loop.
  /// - Throws: `StoreFailure` if the file can't be written, or if other users have access to it.
  public func append(_ entry: AuditEntry) throws {
    var line = [UInt8]()
    entry.json.write(to: &line)
    assert(!line.contains(UInt8(ascii: "\n")), "an entry is one line")
    line.append(UInt8(ascii: "\n"))
    try writing.withLock { _ in
      guard let descriptor = try Self.open(path, O_WRONLY | O_APPEND | O_CREAT) else {
        throw Self.failure(path, "can't be created")
      }
      defer { close(descriptor) }
      let size = try Self.size(of: descriptor, path)
      let written = line.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
      guard written == line.count else {
        let failure = Self.failure(path, "can't be written")
        // Without a newline, the rest of a partial line would become the beginning of the next line.
        if written > 0 { _ = ftruncate(descriptor, off_t(size)) }
        throw failure
      }
      if size + line.count >= fileSize { rotate() }
    }
  }

  /// Rotates the files. If a file can't be renamed, the next `append` tries again.
  private func rotate() {
    for number in stride(from: Self.maximumFiles - 2, through: 1, by: -1) {
      rename("\(path).\(number)", "\(path).\(number + 1)")
    }
    rename(path, "\(path).1")
  }

  /// The entries of all files, the oldest first, and the number of lines that can't be read.
  /// - Throws: `StoreFailure` if a file can't be read, or if other users have access to it.
  public func entries() throws -> (entries: [AuditEntry], damaged: Int) {
    // A daemon may rotate the files at the same time. Reading from the newest file to the oldest misses none, and a
    // file that was already read under its former name is recognized by its inode.
    var files = [[UInt8]]()
    var read = Set<UInt64>()
    for number in 0..<Self.maximumFiles {
      let path = number == 0 ? path : "\(path).\(number)"
      guard let file = try Self.contents(of: path), read.insert(file.inode).inserted else { continue }
      files.append(file.bytes)
    }
    var entries = [AuditEntry]()
    var damaged = 0
    for line in files.reversed().flatMap({ $0.split(separator: UInt8(ascii: "\n")) }) {
      if let entry = AuditEntry(line: line) { entries.append(entry) } else { damaged += 1 }
    }
    return (entries, damaged)
  }

  /// The inode of a file and its bytes; nil if there is no such file.
  private static func contents(of path: String) throws -> (inode: UInt64, bytes: [UInt8])? {
    guard let descriptor = try open(path, O_RDONLY) else { return nil }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw failure(path, "can't be read") }
    let size = Int(status.st_size)
    let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
      count = max(0, pread(descriptor, buffer.baseAddress, size, 0))
    }
    guard bytes.count == size else { throw failure(path, "can't be read") }
    return (UInt64(status.st_ino), bytes)
  }

  /// Opens a file of the log. Throws unless it is a regular file of this user and no other user has access to it.
  /// - Returns: nil if there is no such file.
  private static func open(_ path: String, _ flags: Int32) throws -> Int32? {
    let descriptor = openFile(path, flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0o600)
    guard descriptor >= 0 else {
      if errno == ENOENT { return nil }
      throw failure(path, "can't be opened")
    }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid(),
      status.st_mode & 0o077 == 0, status.st_nlink == 1
    else {
      close(descriptor)
      throw StoreFailure(
        .readOnly, "\(path) is not a regular file of this user alone",
        advice: "Check its owner, its mode and its links, and move it away.")
    }
    return descriptor
  }

  private static func size(of descriptor: Int32, _ path: String) throws -> Int {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw failure(path, "can't be read") }
    return Int(status.st_size)
  }

  private static func failure(_ path: String, _ what: String) -> StoreFailure {
    StoreFailure(
      .inputOutput, "\(path) \(what)", cause: String(cString: strerror(errno)),
      advice: "Check the disk and the rights of the data directory.")
  }
}
