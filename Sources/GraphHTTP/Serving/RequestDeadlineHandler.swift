// Tests: RequestTests.swift, RequestGuardTests.swift
import HTTPTypes
import NIOCore
import NIOHTTPTypes

/// Closes connections that are too slow. The head of the next request, the body of a request, and the reading of the
/// answer each have a time limit. Without limits, a client could keep many connections open by sending a byte now and
/// then.
///
/// Each connection has one scheduled task. When it runs and the deadline has moved, it schedules itself again.
final class RequestDeadlineHandler: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPRequestPart
  typealias InboundOut = HTTPRequestPart
  typealias OutboundIn = HTTPResponsePart
  typealias OutboundOut = HTTPResponsePart

  private var deadline: NIODeadline?
  private var task: Scheduled<Void>?
  /// Requests whose answers are not complete, of a client that sends several at once.
  private var openRequests = 0
  private var isReadingBody = false

  func handlerAdded(context: ChannelHandlerContext) {
    if context.channel.isActive { wait(HTTPLimits.headerTime, context) }
  }

  func handlerRemoved(context: ChannelHandlerContext) { stop() }

  func channelActive(context: ChannelHandlerContext) {
    wait(HTTPLimits.headerTime, context)
    context.fireChannelActive()
  }

  func channelInactive(context: ChannelHandlerContext) {
    stop()
    context.fireChannelInactive()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head:
      openRequests += 1
      isReadingBody = true
      wait(HTTPLimits.bodyTime, context)
    case .body: break
    case .end:
      isReadingBody = false
      // The server is working on the request. Its reads and commits have their own limits.
      deadline = nil
    }
    context.fireChannelRead(data)
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    let isEnd = if case .end = unwrapOutboundIn(data) { true } else { false }
    context.write(data, promise: promise)
    if isEnd {
      openRequests -= 1
      if openRequests <= 0, !isReadingBody { wait(HTTPLimits.headerTime, context) }
    }
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    if context.channel.isWritable {
      if openRequests > 0, !isReadingBody { deadline = nil }
    } else {
      wait(HTTPLimits.writeTime, context)
    }
    context.fireChannelWritabilityChanged()
  }

  private func wait(_ time: TimeAmount, _ context: ChannelHandlerContext) {
    deadline = .now() + time
    if task == nil { schedule(context) }
  }

  private func schedule(_ context: ChannelHandlerContext) {
    guard let deadline else { preconditionFailure("a task is scheduled for a deadline") }
    task = context.eventLoop.assumeIsolated().scheduleTask(deadline: deadline) { [self] in
      task = nil
      guard let deadline = self.deadline else { return }
      if deadline > .now() { schedule(context) } else { context.close(promise: nil) }
    }
  }

  private func stop() {
    task?.cancel()
    (task, deadline) = (nil, nil)
  }
}
