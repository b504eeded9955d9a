// Tests: GraphClientTests.swift, IdleClientTests.swift
import GraphModel
import GraphReplica
import GraphWire
import NIOCore

/// The connection: made, lost, made again with growing pauses, and closed for good. Its clock ticks before messages are
/// handled, after requests, and at the replica's deadline.
extension GraphClient {
  /// The way in which the server was verified; nil for a connection without encryption, and before the first one.
  public var verification: ServerVerification? { reconnection.verification }

  /// The options for another client of the same server, with the same security and credentials.
  public func options(author: String) -> Options {
    var options = Options(author: author)
    options.security = self.options.security.requiring(verification)
    options.credentials = self.options.credentials
    return options
  }

  /// Connects a background context to this client's server, with the same model, classes and options. It counts as a
  /// further client of an embedded graph, which is closed with its last client.
  /// - Throws: `ConnectFailure`, `SecurityFailure`, or the server's `Refusal`.
  public func makeBackgroundContext() async throws -> BackgroundContext {
    var options = options
    options.security = options.security.requiring(verification)
    return try await BackgroundContext.connect(
      to: address, model: context.model, classes: context.registeredClasses, options: options)
  }

  func open() async throws {
    do {
      try await attach()
    } catch {
      fail(Refusal(.unavailable, "\(error)"))
      throw error
    }
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
      // The peer may have disconnected before this ran.
      guard transport != nil else {
        let refusal = Refusal(.unavailable, "the server closed the connection")
        fail(refusal)
        return continuation.resume(throwing: refusal)
      }
      opening = continuation
      handle(.connected)
    }
  }

  private func attach() async throws {
    connection += 1
    let number = connection
    let credential = try await options.credentials.current()
    let (choice, fresh): (ServerChoice, Transport)
    do {
      // The choice regards all reasons up to now.
      offlineState.changesServer = false
      let held = HeldGraph(hasUnansweredCommits: !commits.isEmpty, state: context.replica.heldState)
      choice = try await options.choice(of: address, holding: held)
      fresh = try await Transport.connect(
        to: choice, security: options.security.requiring(reconnection.verification),
        timeoutMilliseconds: options.connectTimeoutMilliseconds
      ) { [mailbox] event in
        mailbox.post { $0.receive(event, of: number) }
      }
    } catch let failure as SecurityFailure {
      throw failure
    } catch {
      throw ConnectFailure(address: address, error: error)
    }
    // Closed or superseded while it was being made.
    guard number == connection, state != .closed else {
      fresh.close()
      throw ConnectFailure(address: address, cause: "the connection attempt was cancelled")
    }
    assert(transport == nil, "a client has one connection at a time")
    transport = fresh
    record(choice, verification: fresh.verification, credential)
    // The replica received no ticks while there was no connection.
    tick()
  }

  /// Records where the new connection goes.
  private func record(_ choice: ServerChoice, verification: ServerVerification?, _ credential: String) {
    switch choice {
    case .socket(_, let revision):
      offlineState.unsentAfter = revision
      // A server of this process knows no users.
      context.handle(.credential(""))
    case .address(let address, let ids):
      (self.address, offlineState.unsentAfter, offlineState.assignedIDs) = (address, nil, ids)
      reconnection.setVerification(verification)
      context.handle(.credential(credential))
      context.assign(ids)
    }
  }

  /// Handles an event of the connection of a number; one of an older connection is dropped.
  func receive(_ event: Transport.Event, of number: Int) {
    switch event {
    case .messages(let messages, let resume):
      if number == connection { tick() }
      for message in messages where number == connection { handle(.received(message)) }
      resume()
    case .closed: if number == connection { connectionLost(Refusal(.unavailable, "the server closed the connection")) }
    case .malformed(let reason):
      if number == connection {
        let what =
          opening != nil
          ? "the program that listens at \(address) is not a server of this protocol"
          : "the server sent an unreadable message"
        connectionLost(Refusal(.malformed, "\(what): \(reason)"))
      }
    }
  }

  func connectionLost(_ refusal: Refusal) {
    connection += 1
    transport?.close()
    transport = nil
    handle(.disconnected)
    reconnection.endAttempt()
    if state == .closed { return }
    if opening != nil { return fail(refusal) }
    if !options.reconnects {
      guard !commits.isEmpty else { return fail(refusal) }
      guard options.outcomeMilliseconds > 0 else { return fail(Self.unknownOutcome) }
      commits.startDeadline(Self.uptime + options.outcomeMilliseconds)
    }
    state = .reconnecting(attempt: 1)
    if reconnection.isRunning { return }
    reconnection.isRunning = true
    spawn(for: self) { client in
      await client.reconnect()
      client.reconnection.isRunning = false
    }
  }

  /// Connects until a server sends a welcome; only that resets the pauses.
  private func reconnect() async {
    var attempt = 0
    while state != .closed, state != .connected {
      attempt += 1
      state = .reconnecting(attempt: attempt)
      try? await Task.sleep(for: .milliseconds(Int64.random(in: reconnection.pause / 2...reconnection.pause)))
      if state == .closed { return }
      if let deadline = commits.deadline, Self.uptime >= deadline { return fail(Self.unknownOutcome) }
      reconnection.growPause(upTo: options.lastPauseMilliseconds)
      instruments.recordAttempt()
      do { try await attach() } catch let failure as SecurityFailure {
        // Another attempt would fail in the same way, and the user must know of a changed key.
        return fail(Refusal(.notAllowed, failure.message))
      } catch { continue }
      // Waits until the welcome arrives or the connection is lost again.
      await withCheckedContinuation { continuation in
        reconnection.setAttempt(continuation)
        handle(.connected)
      }
    }
  }

  /// Returns on reconnect or on close.
  /// - Throws: `CancellationError` if the task is cancelled before.
  package func waitForReconnection() async throws {
    if case .reconnecting = state {
      let wait = CancellableWait()
      reconnection.add(wait)
      defer { reconnection.remove(wait) }
      try await wait.wait()
    }
  }

  /// The error of a request that may or may not have been committed, with no server left to ask.
  public static let unknownOutcome = Refusal(
    .unavailable,
    "the connection was lost before the server answered, and the answer could not be fetched again: the change may "
      + "or may not have been committed; check before you repeat it", isOutcomeUnknown: true)

  /// Closes for good: every waiting caller receives the refusal.
  func fail(_ refusal: Refusal) { end(refusal) }

  /// Closes for good at the wish of the owner; what was sent is still written.
  func endByOwner() { end(nil) }

  /// Ends the client, once: first its companion, and then, in a task, its connection and what follows that.
  /// - Parameter reason: why the client can't go on; nil if its owner closes it.
  private func end(_ reason: Refusal?) {
    if state == .closed { return }
    var open: Transport?
    if reason == nil {
      open = transport.take()
      connection += 1
    }
    let lastWork = companion?.clientDidClose(leavesServer: reason == nil && state == .connected)
    // Must precede the end of the streams of states, because a reader on another actor then waits for it.
    observers.states.closing = Task { [open, server = options.localServer] in
      await open?.closeGracefully()
      // After the connection, because a server of this process ends with its last client.
      await server?.clientDidClose()
      await lastWork?()
    }
    // The observers receive no reason if the owner closes the client.
    ending = reason
    state = .closed
    let refusal = reason ?? Refusal(.unavailable, "the client was closed")
    ending = refusal
    reconnection.endAttempt()
    alarm.cancel()
    opening?.resume(throwing: refusal)
    opening = nil
    commits.fail(refusal)
    for (_, reply) in replies { reply.stream?.end(refusal) }
    replies = [:]
    for (_, loading) in loadingQueries { loading.end(.failure(refusal)) }
    loadingQueries = [:]
    loadWaiters.fail(refusal)
    for (_, watch) in watches { watch.body(.ended(refusal)) }
    watches = [:]
    for query in runningQueries.removeAll() { query.fail(refusal) }
    // No call follows, and the mailbox's task would keep the actor alive.
    mailbox.close()
  }

  /// Closes the connection after writing all sent messages. Unsaved edits are lost; unanswered saves may or may not
  /// have been committed.
  public func close() async {
    endByOwner()
    // Also for a client that its server has closed.
    await observers.states.closing?.value
  }

  /// Closes the client when the body returns or throws, or its task is cancelled.
  ///
  /// A body may return although its task is cancelled. Its value is then the result, unless the context has edits that
  /// the server has not confirmed: the cancellation has made their save impossible.
  package func closeAfter<Result>(_ body: (GraphClient) async throws -> Result) async throws -> Result {
    let link = link
    async let _: Void = link.closeAtCancellation()
    do {
      let result = try await body(self)
      let losesEdits = Task.isCancelled && context.hasUnconfirmedChanges
      await close()
      if losesEdits { throw CancellationError() }
      return result
    } catch {
      await close()
      // The cancellation closed the client, and so it refused the body's request.
      if Task.isCancelled, (error as? Refusal)?.code == .unavailable { throw CancellationError() }
      throw error
    }
  }

  // MARK: - Time

  /// The time of a monotonic clock, in milliseconds.
  static var uptime: Int64 { Int64(NIODeadline.now().uptimeNanoseconds / 1_000_000) }

  func tick() { handle(.tick(Self.uptime)) }

  /// Sleeps until the replica's deadline.
  func scheduleTick() {
    // Without a connection the replica has no deadline.
    if state != .closed, let deadline = context.replica.deadline { scheduleTick(at: deadline) }
  }

  private func scheduleTick(at deadline: Int64) {
    let now = Self.uptime
    if deadline <= now { return tick() }
    let isEarliest = alarm.timer.set(to: deadline)
    // An earlier alarm ticks first, and sets the next one.
    if !isEarliest { return }
    alarm.cancel()
    alarm.sleep = Task { [mailbox] in
      try? await Task.sleep(for: .milliseconds(deadline - now))
      if Task.isCancelled { return }
      mailbox.post { client in
        // It may have been closed meanwhile.
        if client.state == .closed { return }
        client.alarm.timer.ring()
        client.tick()
      }
    }
  }
}

