// Tests: RequestTests.swift
import GraphJSON
import GraphModel
import GraphServer
import GraphWire
import HTTPTypes

/// A request with a valid route, method and parameters.
struct CheckedRequest: Sendable {
  let route: Route
  /// The method; GET for a HEAD request.
  let method: HTTPRequest.Method
  let isForHead: Bool
  let parameters: QueryParameters
  let head: HTTPRequest
  let body: [UInt8]
  /// The token of a user; empty for none.
  let credential: String
  /// The cookie that a browser has for the request's host.
  let cookie: BrowserCookie
  /// The network address of the client.
  let address: String?

  var fields: HTTPFields { head.headerFields }
}

/// Answers requests. A request becomes messages of one session of the hub.
struct RequestHandler: Sendable {
  let sessions: HubSessions
  let pool: SessionPool
  let sockets: WebSockets
  let model: Model
  /// Nil for a server without a web application.
  let app: WebApp?

  init(sessions: HubSessions, pool: SessionPool, sockets: WebSockets, app: WebApp?) {
    (self.sessions, self.pool, self.sockets, model, self.app) = (sessions, pool, sockets, sessions.model, app)
  }

  /// - Throws: `Problem` or `Refusal`.
  func reply(to request: CheckedRequest) async throws -> Reply {
    // These routes need no session.
    switch request.route {
    case .health: return .json(.ok, .object([.init("status", .string("ok"))]))
    case .live:
      // `LiveStreamHandler` serves all other streams. Only a HEAD request arrives here, and a GET after unanswered
      // requests of its connection.
      guard request.isForHead else {
        throw Problem.malformed("a stream can't be requested while earlier requests of the connection are unanswered")
      }
      return Reply(.ok, .none, type: "text/event-stream")
    case .socket:
      // `WebSocketUpgradeHandler` serves all requests that can be served. A request that arrives here is refused, by
      // `upgrade` or by the `throw` below it.
      _ = try sockets.upgrade(request.head)
      throw Refusal(
        .unavailable, "the server has no room for another session, or requests before this one are unanswered")
    case .root:
      guard let app, request.fields.wantsPage else {
        throw Problem.notFound("there is no resource /; /openapi.json describes all resources")
      }
      return app.entrance
    case .app(let parts):
      guard let app else { throw Problem.notFound("this server has no web application") }
      return try app.reply(to: parts, request.fields)
    case .session: return try await session(request)
    case .login: return try await logIn(request)
    case .logout: return try await logOut(request)
    default: break
    }
    let session: RequestSession
    do {
      session = try await pool.session(credential: request.credential, address: request.address)
    } catch let problem as Problem where request.route == .readiness && problem.status == .unauthorized {
      // A health probe has no account. A server that refuses a login for its credential does run.
      return .json(.ok, .object([.init("status", .string("ok"))]))
    }
    do {
      let reply = try await self.reply(to: request, session)
      if case .stream(let produce) = reply.body {
        // The session is in use until the content was sent.
        var streamed = reply
        streamed.body = .stream { [pool] write in
          do {
            try await produce(write)
            pool.release(session, isReusable: true)
          } catch {
            pool.release(session, isReusable: false)
            throw error
          }
        }
        return streamed
      }
      pool.release(session, isReusable: true)
      return reply
    } catch {
      pool.release(session, isReusable: true)
      throw error
    }
  }

  private func reply(to request: CheckedRequest, _ session: RequestSession) async throws -> Reply {
    let reader = GraphReader(session: session, model: model)
    // A request for one object is short and stays on the loop.
    if case .object(let name, let id) = request.route, request.method == .get {
      return try await object(try self.id(id, name), request, reader)
    }
    return try await offLoop { try await replyOffLoop(to: request, reader) }
  }

