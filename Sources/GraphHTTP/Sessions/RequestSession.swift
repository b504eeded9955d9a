// Tests: RequestTests.swift
import GraphHub
import GraphModel
import GraphServer
import GraphWire
import NIOCore

/// A session of the hub that serves one HTTP request at a time: it sends messages and returns their answers. Its
/// asynchronous methods hop to the hub's loop, and only that loop uses the state.
final class RequestSession: Sendable {
  private struct Answer {
    /// Parts that have arrived and were not taken yet: at most the window of a read.
    var parts = [ToClient.Body]()
    var waiter: EventLoopPromise<ToClient.Body>?
  }

  private struct State {
    var session: InProcessSession?
    var lastRequest: UInt64 = 0
    var answers = [UInt64: Answer]()
    /// The reason why the session has ended; nil while it is open.
    var refusal: Refusal?
    /// The answer to the hello.
    var welcome: Welcome?
  }

  let loop: any EventLoop
  /// The credential of the session; it serves further requests with the same one.
  let credential: String
  let replica: UniqueID
  private let state: NIOLoopBoundBox<State>

  /// - Parameter replica: the replica in the ids of the session's transactions.
  init(loop: any EventLoop, credential: String, replica: UniqueID) {
    (self.loop, self.credential, self.replica) = (loop, credential, replica)
    state = .makeBoxSendingValue(State(), eventLoop: loop)
  }

  /// Opens the session and waits for its welcome.
  /// - Parameter peer: the kind of the client.
  /// - Throws: `Problem` if the credential is refused.
  func open(_ sessions: HubSessions, of peer: Peer = .network, address: String?, author: String) async throws {
    let hello = Hello(model: nil, replica: replica, author: author, program: "http", credential: credential)
    let answer = loop.flatSubmit { [self] in
      let session = sessions.open(of: peer, address: address) { [self] in receive($0) }
      state.value.session = session
      if session == nil { state.value.refusal = Refusal(.unavailable, "the server has no room for another session") }
      return next(of: send(.hello(hello)))
    }
    do {
      guard case .welcome = try await answer.get() else {
        preconditionFailure("a hello is answered by a welcome or by the end of the session")
      }
    } catch let refusal as Refusal {
      throw Problem.login(refusal)
    }
  }

  // MARK: - Requests

  /// Sends a message that has one answer.
  /// - Throws: `Refusal`.
  func answer(to body: ToServer.Body) async throws -> ToClient.Body {
    try await loop.value { [self] in next(of: send(body)) }
  }

  /// Sends a message whose answer has parts.
  func begin(_ body: ToServer.Body) async throws -> UInt64 {
    try await loop.run { [self] in send(body) }
  }

  /// The next part of an answer. The server sends further parts only after this one was taken.
  /// - Throws: `Refusal`.
  func part(of request: UInt64) async throws -> ToClient.Body {
    try await loop.value { [self] in next(of: request) }
  }

  /// The hub's answer to the hello; the session must have been opened.
  func welcome() async throws -> Welcome {
    try await loop.run { [self] in try invariant(state.value.welcome, "a session that was opened has a welcome") }
  }

  /// Whether what the session sees depends on the rights of a user. This does not change while it is open.
  func hasRights() async throws -> Bool { try await !welcome().grants.isEmpty }

  // MARK: - On the loop

  /// Whether the session can serve another request.
  var isIdle: Bool {
    let now = state.value
    return now.refusal == nil && now.session != nil && now.answers.isEmpty
  }

  /// Ends the session. Callers that wait for an answer receive an error.
  func end() {
    state.value.session?.end()
    state.value.session = nil
    fail(Refusal(.cancelled, "the request has ended"))
  }

  private func send(_ body: ToServer.Body) -> UInt64 {
    state.value.lastRequest += 1
    let request = state.value.lastRequest
    state.value.answers[request] = Answer()
    state.value.session?.send(ToServer(request, body))
    return request
  }

  private func next(of request: UInt64) -> EventLoopFuture<ToClient.Body> {
    let promise = loop.makePromise(of: ToClient.Body.self)
    if var answer = state.value.answers[request], !answer.parts.isEmpty {
      let part = answer.parts.removeFirst()
      state.value.answers[request] = answer
      deliver(part, of: request, to: promise)
    } else if let refusal = state.value.refusal {
      promise.fail(refusal)
    } else if var answer = state.value.answers[request] {
      assert(answer.waiter == nil, "one task takes the parts of an answer")
      answer.waiter = promise
      state.value.answers[request] = answer
    } else {
      preconditionFailure("an answer is taken once")
    }
    return promise.futureResult
  }

  private func receive(_ event: InProcessSession.Event) {
    switch event {
    case .message(let message, let bytes):
      // The parts of a read are bounded by its window, so nothing accumulates here.
      state.value.session?.acknowledge(bytes)
      if case .close(let code, let text) = message.body {
        let known = Refusal.Code(rawValue: code)
        return fail(Refusal(known ?? .unavailable, text))
      }
      receive(message)
    case .reading: break
    case .closed:
      state.value.session = nil
      fail(Refusal(.unavailable, "the session has ended"))
    }
  }

  private func receive(_ message: ToClient) {
    if case .welcome(let welcome) = message.body { state.value.welcome = welcome }
    // A message with another number answers no request. Such messages belong to live queries, which these sessions do
    // not have.
    guard var answer = state.value.answers[message.request] else { return }
    if let waiter = answer.waiter {
      answer.waiter = nil
      state.value.answers[message.request] = answer
      deliver(message.body, of: message.request, to: waiter)
    } else {
      answer.parts.append(message.body)
      state.value.answers[message.request] = answer
    }
  }

  private func deliver(_ body: ToClient.Body, of request: UInt64, to promise: EventLoopPromise<ToClient.Body>) {
    if body.awaitsMore {
      state.value.lastRequest += 1
      state.value.session?.send(ToServer(state.value.lastRequest, .more(of: request)))
    } else {
      state.value.answers[request] = nil
    }
    if case .refused(let refusal) = body { promise.fail(refusal) } else { promise.succeed(body) }
  }

  private func fail(_ refusal: Refusal) {
    if state.value.refusal == nil { state.value.refusal = refusal }
    let waiting = state.value.answers.values.compactMap(\.waiter)
    state.value.answers = state.value.answers.compactMapValues { answer in
      answer.parts.isEmpty ? nil : Answer(parts: answer.parts)
    }
    for waiter in waiting { waiter.fail(refusal) }
  }
}
