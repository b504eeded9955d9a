import Foundation
import GraphHub
import GraphModel
import GraphWire
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle

/// A service that serves a store over sockets until graceful shutdown.
///
/// One event loop carries all connections and the hub, one thread writes, and a few threads read. Group commit
/// follows from this: everything that arrives while the disk is busy forms the next batch.
public struct GraphServer: Service {
  /// The addresses and limits of a server.
  public struct Configuration: Sendable {
    /// The required addresses: `run` throws if one of them is in use.
    public var addresses: [ServerAddress]
    /// Addresses to serve if they are free; the log has a notice for each that is not.
    public var optionalAddresses = [ServerAddress]()
    /// The limits for clients; docs/operating.md describes each.
    public var limits = HubLimits()
    /// Earlier versions of the model, in addition to those that the store records. Their clients are served through
    /// lenses where these exist.
    public var olderModels = [Model]()
    /// The name in `Welcome.server` and in the output of `stickies status`.
    public var name: String
    /// Threads, at least 1, that read the store for clients; one session uses at most half of them. Keep this below the
    /// store's `SQLiteStore.Options.maximumReaders`, because the server reads on one further thread.
    public var readerThreads = 4
    /// The history to keep; nil keeps all of it.
    public var history: HistoryPolicy?
    /// The interval at which history is pruned according to `history`.
    public var pruningPeriod = Duration.seconds(3_600)
    /// Verifies the credentials of clients. Without it, each client of the network is one of the owner.
    public var authenticator: (any Authenticating)?
    /// Logs browsers in; nil if no browser needs it.
    public var browserLogins: (any BrowserLogins)?
    /// Makes share links for users; nil for a server without accounts.
    public var shareLinks: (any ShareLinks)?
    /// The maximum number of connections; further ones are closed without a message. The descriptor limit, minus what
    /// the store needs, applies where it is lower.
    public var maximumConnections = 8_192
    /// The certificate of the addresses that begin with `tls://`; required if there are any.
    public var certificate: ServerCertificate?
    /// Whether clients must prove who they are. Without it, only addresses of this machine are served by default.
    public var hasAccounts = false
    /// Whether to serve addresses that other machines reach without encryption or without accounts. The log has a
    /// warning for each at every start, and the status names them.
    public var allowsExposure = false

    /// Creates a configuration with the default limits.
    public init(addresses: [ServerAddress], name: String = "") {
      self.addresses = addresses
      self.name = name
    }
  }

  private let store: any GraphStoring
  private let configuration: Configuration
  private let log: Logger
  private let ready: @Sendable ([ServerAddress]) -> Void
  /// Called before `ready`; tests measure a running server.
  package var started: @Sendable (ServerProbe) -> Void = { _ in }
  /// Other protocols in which the store is served.
  package var interfaces = [any ServerInterface]()
  /// Called before `ready`, when programs of this process can connect.
  package var acceptsLocally: @Sendable (LocalConnections) -> Void = { _ in }

  /// - Parameters:
  ///   - store: the open store, such as a `SQLiteStore`; the server closes it at the end.
  ///   - ready: called once with the bound addresses, in which port 0 is replaced by the assigned port.
  public init(
    store: any GraphStoring, configuration: Configuration, log: Logger,
    ready: @escaping @Sendable ([ServerAddress]) -> Void = { _ in }
  ) {
    self.store = store
    self.configuration = configuration
    self.log = log
    self.ready = ready
  }

  /// Serves until graceful shutdown, then notifies clients, finishes accepted commits and closes the store.
  /// - Throws: `StoreFailure` when the server cannot listen on an address; `ExposedAddressError` or
  ///   `CertificateFailure` when it must not.
  public func run() async throws {
    let others = interfaces.flatMap(\.addresses)
    try ListeningPolicy.check(configuration, others: others)
    // Checked first, so that a server that listens can also answer.
    try DescriptorReserve.check(
      DescriptorReserve.count(store: store.maximumDescriptors, addresses: configuration.addresses.count))
    try ServerThread.start("start") {}
    // Read before anything can be committed, so that all newer commits are from this run.
    let start = try PruningSchedule.reading(store)
    warnOfFuture(start)
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let loop = group.next()
    let readers = ReadExecutor(threads: configuration.readerThreads)
    let internalReaders = ReaderPool(threads: 1)
    let writer = WriterThread(store: store, clock: Self.now)
    let conditions = ServingConditions(configuration, others: others, log: log)
    let runner = try runner(loop, conditions, writer, readers, internalReaders)
    let pools = [internalReaders, runner.accounts.checks]
    var listeners = [Listener]()
    do {
      try writer.start { event in runner.submit(event) }
      try readers.start()
      for pool in pools { try pool.start() }
      try await listen(group, runner, &listeners)
      try await startInterfaces(group, runner)
    } catch {
      await close(listeners)
      // A promise of the runner must not outlive its loop unfulfilled.
      try? await loop.submit { runner.cancelRemaining() }.get()
      for interface in interfaces { await interface.stop() }
      await Self.end(group, writer, readers, pools)
      throw error
    }
    let timer = loop.scheduleRepeatedTask(initialDelay: .seconds(0), delay: .seconds(1)) { _ in runner.tick() }
    let fileWatcher = StoreFileWatcher(store: store, internalReaders: internalReaders, log: log)
    let watching = loop.scheduleRepeatedTask(initialDelay: .seconds(1), delay: .seconds(1)) { _ in fileWatcher.check() }
    let pruning = pruneRegularly(since: start, runner, internalReaders)
    let checkingCertificate = configuration.certificate?.startChecks(on: loop, internalReaders, log)
    let local = LocalConnections(runner: runner)
    started(ServerProbe(runner: runner))
    acceptsLocally(local)
    ready(listeners.map(\.address))
    try? await gracefulShutdown()
    log.info("shutting down")
    await close(listeners)
    local.stop()
    runner.submit(.shutdown)
    // A client that no longer reads must not delay the shutdown.
    let deadline = loop.scheduleTask(in: Self.shutdownTime) { runner.cancelRemaining() }
    for interface in interfaces { await interface.stop() }
    try? await runner.whenFinished.get()
    deadline.cancel()
    timer.cancel()
    watching.cancel()
    checkingCertificate?.cancel()
    pruning?.cancel()
    await Self.end(group, writer, readers, pools)
    try store.close()
    log.info("the store is closed")
  }

