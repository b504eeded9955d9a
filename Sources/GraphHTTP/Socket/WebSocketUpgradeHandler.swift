// Tests: WebSocketTests.swift
import GraphHub
import GraphModel
import GraphServer
import HTTPTypes
import HummingbirdCore
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1

/// The values that the WebSockets of an interface share.
struct WebSockets: Sendable {
  let sessions: HubSessions
  let check: RequestGuard
  let counters: HTTPCounters
  /// The author of a page's commits on a graph without accounts.
  let author: String

  /// The upgrade that a request asks for, after the checks that apply to all requests.
  /// - Throws: `Problem`.
  func upgrade(_ head: HTTPRequest) throws(Problem) -> WebSocketUpgrade {
    let (_, query) = try Responder.target(head)
    try check.checkHead(head)
    _ = try Route.socket.method(of: head, in: sessions.model)
    let credential = try check.check(head, .socket)
    _ = try QueryParameters(query, of: .socket, .get)
    guard head.headerFields[.authorization] == nil else {
      throw .malformed("a WebSocket has its token in the hello, not in Authorization")
    }
    return try WebSocketUpgrade(
      head, WebSocketLogin(cookie: credential, isPage: head.headerFields[.origin] != nil, author: author))
  }
}

/// Turns the connection of a request for `/v1/socket` into a WebSocket.
///
/// The handler takes such requests out of the channel before Hummingbird receives them, if it can serve them. It
/// forwards all other requests, also those that it must refuse: Hummingbird answers them in order and with the same
/// checks.
final class WebSocketUpgradeHandler: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPRequestPart
  typealias InboundOut = HTTPRequestPart
  typealias OutboundIn = HTTPResponsePart
  typealias OutboundOut = HTTPResponsePart

  private let sockets: WebSockets
  /// Requests that Hummingbird has not answered yet.
  private var openRequests = 0
  /// The request whose end is awaited.
  private var requested: (head: HTTPRequest, upgrade: WebSocketUpgrade)?

  init(_ sockets: WebSockets) { self.sockets = sockets }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch (unwrapInboundIn(data), requested) {
    case (.head(let head), _):
      // A WebSocket must not overtake the answers to earlier requests.
      if openRequests == 0, let upgrade = upgrade(head) {
        requested = (head, upgrade)
      } else {
        openRequests += 1
        context.fireChannelRead(data)
      }
    case (_, nil): context.fireChannelRead(data)
    case (.body, _): break
    case (.end, let request?):
      requested = nil
      if !begin(request.upgrade, context) {
        openRequests += 1
        context.fireChannelRead(wrapInboundOut(.head(request.head)))
        context.fireChannelRead(data)
      }
    }
  }

  private func upgrade(_ head: HTTPRequest) -> WebSocketUpgrade? {
    guard head.method == .get, let (path, _) = try? Responder.target(head), let route = try? Route(path: path),
      route == .socket
    else { return nil }
    return try? sockets.upgrade(head)
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    if case .end = unwrapOutboundIn(data) { openRequests -= 1 }
    context.write(data, promise: promise)
  }

  /// Replaces the handlers of HTTP; false if the server has no room for another session.
  private func begin(_ upgrade: WebSocketUpgrade, _ context: ChannelHandlerContext) -> Bool {
    let handler = WebSocketHandler(
      upgrade.login, address: context.channel.remoteAddress?.ipAddress, counters: sockets.counters,
      maximumMessageSize: sockets.sessions.limits.maximumFrameSize)
    guard let session = sockets.sessions.connect(handler) else { return false }
    let pipeline = context.pipeline.syncOperations
    do {
      try pipeline.addHandler(handler, position: .first)
    } catch {
      // The channel is closed already.
      session.closed()
      context.close(promise: nil)
      return true
    }
    // After an earlier request Hummingbird's last handler stays in the pipeline, because its task waits for the channel
    // to close.
    Self.remove(FirstRequestHandler.self, pipeline)
    Self.remove(ByteToMessageHandler<HTTPRequestDecoder>.self, pipeline)
    Self.remove(HTTPResponseEncoder.self, pipeline)
    Self.remove(HTTP1ToHTTPServerCodec.self, pipeline)
    Self.remove(HTTPConnectionStateHandler.self, pipeline)
    Self.remove(RequestCountingHandler.self, pipeline)
    Self.remove(ConnectionEndHandler.self, pipeline)
    Self.remove(RequestDeadlineHandler.self, pipeline)
    Self.remove(ConnectionLimitHandler.self, pipeline)
    Self.remove(LiveStreamHandler.self, pipeline)
    Self.remove(WebSocketUpgradeHandler.self, pipeline)
    handler.begin(session, upgrade.answer)
    return true
  }

  private static func remove<Handler: RemovableChannelHandler>(
    _ type: Handler.Type, _ pipeline: ChannelPipeline.SynchronousOperations
  ) {
    // A connection has either the handler of its first request or Hummingbird's own.
    if let context = try? pipeline.context(handlerType: type) { pipeline.removeHandler(context: context, promise: nil) }
  }
}
