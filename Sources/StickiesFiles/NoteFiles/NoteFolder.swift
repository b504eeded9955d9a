import GraphModel

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A folder of notes on disk. All files are opened by plain names relative to the folder's open descriptor. Links are
/// not followed, so nothing outside the folder is read or written. Files are written atomically, and the folder is
/// locked for one run at a time.
public final class NoteFolder {
  /// The folder's path, as given.
  public let path: String
  private let descriptor: Int32
  private static let temporary = ".stickies-new"

  /// Opens and locks the folder until this object is released.
  /// - Parameter creates: whether to create a missing folder; its parent must exist.
  /// - Throws: `Refusal` if it cannot be opened or another run holds the lock.
  public init(_ path: String, creates: Bool = false) throws {
    self.path = path
    if creates, mkdir(path, 0o777) != 0, errno != EEXIST { throw Self.failure(path, "can't be created") }
    let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else {
      if errno == ENOENT { throw Refusal(.notFound, "there is no folder \(path)") }
      throw Self.failure(path, "can't be opened")
    }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      let error = errno
      close(descriptor)
      if error == EWOULDBLOCK { throw Refusal(.unavailable, "another run is using \(path)") }
      errno = error
      throw Self.failure(path, "can't be locked")
    }
    // From here on, `deinit` closes the descriptor, also after a failure.
    self.descriptor = descriptor
    // Removes the temporary file of an interrupted run.
    unlinkat(descriptor, Self.temporary, 0)
  }

  deinit {
    // Unlocks explicitly: a process that is being spawned may still have the descriptor and would keep the lock.
    flock(descriptor, LOCK_UN)
    close(descriptor)
  }

  private static func failure(_ path: String, _ what: String) -> Refusal {
    Refusal(.unavailable, "\(path) \(what): \(String(cString: strerror(errno)))")
  }

  private func failure(_ name: String, _ what: String) -> Refusal { Self.failure("\(path)/\(name)", what) }

  // MARK: - Reading

  /// Returns the files of notes, ascending by name, without hidden files and folders.
  /// - Throws: `Refusal` if the folder cannot be read.
  public func files() throws -> [FolderFile] {
    try names().filter(NoteFileName.isPlain).compactMap { name in
      switch read(name, limit: NoteFile.maximumSize) {
      case .success(nil): nil
      case .success(let bytes?): FolderFile(name: name, content: .success(bytes))
      case .failure(let reason): FolderFile(name: name, content: .failure(reason))
      }
    }
  }

  private func names() throws -> [String] {
    let copy = openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard copy >= 0, let directory = fdopendir(copy) else { throw Self.failure(path, "can't be read") }
    defer { closedir(directory) }
    var names = [String]()
    while let entry = readdir(directory) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        // Skip names that are not UTF-8; the list could not contain them.
        String(validating: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if let name { names.append(name) }
    }
    return names.sorted { UTF8Comparison.order($0, $1) == .ascending }
  }

  /// Reads a file; nil if it does not exist or is a folder.
  private func read(_ name: String, limit: Int) -> Result<[UInt8]?, FolderFile.ReadError> {
    func unreadable(_ reason: String) -> Result<[UInt8]?, FolderFile.ReadError> {
      .failure(FolderFile.ReadError(description: reason))
    }
    // Without O_NONBLOCK, opening a pipe would wait for its writer.
    let file = openat(descriptor, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard file >= 0 else {
      switch errno {
      case ENOENT: return .success(nil)
      case ELOOP: return unreadable("it is a symbolic link; links are not followed")
      default: return unreadable("it can't be opened: \(String(cString: strerror(errno)))")
      }
    }
    defer { close(file) }
    var status = stat()
    guard fstat(file, &status) == 0 else { return unreadable("it can't be read") }
    if status.st_mode & S_IFMT == S_IFDIR { return .success(nil) }
    guard status.st_mode & S_IFMT == S_IFREG else { return unreadable("it is not a regular file") }
    var bytes = [UInt8]()
    var chunk = [UInt8](repeating: 0, count: 64 << 10)
    while true {
      let count = readBytes(file, &chunk, chunk.count)
      if count == 0 { return .success(bytes) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return unreadable("it can't be read: \(String(cString: strerror(errno)))") }
      bytes += chunk[..<count]
      guard bytes.count <= limit else { return unreadable("it has more than \(limit) bytes") }
    }
  }

  /// Reads the folder's list; nil if it has none.
  /// - Throws: `Refusal` if it cannot be read.
  public func list() throws -> FolderManifest? {
    let advice = "move it away, and export into an empty folder"
    do {
      guard let bytes = try read(FolderManifest.name, limit: FolderManifest.maximumSize).get() else { return nil }
      return try FolderManifest(parsing: bytes)
    } catch {
      throw Refusal(.malformed, "\(path)/\(FolderManifest.name) can't be used: \(error); \(advice)")
    }
  }

  // MARK: - Writing

  /// Replaces the folder's list.
  /// - Throws: `Refusal` after a disk error.
  public func write(_ list: FolderManifest) throws {
    try writeTemporary(Array(list.json.text.utf8))
    try moveTemporary(to: FolderManifest.name)
    fsync(descriptor)
  }

  /// Creates a file.
  /// - Returns: false if the name is taken; the existing file is unchanged.
  /// - Throws: `Refusal` after a disk error.
  public func create(_ name: String, _ bytes: [UInt8]) throws -> Bool {
    try writeTemporary(bytes)
    if linkat(descriptor, Self.temporary, descriptor, name, 0) == 0 {
      unlinkat(descriptor, Self.temporary, 0)
      return true
    }
    if errno == EEXIST {
      unlinkat(descriptor, Self.temporary, 0)
      return false
    }
    // The file system has no hard links: check for the name first, then rename.
    var status = stat()
    guard errno == EPERM || errno == EOPNOTSUPP else { throw failure(name, "can't be created") }
    guard fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) != 0 else { return false }
    try moveTemporary(to: name)
    return true
  }

  /// Replaces a file.
  /// - Returns: false if its bytes are not `old`; the file is unchanged.
  /// - Throws: `Refusal` after a disk error.
  public func replace(_ name: String, _ bytes: [UInt8], over old: [UInt8]) throws -> Bool {
    try writeTemporary(bytes)
    guard has(name, old) else {
      unlinkat(descriptor, Self.temporary, 0)
      return false
    }
    try moveTemporary(to: name)
    return true
  }

  /// Removes a file.
  /// - Returns: false if its bytes are not `old`; the file is unchanged.
  /// - Throws: `Refusal` after a disk error.
  public func remove(_ name: String, over old: [UInt8]) throws -> Bool {
    guard has(name, old) else { return false }
    guard unlinkat(descriptor, name, 0) == 0 else { throw failure(name, "can't be removed") }
    return true
  }

  private func has(_ name: String, _ bytes: [UInt8]) -> Bool {
    if case .success(let found?) = read(name, limit: NoteFile.maximumSize) { found == bytes } else { false }
  }

  private func writeTemporary(_ bytes: [UInt8]) throws {
    let name = Self.temporary
    unlinkat(descriptor, name, 0)
    let file = openat(descriptor, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o666)
    guard file >= 0 else { throw failure(name, "can't be created") }
    defer { close(file) }
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { writeBytes(file, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw failure(name, "can't be written") }
      rest = rest.dropFirst(count)
    }
    // Without a sync, a crash could leave an empty file, which looks like an edit that deletes the text.
    guard fsync(file) == 0 else { throw failure(name, "can't be written") }
  }

  private func moveTemporary(to name: String) throws {
    guard renameat(descriptor, Self.temporary, descriptor, name) == 0 else { throw failure(name, "can't be written") }
  }
}

/// `read` of the C library, which a method hides.
private func readBytes(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer?, _ count: Int) -> Int {
  read(descriptor, buffer, count)
}

/// `write` of the C library, which a method hides.
private func writeBytes(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
  write(descriptor, bytes, count)
}
