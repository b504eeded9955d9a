import Foundation
import GraphModel
import NIOCore

/// The file of a Unix-domain socket: its identity, and whether a program listens on it.
///
/// A daemon creates and removes such a file under a lock on its directory, so that two daemons do not interfere. It
/// recognizes its own socket by device and inode. As long as the socket is open, the kernel keeps the inode, so no
/// later file can have the same number: compare before closing.
enum SocketFile {
  /// The identity of the file with a name.
  struct Identity: Equatable {
    let device: UInt64
    let inode: UInt64

    /// The file at `path`, without following links; nil if there is none.
    init?(of path: String) {
      var status = stat()
      guard lstat(path, &status) == 0 else { return nil }
      device = UInt64(status.st_dev)
      inode = UInt64(status.st_ino)
    }
  }

  /// A kind of file that is no socket, in the words of a message.
  enum FileKind: String {
    case file = "a file, not a socket"
    case folder = "a folder, not a socket"
    /// A symbolic link to an existing file, also to a socket: a daemon does not replace the link.
    case link = "a link, not a socket"
    case danglingLink = "a link to nothing"

    /// - Parameter mode: the mode of the file itself.
    fileprivate init(_ path: String, mode: mode_t) {
      var target = stat()
      switch mode & S_IFMT {
      case S_IFDIR: self = .folder
      case S_IFLNK: self = stat(path, &target) == 0 ? .link : .danglingLink
      default: self = .file
      }
    }
  }

  /// The state of a path.
  enum State: Equatable {
    case missing
    /// A socket on which no program listens: only such a file may be removed.
    case stale
    /// A program listens, even if it is not accepting now.
    case alive
    /// Another kind of file.
    case noSocket(FileKind)
    /// A socket of this user id to which this user may not connect.
    case ofUser(UInt32)
    /// The probe failed with this error number.
    case unknown(Int32)
  }

  /// Probes a path with a nonblocking connect. Only a refused connection shows that no program listens: a full
  /// backlog, for example, is also an error, but belongs to a running program.
  static func state(of path: String) -> State {
    var status = stat()
    guard lstat(path, &status) == 0 else { return errno == ENOENT ? .missing : .unknown(errno) }
    guard status.st_mode & S_IFMT == S_IFSOCK else {
      return .noSocket(FileKind(path, mode: status.st_mode))
    }
    switch connect(to: path) {
    case ECONNREFUSED: return .stale
    case ENOENT: return .missing
    case EACCES, EPERM: return .ofUser(status.st_uid)
    case let code where code == EMFILE || code == ENFILE || code == ENOBUFS || code == ENOMEM: return .unknown(code)
    default: return .alive
    }
  }

  /// The error number of a nonblocking connect, 0 if it succeeded.
  private static func connect(to path: String) -> Int32 {
    do {
      let (descriptor, code) = try open(path, connectSocket)
      close(descriptor)
      return code
    } catch {
      return (error as? IOError)?.errnoCode ?? EINVAL
    }
  }

  /// Returns a socket that is bound to `path`, with a file that only this user may use; it does not listen yet.
  /// - Throws: `IOError` with the error of the system.
  static func bind(_ path: String) throws -> Int32 {
    let (descriptor, code) = try open(path, bindSocket)
    guard code == 0 else {
      close(descriptor)
      throw IOError(errnoCode: code, reason: "bind")
    }
    // Set before the socket listens: until then every connection is refused.
    chmod(path, 0o600)
    return descriptor
  }

  /// Returns a new socket, and the error number of calling `use` with it and the encoded path.
  private static func open(
    _ path: String, _ use: (Int32, UnsafePointer<sockaddr>?, socklen_t) -> Int32
  ) throws -> (descriptor: Int32, code: Int32) {
    var name = sockaddr_un()
    name.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    guard bytes.count < MemoryLayout.size(ofValue: name.sun_path) else {
      throw IOError(errnoCode: ENAMETOOLONG, reason: "the path of a socket has at most 107 bytes")
    }
    withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: bytes) }
    #if os(Linux)
      let kind = SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue
      let descriptor = socket(AF_UNIX, Int32(kind), 0)
    #else
      let descriptor = socket(AF_UNIX, SOCK_STREAM, 0)
    #endif
    guard descriptor >= 0 else { throw IOError(errnoCode: errno, reason: "socket") }
    #if !os(Linux)
      _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
      _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    #endif
    let length = socklen_t(MemoryLayout<sockaddr_un>.size)
    let result = withUnsafeBytes(of: &name) { name in
      name.withMemoryRebound(to: sockaddr.self) { use(descriptor, $0.baseAddress, length) }
    }
    return (descriptor, result == 0 ? 0 : errno)
  }

  /// Creates the directory of a socket and its parents, for this user alone.
  static func makeDirectory(of path: String) {
    // The following bind reports an error with its cause.
    try? FileManager.default.createDirectory(
      atPath: directory(of: path), withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
  }

  static func directory(of path: String) -> String {
    let directory = (path as NSString).deletingLastPathComponent
    return directory.isEmpty ? "." : directory
  }
}

/// A lock on a directory while a socket's file in it is created or removed. The kernel releases it with the process.
final class DirectoryLock: Sendable {
  /// -1 where the directory cannot be opened: then the bind fails, or the user has write but no read permission.
  private let descriptor: Int32

  /// Takes the lock without waiting.
  /// - Returns: nil if another program holds it.
  init?(_ directory: String) {
    let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    // Some network file systems have no such locks; the comparison of files remains there.
    if descriptor >= 0, flock(descriptor, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK {
      close(descriptor)
      return nil
    }
    // Once the property is set, `deinit` closes the descriptor, also after a failure.
    self.descriptor = descriptor
  }

  /// Waits for the lock.
  /// - Returns: nil if another program has held it for `limit`, which is far longer than the lock is needed.
  static func acquire(_ directory: String, within limit: Duration) async -> DirectoryLock? {
    let deadline = ContinuousClock.now + limit
    while true {
      if let lock = DirectoryLock(directory) { return lock }
      guard ContinuousClock.now < deadline else { return nil }
      try? await Task.sleep(for: .milliseconds(10))
    }
  }

  deinit {
    // A process that is being spawned still holds the descriptor, and would keep the lock.
    if descriptor >= 0 {
      flock(descriptor, LOCK_UN)
      close(descriptor)
    }
  }
}

/// `connect` of the C library, which a method hides.
private func connectSocket(_ descriptor: Int32, _ name: UnsafePointer<sockaddr>?, _ length: socklen_t) -> Int32 {
  connect(descriptor, name, length)
}

/// `bind` of the C library, which a method hides.
private func bindSocket(_ descriptor: Int32, _ name: UnsafePointer<sockaddr>?, _ length: socklen_t) -> Int32 {
  bind(descriptor, name, length)
}
