// Tests: ReplicaConnectorTests.swift
import Foundation
import GraphClient
import GraphModel
import GraphReplica
import GraphReplicaStore
import GraphStore
import Logging
import Synchronization

/// Moves the clients of a replica between this computer's copy and the server, while they stay open.
///
/// Without the server the copy answers. The connector tries to reach the server, with growing pauses. When it answers,
/// the clients disconnect, the unsent edits are sent, and the clients connect to the server, under the ids that it has
/// assigned. With the server, the copy is kept a few seconds behind it. When the server is lost, a client goes to the
/// copy only if that has all that the client has shown and no answer is missing; otherwise it waits for the server.
///
/// A turn is a choice of a server, or work on the replica's files that needs the clients disconnected. Turns do not
/// overlap.
actor ReplicaConnector {
  /// Makes a connection to the server for the replica of an id, on an actor; nil for a new id.
  typealias Connect = @Sendable (_ replica: UniqueID?, _ actor: isolated any Actor) async throws -> GraphClient

  private enum Mode {
    case copy(ServedCopy)
    case server(ServerAddress)
    /// The copy is being changed.
    case none
  }

  private let replica: OfflineReplica
  private let model: Model
  private let log: Logger
  private let connect: Connect
  private let watcher: UnsentWatcher
  private let refreshPause: Duration
  /// Why the server can't take the edits, although it answers; empty otherwise.
  nonisolated let trouble = LiveState("")
  private var mode: Mode
  /// The address at which the server was reached last.
  private var reached: ServerAddress?
  /// Ids that the server has assigned.
  private var ids = [ObjectID: ObjectID]()
  private var turns = Turns()
  private var links = [ClientLink]()
  /// Work for which the clients disconnect.
  private var works = [@Sendable (isolated ReplicaConnector) async -> Void]()
  /// Whether another process has written to the file of unsent edits since the copy was opened.
  private var isOutdated = false
  /// Whether the server has answered an attempt.
  private var isAnswering = false
  /// Whether the server has refused the replica, so that further attempts would fail in the same way.
  private var isBlocked = false
  private var hasEnded = false
  /// Whether a change of the graph has been reported and not handled; guarded by its mutex, because clients belong to
  /// any actor.
  private nonisolated let isRefreshDue = Mutex(false)
  /// Whether the copy can be kept up to date: the commits of a user with fewer rights do not say what has become
  /// invisible, so that each run loads it again.
  private var isFollowed = true
  private var attempts: Task<Void, Never>?
  private var refreshing: Task<Void, Never>?
  private var following: Task<Void, Never>?

  /// The pauses between two attempts to reach the server.
  private static let pauses = (first: Duration.milliseconds(250), last: Duration.seconds(5))
  /// How long the copy may be behind the server, by default.
  static let usualRefreshPause = Duration.seconds(2)

  init(
    _ replica: OfflineReplica, model: Model, watcher: UnsentWatcher, log: Logger, address: ServerAddress? = nil,
    refreshPause: Duration = ReplicaConnector.usualRefreshPause, connect: @escaping Connect
  ) {
    self.refreshPause = refreshPause
    (self.replica, self.model, self.watcher, self.log, self.connect) = (replica, model, watcher, log, connect)
    mode = if let address { .server(address) } else { .none }
  }

  /// Follows a client, which the connector can disconnect from now on.
  func add(_ link: ClientLink) {
    if links.contains(where: { $0.states === link.states }) { return }
    links.append(link)
    if isAnswering, case .copy = mode { link.changeServer() }
    if following == nil {
      following = Task { [weak self, statuses = watcher.status.makeStream()] in
        for await status in statuses { await self?.follow(status) }
      }
    }
  }

  /// Another process may turn sync on or off.
  private func follow(_ status: OfflineReplica.Status?) {
    switch mode {
    case .copy(let copy):
      if status?.isOn == true { startAttempts() }
      // Another process has made, sent or discarded an edit.
      guard (try? copy.isOutdated) == true else { return }
      isOutdated = true
      for link in links { link.changeServer() }
    case .server: if status?.isOn == false { for link in links { link.changeServer() } }
    case .none: break
    }
  }

  /// Opens the copy before the first client connects.
  /// - Throws: `StoreFailure` if there is none, or none of this version of the model.
  func open() async throws {
    await beginTurn()
    defer { endTurn() }
    _ = try await openCopy()
  }

  // MARK: - Choosing a server

  /// Chooses where the next connection of a client goes.
  func choose(_ held: HeldGraph?) async throws -> ServerChoice {
    await beginTurn()
    defer { endTurn() }
    await perform()
    // Another program may have made the replica since the watcher looked for one.
    watcher.refresh()
    if case .server(let address) = mode, !replica.exists { return .address(address) }
    if isOutdated { await closeCopy() }
    if case .copy(let copy) = mode, !(isAnswering && isOn) { return try await copy.connect() }
    if isOn {
      do { return try await reachServer() } catch {
        report(error)
        if case .server(let address) = mode {
          // It answers, and the copy could not be brought up to date.
          if !(error is ConnectFailure) { return .address(address) }
          if let held, try !isCurrent(held) { throw error }
        }
      }
    }
    return try await openCopy().connect()
  }

  private func report(_ error: any Error) {
    isAnswering = false
    log.debug("the server can't be used", metadata: ["failure": "\(error)"])
    // Another program that synchronizes is done soon.
    guard let refusal = error as? Refusal, refusal.code == .notAllowed || refusal.code == .denied else { return }
    trouble.set(refusal.message)
    isBlocked = true
  }

  /// Whether edits are sent when the server can be reached.
  private var isOn: Bool { (try? replica.status())?.isOn == true }

  /// Whether the copy has all that a client has shown.
  private func isCurrent(_ held: HeldGraph) throws -> Bool {
    if held.hasUnansweredCommits { return false }
    let mirror = try MirrorStore(path: replica.path + "/" + ReplicaStore.mirrorName, model: model)
    defer { mirror.close() }
    return held.isIn(try mirror.head)
  }

  /// Sends the unsent edits and receives what others have committed.
  private func reachServer() async throws -> ServerChoice {
    await closeCopy()
    let address = try await synchronize()
    mode = .server(address)
    trouble.set("")
    attempts?.cancel()
    attempts = nil
    return .address(address, ids: ids)
  }

  @discardableResult
  private func synchronize() async throws -> ServerAddress {
    _ = try await replica.synchronize { id in try await self.reach(id) }
    ids = try replica.assignedIDs(model)
    return try invariant(reached, "a replica is synchronized over a connection")
  }

  private func reach(_ id: UniqueID?) async throws -> GraphClient {
    let client = try await connect(id, self)
    reached = client.address
    isFollowed = client.welcome?.role == Role.owner.rawValue
    return client
  }

  private func openCopy() async throws -> ServedCopy {
    if case .copy(let copy) = mode { return copy }
    guard let current = replica.folder.current else { throw OfflineReplica.none }
    let copy = try await ServedCopy(folder: current, model: model, log: log)
    mode = .copy(copy)
    startAttempts()
    return copy
  }

  private func closeCopy() async {
    isOutdated = false
    guard case .copy(let copy) = mode else { return }
    mode = .none
    await copy.stop()
  }

  // MARK: - Reaching the server

  /// Tries to reach the server until it answers, unless sync is off.
  func startAttempts() {
    if attempts != nil || hasEnded || isBlocked { return }
    attempts = Task { [weak self] in
      var pause = Self.pauses.first
      // The connector is not kept alive by the pause.
      while await self?.attempt() == true {
        try? await Task.sleep(for: pause)
        if Task.isCancelled { return }
        pause = min(pause * 2, Self.pauses.last)
      }
    }
  }

  /// - Returns: whether a further attempt is due.
  private func attempt() async -> Bool {
    guard case .copy = mode, isOn, !hasEnded, !isBlocked else {
      attempts = nil
      return false
    }
    do {
      let client = try await connect(nil, self)
      await client.close()
    } catch {
      return true
    }
    isAnswering = true
    for link in links { link.changeServer() }
    // Until the clients have left the copy, or the server is gone again.
    return true
  }

  // MARK: - Keeping the copy up to date

  /// Brings the copy up to date after a while, because the graph has changed.
  nonisolated func graphDidChange() {
    let wasDue = isRefreshDue.withLock { isDue in
      defer { isDue = true }
      return isDue
    }
    if !wasDue { Task { await self.scheduleRefresh() } }
  }

  private func scheduleRefresh() {
    isRefreshDue.withLock { $0 = false }
    guard case .server = mode, isFollowed, refreshing == nil, !hasEnded else { return }
    refreshing = Task { [weak self, refreshPause] in
      try? await Task.sleep(for: refreshPause)
      await self?.refresh()
    }
  }

  private func refresh() async {
    await beginTurn()
    defer { endTurn() }
    refreshing = nil
    watcher.refresh()
    guard case .server = mode, isOn, !hasEnded else { return }
    // The next run receives what this one could not.
    _ = try? await synchronize()
  }

  // MARK: - Work without clients

  /// Runs work on the replica's files while no client is connected. Afterwards the clients connect again.
  /// - Parameter body: receives the replica, and how to connect to the server.
  func withoutClients<Result: Sendable>(
    _ body: @escaping @Sendable (OfflineReplica, OfflineReplica.Connect) async throws -> Result
  ) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
      works.append { connector in
        do {
          continuation.resume(returning: try await connector.run(body))
        } catch {
          continuation.resume(throwing: error)
        }
      }
      for link in links { link.changeServer() }
    }
  }

  private func run<Result: Sendable>(
    _ body: @Sendable (OfflineReplica, OfflineReplica.Connect) async throws -> Result
  ) async throws -> Result {
    try await body(replica) { id in try await self.connect(id, self) }
  }

  private func perform() async {
    if works.isEmpty { return }
    await closeCopy()
    while !works.isEmpty { await works.removeFirst()(self) }
    watcher.refresh()
    // The address is chosen again.
    if case .server = mode, replica.exists, !isOn { mode = .none }
    (isAnswering, isBlocked) = (true, false)
  }

  /// Ends with the last client, when the copy is up to date.
  func end() async {
    await beginTurn()
    defer { endTurn() }
    if hasEnded { return }
    await perform()
    if case .server = mode, refreshing != nil, isOn { _ = try? await synchronize() }
    hasEnded = true
    for task in [attempts, refreshing, following] { task?.cancel() }
    (attempts, refreshing, following) = (nil, nil, nil)
    trouble.end()
    await closeCopy()
  }

  // MARK: - Turns

  /// One turn after the other, in the order of their calls.
  private struct Turns {
    var isBusy = false
    var waiting = [CheckedContinuation<Void, Never>]()
  }

  private func beginTurn() async {
    guard turns.isBusy else {
      turns.isBusy = true
      return
    }
    await withCheckedContinuation { turns.waiting.append($0) }
  }

  private func endTurn() {
    assert(turns.isBusy, "a turn that ends has begun")
    if turns.waiting.isEmpty { turns.isBusy = false } else { turns.waiting.removeFirst().resume() }
  }
}