  private func replyOffLoop(to request: CheckedRequest, _ reader: GraphReader) async throws -> Reply {
    switch (request.route, request.method) {
    case (.objects(let name), .get): return try await list(try entity(name), request, reader)
    case (.objects(let name), _): return try await create(try entity(name), request, reader)
    case (.object(let name, let id), .patch): return try await update(try self.id(id, name), request, reader)
    case (.object(let name, let id), _): return try await delete(try self.id(id, name), request, reader)
    case (.commits, _): return try await commit(request, reader)
    case (.history, _): return try await history(request, reader)
    case (.links, .get): return try await links(request, reader)
    case (.links, _): return try await share(request, reader)
    case (.link(let id), _): return try await removeLink(id, request)
    case (.model, _): return modelFile(request)
    case (.readiness, _): return try await readiness(reader.session)
    case (.description, _):
      return .json(.ok, APIDescription(model: model, cookieName: sockets.check.cookieName).json)
    case (.health, _), (.live, _), (.session, _), (.login, _), (.logout, _), (.socket, _), (.root, _), (.app, _):
      preconditionFailure("these resources need no session")
    }
  }

  // MARK: - Names

  /// - Throws: `Problem` for a name that the model does not have.
  func entity(_ name: String) throws(Problem) -> Entity {
    if let entity = model.entities.first(where: { UTF8Comparison.equal($0.name, name) }) { return entity }
    let advice = Suggestion.sentence(
      for: name, among: model.entities.map(\.name),
      otherwise: "; the model has \(model.entities.map(\.name).joined(separator: ", "))")
    throw .notFound("there is no entity \"\(name.excerpt)\"\(advice)")
  }

  private func id(_ text: String, _ name: String) throws(Problem) -> ObjectID {
    let entity = try entity(name)
    // An object with a malformed id does not exist.
    guard let key = UniqueID(text) else { throw missing(text, entity) }
    return ObjectID(key: key, entity: entity.number)
  }

  func missing(_ id: String, _ entity: Entity) -> Problem {
    .notFound("there is no \(entity.name) with the id \(id.excerpt)")
  }

  // MARK: - The server

  private func modelFile(_ request: CheckedRequest) -> Reply {
    var reply = Reply(.ok, .bytes(Array(model.source.utf8)), type: "application/json")
    let tag = "\"\(model.hash)\""
    reply.fields[.eTag] = tag
    return request.isCurrent(tag) ? .notModified(tag) : reply
  }

  private func readiness(_ session: RequestSession) async throws -> Reply {
    guard case .status(let status) = try await session.answer(to: .status) else {
      throw Refusal(.unavailable, "the server answered a request for its status with something else")
    }
    guard status.failure.isEmpty else {
      throw Refusal(.unavailable, "the server accepts no commits: \(status.failure)")
    }
    return .json(
      .ok, .object([.init("status", .string("ok")), .init("revision", .integer(status.head.revision))]))
  }
}

extension CheckedRequest {
  /// Whether the client already has the representation with this tag.
  func isCurrent(_ tag: String) -> Bool {
    fields[.ifNoneMatch].map { EntityTag.matches($0, tag) } == true
  }

  /// Whether the client asks for JSON Lines.
  var wantsLines: Bool {
    fields[.accept].map { $0.split(separator: ",").contains { $0.contains("application/x-ndjson") } } == true
  }
}

extension Reply {
  /// An answer with its tag; 304 if the client has it already.
  /// - Parameters:
  ///   - tag: the tag of the revision.
  ///   - hasRights: whether the content also depends on the rights of a user.
  static func tagged(_ json: JSON, _ tag: String, hasRights: Bool, _ request: CheckedRequest) -> Reply {
    var reply = Reply.json(.ok, json)
    var tag = tag
    if hasRights, case .bytes(let bytes) = reply.body { tag = EntityTag.tag(tag, of: bytes) }
    if request.isCurrent(tag) { return .notModified(tag) }
    reply.fields[.eTag] = tag
    return reply
  }

  static func notModified(_ tag: String) -> Reply {
    var reply = Reply(.notModified, .none)
    reply.fields[.eTag] = tag
    return reply
  }
}