  private func startInterfaces(_ group: MultiThreadedEventLoopGroup, _ runner: HubRunner) async throws {
    for interface in interfaces { try await interface.start(HubSessions(runner), on: group) }
    let web = interfaces.lazy.compactMap(\.webAddress).first
    try await runner.loop.submit { runner.accounts.webAddress = web }.get()
  }

  private func close(_ listeners: [Listener]) async {
    for listener in listeners { await listener.close() }
  }

  /// Makes the runner of a hub that begins at the store's head.
  private func runner(
    _ loop: any EventLoop, _ conditions: ServingConditions, _ writer: WriterThread, _ readers: ReadExecutor,
    _ internalReaders: ReaderPool
  ) throws -> HubRunner {
    for exposure in conditions.exposures { log.warning("\(exposure)") }
    let runner = HubRunner(
      loop: loop,
      hub: Hub(
        model: store.model, older: configuration.olderModels + store.olderModels, head: try store.head,
        server: configuration.name, limits: configuration.limits, authenticates: configuration.authenticator != nil,
        accessRulesSince: store.accessRulesSince),
      store: store, writer: writer, readers: readers, internalReaders: internalReaders, spoolDirectory: store.directory,
      limits: configuration.limits, conditions: conditions, log: log)
    runner.accounts.authenticator = configuration.authenticator
    runner.accounts.checks = ReaderPool(threads: configuration.authenticator == nil ? 0 : 1, name: "accounts")
    runner.accounts.browserLogins = configuration.browserLogins
    runner.accounts.shareLinks = configuration.shareLinks
    return runner
  }

  /// Listens at all addresses. An optional address that fails is only logged.
  /// - Parameter listeners: the interfaces that listen, also if a later one throws.
  private func listen(
    _ group: MultiThreadedEventLoopGroup, _ runner: HubRunner, _ listeners: inout [Listener]
  ) async throws {
    let accepting = AcceptBackoff(log: log)
    let encryption = configuration.certificate.map {
      ServerEncryption(certificate: $0, regulator: HandshakeRegulator(loop: group.next(), log: log))
    }
    func listener(at address: ServerAddress) async throws -> Listener {
      do {
        return try await Listener(
          address, group: group, runner: runner, maximumFrameSize: configuration.limits.maximumFrameSize,
          accepting: accepting, encryption: address.isEncrypted ? encryption : nil,
          networks: runner.conditions.networks, log: log)
      } catch let failure as StoreFailure where failure.code == .inUse {
        throw address.conflict(with: listeners.map(\.address)) ?? failure
      }
    }
    for address in configuration.addresses { listeners.append(try await listener(at: address)) }
    for address in configuration.optionalAddresses {
      do {
        listeners.append(try await listener(at: address))
      } catch let failure as StoreFailure {
        log.notice("an address is not served", metadata: ["address": "\(address)", "failure": "\(failure)"])
      }
    }
  }

  /// Prunes history by the configured policy; nil if the policy keeps all of it.
  private func pruneRegularly(
    since start: PruningClock.Reading, _ runner: HubRunner, _ internalReaders: ReaderPool
  ) -> RepeatedTask? {
    guard let policy = configuration.history, policy.prunes else { return nil }
    var start = start
    do {
      start.newest = try PruningClock.confirmedTime(of: store, wall: start.wall, retention: policy.retention)
    } catch {
      log.error("history can't be read for pruning", metadata: ["failure": "\(error)"])
    }
    let schedule = PruningSchedule(
      store: store, runner: runner, internalReaders: internalReaders, policy: policy, start: start, log: log)
    return schedule.start(every: .nanoseconds(max(1, Int64(configuration.pruningPeriod / .nanoseconds(1)))))
  }

  /// Ends all threads.
  private static func end(
    _ group: MultiThreadedEventLoopGroup, _ writer: WriterThread, _ readers: ReadExecutor, _ pools: [ReaderPool]
  ) async {
    await join(writer, readers, pools)
    try? await group.shutdownGracefully()
  }

  /// Waits for the end of the threads outside the cooperative pool, which must not be blocked.
  private static func join(_ writer: WriterThread, _ readers: ReadExecutor, _ pools: [ReaderPool]) async {
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      @Sendable func stop() {
        writer.stop()
        readers.stop()
        for pool in pools { pool.stop() }
        continuation.resume()
      }
      // If no thread can be started, blocking the pool is acceptable, because nothing else is served at this point.
      do { try ServerThread.start("end", stop) } catch { stop() }
    }
  }

  /// Warns about a newest commit in the future. The clock was wrong then or is wrong now; only an operator can decide
  /// which.
  private func warnOfFuture(_ start: PruningClock.Reading) {
    if let newest = start.newest, newest > start.wall + PruningClock.tolerance {
      log.warning(
        "the newest commit has a time in the future: the clock was wrong then, or is wrong now; check the system clock",
        metadata: ["revision": "\(start.head)", "time": "\(RFC3339.text(newest))"])
    }
  }

  private static let shutdownTime = TimeAmount.seconds(10)

  /// Microseconds since 1970.
  static let now: @Sendable () -> Timestamp = {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
  }
}
