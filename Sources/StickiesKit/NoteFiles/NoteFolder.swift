import GraphModel

#if canImport(Glibc)
  import Glibc
#endif

/// A folder of notes on the disk. All is done through the folder itself, by plain names: a link leads nowhere, and nothing
/// outside is read or written. A file comes whole or not at all; one run at a time has the folder.
public final class NoteFolder {
  /// Where it is, as it was said.
  public let path: String
  private let descriptor: Int32
  private static let temporary = ".stickies-new"

  /// Opens the folder, and keeps others out as long as this is there.
  /// - Parameter creates: make it when it is not there; its parent must be.
  /// - Throws: `Refusal`.
  public init(_ path: String, creates: Bool = false) throws {
    self.path = path
    if creates, mkdir(path, 0o777) != 0, errno != EEXIST { throw Self.failure(path, "can't be made") }
    let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else {
      if errno == ENOENT { throw Refusal(.notFound, "there is no folder \(path)") }
      throw Self.failure(path, "can't be opened")
    }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      let error = errno
      close(descriptor)
      if error == EWOULDBLOCK { throw Refusal(.unavailable, "another run is at work in \(path)") }
      errno = error
      throw Self.failure(path, "can't be locked")
    }
    // Once the property is set, `deinit` closes the descriptor, also after a failure.
    self.descriptor = descriptor
    // A run that was cut has left it.
    unlinkat(descriptor, Self.temporary, 0)
  }

  deinit { close(descriptor) }

  private static func failure(_ path: String, _ what: String) -> Refusal {
    Refusal(.unavailable, "\(path) \(what): \(String(cString: strerror(errno)))")
  }

  private func failure(_ name: String, _ what: String) -> Refusal { Self.failure("\(path)/\(name)", what) }

  // MARK: - Reading

  /// The files that are notes, ascending by name; hidden ones and folders are none.
  /// - Throws: `Refusal` when the folder can't be read.
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
        // A name that is no UTF-8 is none that we could write in a list.
        String(validating: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if let name { names.append(name) }
    }
    return names.sorted { Bytes.order($0, $1) == .ascending }
  }

  /// A file's bytes; nil when there is none, or a folder.
  private func read(_ name: String, limit: Int) -> Result<[UInt8]?, FolderFile.Unreadable> {
    func unreadable(_ reason: String) -> Result<[UInt8]?, FolderFile.Unreadable> {
      .failure(FolderFile.Unreadable(description: reason))
    }
    // Without O_NONBLOCK a pipe would wait for its writer.
    let file = openat(descriptor, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard file >= 0 else {
      switch errno {
      case ENOENT: return .success(nil)
      case ELOOP: return unreadable("it is a link, which is not followed")
      default: return unreadable("it can't be opened: \(String(cString: strerror(errno)))")
      }
    }
    defer { close(file) }
    var status = stat()
    guard fstat(file, &status) == 0 else { return unreadable("it can't be read") }
    if status.st_mode & S_IFMT == S_IFDIR { return .success(nil) }
    guard status.st_mode & S_IFMT == S_IFREG else { return unreadable("it is no plain file") }
    var bytes = [UInt8]()
    var chunk = [UInt8](repeating: 0, count: 64 << 10)
    while true {
      let count = Glibc.read(file, &chunk, chunk.count)
      if count == 0 { return .success(bytes) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return unreadable("it can't be read: \(String(cString: strerror(errno)))") }
      bytes += chunk[..<count]
      guard bytes.count <= limit else { return unreadable("it has more than \(limit) bytes") }
    }
  }

  /// The folder's list; nil when it has none.
  /// - Throws: `Refusal` for one that can't be read.
  public func list() throws -> FolderList? {
    let advice = "move it away, and export into an empty folder"
    do {
      guard let bytes = try read(FolderList.name, limit: FolderList.maximumSize).get() else { return nil }
      return try FolderList(parsing: bytes)
    } catch {
      throw Refusal(.malformed, "\(path)/\(FolderList.name) can't be used: \(error); \(advice)")
    }
  }

  // MARK: - Writing

  /// Puts the list in its place.
  /// - Throws: `Refusal` when the disk does not take it.
  public func write(_ list: FolderList) throws {
    try writeTemporary(Array(list.json.text.utf8))
    try moveTemporary(to: FolderList.name)
    fsync(descriptor)
  }

  /// Makes a file.
  /// - Returns: false when something has the name, which is left alone.
  /// - Throws: `Refusal` when the disk does not take it.
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
    // A file system without links: looked at first, then moved.
    var status = stat()
    guard errno == EPERM || errno == EOPNOTSUPP else { throw failure(name, "can't be made") }
    guard fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) != 0 else { return false }
    try moveTemporary(to: name)
    return true
  }

  /// Writes a file anew.
  /// - Returns: false when it has other bytes than `old`: it is left alone.
  /// - Throws: `Refusal` when the disk does not take it.
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
  /// - Returns: false when it has other bytes than `old`: it is left alone.
  /// - Throws: `Refusal` when the disk does not allow it.
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
    guard file >= 0 else { throw failure(name, "can't be made") }
    defer { close(file) }
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw failure(name, "can't be written") }
      rest = rest.dropFirst(count)
    }
    // An emptied file would look like an edit that takes the whole text away.
    guard fsync(file) == 0 else { throw failure(name, "can't be written") }
  }

  private func moveTemporary(to name: String) throws {
    guard renameat(descriptor, Self.temporary, descriptor, name) == 0 else { throw failure(name, "can't be written") }
  }
}
