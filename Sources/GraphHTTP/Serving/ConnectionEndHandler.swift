// Tests: MalformedHeadTests.swift
import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOHTTPTypes

/// Ends a connection after an answer with `Connection: close`. Such an answer follows a head that can't be parsed (this
/// handler writes it), an upgrade to another protocol, after which the parser stops, or a request whose body the server
/// does not read to its end.
///
/// The handler closes the output after the answer. It reads and drops further input for a short time, because closing a
/// socket with unread bytes can discard the answer before the client has received it.
final class ConnectionEndHandler: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPRequestPart
  typealias InboundOut = HTTPRequestPart
  typealias OutboundIn = HTTPResponsePart
  typealias OutboundOut = HTTPResponsePart

  private enum State {
    case open
    /// The last answer is being written.
    case answering
    /// The last answer was written. The task closes the connection if the client does not.
    case ended(Scheduled<Void>)
  }

  private var state = State.open
  /// Requests whose answers are not complete.
  private var openRequests = 0
  private var isReadingBody = false
  /// Whether the parser reads no further requests.
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

  /// Answers an error in a head. Hummingbird answers an error in a body, and one after unanswered requests, because it
  /// answers in order.
  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // After its first error the parser reports an error for all further input.
    guard case .open = state else { return }
    guard let error = error as? HTTPParserError, openRequests <= 0, !isReadingBody else {
      return context.fireErrorCaught(error)
    }
    // The client has closed its side within a head, so it does not wait for an answer.
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
