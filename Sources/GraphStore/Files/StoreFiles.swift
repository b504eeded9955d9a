// Tests: OpeningTests.swift, LowDiskSpaceTests.swift
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

/// Checks of a store's files before SQLite opens them.
package enum StoreFiles {
  package static let name = "graph.sqlite"
  /// The folder of the commit log.
  package static let logFolder = "log"

  /// The folder of the commit log of a store at a path.
  ///
  /// A restore sets the previous store aside under another name, and its log under one that begins with that name.
  package static func logFolder(ofStoreAt path: String) -> String {
    lastName(of: path) == name ? folder(of: path) + "/" + logFolder : path + "-log"
  }

  /// The failure for an error of a system call.
  package static func failure(_ sentence: String, _ code: Int32) -> StoreFailure { .system(sentence, code) }

  /// The system error that prevents writing a database, or 0 if none is found. The database itself is not opened for
  /// this, because closing a descriptor of it would drop SQLite's locks.
  static func writeError(at path: String) -> Int32 {
    // As many descriptors as SQLite opens at once: the database, its WAL, the WAL index, and the folder.
    var probes = [Int32]()
    defer { for probe in probes { close(probe) } }
    for _ in 0..<4 {
      let probe = open("/dev/null", O_RDONLY | O_CLOEXEC)
      guard probe >= 0 else { return errno }
      probes.append(probe)
    }
    let folder = folder(of: path)
    guard access(folder, W_OK | X_OK) == 0 else { return errno }
    for suffix in ["", "-wal", "-shm"] where access(path + suffix, R_OK | W_OK) != 0 && errno != ENOENT {
      return errno
    }
    return spaceError(in: folder)
  }

  /// Tests the free space by writing to a temporary, unlinked file, because no number reports a quota.
  private static func spaceError(in folder: String) -> Int32 {
    let path = folder + "/space-\(getpid())-\(UInt64.random(in: 0 ... .max))"
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { return errno }
    defer { close(descriptor) }
    unlink(path)
    // A write that reaches the limit writes a part, and only the next one has the error.
    var rest = 65_536
    let pages = [UInt8](repeating: 1, count: rest)
    while rest > 0 {
      let count = write(descriptor, pages, rest)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return count == 0 ? ENOSPC : errno }
      rest -= count
    }
    return fsync(descriptor) == 0 ? 0 : errno
  }

  /// Creates the directory if it does not exist.
  package static func prepare(directory: String) throws {
    var status = stat()
    if stat(directory, &status) == 0, status.st_mode & S_IFMT != S_IFDIR {
      throw StoreFailure(
        .inputOutput, "the data directory \(directory) is a file",
        advice: "Give --data a directory; the file was not touched.")
    }
    do {
      try FileManager.default.createDirectory(
        atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch {
      throw failure("the data directory \(directory) can't be created", errno == 0 ? EACCES : errno)
    }
    guard access(directory, W_OK | X_OK) == 0 else {
      throw failure("the data directory \(directory) can't be written", errno)
    }
  }

  /// Creates an empty file for SQLite that only this user can read, regardless of the umask, which belongs to the
  /// program that embeds a store.
  ///
  /// SQLite itself would create it with 0644. It gives a WAL the mode of its database, and reports why it can't create
  /// a file that this function has not created.
  static func createPrivateFile(at path: String) {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    if descriptor >= 0 { close(descriptor) }
  }

  package static func hasContent(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_size > 0
  }

  /// The kind of a file, according to its first hundred bytes.
  package enum Kind: Equatable {
    case absent
    case store(layout: Int32)
  }

  /// Reads the header without opening the file as a database, so a foreign file stays untouched and gets no WAL.
  /// - Parameter isOnlyRead: whether the store is only going to be read.
  package static func kind(of path: String, isOnlyRead: Bool = false) throws -> Kind {
    // O_NONBLOCK: opening a pipe without a writer must not block.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else {
      if errno == ENOENT { return .absent }
      throw failure("\(path) can't be read", errno)
    }
    defer { close(descriptor) }
    var header = [UInt8](repeating: 0, count: 100)
    let count = read(descriptor, &header, header.count)
    // A failed read is no evidence about the content.
    guard count >= 0 else { throw failure("\(path) can't be read", errno) }
    guard count == 100, header.starts(with: "SQLite format 3\0".utf8) else {
      throw StoreFailure(
        .notAStore, "\(path) is not a store",
        cause: count == 0 ? "the file is empty" : "it does not begin like a SQLite database",
        advice: "Move it away, or give another --data; it was not touched.")
    }
    func number(at offset: Int) -> Int32 {
      Int32(bitPattern: header[offset..<(offset + 4)].reduce(UInt32(0)) { $0 << 8 | UInt32($1) })
    }
    guard number(at: 68) == StoreLayout.applicationID else {
      throw StoreFailure(
        .notAStore, "\(path) is a SQLite database of another program",
        advice: "Give another --data; it was not touched.")
    }
    let mark = LayoutVersion(rawValue: number(at: 60))
    guard mark.rawValue < 0 || mark.isKnown else {
      throw StoreFailure(
        .newerVersion, "\(path) was written by a newer stickiesd",
        cause: mark.layout > StoreLayout.version
          ? "its layout is \(mark.layout), this program knows up to \(StoreLayout.version)"
          : "its full-text index has version \(mark.words), this program knows up to \(WordSplitter.version)",
        advice: "Use the newer program; the store was not touched.")
    }
    guard mark.rawValue > 0, mark.layout >= 1, isSound(header) else {
      throw StoreFailure(
        .corrupt, "the header of \(path) is damaged",
        advice: "It was not touched: keep a copy of all files and restore a backup.")
    }
    if isOnlyRead { return .store(layout: mark.layout) }
    for suffix in ["", "-wal", "-shm"] where access(path + suffix, W_OK) != 0 && errno != ENOENT {
      throw failure("\(path + suffix) can't be written", errno)
    }
    return .store(layout: mark.layout)
  }

  /// Whether the header fields are valid for which SQLite would fail or silently misread the file.
  private static func isSound(_ header: [UInt8]) -> Bool {
    let pageSize = pageSize(header)
    return pageSize >= 512 && pageSize & (pageSize - 1) == 0  // A power of two.
      && (1...2).contains(header[18]) && (1...2).contains(header[19])  // A rollback journal or a WAL.
      && header[20] == 0  // No reserved bytes at the end of a page.
      && header[21...23].elementsEqual([64, 32, 32])  // Fractions that the format fixes.
      && header[44...47].elementsEqual([0, 0, 0, 4])  // The schema's format.
      && header[56...59].elementsEqual([0, 0, 0, 1])  // Texts are UTF-8.
  }

  private static func pageSize(_ header: [UInt8]) -> Int {
    let size = Int(header[16]) << 8 | Int(header[17])
    return size == 1 ? 65_536 : size
  }

  /// The page size of the database; the default of all stores created here if the file can't be read.
  static func pageSize(of path: String) -> Int {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return 4_096 }
    defer { close(descriptor) }
    var header = [UInt8](repeating: 0, count: 100)
    guard read(descriptor, &header, header.count) == header.count, isSound(header) else { return 4_096 }
    return pageSize(header)
  }

  package static func size(ofFile path: String) -> Int {
    var status = stat()
    return stat(path, &status) == 0 ? Int(status.st_size) : 0
  }

  /// The path with all links resolved.
  package static func real(_ path: String) -> String {
    guard let real = realpath(path, nil) else { return path }
    defer { free(real) }
    return String(cString: real)
  }

  /// The path of the folder that contains a file.
  package static func folder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  package static func lastName(of path: String) -> String {
    path.lastIndex(of: "/").map { String(path[path.index(after: $0)...]) } ?? path
  }

  /// The names of the files in a directory; empty if it can't be read.
  package static func names(in directory: String) -> [String] {
    do {
      return try FileManager.default.contentsOfDirectory(atPath: directory)
    } catch {
      return []
    }
  }

  /// The size of the database and its WAL, in bytes.
  package static func size(of path: String) -> Int {
    ["", "-wal"].reduce(0) { sum, suffix in
      var status = stat()
      return stat(path + suffix, &status) == 0 ? sum + Int(status.st_size) : sum
    }
  }

  /// Syncs the directory, so that names just created or renamed survive a power failure.
  package static func synchronize(directory: String) throws {
    let descriptor = open(directory, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure("\(directory) can't be opened", errno) }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw failure("\(directory) can't be synchronized", errno) }
  }
}
