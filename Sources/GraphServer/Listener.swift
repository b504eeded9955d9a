import Foundation
import GraphModel
import GraphWire
import NIOCore
import NIOPosix

/// A socket that connections come in by.
struct Listener {
  /// As it is: with the real port where 0 was asked for.
  let address: ServerAddress
  private let channel: any Channel
  private let socketFile: String?

  init(
    _ wanted: ServerAddress, group: MultiThreadedEventLoopGroup, runner: HubRunner, maximumFrameSize: Int
  ) async throws {
    let bootstrap = ServerBootstrap(group: group)
      .serverChannelOption(.backlog, value: 1_024)
      // NIO does not set it by itself; without it a start right after a kill -9 finds the port taken.
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelOption(.maxMessagesPerRead, value: 16)
      .childChannelOption(
        .recvAllocator, value: AdaptiveRecvByteBufferAllocator(minimum: 512, initial: 1_024, maximum: 65_536)
      )
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(
            ConnectionHandler(runner: runner, maximumFrameSize: maximumFrameSize))
        }
      }
    do {
      switch wanted {
      case .tcp(let host, let port):
        channel = try await bootstrap.childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
          .bind(host: host, port: port).get()
        address = .tcp(host: host, port: channel.localAddress?.port ?? port)
        socketFile = nil
      case .unix(let path):
        try await Self.removeStale(path, group: group)
        channel = try await bootstrap.bind(unixDomainSocketPath: path).get()
        chmod(path, 0o600)
        address = wanted
        socketFile = path
      }
    } catch let failure as StoreFailure {
      throw failure
    } catch let error as IOError where error.errnoCode == EADDRINUSE {
      throw StoreFailure(
        .inUse, "the address \(wanted) is in use", cause: error.description,
        advice: "Another program listens there; give --listen another address.")
    } catch {
      throw StoreFailure(
        .inputOutput, "the address \(wanted) can't be listened on", cause: "\(error)",
        advice: "Give --listen another address.")
    }
  }

  /// A socket's file outlives a daemon that was killed: one that nobody answers on is removed, and only that.
  private static func removeStale(_ path: String, group: MultiThreadedEventLoopGroup) async throws {
    var status = stat()
    guard lstat(path, &status) == 0 else {
      let directory = (path as NSString).deletingLastPathComponent
      try? FileManager.default.createDirectory(
        atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      return
    }
    guard status.st_mode & S_IFMT == S_IFSOCK else {
      throw StoreFailure(
        .inUse, "\(path) is a file, not a socket", advice: "Give --listen another path; the file was not touched.")
    }
    if let probe = try? await ClientBootstrap(group: group).connect(unixDomainSocketPath: path).get() {
      try? await probe.close()
      throw StoreFailure(
        .inUse, "a program listens on unix://\(path)", advice: "Stop it, or give --listen another path.")
    }
    unlink(path)
  }

  func close() async {
    try? await channel.close()
    if let socketFile { unlink(socketFile) }
  }
}
