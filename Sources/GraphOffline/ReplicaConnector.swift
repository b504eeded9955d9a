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
  /// Why the server can't take the edits although it answers, or the copy can't be kept; empty otherwise.
  nonisolated let trouble = LiveState("")
  /// The newest notice of a run, as a sentence; empty for none.
  nonisolated let notice = LiveState("")
  private var mode: Mode
  /// The address at which the server was reached, since the last choice that needed it.
  private var reached: ServerAddress?
  /// Ids that the server has assigned.
  private var ids = [ObjectID: ObjectID]()
  private var turns = Turns()
  private var links = [ClientLink]()
  /// Work for which the clients disconnect.
  private var works = [@Sendable (isolated ReplicaConnector) async -> Void]()
  /// Whether another process has written to the file of unsent edits, or has loaded the mirror again, since the copy
  /// was opened.
  private var isOutdated = false
  /// Whether the server has answered an attempt.
  private var isAnswering = false
  /// Whether the server has refused the replica, so that further attempts would fail in the same way.
  private var isBlocked = false
  /// Whether the last run has failed in a way that the next one would repeat, such as a full disk.
  private var hasFailed = false
  private var hasEnded = false
  /// Whether a change of the graph has been reported and not handled; guarded by its mutex, because clients belong to
  /// any actor.
  private nonisolated let isRefreshDue = Mutex(false)
  /// Whether the copy can be kept up to date: the commits of a user with fewer rights do not say what has become
  /// invisible, so that each run loads it again.
  private var isFollowed = true
  private var attempts: Task<Void, Never>?
  private var refreshing: Task<Void, Never>?
  private var following = [Task<Void, Never>]()

  /// The pauses between two attempts to reach the server.
  private static let pauses = (first: Duration.milliseconds(250), last: Duration.seconds(5))
  /// The pause after a failure that only a person can end: each attempt disconnects the clients.
  private static let failurePause = Duration.seconds(60)
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
    if following.isEmpty {
      following = [
        Task { [weak self, statuses = watcher.status.makeStream()] in
          for await status in statuses { await self?.follow(status) }
        },
        Task { [weak self, mirrors = watcher.mirror.makeStream()] in
          for await _ in mirrors { await self?.leaveOutdatedCopy() }
        },
      ]
    }
  }

  /// Another process may turn sync on or off.
  private func follow(_ status: OfflineReplica.Status?) {
    switch mode {
    case .copy:
      if status?.isOn == true { startAttempts() }
      leaveOutdatedCopy()
    case .server: if status?.isOn == false { for link in links { link.changeServer() } }
    case .none: break
    }
  }

  /// Opens the copy again if another process has made, sent or discarded an edit, or has loaded the mirror.
  private func leaveOutdatedCopy() {
    if case .copy(let copy) = mode, (try? copy.isOutdated) == true {
      isOutdated = true
      for link in links { link.changeServer() }
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
        } else if let choice = try serverWithoutCopy() {
          return choice
        }
      }
    }
    do { return try await openCopy().connect() } catch {
      recordFailure(error)
      throw error
    }
  }

  /// The server, if it has answered, the copy can't be kept and nothing waits to be sent: the copy shows nothing then
  /// that the server lacks.
  private func serverWithoutCopy() throws -> ServerChoice? {
    guard let reached, hasFailed, !isBlocked, let status = try replica.status(), status.unsent == 0 else { return nil }
    ids = try replica.assignedIDs(model)
    mode = .server(reached)
    attempts?.cancel()
    attempts = nil
    return .address(reached, ids: ids)
  }

  private func report(_ error: any Error) {
    isAnswering = false
    log.debug("the server can't be used", metadata: ["failure": "\(error)"])
    recordFailure(error)
    if let refusal = error as? Refusal, refusal.code == .notAllowed || refusal.code == .denied { isBlocked = true }
  }

  /// Shows a failure that does not end by itself.
  private func recordFailure(_ error: any Error) {
    if let sentence = Self.sentence(of: error) {
      trouble.set(sentence)
      hasFailed = true
    }
  }

  /// A failure in words; nil for one that soon ends by itself: no server, a busy one, or another program that
  /// synchronizes.
  static func sentence(of error: any Error) -> String? {
    switch error {
    case is ConnectFailure, is CancellationError: nil
    case let refusal as Refusal: refusal.code == .conflict || refusal.isTemporary ? nil : refusal.message
    case let failure as SecurityFailure: failure.message
    default: "\(error)"
    }
  }

  /// Whether edits are sent when the server can be reached.
  private var isOn: Bool { (try? replica.status())?.isOn == true }

  /// Whether the copy has all that a client has shown.
  private func isCurrent(_ held: HeldGraph) throws -> Bool {
    if held.hasUnansweredCommits { return false }
    let mirror = try MirrorStore(path: replica.path + "/" + ReplicaStore.mirrorName, model: model)
    defer { mirror.close() }
    // The client may show objects of other scopes, which the copy would make disappear.
    return try mirror.kept == nil && held.isIn(mirror.head)
  }

  /// Sends the unsent edits and receives what others have committed.
  private func reachServer() async throws -> ServerChoice {
    await closeCopy()
    reached = nil
    let address = try await synchronize()
    mode = .server(address)
    attempts?.cancel()
    attempts = nil
    return .address(address, ids: ids)
  }

  @discardableResult
  private func synchronize() async throws -> ServerAddress {
    let report = try await replica.synchronize { id in try await self.reach(id) }
    for met in report.notices { notice.set(met.sentence) }
    ids = try replica.assignedIDs(model)
    trouble.set("")
    hasFailed = false
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
    if case .copy(let copy) = mode {
      mode = .none
      await copy.stop()
    }
  }

  // MARK: - Reaching the server

  /// Tries to reach the server until it answers, unless sync is off.
  func startAttempts() {
    if attempts != nil || hasEnded || isBlocked { return }
    attempts = Task { [weak self] in
      var pause = Self.pauses.first
      // The connector is not kept alive by the pause.
      while let shortest = await self?.attempt() {
        try? await Task.sleep(for: max(pause, shortest))
        if Task.isCancelled { return }
        pause = min(pause * 2, Self.pauses.last)
      }
    }
  }

  /// - Returns: the shortest pause before a further attempt; nil if none is due.
  private func attempt() async -> Duration? {
    guard case .copy = mode, isOn, !hasEnded, !isBlocked else {
      attempts = nil
      return nil
    }
    if hasFailed {
      hasFailed = false
      return Self.failurePause
    }
    do {
      let client = try await connect(nil, self)
      await client.close()
    } catch {
      var failure = error
      if let refusal = error as? Refusal { failure = replica.removingCopy(after: refusal) }
      if let sentence = Self.sentence(of: failure) { trouble.set(sentence) }
      return .zero
    }
    isAnswering = true
    for link in links { link.changeServer() }
    // Until the clients have left the copy, or the server is gone again.
    return .zero
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
    if case .server = mode, isFollowed, refreshing == nil, !hasEnded {
      refreshing = Task { [weak self, pause = hasFailed ? Self.failurePause : refreshPause] in
        try? await Task.sleep(for: pause)
        await self?.refresh()
      }
    }
  }

  private func refresh() async {
    await beginTurn()
    defer { endTurn() }
    refreshing = nil
    watcher.refresh()
    if case .server = mode, isOn, !hasEnded {
      // The next run receives what this one could not.
      do { try await synchronize() } catch { recordFailure(error) }
    }
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
    (isAnswering, isBlocked, hasFailed) = (true, false, false)
  }

  /// Ends with the last client, when the copy is up to date.
  func end() async {
    await beginTurn()
    defer { endTurn() }
    if hasEnded { return }
    await perform()
    if case .server = mode, refreshing != nil, isOn { _ = try? await synchronize() }
    hasEnded = true
    for task in [attempts, refreshing].compactMap({ $0 }) + following { task.cancel() }
    (attempts, refreshing, following) = (nil, nil, [])
    trouble.end()
    notice.end()
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
