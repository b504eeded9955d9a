import GraphModel

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Copies a store into a private folder, because SQLite writes to a store that it reads: it checkpoints the
/// write-ahead log and makes the log's index.
///
/// The log and a rollback journal are copied, too, but not the index, which SQLite rebuilds. Another program may have
/// the store open: if a file changes during the copy, all of them are copied again.
struct StoreSnapshot {
  /// The store's real path; files beside it have names that begin with it.
  let path: String
  /// The private folder.
  private let folder: String
  /// The copy.
  var copy: String { folder + "/store" }

  /// Whether the store uses a write-ahead log that is not beside it: it was closed, or copied without its log.
  let isLogMissing: Bool

  private static let attempts = 5
  private static let header = Array("SQLite format 3\0".utf8)
  /// The highest version of the file format that SQLite has ever written: 2, with a write-ahead log.
  private static let newestVersion: UInt8 = 2

  /// - Parameter name: the path as the user gave it.
  /// - Throws: `Refusal` if there is no readable SQLite database.
  init(of name: String) throws {
    guard let real = realpath(name, nil) else {
      let code = errno
      let reason = String(cString: strerror(code))
      throw Refusal(code == ENOENT ? .notFound : .unavailable, "\(name) can't be read (\(reason))")
    }
    path = String(cString: real)
    free(real)
    try Self.checkHeader(path, name)
    let header = try FileReader(path, name: name).read(atMost: 100)
    isLogMissing = header.count == 100 && header[18] == Self.newestVersion && FileState(path + "-wal") == nil
    var template = Array((Self.temporaryFolder + "/core-data-XXXXXX").utf8CString)
    guard mkdtemp(&template) != nil else {
      throw Refusal(
        .unavailable,
        "\(name) can't be copied: no temporary folder (\(String(cString: strerror(errno)))); set TMPDIR to a "
          + "writable folder")
    }
    folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    do {
      try copyFiles(name)
    } catch {
      remove()
      throw error
    }
  }

  /// Removes the folder. An open database stays readable.
  func remove() {
    for suffix in Self.suffixes + ["-shm"] { unlink(copy + suffix) }
    rmdir(folder)
  }

  private static var temporaryFolder: String {
    if let folder = getenv("TMPDIR"), folder.pointee != 0 { String(cString: folder) } else { "/tmp" }
  }

  private static let suffixes = ["", "-wal", "-journal"]

  private func copyFiles(_ name: String) throws {
    for _ in 0..<Self.attempts {
      let before = Self.suffixes.map { FileState(path + $0) }
      for (suffix, state) in zip(Self.suffixes, before) {
        unlink(copy + suffix)
        if state != nil { try Self.copy(path + suffix, to: copy + suffix, name) }
      }
      if Self.suffixes.map({ FileState(path + $0) }) == before { return }
    }
    throw Refusal(.unavailable, "another program is writing \(name); quit it, and run this again")
  }

  /// The attributes of a file that each write changes.
  private struct FileState: Equatable {
    let numbers: [Int]

    /// Nil if there is no file.
    init?(_ path: String) {
      var status = stat()
      guard stat(path, &status) == 0 else { return nil }
      #if canImport(Darwin)
        let time = status.st_mtimespec
      #else
        let time = status.st_mtim
      #endif
      numbers = [Int(status.st_ino), Int(status.st_size), time.tv_sec, time.tv_nsec]
    }
  }

  private static func checkHeader(_ path: String, _ name: String) throws {
    let file = try FileReader(path, name: name)
    let bytes = try file.read(atMost: 100)
    if bytes.isEmpty {
      var status = stat()
      // The first commits of a new store may be in its log only.
      if stat(path + "-wal", &status) == 0, status.st_size > 0 { return }
      throw Refusal(.invalid, "\(name) is empty")
    }
    guard bytes.starts(with: header), bytes.count == 100 else {
      throw Refusal(
        .invalid,
        "\(name) is not a SQLite database, or it is encrypted; give the store file of the app, and decrypt it first")
    }
    guard bytes[19] <= newestVersion else {
      throw Refusal(
        .invalid, "\(name) has version \(bytes[19]) of SQLite's file format; this program reads versions 1 and 2")
    }
  }

  private static func copy(_ source: String, to target: String, _ name: String) throws {
    let input = try FileReader(source, name: name)
    let output = open(target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    defer { if output >= 0 { close(output) } }
    while true {
      guard output >= 0 else { break }
      let bytes = try input.read(atMost: 1 << 20)
      if bytes.isEmpty { return }
      var rest = bytes[...]
      while !rest.isEmpty {
        let count = rest.withUnsafeBytes { write(output, $0.baseAddress, $0.count) }
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { break }
        rest = rest.dropFirst(count)
      }
      guard rest.isEmpty else { break }
    }
    throw Refusal(
      .unavailable,
      "\(name) can't be copied to a temporary folder (\(String(cString: strerror(errno)))); set TMPDIR to a folder with "
        + "enough space")
  }
}

/// Reads a regular file from its beginning.
final class FileReader {
  private let descriptor: Int32
  private let name: String
  /// The size in bytes when it was opened.
  let size: Int

  /// - Throws: `Refusal` if it is missing, not readable, or not a regular file.
  init(_ path: String, name: String) throws {
    self.name = name
    // Without O_NONBLOCK, opening a pipe would wait for its writer.
    descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    let code = errno
    var status = stat()
    guard descriptor >= 0, fstat(descriptor, &status) == 0 else {
      size = 0
      let reason = String(cString: strerror(code))
      throw Refusal(code == ENOENT ? .notFound : .unavailable, "\(name) can't be read (\(reason))")
    }
    size = status.st_size
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw Refusal(.invalid, "\(name) is not a regular file; give the store file of the app")
    }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// The next bytes; empty at the end.
  func read(atMost limit: Int) throws -> [UInt8] {
    var failure: Int32 = 0
    let bytes = [UInt8](unsafeUninitializedCapacity: limit) { buffer, filled in
      while filled < limit {
        let count = readBytes(descriptor, buffer.baseAddress?.advanced(by: filled), limit - filled)
        if count < 0, errno == EINTR { continue }
        if count < 0 { failure = errno }
        guard count > 0 else { break }
        filled += count
      }
    }
    guard failure == 0 else {
      throw Refusal(.unavailable, "\(name) can't be read (\(String(cString: strerror(failure))))")
    }
    return bytes
  }
}

/// `read` of the C library, which a method hides.
private func readBytes(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer?, _ count: Int) -> Int {
  read(descriptor, buffer, count)
}
