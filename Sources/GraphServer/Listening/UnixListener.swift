import Foundation
import GraphModel
import GraphWire
import Logging
import NIOCore
import NIOPosix

/// A Unix-domain socket and its file.
///
/// The listener creates the file, checks every second that it still exists, and removes it at the end if it is still
/// its own.
///
/// A file can disappear while its socket is open, for example with `/run/user/UID` at the last logout. Then no client
/// can connect, so the listener creates a new socket under the same name. The connections of the old one continue.
///
/// `@unchecked Sendable`: `current`, `replaced`, `rebinding`, `isClosed`, `watch` and `lastProblem` are used on `loop`
/// only.
final class UnixListener: @unchecked Sendable {
  private struct Socket {
    let channel: any Channel
    /// Nil if the file disappeared before it could be examined.
    let identity: SocketFile.Identity?
  }

  private let path: String
  private let bootstrap: ServerBootstrap
  let loop: any EventLoop
  private let log: Logger
  private var current: Socket?
  /// A socket without a file, kept for one period because clients may wait in its backlog.
  private var replaced: (any Channel)?
  private(set) var rebinding: EventLoopFuture<Void>?
  private var isClosed = false
  private var watch: RepeatedTask?
  /// The last reported problem, so that a persisting one is logged once.
  private var lastProblem: String?

  /// The interval at which the file is checked.
  static let period = TimeAmount.seconds(1)
  /// The longest time that another daemon may hold the lock on the directory.
  private static let lockLimit = Duration.seconds(5)

  init(_ path: String, bootstrap: ServerBootstrap, loop: any EventLoop, log: Logger) {
    (self.path, self.bootstrap, self.loop, self.log) = (path, bootstrap, loop, log)
  }

  private var directory: String { SocketFile.directory(of: path) }

  /// Binds the socket, replacing the file of a stale one.
  /// - Throws: `StoreFailure` if the name is taken; otherwise the error of the system.
  func open() async throws {
    SocketFile.makeDirectory(of: path)
    guard let lock = await DirectoryLock.acquire(directory, within: Self.lockLimit) else {
      throw StoreFailure(
        .inUse, "another program has locked the directory \(directory)",
        advice: "Give --listen a path in another directory; only this user should be able to write there.")
    }
    defer { withExtendedLifetime(lock) {} }
    try clear()
    let socket = try await bind().get()
    try await loop.submit {
      self.current = socket
      self.watch = self.loop.scheduleRepeatedTask(initialDelay: Self.period, delay: Self.period) { _ in self.check() }
    }.get()
  }

  /// Removes the file if it is this socket's, and then closes the socket: after the close, its inode could be reused.
  func close() async {
    let rebinding = try? await loop.submit {
      self.isClosed = true
      self.watch?.cancel()
      return self.rebinding
    }.get()
    try? await rebinding?.get()
    // Without the lock the file remains: the next start recognizes it as stale.
    let lock = await DirectoryLock.acquire(directory, within: Self.lockLimit)
    defer { withExtendedLifetime(lock) {} }
    let channels = try? await loop.submit {
      if lock != nil { self.removeOwn() }
      return [self.current?.channel, self.replaced].compactMap { $0 }
    }.get()
    // The loop runs until all listeners are closed.
    guard let channels else { return assertionFailure("a listener is closed before its loop") }
    for channel in channels { try? await channel.close() }
  }

  private func removeOwn() {
    if let identity = current?.identity, SocketFile.Identity(of: path) == identity { unlink(path) }
  }

  /// Removes a stale file, or throws the reason why the name is not available; called under the lock.
  private func clear() throws {
    switch SocketFile.state(of: path) {
    case .missing: return
    case .stale: unlink(path)
    case .alive:
      throw StoreFailure(
        .inUse, "a program listens on unix://\(path)", advice: "Stop it, or give --listen another path.")
    case .noSocket(.danglingLink):
      throw StoreFailure(
        .inUse, "\(path) is \(SocketFile.FileKind.danglingLink.rawValue)",
        advice: "Remove it, or give --listen another path.")
    case .noSocket(let kind):
      throw StoreFailure(
        .inUse, "\(path) is \(kind.rawValue)", advice: "Give --listen another path; nothing was changed.")
    case .ofUser(let user):
      throw StoreFailure(
        .inUse, "the socket \(path) belongs to user \(user)", advice: "Give --listen another path.")
    case .unknown(let code):
      throw IOError(errnoCode: code, reason: "connect")
    }
  }

  /// Binds the socket here, because a socket bound by SwiftNIO removes any file at its path when it closes.
  private func bind() -> EventLoopFuture<Socket> {
    do {
      let descriptor = try SocketFile.bind(path)
      let identity = SocketFile.Identity(of: path)
      return bootstrap.withBoundSocket(descriptor).hop(to: loop).map { Socket(channel: $0, identity: identity) }
    } catch {
      return loop.makeFailedFuture(error)
    }
  }

  // MARK: - A lost file

  /// Checks the file. Runs on `loop`.
  func check() {
    loop.assertInEventLoop()
    if let channel = replaced {
      replaced = nil
      channel.close(promise: nil)
    }
    if isClosed || rebinding != nil { return }
    guard let current else { return assertionFailure("a listener that is open has a socket") }
    if let identity = current.identity, SocketFile.Identity(of: path) == identity {
      lastProblem = nil
    } else {
      rebind()
    }
  }

  private func rebind() {
    SocketFile.makeDirectory(of: path)
    // The next check tries again.
    guard let lock = DirectoryLock(directory) else { return }
    do {
      try clear()
    } catch {
      return report(error)
    }
    rebinding = bind().map { [self] socket in
      replaced = current?.channel
      current = socket
      lastProblem = nil
      log.warning("the socket file was removed and is created again", metadata: ["path": "\(path)"])
    }.flatMapErrorThrowing { [self] error in report(error) }
      .always { [self] _ in
        withExtendedLifetime(lock) {}
        rebinding = nil
      }
  }

  private func report(_ error: any Error) {
    let problem = "\(error)"
    if problem == lastProblem { return }
    lastProblem = problem
    log.warning(
      "the socket file was removed and can't be created again; retrying every second",
      metadata: ["path": "\(path)", "cause": "\(problem)"])
  }
}
