// Tests: MetricsTests.swift
import HTTPTypes
import NIOCore
import NIOHTTPTypes
import Synchronization

/// Counts the requests, connections and streams of an interface since it started.
package final class HTTPCounters: Sendable {
  /// A kind of requests, with a counter of its own.
  struct RequestKind: Hashable, Comparable {
    /// A method of the interface, or `other`. Otherwise a client could create any number of counters.
    let method: String
    let status: Int

    static func < (left: RequestKind, right: RequestKind) -> Bool {
      (left.method, left.status) < (right.method, right.status)
    }
  }

  struct Counts: Sendable {
    fileprivate(set) var requests = [RequestKind: Int]()
    /// Connections that are open.
    fileprivate(set) var connections = 0
    /// Connections that were accepted.
    fileprivate(set) var acceptedConnections = 0
    /// Connections that were not served, because there were too many.
    fileprivate(set) var refusedConnections = 0
    /// Streams of events that are open.
    fileprivate(set) var streams = 0
    /// WebSockets that are open.
    fileprivate(set) var sockets = 0
    /// Bytes of events that were written.
    fileprivate(set) var streamedBytes = 0
  }

  /// The present counts, guarded by the mutex.
  private let state = Mutex(Counts())

  init() {}

  var counts: Counts { state.withLock { $0 } }

  func answered(_ method: HTTPRequest.Method?, status: Int) {
    let known: [HTTPRequest.Method] = [.get, .head, .post, .patch, .delete]
    let name = if let method, known.contains(method) { method.rawValue } else { "other" }
    state.withLock { $0.requests[RequestKind(method: name, status: status), default: 0] += 1 }
  }

  func opened(_ channel: any Channel) {
    state.withLock { counts in
      counts.connections += 1
      counts.acceptedConnections += 1
    }
    channel.closeFuture.whenComplete { [self] _ in
      state.withLock { counts in
        counts.connections -= 1
        assert(counts.connections >= 0, "a connection that was opened is closed once")
      }
    }
  }

  func refusedConnection() { state.withLock { $0.refusedConnections += 1 } }

  func streamBegan() { state.withLock { $0.streams += 1 } }

  func streamEnded() {
    state.withLock { counts in
      counts.streams -= 1
      assert(counts.streams >= 0, "a stream that began ends once")
    }
  }

  func socketBegan() { state.withLock { $0.sockets += 1 } }

  func socketEnded() {
    state.withLock { counts in
      counts.sockets -= 1
      assert(counts.sockets >= 0, "a WebSocket that began ends once")
    }
  }

  func streamed(_ bytes: Int) { state.withLock { $0.streamedBytes += bytes } }
}

/// Counts the answers of a connection, each with the method of its request.
final class RequestCountingHandler: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPRequestPart
  typealias InboundOut = HTTPRequestPart
  typealias OutboundIn = HTTPResponsePart
  typealias OutboundOut = HTTPResponsePart

  private let counters: HTTPCounters
  /// The methods of the unanswered requests, in the order of their answers. Their number is bounded by the requests in
  /// one read.
  private var methods = [HTTPRequest.Method]()

  init(_ counters: HTTPCounters) { self.counters = counters }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if case .head(let head) = unwrapInboundIn(data) { methods.append(head.method) }
    context.fireChannelRead(data)
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    if case .head(let head) = unwrapOutboundIn(data), head.status.kind != .informational {
      // A head that could not be parsed has an answer and no method.
      let method = methods.isEmpty ? nil : methods.removeFirst()
      counters.answered(method, status: head.status.code)
    }
    context.write(data, promise: promise)
  }
}
