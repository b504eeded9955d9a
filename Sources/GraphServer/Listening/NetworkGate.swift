// Tests: ClientNetworkTests.swift
import GraphModel
import Logging
import NIOCore

/// The open connections of each network. Those of this machine are not counted.
struct NetworkTable {
  private let maximum: Int
  private var connections = [ClientNetwork: Int]()

  /// - Parameter maximum: the most connections of one network.
  init(maximum: Int) { self.maximum = maximum }

  /// Counts a connection, until `remove`.
  /// - Returns: false if the network has too many.
  mutating func add(_ network: ClientNetwork) -> Bool {
    if network.isLoopback { return true }
    let count = connections[network, default: 0]
    guard count < maximum else { return false }
    connections[network] = count + 1
    return true
  }

  /// Removes a connection that `add` has admitted.
  mutating func remove(_ network: ClientNetwork) {
    if network.isLoopback { return }
    let count = connections[network, default: 0]
    assert(count > 0, "a connection is removed once")
    connections[network] = count > 1 ? count - 1 : nil
  }

  var isEmpty: Bool { connections.isEmpty }
}

/// Limits the connections of each network, before anything else is done for them.
///
/// `@unchecked Sendable`: all state is used on the loop of the connections only.
final class NetworkLimiter: @unchecked Sendable {
  private var table: NetworkTable
  private let log: Logger
  private var logLimiter = LogRateLimiter(clock: { Int64(NIODeadline.now().uptimeNanoseconds) })

  init(maximum: Int, log: Logger) { (table, self.log) = (NetworkTable(maximum: maximum), log) }

  /// Counts a channel until it closes.
  /// - Returns: false if its network has too many connections.
  func admits(_ channel: any Channel) -> Bool {
    channel.eventLoop.assertInEventLoop()
    // A peer that is gone already has no address.
    guard let network = channel.remoteAddress?.ipAddress.flatMap({ ClientNetwork($0) }) else { return true }
    guard table.add(network) else {
      if let omitted = logLimiter.omitted(before: "connections") {
        log.warning(
          "a connection was refused: its network has too many",
          metadata: ["network": "\(network)"].merging(omitted > 0 ? ["omitted": "\(omitted)"] : [:]) { $1 })
      }
      return false
    }
    channel.closeFuture.whenComplete { _ in self.table.remove(network) }
    return true
  }
}

/// The first handler of a connection over TCP: closes it if its network has too many, and otherwise leaves.
final class NetworkGate: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = ByteBuffer

  private let limiter: NetworkLimiter

  init(_ limiter: NetworkLimiter) { self.limiter = limiter }

  func channelActive(context: ChannelHandlerContext) {
    // No message is sent, because it would need the resources that the limit saves.
    guard limiter.admits(context.channel) else { return context.close(promise: nil) }
    context.fireChannelActive()
    context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
  }
}
