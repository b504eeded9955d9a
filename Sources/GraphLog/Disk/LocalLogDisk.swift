// Tests: LocalCommitLogTests.swift
import GraphModel

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A folder of the local file system.
struct LocalLogDisk: LogDisk {
  let folder: String

  func makeFolder() throws {
    // An existing file of this name makes every later operation fail.
    guard mkdir(folder, 0o700) == 0 || errno == EEXIST else {
      throw StoreFailure.system("the log folder \(folder) can't be created", errno)
    }
    // Also for an existing folder: the process that created it may have been killed before its sync.
    guard let slash = folder.lastIndex(of: "/") else { return try Self.synchronize(folder: ".") }
    try Self.synchronize(folder: slash == folder.startIndex ? "/" : String(folder[..<slash]))
  }

  func names() throws -> [String]? {
    guard let stream = opendir(folder) else {
      if errno == ENOENT { return nil }
      throw StoreFailure.system("the log folder \(folder) can't be read", errno)
    }
    defer { closedir(stream) }
    var names = [String]()
    errno = 0
    while let entry = readdir(stream) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      names.append(name)
      errno = 0
    }
    guard errno == 0 else { throw StoreFailure.system("the log folder \(folder) can't be read", errno) }
    return names
  }

  func folderIdentity() -> FileIdentity? { FileIdentity(of: folder) }

  func identity(of name: String) -> FileIdentity? { FileIdentity(of: path(name)) }

  func create(_ name: String) throws -> any LogFile {
    let descriptor = openFile(path(name), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw StoreFailure.system("the log segment \(path(name)) can't be created", errno) }
    return LocalLogFile(descriptor, path(name))
  }

  func open(_ name: String, forWriting: Bool) throws -> any LogFile {
    // O_NONBLOCK: opening a pipe of that name must not block.
    let descriptor = openFile(path(name), (forWriting ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw StoreFailure.system("the log segment \(path(name)) can't be opened", errno) }
    return LocalLogFile(descriptor, path(name))
  }

  func rename(_ name: String, to newName: String) throws {
    guard renameFile(path(name), path(newName)) == 0 else {
      throw StoreFailure.system("the log segment \(path(name)) can't be renamed to \(newName)", errno)
    }
  }

  func remove(_ name: String) throws {
    guard unlink(path(name)) == 0 || errno == ENOENT else {
      throw StoreFailure.system("the log segment \(path(name)) can't be removed", errno)
    }
  }

  func synchronizeFolder() throws { try Self.synchronize(folder: folder) }

  private static func synchronize(folder: String) throws {
    let descriptor = openFile(folder, O_RDONLY | O_CLOEXEC | O_DIRECTORY)
    guard descriptor >= 0 else { throw StoreFailure.system("\(folder) can't be opened", errno) }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw StoreFailure.system("\(folder) can't be synchronized", errno) }
  }
}

/// A file of the local file system.
private final class LocalLogFile: LogFile {
  private let descriptor: Int32
  private let path: String

  init(_ descriptor: Int32, _ path: String) { (self.descriptor, self.path) = (descriptor, path) }

  deinit { close(descriptor) }

  func identity() throws -> FileIdentity {
    guard let identity = FileIdentity(descriptor: descriptor) else {
      throw StoreFailure.system("the log segment \(path) can't be read", errno)
    }
    return identity
  }

  func size() throws -> Int {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else {
      throw StoreFailure.system("the log segment \(path) can't be read", errno)
    }
    return Int(status.st_size)
  }

  func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    var filled = 0
    while filled < buffer.count {
      let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
      let count = pread(descriptor, rest.baseAddress, rest.count, off_t(offset + filled))
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw StoreFailure.system("the log segment \(path) can't be read", errno) }
      if count == 0 { break }
      filled += count
    }
    return filled
  }

  /// Uses one system call, unless the system writes fewer bytes than requested.
  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws {
    var written = 0
    while written < bytes.count {
      let rest = UnsafeRawBufferPointer(rebasing: bytes[written...])
      let count = pwrite(descriptor, rest.baseAddress, rest.count, off_t(offset + written))
      if count < 0, errno == EINTR { continue }
      guard count > 0 else {
        throw StoreFailure.system("the log segment \(path) can't be written", count == 0 ? ENOSPC : errno)
      }
      written += count
    }
  }

  func synchronize() throws {
    #if canImport(Darwin)
      // `fsync` leaves the bytes in the drive's cache there.
      let status = fcntl(descriptor, F_FULLFSYNC)
    #else
      let status = fdatasync(descriptor)
    #endif
    guard status != -1 else {
      throw StoreFailure.system("the log segment \(path) can't be synchronized", errno)
    }
  }
}

/// `open` of the C library, which a method hides.
private func openFile(_ path: String, _ flags: Int32, _ mode: mode_t = 0) -> Int32 { open(path, flags, mode) }

/// `rename` of the C library, which a method hides.
private func renameFile(_ path: String, _ newPath: String) -> Int32 { rename(path, newPath) }
