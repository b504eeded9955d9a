// Tests: MetricsTests.swift
import HTTPTypes
import NIOCore
import NIOHTTPTypes

/// Counts the requests, connections and streams of an interface since it started.
///
/// `@unchecked Sendable`: the state is used on the hub's loop only, which serves all connections.
package final class HTTPCounters: @unchecked Sendable {
  /// Requests that are counted together.
  struct RequestKind: Hashable, Comparable {
    /// A method that the interface has, or `other`: a client must not choose the number of kinds.
    let method: String
    let status: Int

    static func < (left: RequestKind, right: RequestKind) -> Bool {
      (left.method, left.status) < (right.method, right.status)
    }
  }

  private(set) var requests = [RequestKind: Int]()
  /// Connections that are open.
  private(set) var connections = 0
  /// Connections that were accepted.
  private(set) var acceptedConnections = 0
  /// Connections that were closed at once, because there were too many.
  private(set) var refusedConnections = 0
  /// Streams of events that are open.
  private(set) var streams = 0
  /// WebSockets that are open.
  private(set) var sockets = 0
  /// Bytes of events that were written.
  private(set) var streamedBytes = 0

  init() {}

  func answered(_ method: HTTPRequest.Method?, status: Int) {
    let known: [HTTPRequest.Method] = [.get, .head, .post, .patch, .delete]
    let name = if let method, known.contains(method) { method.rawValue } else { "other" }
    requests[RequestKind(method: name, status: status), default: 0] += 1
  }

  func opened(_ channel: any Channel) {
    channel.eventLoop.assertInEventLoop()
    (connections, acceptedConnections) = (connections + 1, acceptedConnections + 1)
    channel.closeFuture.assumeIsolated().whenComplete { [self] _ in
      connections -= 1
      assert(connections >= 0, "a connection that was opened is closed once")
    }
  }

  func refusedConnection() { refusedConnections += 1 }

  func streamBegan() { streams += 1 }

  func streamEnded() {
    streams -= 1
    assert(streams >= 0, "a stream that began ends once")
  }

  func socketBegan() { sockets += 1 }

  func socketEnded() {
    sockets -= 1
    assert(sockets >= 0, "a WebSocket that began ends once")
  }

  func streamed(_ bytes: Int) { streamedBytes += bytes }
}

/// Counts the answers of a connection, each with the method of its request.
final class RequestCountingHandler: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPRequestPart
  typealias InboundOut = HTTPRequestPart
  typealias OutboundIn = HTTPResponsePart
  typealias OutboundOut = HTTPResponsePart

  private let counters: HTTPCounters
  /// The methods of the requests without an answer, which come in this order. A connection without backpressure is
  /// bounded by what its parser reads at once.
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
