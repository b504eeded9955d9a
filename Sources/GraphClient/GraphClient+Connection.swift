import GraphModel
import GraphReplica
import GraphWire

/// The connection: made, lost, made again with growing pauses, and closed for good.
extension GraphClient {
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
        state = .closed
        return continuation.resume(throwing: Refusal(.unavailable, "the server closed the connection"))
      }
      opening = continuation
      handle(.connected)
    }
  }

  private func attach() async throws {
    connection += 1
    let number = connection
    let fresh: Transport
    do {
      fresh = try await Transport.connect(to: address, timeoutMilliseconds: options.connectTimeoutMilliseconds) {
        [weak self] event in
        // Only one batch is in flight at a time, so these tasks can't overtake each other.
        Task { @MainActor in self?.take(event, of: number) }
      }
    } catch {
      throw ConnectFailure(address: address, cause: "\(error)")
    }
    // Closed or superseded while it was being made.
    guard number == connection, state != .closed else {
      fresh.close()
      throw ConnectFailure(address: address, cause: "the connection attempt was cancelled")
    }
    transport = fresh
    // The replica received no ticks while there was no connection.
    tick()
  }

  func take(_ event: Transport.Event, of number: Int) {
    switch event {
    case .messages(let messages, let resume):
      if number == connection { tick() }
      for message in messages where number == connection { handle(.received(message)) }
      resume()
    case .closed: if number == connection { lost(Refusal(.unavailable, "the server closed the connection")) }
    case .malformed(let reason):
      if number == connection { lost(Refusal(.malformed, "the server sent an unreadable message: \(reason)")) }
    }
  }

  func lost(_ refusal: Refusal) {
    connection += 1
    transport?.close()
    transport = nil
    handle(.disconnected)
    settle()
    guard state != .closed else { return }
    if opening != nil { return fail(refusal) }
    if !options.reconnects {
      guard !saves.isEmpty || batches > 0 else { return fail(refusal) }
      guard options.outcomeMilliseconds > 0 else { return fail(Self.unknownOutcome) }
      outcomeDeadline = outcomeDeadline ?? Self.uptime + options.outcomeMilliseconds
    }
    state = .reconnecting(attempt: 1)
    guard reconnecting == nil else { return }
    reconnecting = Task { [weak self] in
      await self?.reconnect()
      self?.reconnecting = nil
    }
  }

  /// Connects until a server sends a welcome; only that resets the pauses.
  private func reconnect() async {
    var attempt = 0
    while state != .closed, state != .connected {
      attempt += 1
      state = .reconnecting(attempt: attempt)
      try? await Task.sleep(for: .milliseconds(Int64.random(in: pause / 2...pause)))
      guard state != .closed else { return }
      if let outcomeDeadline, Self.uptime >= outcomeDeadline { return fail(Self.unknownOutcome) }
      pause = min(2 * pause, options.lastPauseMilliseconds)
      guard (try? await attach()) != nil else { continue }
      handle(.connected)
      // Until the welcome arrives or the connection is lost again.
      await withCheckedContinuation { settled = $0 }
    }
  }

  /// Stops looking for outcomes when no commit is unanswered.
  func forgetOutcomeDeadline() {
    if saves.isEmpty, batches == 0 { outcomeDeadline = nil }
  }

  /// Returns on reconnect or on close.
  func reconnection() async {
    if case .reconnecting = state { await withCheckedContinuation { reconnected.append($0) } }
  }

  func settle() {
    settled?.resume()
    settled = nil
  }

  /// The error of a request that may or may not have been committed, with no server left to ask.
  public nonisolated static let unknownOutcome = Refusal(
    .unavailable,
    "the connection was lost before the server answered, and the answer could not be fetched again: the change may "
      + "or may not have been committed; check before you repeat it")

  /// Closes for good: every waiting caller receives the refusal.
  func fail(_ refusal: Refusal) {
    ending = refusal
    state = .closed
    settle()
    ticking?.cancel()
    opening?.resume(throwing: refusal)
    opening = nil
    for (_, save) in saves { save.resume(throwing: refusal) }
    saves = [:]
    for (_, reply) in replies { reply.end(refusal) }
    replies = [:]
    for (_, waiting) in loading { waiting.resume(throwing: refusal) }
    loading = [:]
    for load in filling.keys.sorted() { end(load, refusal) }
    for (_, watch) in watches { watch.body(.ended(refusal)) }
    watches = [:]
  }

  /// Closes the connection after writing what was sent. Unsaved edits are lost; unanswered saves may or may not have
  /// been committed.
  public func close() async {
    guard state != .closed else { return }
    state = .closed
    ticking?.cancel()
    connection += 1
    let transport = transport
    self.transport = nil
    fail(Refusal(.unavailable, "the client was closed"))
    await transport?.closeGracefully()
  }
}
