// Tests: MalformedHeadTests.swift
import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOHTTPTypes

/// Ends a connection with its last answer, which says `Connection: close`: the answer to a head that cannot be parsed,
/// which this handler writes itself, to an offer of another protocol, behind which the parser reads nothing, or to a
/// request whose rest the server does not want.
///
/// The output is closed behind it. Later input is read and dropped for a short time, because a socket
/// that is closed with unread bytes discards the answer on its way.
final class ConnectionEndHandler: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPRequestPart
  typealias InboundOut = HTTPRequestPart
  typealias OutboundIn = HTTPResponsePart
  typealias OutboundOut = HTTPResponsePart

  private enum State {
    case open
    /// The last answer is being written.
    case answering
    /// The last answer was written; the task closes the connection of a client that does not.
    case ended(Scheduled<Void>)
  }

  private var state = State.open
  /// Requests whose answers are not complete.
  private var openRequests = 0
  private var isReadingBody = false
  /// Whether the newest request is the last one that the parser reads.
  private var isParserDone = false
  private var isInputClosed = false

  func handlerRemoved(context: ChannelHandlerContext) { cancel() }

  func channelInactive(context: ChannelHandlerContext) {
    cancel()
    context.fireChannelInactive()
  }

  private func cancel() { if case .ended(let task) = state { task.cancel() } }

  // MARK: - Requests

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard case .open = state else { return }
    switch unwrapInboundIn(data) {
    case .head(let head):
      openRequests += 1
      isReadingBody = true
      isParserDone = head.method == .connect || head.headerFields[.upgrade] != nil
    case .body: break
    case .end: isReadingBody = false
    }
    context.fireChannelRead(data)
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case .some(.inputClosed) = event as? ChannelEvent {
      isInputClosed = true
      if case .ended = state { return context.close(promise: nil) }
    }
    context.fireUserInboundEventTriggered(event)
  }

  /// Answers an error in a head. One in a body, or behind requests that are not answered yet, is left to Hummingbird,
  /// which answers in order.
  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // After its first error the parser reports one for everything that follows.
    guard case .open = state else { return }
    guard let error = error as? HTTPParserError, openRequests <= 0, !isReadingBody else {
      return context.fireErrorCaught(error)
    }
    // The client has closed its side within a head, and waits for no answer.
    if error == .invalidEOFState { return context.close(promise: nil) }
    let reply = Reply.problem(Self.problem(of: error))
    guard case .bytes(let bytes) = reply.body else { preconditionFailure("a problem has a body") }
    var head = HTTPResponse(status: reply.status, headerFields: reply.fields)
    Responder.addCommonFields(&head.headerFields)
    head.headerFields[.contentLength] = String(bytes.count)
    context.write(wrapOutboundOut(.head(head)), promise: nil)
    context.write(wrapOutboundOut(.body(ByteBuffer(bytes: bytes))), promise: nil)
    end(context, wrapOutboundOut(.end(nil)), nil)
  }

  private static func problem(of error: HTTPParserError) -> Problem {
    var problem = Problem.malformed("the head of the request is not HTTP/1.1: \(error)")
    if error == .headerOverflow {
      problem = Problem(
        .requestHeaderFieldsTooLarge, "limit",
        "the head has more than \(HTTPLimits.maximumHeaderSize) bytes or \(HTTPLimits.maximumHeaderCount) fields")
    }
    problem.fields[.connection] = "close"
    return problem
  }

  // MARK: - Answers

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    switch unwrapOutboundIn(data) {
    case .head(let head) where head.status.kind == .informational: context.write(data, promise: promise)
    case .head(var head):
      if isParserDone, openRequests == 1 { head.headerFields[.connection] = "close" }
      if case .open = state, head.headerFields[.connection] == "close" { state = .answering }
      context.write(wrapOutboundOut(.head(head)), promise: promise)
    case .body: context.write(data, promise: promise)
    case .end:
      openRequests -= 1
      if case .answering = state { end(context, data, promise) } else { context.write(data, promise: promise) }
    }
  }

  private func end(_ context: ChannelHandlerContext, _ data: NIOAny, _ promise: EventLoopPromise<Void>?) {
    let channel = context.channel
    state = .ended(
      context.eventLoop.scheduleTask(in: HTTPLimits.closeTime) { channel.close(promise: nil) })
    let written = if let promise { promise } else { context.eventLoop.makePromise(of: Void.self) }
    let mode: CloseMode = isInputClosed ? .all : .output
    written.futureResult.whenComplete { _ in channel.close(mode: mode, promise: nil) }
    context.writeAndFlush(data, promise: written)
  }
}
