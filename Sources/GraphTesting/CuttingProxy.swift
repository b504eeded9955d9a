import Foundation
import GraphModel
import GraphWire
import Synchronization

/// A proxy between clients and a daemon that cuts the connection once, after a given number of frames or instead of
/// forwarding a fetch.
///
/// It records fetches, so that a test can count them, and the kinds of all messages. It can refuse live queries in the
/// server's place. It runs on a thread of its own, so that waiting callers cannot starve it.
public final class CuttingProxy: Sendable {
  /// The address of the proxy.
  public let address: ServerAddress

  private struct State {
    var frames = 0
    var wasCut = false
    var isStopping = false
    var fetches = [Fetch]()
    var messages = [String]()
    var refusals = [EntityNumber: Refusal]()
    /// The entity at whose next fetch the connection is cut.
    var fetchToCut: EntityNumber?
  }

  /// The treatment of a client's message.
  private enum Decision {
    case forward
    case answer(ToClient)
    case cut
  }

  private struct Pair {
    let client: Int32
    let server: Int32
    var toServer = FrameDecoder()
    var toClient = FrameDecoder()
  }

  private let target: ServerAddress
  private let cutAfter: Int?
  private let isLast: Bool
  private let directory: TemporaryDirectory
  private let listener: Int32
  private let state = Mutex(State())

  /// Starts the proxy.
  /// - Parameters:
  ///   - target: the daemon's address.
  ///   - cutAfter: the number of frames after which the connection is cut; nil for never.
  ///   - isLast: whether to refuse further connections after the cut.
  public init(to target: ServerAddress, cutAfter: Int?, isLast: Bool = false) throws {
    self.target = target
    self.isLast = isLast
    self.cutAfter = cutAfter
    directory = try TemporaryDirectory()
    address = .unix(path: directory.path + "/socket")
    listener = try PlainSocket.listen(at: address)
    let thread = Thread { [self] in run() }
    thread.name = "proxy"
    thread.start()
  }

  /// Whether the connection was cut.
  public var wasCut: Bool { state.withLock { $0.wasCut } }

  /// The fetches since the last call.
  public func takeFetches() -> [Fetch] {
    state.withLock { state in
      defer { state.fetches = [] }
      return state.fetches
    }
  }

  /// The kinds of the messages since the last call, in order: `> commit` to the daemon, `< committed` from it.
  public func takeMessages() -> [String] {
    state.withLock { state in
      defer { state.messages = [] }
      return state.messages
    }
  }

  /// Refuses live queries of exactly these entities from now on.
  public func refuse(_ refusals: [EntityNumber: Refusal]) { state.withLock { $0.refusals = refusals } }

  /// Cuts the connection instead of forwarding the next fetch of an entity.
  public func cut(atFetchOf entity: EntityNumber) { state.withLock { $0.fetchToCut = entity } }

  /// Closes all connections and stops listening.
  public func stop() { state.withLock { $0.isStopping = true } }

  // MARK: - On the proxy's thread

  private func run() {
    var pairs = [Pair]()
    while !state.withLock({ $0.isStopping }) {
      var waiting = [pollfd(fd: listener, events: Int16(POLLIN), revents: 0)]
      for pair in pairs {
        waiting.append(pollfd(fd: pair.client, events: Int16(POLLIN), revents: 0))
        waiting.append(pollfd(fd: pair.server, events: Int16(POLLIN), revents: 0))
      }
      guard poll(&waiting, nfds_t(waiting.count), 20) > 0 else { continue }
      var ended = [Int]()
      for index in pairs.indices {
        let isAlive =
          (waiting[1 + 2 * index].revents == 0 || pass(from: \.client, to: \.server, \.toServer, &pairs[index]))
          && (waiting[2 + 2 * index].revents == 0 || pass(from: \.server, to: \.client, \.toClient, &pairs[index]))
        if !isAlive { ended.append(index) }
      }
      for index in ended.reversed() { Self.close(pairs.remove(at: index)) }
      if waiting[0].revents != 0, let pair = accept() { pairs.append(pair) }
    }
    for pair in pairs { Self.close(pair) }
    Foundation.close(listener)
  }

  private func accept() -> Pair? {
    let client = Foundation.accept(listener, nil, nil)
    guard client >= 0 else { return nil }
    guard !(isLast && wasCut), let server = try? PlainSocket.connect(to: target) else {
      Foundation.close(client)
      return nil
    }
    return Pair(client: client, server: server)
  }

  /// Forwards the received frames.
  /// - Returns: false when the pair has ended, by itself or by the cut.
  private func pass(
    from source: KeyPath<Pair, Int32>, to sink: KeyPath<Pair, Int32>,
    _ decoder: WritableKeyPath<Pair, FrameDecoder>, _ pair: inout Pair
  ) -> Bool {
    guard let bytes = PlainSocket.receive(from: pair[keyPath: source]) else { return true }
    if bytes.isEmpty { return false }
    pair[keyPath: decoder].append(bytes)
    while let body = try? pair[keyPath: decoder].next() {
      record(body, isToServer: source == \.client)
      switch source == \.client ? decision(on: body) : .forward {
      case .forward: break
      case .cut: return false
      case .answer(let answer):
        guard Self.write(Frame.encode(answer), to: pair.client) else { return false }
        continue
      }
      var frame = [UInt8](repeating: 0, count: ProtocolLimits.headerSize) + body
      Frame.setLength(&frame)
      guard Self.write(frame, to: pair[keyPath: sink]) else { return false }
      let isCut = state.withLock { state in
        state.frames += 1
        guard state.frames == cutAfter else { return false }
        state.wasCut = true
        return true
      }
      if isCut { return false }
    }
    return true
  }

  private func record(_ body: ArraySlice<UInt8>, isToServer: Bool) {
    var reader = BinaryReader(body)
    do {
      let message: Any = isToServer ? try ToServer(from: &reader).body : try ToClient(from: &reader).body
      // The case of the message, without what it carries.
      let kind = if let name = Mirror(reflecting: message).children.first?.label { name } else { "\(message)" }
      state.withLock { $0.messages.append("\(isToServer ? ">" : "<") \(kind)") }
    } catch {
      state.withLock { $0.messages.append("unreadable: \(error)") }
    }
  }

  private func decision(on body: ArraySlice<UInt8>) -> Decision {
    var reader = BinaryReader(body)
    guard let message = try? ToServer(from: &reader) else { return .forward }
    return state.withLock { state in
      switch message.body {
      case .fetch(let fetch):
        state.fetches.append(fetch)
        if fetch.entity == state.fetchToCut {
          (state.fetchToCut, state.wasCut) = (nil, true)
          return .cut
        }
      case .subscribe(let query):
        if let refusal = state.refusals[query.entity] { return .answer(ToClient(message.request, .refused(refusal))) }
      default: break
      }
      return .forward
    }
  }

  private static func write(_ frame: [UInt8], to descriptor: Int32) -> Bool {
    var rest = frame[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      guard count > 0 else { return false }
      rest = rest.dropFirst(count)
    }
    return true
  }

  /// Closes both connections; frames that were forwarded still arrive.
  private static func close(_ pair: Pair) {
    Foundation.close(pair.client)
    Foundation.close(pair.server)
  }
}
