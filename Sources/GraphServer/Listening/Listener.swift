import Foundation
import GraphModel
import GraphWire
import Logging
import NIOCore
import NIOPosix

/// A listening socket.
struct Listener {
  /// The bound address, in which port 0 is replaced by the assigned port.
  let address: ServerAddress
  private let socket: Socket

  private enum Socket {
    case tcp(any Channel)
    case unix(UnixListener)
  }

  /// The length of the kernel's queue of connections that are not accepted yet.
  private static let backlog: Int32 = 1_024
  /// The number of buffers that a turn of the loop reads from one connection.
  static let messagesPerRead: UInt = 16
  static let receiveAllocator = AdaptiveRecvByteBufferAllocator(minimum: 512, initial: 1_024, maximum: 65_536)

  /// - Parameters:
  ///   - encryption: of an address that begins with `tls://`.
  ///   - networks: counts the connections over TCP.
  init(
    _ wanted: ServerAddress, group: MultiThreadedEventLoopGroup, runner: HubRunner, maximumFrameSize: Int,
    accepting: AcceptBackoff, encryption: ServerEncryption?, networks: NetworkLimiter, log: Logger
  ) async throws {
    let isLocal = if case .unix = wanted { true } else { false }
    let bootstrap = ServerBootstrap(group: group)
      .serverChannelOption(.backlog, value: Self.backlog)
      // NIO does not set this by default. Without it, a start right after a kill -9 finds the port in use.
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .serverChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(accepting.handler())
        }
      }
      .childChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelOption(.maxMessagesPerRead, value: Self.messagesPerRead)
      .childChannelOption(.recvAllocator, value: Self.receiveAllocator)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          func makeHandler() -> ConnectionHandler {
            ConnectionHandler(runner: runner, maximumFrameSize: maximumFrameSize)
          }
          if !isLocal { try channel.pipeline.syncOperations.addHandler(NetworkGate(networks)) }
          if let encryption {
            try encryption.addHandlers(to: channel, runner: runner, makeHandler: makeHandler)
          } else {
            try channel.pipeline.syncOperations.addHandler(makeHandler())
          }
        }
      }
    do {
      switch wanted {
      case .tcp(let host, let port), .tls(let host, let port):
        precondition(wanted.isEncrypted == (encryption != nil), "an address is encrypted if and only if it says so")
        let channel = try await bootstrap.childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
          .bind(host: host, port: port).get()
        let bound = channel.localAddress?.port ?? port
        address = wanted.isEncrypted ? .tls(host: host, port: bound) : .tcp(host: host, port: bound)
        socket = .tcp(channel)
      case .unix(let path):
        let listener = UnixListener(path, bootstrap: bootstrap, loop: group.next(), log: log)
        try await listener.open()
        address = wanted
        socket = .unix(listener)
      }
    } catch {
      throw Self.failure(error, wanted)
    }
  }

  private static func failure(_ error: any Error, _ wanted: ServerAddress) -> any Error {
    // The description of an `IOError` contains the names of NIO's functions.
    let cause = if let error = error as? IOError { String(cString: strerror(error.errnoCode)) } else { "\(error)" }
    return switch error {
    case let failure as StoreFailure: failure
    case let error as IOError where error.errnoCode == EADDRINUSE:
      StoreFailure(
        .inUse, "the address \(wanted) is in use", cause: cause,
        advice: "Another program listens there; give --listen another address.")
    case let error as IOError where error.errnoCode == EMFILE || error.errnoCode == ENFILE:
      StoreFailure(
        .inputOutput, "can't listen on the address \(wanted)", cause: cause,
        advice: DescriptorLimit.advice)
    case is SocketAddressError.UnknownHost, SocketAddressError.unknown:
      StoreFailure(
        .inputOutput, "can't listen on the address \(wanted)", cause: "there is no host of that name",
        advice: "Check the name, or give --listen an address of this machine, such as 127.0.0.1.")
    default:
      StoreFailure(
        .inputOutput, "can't listen on the address \(wanted)", cause: cause,
        advice: "Give --listen another address.")
    }
  }

  func close() async {
    switch socket {
    case .tcp(let channel): try? await channel.close()
    case .unix(let listener): await listener.close()
    }
  }
}

extension ServerAddress {
  /// The failure to listen on an address if another address of the same daemon has its port, under another name of the
  /// host or for all hosts; nil if none has.
  func conflict(with others: [ServerAddress]) -> StoreFailure? {
    guard case .tcp(_, let port) = tcp else { return nil }
    let other = others.first { if case .tcp(_, let used) = $0.tcp { used == port } else { false } }
    return other.map {
      StoreFailure(
        .inUse, "the address \(self) is in use", cause: "this daemon listens on \($0)",
        advice: "Both are the same port of this machine; name one of them.")
    }
  }
}
