// Tests: RequestTests.swift, WebSocketTests.swift
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTPTypes

/// Passes a connection to Hummingbird when its first request arrives.
///
/// Hummingbird gives each connection a task and an async channel, which are most of the memory of an idle connection. A
/// connection without a request needs neither. Nor does a stream of events or a WebSocket: their handlers precede this
/// one in the pipeline and take the request out.
final class FirstRequestHandler: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPRequestPart
  typealias InboundOut = HTTPRequestPart

  private let served: AsyncStream<HTTP1Channel.Value>.Continuation
  private let log: Logger

  /// - Parameter served: receives the connections that Hummingbird serves.
  init(_ served: AsyncStream<HTTP1Channel.Value>.Continuation, _ log: Logger) {
    (self.served, self.log) = (served, log)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let pipeline = context.pipeline.syncOperations
    do {
      try pipeline.addHandler(HTTPConnectionStateHandler(logger: log))
      let value = try HTTP1Channel.Value(
        wrappingChannelSynchronously: context.channel, configuration: .init(isOutboundHalfClosureEnabled: true))
      served.yield(value)
    } catch {
      // The channel is closed already.
      return context.close(promise: nil)
    }
    context.fireChannelRead(data)
    pipeline.removeHandler(context: context, promise: nil)
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    let isInputClosed = if case .some(.inputClosed) = event as? ChannelEvent { true } else { false }
    // No request is in progress, so there is no answer to wait for.
    if isInputClosed || event is ChannelShouldQuiesceEvent { return context.close(promise: nil) }
    context.fireUserInboundEventTriggered(event)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
