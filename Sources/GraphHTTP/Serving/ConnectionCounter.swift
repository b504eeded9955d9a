// Tests: RequestTests.swift, MetricsTests.swift, ConnectionLimitTests.swift
import GraphServer
import HTTPTypes
import NIOCore
import NIOHTTPTypes

/// The open connections of an interface, up to a maximum.
final class ConnectionCounter: Sendable {
  /// The decision about a new connection.
  enum Admission {
    case served
    /// There are too many connections. The client gets status 503.
    case refused
    /// There are too many connections even for an answer. The connection is closed.
    case dropped
  }

  private struct State {
    var served = [ObjectIdentifier: any Channel]()
    var refused = [ObjectIdentifier: any Channel]()
    /// Completed when the last connection has closed; nil until the interface stops.
    var end: EventLoopPromise<Void>?

    var channels: [any Channel] { Array(served.values) + Array(refused.values) }

    mutating func remove(_ id: ObjectIdentifier) {
      served[id] = nil
      refused[id] = nil
      if served.isEmpty, refused.isEmpty { end?.succeed() }
    }
  }

  /// The loop of all connections.
  let loop: any EventLoop
  private let share: ConnectionShare
  private let state: NIOLoopBoundBox<State>

  init(_ share: ConnectionShare, loop: any EventLoop) {
    (self.share, self.loop) = (share, loop)
    state = .makeBoxSendingValue(State(), eventLoop: loop)
  }

  /// Decides about a connection, on the loop. A connection that is not dropped is counted until it closes.
  func admit(_ channel: any Channel) -> Admission {
    let id = ObjectIdentifier(channel)
    let admission: Admission
    if state.value.end != nil { return .dropped }
    if state.value.served.count < share.served {
      state.value.served[id] = channel
      admission = .served
    } else if state.value.refused.count < share.refused {
      state.value.refused[id] = channel
      admission = .refused
    } else {
      return .dropped
    }
    channel.closeFuture.whenComplete { [state] _ in state.value.remove(id) }
    return admission
  }

  /// Closes all connections, on the loop.
  func closeAll() { for channel in state.value.channels { channel.close(promise: nil) } }

  /// Asks all connections to close after the request in progress, on the loop, and drops new connections.
  /// - Returns: a future that completes when the last connection has closed.
  func quiesce(on loop: any EventLoop) -> EventLoopFuture<Void> {
    precondition(state.value.end == nil, "an interface stops once")
    let end = loop.makePromise(of: Void.self)
    state.value.end = end
    let channels = state.value.channels
    for channel in channels { channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent()) }
    if channels.isEmpty { end.succeed() }
    return end.futureResult
  }
}

/// Admits or refuses a new connection. A connection from a network with too many connections is closed without an
/// answer, as on the server's other addresses. A connection above the interface's limit gets status 503 with
/// `Retry-After`.
final class ConnectionLimitHandler: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPRequestPart
  typealias OutboundOut = HTTPResponsePart

  private let sessions: HubSessions
  private let connections: ConnectionCounter
  private let counters: HTTPCounters?

  /// - Parameter counters: nil for an interface whose connections are not counted.
  init(_ sessions: HubSessions, _ connections: ConnectionCounter, _ counters: HTTPCounters? = nil) {
    (self.sessions, self.connections, self.counters) = (sessions, connections, counters)
  }

  func channelActive(context: ChannelHandlerContext) {
    switch sessions.admitsConnection(context.channel) ? connections.admit(context.channel) : .dropped {
    case .served:
      counters?.opened(context.channel)
      context.fireChannelActive()
    case .refused:
      counters?.refusedConnection()
      refuse(context)
    case .dropped:
      counters?.refusedConnection()
      context.close(promise: nil)
    }
  }

  /// Answers before a request has arrived. `ConnectionEndHandler` closes the connection after the answer.
  private func refuse(_ context: ChannelHandlerContext) {
    var problem = Problem(.serviceUnavailable, "limit", "the server has too many HTTP connections; try again later")
    problem.fields[.retryAfter] = "5"
    problem.fields[.connection] = "close"
    let reply = Reply.problem(problem)
    guard case .bytes(let bytes) = reply.body else { preconditionFailure("a problem has a body") }
    var head = HTTPResponse(status: reply.status, headerFields: reply.fields)
    Responder.addCommonFields(&head.headerFields)
    head.headerFields[.contentLength] = String(bytes.count)
    context.write(wrapOutboundOut(.head(head)), promise: nil)
    context.write(wrapOutboundOut(.body(ByteBuffer(bytes: bytes))), promise: nil)
    context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
  }
}
