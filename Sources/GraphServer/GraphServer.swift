import Foundation
import GraphHub
import GraphModel
import GraphStore
import GraphWire
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle

/// A store served over sockets: `run()` listens until it is told to shut down, gracefully.
///
/// One event loop carries every connection and the hub, one thread writes, a few read. Group commit falls out of
/// that: whatever arrives while the disk is busy is the next batch.
public struct GraphServer: Service {
  /// Where to listen, and what is allowed.
  public struct Configuration: Sendable {
    /// All of them must be free, or `run` throws.
    public var addresses: [ServerAddress]
    /// Served as well, where they are free; the log has a notice for each that is not.
    public var optionalAddresses = [ServerAddress]()
    /// What one client may cost; docs/operating.md names each.
    public var limits = HubLimits()
    /// Versions of the model before the one that is served, as far as they are known besides those that the store has had:
    /// their clients work through lenses, where there are any.
    public var olderModels = [Model]()
    /// What `Welcome.server` and `stickies status` say.
    public var name: String
    /// Threads that read the store for clients, of which one session has at most half; no use in as many as the
    /// store's `maximumReaders`, since the server reads on one of its own.
    public var readerThreads = 4
    /// How much of history is kept; nil keeps all of it.
    public var history: HistoryPolicy?
    /// How often it is looked for commits that `history` lets go.
    public var pruningPeriod = Duration.seconds(3_600)
    /// One more is closed without a word. The descriptor limit, less those that the store needs, counts where it is lower.
    public var maximumConnections = 8_192

    /// Limits are the usual ones until they are set.
    public init(addresses: [ServerAddress], name: String = "") {
      self.addresses = addresses
      self.name = name
    }
  }

  private let store: SQLiteStore
  private let configuration: Configuration
  private let log: Logger
  private let ready: @Sendable ([ServerAddress]) -> Void

  /// - Parameter ready: called once, with the addresses as they are, ports that were asked for as 0 included.
  public init(
    store: SQLiteStore, configuration: Configuration, log: Logger,
    ready: @escaping @Sendable ([ServerAddress]) -> Void = { _ in }
  ) {
    self.store = store
    self.configuration = configuration
    self.log = log
    self.ready = ready
  }

  /// Serves until the task's graceful shutdown, then tells clients, finishes what it accepted, and closes the store.
  /// - Throws: `StoreFailure` when an address can't be listened on.
  public func run() async throws {
    // Found out before anything is promised: a server that listens has what it needs to answer.
    try DescriptorReserve.check(
      DescriptorReserve.count(connections: store.maximumConnections, addresses: configuration.addresses.count))
    try ServerThread.start("start") {}
    // Before anything can be committed: what comes later is no older than this run.
    let start = try HistoryKeeper.reading(store)
    warnOfFuture(start)
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let loop = group.next()
    let readers = FairReaders(threads: configuration.readerThreads)
    let errands = ReaderPool(threads: 1)
    let relay = EventRelay()
    let writer = WriterThread(store: store, clock: Self.now) { event in relay.submit(event) }
    let runner = HubRunner(
      loop: loop,
      hub: Hub(
        model: store.model, older: configuration.olderModels + store.olderModels, head: try store.head,
        server: configuration.name, limits: configuration.limits),
      store: store, writer: writer, readers: readers, errands: errands, spoolDirectory: store.directory,
      limits: configuration.limits,
      maximumConnections: DescriptorLimit.connections(configuration.maximumConnections), log: log)
    relay.runner.set(runner)
    let accepting = AcceptPause(log: log)
    var listeners = [Listener]()
    func listen(at address: ServerAddress) async throws {
      listeners.append(
        try await Listener(
          address, group: group, runner: runner, maximumFrameSize: configuration.limits.maximumFrameSize,
          accepting: accepting, log: log))
    }
    do {
      try writer.start()
      try readers.start()
      try errands.start()
      for address in configuration.addresses { try await listen(at: address) }
      for address in configuration.optionalAddresses {
        do {
          try await listen(at: address)
        } catch let failure as StoreFailure {
          log.notice("an address is not served", metadata: ["address": "\(address)", "failure": "\(failure)"])
        }
      }
    } catch {
      for listener in listeners { await listener.close() }
      writer.stop()
      readers.stop()
      errands.stop()
      try? await group.shutdownGracefully()
      throw error
    }
    let timer = loop.scheduleRepeatedTask(initialDelay: .seconds(0), delay: .seconds(1)) { _ in runner.tick() }
    let fileWatch = StoreFileWatch(store: store, errands: errands, log: log)
    let watching = loop.scheduleRepeatedTask(initialDelay: .seconds(1), delay: .seconds(1)) { _ in fileWatch.look() }
    var keeping: RepeatedTask?
    if let policy = configuration.history, policy.prunes {
      keeping = HistoryKeeper(
        store: store, runner: runner, errands: errands, policy: policy, start: start, log: log
      ).start(every: .nanoseconds(max(1, Int64(configuration.pruningPeriod / .nanoseconds(1)))))
    }
    ready(listeners.map(\.address))
    try? await gracefulShutdown()
    log.info("shutting down")
    for listener in listeners { await listener.close() }
    runner.submit(.shutdown)
    // A client that takes nothing any more does not hold up the end.
    let deadline = loop.scheduleTask(in: Self.shutdownTime) { runner.giveUp() }
    try? await runner.whenFinished.get()
    deadline.cancel()
    timer.cancel()
    watching.cancel()
    keeping?.cancel()
    // Threads are joined away from the cooperative pool, which must not be blocked.
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      @Sendable func join() {
        writer.stop()
        readers.stop()
        errands.stop()
        continuation.resume()
      }
      // Without a thread for it, blocking the pool is the lesser evil: nothing else is served any longer.
      do { try ServerThread.start("end", join) } catch { join() }
    }
    try? await group.shutdownGracefully()
    try store.close()
    log.info("the store is closed")
  }

  /// A clock was wrong then, or is now: which one is for a person to say.
  private func warnOfFuture(_ start: PruningClock.Reading) {
    guard let newest = start.newest, newest > start.wall + PruningClock.tolerance else { return }
    log.warning(
      "the newest commit lies in the future: the clock was wrong then, or is wrong now; look at the system's clock",
      metadata: ["revision": "\(start.head)", "time": "\(Dates.text(newest))"])
  }

  private static let shutdownTime = TimeAmount.seconds(10)

  /// Microseconds since 1970.
  static let now: @Sendable () -> Timestamp = {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
  }
}

/// The writer exists before the runner that it reports to.
private final class EventRelay: Sendable {
  let runner = OnceBox<HubRunner>()

  func submit(_ event: HubEvent) { runner.value?.submit(event) }
}
