// Tests: LiveStreamTests.swift
import GraphHub
import GraphModel
import GraphServer
import GraphWire
import HTTPTypes
import NIOCore
import NIOHTTPTypes

/// Serves a stream of events in the channel's pipeline: a delivery needs no task and no hop to another thread, and an
/// idle stream needs only a session and this object.
///
/// The handler takes the requests for `/v1/live` out of the channel before Hummingbird sees them, and passes all other
/// requests on. A connection with a stream serves nothing else and closes at its end.
final class LiveStreamHandler: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPRequestPart
  typealias InboundOut = HTTPRequestPart
  typealias OutboundIn = HTTPResponsePart
  typealias OutboundOut = HTTPResponsePart

  private struct Stream {
    var feed: any EventFeed
    var session: InProcessSession?
    var lastRequest: UInt64 = 0
    var hasBegun = false
    var timer: Scheduled<Void>?
  }

  private enum State {
    /// Requests that Hummingbird has not answered yet.
    case passing(Int)
    /// The rest of a request for a stream is read.
    case reading(HTTPRequest)
    case streaming(Stream)
    /// Nothing more is read or written.
    case ended
  }

  private let streams: LiveStreams
  private var state = State.passing(0)
  private var context: ChannelHandlerContext?

  init(_ streams: LiveStreams) { self.streams = streams }

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }

  func handlerRemoved(context: ChannelHandlerContext) {
    end()
    self.context = nil
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch (state, unwrapInboundIn(data)) {
    case (.passing(let open), .head(let head)):
      // The stream must not overtake the answers to earlier requests. Hummingbird then receives the request and refuses
      // it.
      if open == 0, head.method == .get, let (path, _) = try? Responder.target(head),
        let route = try? Route(path: path), route == .live
      {
        state = .reading(head)
      } else {
        state = .passing(open + 1)
        context.fireChannelRead(data)
      }
    case (.passing, _): context.fireChannelRead(data)
    case (.reading(let head), .end): start(head, context)
    // The body of a GET is refused, because a proxy could take it for the next request.
    case (.reading, .body): refuse(.malformed("a GET request has no body"), context)
    // Further requests get no answer.
    case (.reading, .head), (.streaming, _), (.ended, _): break
    }
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    if case .passing(let open) = state, case .end = unwrapOutboundIn(data) { state = .passing(open - 1) }
    context.write(data, promise: promise)
  }

  func channelInactive(context: ChannelHandlerContext) {
    end()
    context.fireChannelInactive()
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case .streaming = state {
      if case .some(.inputClosed) = event as? ChannelEvent {
        // Browsers and libraries close both directions at once, so the client no longer reads either.
        end()
        return context.close(promise: nil)
      }
      if event is ChannelShouldQuiesceEvent { stop() }
    }
    context.fireUserInboundEventTriggered(event)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    guard case .passing = state else {
      // The client sent bytes that are not a request, or its connection is broken.
      end()
      return context.close(promise: nil)
    }
    context.fireErrorCaught(error)
  }

  // MARK: - The stream

  private func start(_ head: HTTPRequest, _ context: ChannelHandlerContext) {
    do throws(Problem) {
      let (feed, timeout, credential) = try request(head)
      var stream = Stream(feed: feed)
      stream.session = streams.sessions.open(address: context.channel.remoteAddress?.ipAddress) { [weak self] event in
        self?.receive(event)
      }
      guard stream.session != nil else {
        throw Problem(Refusal(.unavailable, "the server has no room for another session"), streams.sessions.model)
      }
      if let timeout {
        stream.timer = context.eventLoop.assumeIsolated().scheduleTask(in: .seconds(timeout)) { [weak self] in
          self?.stop()
        }
      }
      state = .streaming(stream)
      streams.add(self)
      send(
        .hello(
          Hello(
            model: nil, replica: .randomReplica(), author: streams.author, program: "http", credential: credential)))
    } catch {
      refuse(error, context)
    }
  }

  /// Checks a request in the order in which other requests are checked.
  private func request(
    _ head: HTTPRequest
  ) throws(Problem) -> (feed: any EventFeed, timeout: Int64?, credential: String) {
    let (path, query) = try Responder.target(head)
    try streams.check.checkHead(head)
    let route = try Route(path: path)
    let credential = try streams.check.check(head, route)
    let parameters = try QueryParameters(query, of: route, .get)
    let model = streams.sessions.model
    let queries = try LiveQueries.read(parameters, model)
    let limit = try parameters.integer("limit", in: 1...Int64.max)
    let timeout = try parameters.integer("timeout", in: 1...HTTPLimits.maximumTimeout)
    let last = HTTPField.Name("Last-Event-ID").flatMap { head.headerFields[$0] }
    let feed: any EventFeed =
      queries.count == 1
      ? LiveFeed(queries[0], lastEventID: last, limit: limit, model: model)
      : CombinedFeed(queries, lastEventID: last, limit: limit, model: model)
    return (feed, timeout, credential)
  }

  /// Sends a ping to the hub. Its answer becomes a heartbeat for the client.
  func beat() { send(.ping) }

  private func send(_ body: ToServer.Body) {
    guard case .streaming(var stream) = state else { return }
    stream.lastRequest += 1
    state = .streaming(stream)
    stream.session?.send(ToServer(stream.lastRequest, body))
  }

  private func receive(_ event: InProcessSession.Event) {
    guard case .streaming(var stream) = state else { return }
    switch event {
    case .message(let message, let bytes):
      let actions = stream.feed.receive(message, nextRequest: stream.lastRequest + 1)
      state = .streaming(stream)
      perform(actions, acknowledging: bytes)
    case .reading: break
    case .closed:
      stream.session = nil
      state = .streaming(stream)
      stop()
    }
  }

  private func stop() {
    guard case .streaming(var stream) = state else { return }
    let actions = stream.feed.stop()
    state = .streaming(stream)
    perform(actions, acknowledging: 0)
  }

  /// Performs the actions of a message. The hub counts the bytes of the message as backlog until the channel has
  /// written the events.
  private func perform(_ actions: [FeedAction], acknowledging bytes: Int) {
    guard let context else { preconditionFailure("a stream ends before its handler is removed") }
    var written: EventLoopFuture<Void>?
    for action in actions {
      switch action {
      case .send(let body): send(body)
      case .begin: begin(context)
      case .write(let content, let request):
        streams.counters.streamed(content.count)
        let promise = context.eventLoop.makePromise(of: Void.self)
        context.write(wrapOutboundOut(.body(ByteBuffer(bytes: content))), promise: promise)
        written = promise.futureResult
        if let request {
          // The next chunk is requested when this one has been written, so that a slow client has one chunk in memory.
          promise.futureResult.assumeIsolated().whenSuccess { [weak self] in self?.send(.more(of: request)) }
        }
      case .refuse(let refusal, let isLogin):
        let model = streams.sessions.model
        refuse(isLogin ? Problem.login(refusal) : Problem(refusal, model), context)
      case .finish: finish(context)
      case .abort:
        end()
        context.close(promise: nil)
      }
    }
    context.flush()
    if let written {
      // A failed write is followed by the end of the connection.
      written.assumeIsolated().whenSuccess { [weak self] in self?.acknowledge(bytes) }
    } else {
      acknowledge(bytes)
    }
  }

  private func acknowledge(_ bytes: Int) {
    if case .streaming(let stream) = state { stream.session?.acknowledge(bytes) }
  }

  // MARK: - The answer

  private func begin(_ context: ChannelHandlerContext) {
    guard case .streaming(var stream) = state else { return }
    precondition(!stream.hasBegun, "an answer has one head")
    stream.hasBegun = true
    state = .streaming(stream)
    var head = HTTPResponse(status: .ok)
    Responder.addCommonFields(&head.headerFields)
    head.headerFields[.contentType] = "text/event-stream"
    head.headerFields[.connection] = "close"
    // Asks proxies not to buffer the answer.
    if let name = HTTPField.Name("X-Accel-Buffering") { head.headerFields[name] = "no" }
    context.write(wrapOutboundOut(.head(head)), promise: nil)
  }

  private func refuse(_ problem: Problem, _ context: ChannelHandlerContext) {
    end()
    let reply = Reply.problem(problem)
    guard case .bytes(let bytes) = reply.body else { preconditionFailure("a problem has a body") }
    var head = HTTPResponse(status: reply.status, headerFields: reply.fields)
    Responder.addCommonFields(&head.headerFields)
    head.headerFields[.connection] = "close"
    head.headerFields[.contentLength] = String(bytes.count)
    context.write(wrapOutboundOut(.head(head)), promise: nil)
    context.write(wrapOutboundOut(.body(ByteBuffer(bytes: bytes))), promise: nil)
    // `ConnectionEndHandler` closes the connection, which may still have unread bytes.
    context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
  }

  private func finish(_ context: ChannelHandlerContext) {
    end()
    let channel = context.channel
    context.writeAndFlush(wrapOutboundOut(.end(nil))).whenComplete { _ in channel.close(promise: nil) }
  }

  /// Ends the session. Bytes that were written are still sent.
  private func end() {
    guard case .streaming(let stream) = state else {
      state = .ended
      return
    }
    state = .ended
    stream.timer?.cancel()
    streams.remove(self)
    stream.session?.end()
  }
}
