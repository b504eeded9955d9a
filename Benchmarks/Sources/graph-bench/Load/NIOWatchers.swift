import Dispatch
import GraphModel
import GraphWire
import NIOCore
import NIOPosix
import NIOSSL
import NIOTLS
import Synchronization

/// Connections of one user whose deltas are counted and discarded, encrypted or not, with the same reader for both. It
/// costs more than `Watchers`, which can't decrypt.
final class NIOWatchers {
  private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
  private var channels = [any Channel]()
  private let deliveries = Deliveries()

  /// Connects, and follows an entity's objects on each connection.
  init(_ address: ServerAddress, count: Int, credential: String, entity: EntityNumber) throws {
    let port: Int
    let context: NIOSSLContext?
    switch address {
    case .tcp(_, let number): (port, context) = (number, nil)
    case .tls(_, let number): (port, context) = (number, try TLSClients.makeContext())
    case .unix: throw BenchmarkError(description: "\(address) has no port")
    }
    for number in 0..<count {
      let replica = UniqueID(high: 1, low: UInt64(number))
      let hello = Hello(model: nil, replica: replica, author: "bench", credential: credential)
      let requests =
        Frame.encode(ToServer(1, .hello(hello)))
        + Frame.encode(ToServer(2, .subscribe(Subscribe(entity: entity, predicate: ""))))
      channels.append(try connect(to: port, context, requests))
    }
  }

  /// Connects, and waits for the first result.
  private func connect(to port: Int, _ context: NIOSSLContext?, _ requests: [UInt8]) throws -> any Channel {
    let ready = group.next().makePromise(of: Void.self)
    let deliveries = deliveries
    let channel = try ClientBootstrap(group: group)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let pipeline = channel.pipeline.syncOperations
          if let context { try pipeline.addHandler(NIOSSLClientHandler(context: context, serverHostname: nil)) }
          try pipeline.addHandler(
            DeltaCounter(requests, isEncrypted: context != nil, ready: ready, deliveries: deliveries))
        }
      }
      .connect(host: "127.0.0.1", port: port).wait()
    try ready.futureResult.wait()
    return channel
  }

  /// The deliveries per second with one update in flight.
  /// - Parameter send: makes an update that each connection receives.
  func rate(seconds: Double, send: () throws -> Void) throws -> Double {
    let (first, start) = (deliveries.total, now())
    var expected = 0
    repeat {
      try send()
      expected += channels.count
      try deliveries.wait(until: first + expected)
    } while now() - start < seconds
    return Double(expected) / (now() - start)
  }

  deinit { try? group.syncShutdownGracefully() }

  /// The number of received deltas; guarded by its mutex.
  private final class Deliveries: Sendable {
    private struct State {
      var total = 0
      /// The total for which a thread waits.
      var wanted = Int.max
    }

    private let state = Mutex(State())
    private let reached = DispatchSemaphore(value: 0)

    var total: Int { state.withLock { $0.total } }

    func add(_ count: Int) {
      let isReached = state.withLock { state -> Bool in
        state.total += count
        guard state.total >= state.wanted else { return false }
        state.wanted = .max
        return true
      }
      if isReached { reached.signal() }
    }

    func wait(until total: Int) throws {
      let isReached = state.withLock { state -> Bool in
        if state.total < total { state.wanted = total }
        return state.total >= total
      }
      if isReached { return }
      guard reached.wait(timeout: .now() + .seconds(30)) == .success else {
        throw BenchmarkError(description: "\(total - self.total) deliveries did not come")
      }
    }
  }

  /// Sends the requests once the connection is open or encrypted, and counts the deltas after the first result.
  private final class DeltaCounter: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let requests: [UInt8]
    private let isEncrypted: Bool
    private let ready: EventLoopPromise<Void>
    private let deliveries: Deliveries
    private var decoder = FrameDecoder()

    init(_ requests: [UInt8], isEncrypted: Bool, ready: EventLoopPromise<Void>, deliveries: Deliveries) {
      (self.requests, self.isEncrypted) = (requests, isEncrypted)
      (self.ready, self.deliveries) = (ready, deliveries)
    }

    func channelActive(context: ChannelHandlerContext) {
      if !isEncrypted { sendRequests(context) }
      context.fireChannelActive()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
      if case .handshakeCompleted? = event as? TLSUserEvent { sendRequests(context) }
      context.fireUserInboundEventTriggered(event)
    }

    private func sendRequests(_ context: ChannelHandlerContext) {
      context.writeAndFlush(wrapOutboundOut(context.channel.allocator.buffer(bytes: requests)), promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      decoder.append(unwrapInboundIn(data).readableBytesView)
      do {
        var count = 0
        while let frame = try decoder.next() {
          let field = frame.withUnsafeBytes { WireClient.field($0) }
          if field == WireClient.Kind.delta.rawValue { count += 1 }
          if field == WireClient.Kind.advance.rawValue { ready.succeed() }
          if field == WireClient.Kind.refused.rawValue {
            ready.fail(BenchmarkError(description: "the daemon refuses a watcher"))
          }
        }
        if count > 0 { deliveries.add(count) }
      } catch {
        errorCaught(context: context, error: error)
      }
    }

    func channelInactive(context: ChannelHandlerContext) {
      ready.fail(BenchmarkError(description: "the daemon has closed the connection of a watcher"))
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
      ready.fail(error)
      context.close(promise: nil)
    }
  }
}