// MARK: - A server of this process

extension GraphClient {
  /// For a client of a replica that works without its server: the revision above which objects have unsent edits.
  package var unsentAfter: Revision? { offlineState.unsentAfter }

  /// Whether the process may end without closing the client: it works on a copy, whose edits are on disk when they are
  /// acknowledged. A close would stop the threads of the copy's server, and write SQLite's log back with two syncs.
  package var mayStayOpen: Bool { unsentAfter != nil }

  /// The ids that the server has assigned to objects which a replica had made, by their earlier ids.
  package var assignedIDs: [ObjectID: ObjectID] { offlineState.assignedIDs }

  /// An object that ends with the client.
  package var companion: (any ClientCompanion)? {
    get { offlineState.companion }
    set { offlineState.companion = newValue }
  }

  /// Lets a server of this process choose where the client's later connections go.
  package func use(_ server: LocalServer) {
    precondition(options.localServer == nil, "a client has one server of its process")
    options.localServer = server
  }

  /// Connects again, to where the local server chooses now, when every commit that was sent is answered. Edits that are
  /// not saved stay. A connection that is being made may be the choice of before, so it is changed after its welcome.
  package func changeServer() {
    if state == .closed { return }
    guard state == .connected, commits.isEmpty else {
      offlineState.changesServer = true
      return
    }
    offlineState.changesServer = false
    connectionLost(Refusal(.unavailable, "the client changes its server"))
  }

  /// Changes the server if that waited for the last answer, or for the welcome.
  func changeServerIfAnswered() { if offlineState.changesServer { changeServer() } }
}
