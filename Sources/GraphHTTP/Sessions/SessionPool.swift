// Tests: RequestTests.swift
import GraphModel
import GraphServer
import GraphWire
import NIOCore

/// Keeps sessions for the next request with the same credential, so that not every request needs a login.
///
/// A session serves one request at a time. The hub ends sessions that were idle for too long and sessions whose token
/// was revoked; the pool does not reuse them.
final class SessionPool: Sendable {
  private struct State {
    var idle = [String: [RequestSession]]()
    var idleCount = 0
    var isOpen = true
  }

  private let sessions: HubSessions
  /// The author of commits on a graph without accounts.
  private let author: String
  private let state: NIOLoopBoundBox<State>

  init(_ sessions: HubSessions, author: String) {
    (self.sessions, self.author) = (sessions, author)
    state = .makeBoxSendingValue(State(), eventLoop: sessions.loop)
  }

  /// A session for a credential.
  /// - Throws: `Problem` if the credential is refused.
  func session(credential: String, address: String?) async throws -> RequestSession {
    if let kept = try await sessions.loop.run({ self.takeIdle(credential) }) { return kept }
    return try await session(credential: credential, replica: .randomReplica(), address: address)
  }

  /// A new session for one transaction of a replica.
  /// - Throws: `Problem` if the credential is refused.
  func session(credential: String, replica: UniqueID, address: String?) async throws -> RequestSession {
    let session = RequestSession(loop: sessions.loop, credential: credential, replica: replica)
    do {
      try await session.open(sessions, address: address, author: author)
    } catch {
      sessions.loop.execute { session.end() }
      throw error
    }
    return session
  }

  /// Returns a session to the pool.
  /// - Parameter isReusable: whether other requests may use it.
  func release(_ session: RequestSession, isReusable: Bool) {
    // At once on the loop, because the next step of the same request may take a session there.
    if sessions.loop.inEventLoop { return keep(session, isReusable: isReusable) }
    sessions.loop.execute { [self] in keep(session, isReusable: isReusable) }
  }

  private func keep(_ session: RequestSession, isReusable: Bool) {
    if state.value.idleCount >= HTTPLimits.idleSessions { removeEnded() }
    guard isReusable, state.value.isOpen, session.isIdle, state.value.idleCount < HTTPLimits.idleSessions else {
      return session.end()
    }
    state.value.idle[session.credential, default: []].append(session)
    state.value.idleCount += 1
  }

  /// Ends all kept sessions; those in use end when they are released.
  func close() {
    sessions.loop.execute { [self] in
      let kept = state.value.idle.values.joined()
      state.value = State(isOpen: false)
      for session in kept { session.end() }
    }
  }

  /// Removes the sessions that the hub has ended.
  private func removeEnded() {
    let idle = state.value.idle.compactMapValues { kept in
      let living = kept.filter(\.isIdle)
      return living.isEmpty ? nil : living
    }
    state.value.idle = idle
    state.value.idleCount = idle.values.reduce(0) { $0 + $1.count }
  }

  private func takeIdle(_ credential: String) -> RequestSession? {
    while var kept = state.value.idle[credential], let session = kept.popLast() {
      state.value.idle[credential] = kept.isEmpty ? nil : kept
      state.value.idleCount -= 1
      assert(state.value.idleCount >= 0, "a kept session is counted once")
      if session.isIdle { return session }
      session.end()
    }
    return nil
  }
}
