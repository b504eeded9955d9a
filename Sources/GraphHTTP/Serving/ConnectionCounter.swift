// Tests: RequestTests.swift, MetricsTests.swift
import GraphServer
import NIOCore
import NIOHTTPTypes

/// The open connections of an interface, up to a maximum.
///
/// `@unchecked Sendable`: the state is used on the hub's loop only, which serves all connections.
final class ConnectionCounter: @unchecked Sendable {
  private var channels = [ObjectIdentifier: any Channel]()
  private let maximum: Int

  init(maximum: Int) { self.maximum = maximum }

  /// Whether the connection may be served; a served one is removed when it closes.
  func add(_ channel: any Channel) -> Bool {
    channel.eventLoop.assertInEventLoop()
    guard channels.count < maximum else { return false }
    let id = ObjectIdentifier(channel)
    channels[id] = channel
    channel.closeFuture.assumeIsolated().whenComplete { [self] _ in channels[id] = nil }
    return true
  }

  /// Closes all connections, on the loop.
  func closeAll() { for channel in channels.values { channel.close(promise: nil) } }
}

/// Counts a connection, or closes one above a limit at once.
final class ConnectionLimitHandler: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPRequestPart

  private let connections: ConnectionCounter
  private let counters: HTTPCounters?
  private let sessions: HubSessions?

  /// - Parameters:
  ///   - counters: nil for an interface whose connections are not counted.
  ///   - sessions: counts the connections of each network; nil for an interface where they are not limited.
  init(_ connections: ConnectionCounter, _ counters: HTTPCounters? = nil, _ sessions: HubSessions? = nil) {
    (self.connections, self.counters, self.sessions) = (connections, counters, sessions)
  }

  func channelActive(context: ChannelHandlerContext) {
    guard sessions?.admits(context.channel) != false, connections.add(context.channel) else {
      counters?.refusedConnection()
      return context.close(promise: nil)
    }
    counters?.opened(context.channel)
    context.fireChannelActive()
  }
}
