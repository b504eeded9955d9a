import Foundation
import GraphModel
import GraphTesting
import GraphWire
import Logging
import NIOCore
import NIOPosix
import Testing

@testable import GraphServer

/// Sockets' files, on real sockets: which of them may be removed, and by whom.
@Suite(.timeLimit(.minutes(2))) struct SocketFileTests {
  private let home: TemporaryDirectory
  private var path: String { home.path + "/socket" }
  private var address: ServerAddress { .unix(path: path) }

  init() throws { home = try TemporaryDirectory() }

  private static let log = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

  private func listener(_ path: String? = nil, log: Logger = SocketFileTests.log) -> UnixListener {
    let group = MultiThreadedEventLoopGroup.singleton
    let loop = group.next()
    let bootstrap = ServerBootstrap(group: loop).childChannelInitializer { channel in
      channel.eventLoop.makeSucceededVoidFuture()
    }
    return UnixListener(path ?? self.path, bootstrap: bootstrap, loop: loop, log: log)
  }

  /// Lets the listener check its file now, and waits until it has reacted.
  private func check(_ listener: UnixListener) async throws {
    let rebinding = try await listener.loop.submit {
      listener.check()
      return listener.rebinding
    }.get()
    try await rebinding?.get()
  }

  @Test func onlyRefusingSocketIsStale() throws {
    #expect(SocketFile.state(of: path) == .missing)
    let socket = try PlainSocket.listen(at: address)
    #expect(SocketFile.state(of: path) == .alive)
    close(socket)
    #expect(SocketFile.state(of: path) == .stale)
    let file = home.path + "/file"
    try Data().write(to: URL(fileURLWithPath: file))
    #expect(SocketFile.state(of: file) == .noSocket(.file))
    #expect(SocketFile.state(of: home.path) == .noSocket(.folder))
    for (name, target, kind) in [
      ("linked", file, SocketFile.FileKind.link), ("dangling", home.path + "/missing", .danglingLink),
      ("loop", home.path + "/loop", .danglingLink),
    ] {
      try FileManager.default.createSymbolicLink(atPath: home.path + "/" + name, withDestinationPath: target)
      #expect(SocketFile.state(of: home.path + "/" + name) == .noSocket(kind), "\(name)")
    }
  }

  @Test func socketWithFullBacklogIsAlive() throws {
    let socket = try PlainSocket.listen(at: address)
    defer { close(socket) }
    // Each look leaves a connection in the backlog, which nothing accepts.
    for _ in 0..<50 { #expect(SocketFile.state(of: path) == .alive) }
  }

  @Test func liveSocketIsKeptAndStaleOneReplaced() async throws {
    let socket = try PlainSocket.listen(at: address)
    await #expect(throws: StoreFailure.self) { try await self.listener().open() }
    #expect(SocketFile.state(of: path) == .alive)
    close(socket)
    let listener = listener()
    try await listener.open()
    #expect(SocketFile.state(of: path) == .alive)
    await listener.close()
    #expect(SocketFile.state(of: path) == .missing)
  }

  @Test func onlyOneOfTwoConcurrentStartsGetsSocket() async throws {
    for _ in 0..<20 {
      close(try PlainSocket.listen(at: address))
      let listeners = [listener(), listener(), listener()]
      let opened = await withTaskGroup(of: Int.self) { group in
        for (index, listener) in listeners.enumerated() {
          group.addTask { (try? await listener.open()) != nil ? index : -1 }
        }
        return await group.reduce(into: [Int]()) { if $1 >= 0 { $0.append($1) } }
      }
      #expect(opened.count == 1)
      #expect(SocketFile.state(of: path) == .alive)
      for index in opened { await listeners[index].close() }
    }
  }

  /// A descriptor that is closed twice may be another thread's by then.
  @Test func refusedLockClosesItsDescriptorOnce() async throws {
    let lock = try #require(DirectoryLock(home.path))
    let directory = home.path
    let opened = await withTaskGroup(of: Bool.self) { group in
      for isRefused in [true, false] {
        group.addTask {
          for _ in 0..<20_000 {
            if isRefused {
              guard DirectoryLock(directory) == nil else { return false }
            } else {
              let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
              guard fcntl(descriptor, F_GETFD) >= 0, close(descriptor) == 0 else { return false }
            }
          }
          return true
        }
      }
      return await group.reduce(true) { $0 && $1 }
    }
    #expect(opened)
    withExtendedLifetime(lock) {}
  }

  @Test func endingListenerKeepsSocketOfSuccessor() async throws {
    let first = listener()
    try await first.open()
    unlink(path)
    let successor = try PlainSocket.listen(at: address)
    defer { close(successor) }
    await first.close()
    #expect(SocketFile.state(of: path) == .alive)
  }

  /// Yields the messages of a logger.
  private struct Messages: LogHandler {
    let messages: AsyncStream<String>.Continuation
    var metadata = Logger.Metadata()
    var logLevel = Logger.Level.trace

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { messages.yield("\(event.message)") }
  }

  @Test func lostSocketIsRecreated() async throws {
    let path = home.path + "/run/socket"
    let (messages, logged) = AsyncStream.makeStream(of: String.self)
    let listener = listener(path, log: Logger(label: "test") { _ in Messages(messages: logged) })
    try await listener.open()
    try FileManager.default.removeItem(atPath: home.path + "/run")
    // The next check of the file.
    for await message in messages where message == "the socket file was removed and is created again" { break }
    #expect(SocketFile.state(of: path) == .alive)
    var status = stat()
    #expect(lstat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
    await listener.close()
    #expect(SocketFile.state(of: path) == .missing)
  }

  @Test func socketOfOtherProgramIsTakenOverOnlyWhenStale() async throws {
    let listener = listener()
    try await listener.open()
    unlink(path)
    let other = try PlainSocket.listen(at: address)
    let identity = SocketFile.Identity(of: path)
    try await check(listener)
    #expect(SocketFile.Identity(of: path) == identity)
    close(other)
    // Taken over: the kernel may give the new file the number of the old one.
    try await check(listener)
    #expect(SocketFile.state(of: path) == .alive)
    await listener.close()
    #expect(SocketFile.state(of: path) == .missing)
  }

  @Test func connectionsReserveDescriptorsForStore() throws {
    let number = try #require(DescriptorLimit.number)
    #expect(DescriptorLimit.connections(Int.max) == max(1, number - DescriptorLimit.reserve))
    #expect(DescriptorLimit.connections(2) == 2)
    #expect(DescriptorLimit.sharedConnections(Int.max) == max(1, (number - DescriptorLimit.reserve) / 2))
    #expect(DescriptorLimit.sharedConnections(2) == 2)
    #expect(DescriptorLimit.advice.contains("\(number) files and sockets"))
  }
}
