// Tests: RequestTests.swift, RequestGuardTests.swift
import GraphModel
import HTTPTypes
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1

/// Reads a request, passes it to the `RequestHandler`, and writes the answer.
struct Responder: Sendable {
  let handler: RequestHandler
  let check: RequestGuard
  let bodies: UnfinishedBodies
  let log: Logger

  func respond(to request: Request, _ writer: consuming ResponseWriter, on channel: any Channel) async throws {
    var reply: Reply
    do {
      reply = try await handler.reply(to: try await checked(request, writer, channel))
    } catch let problem as Problem {
      reply = .problem(problem)
    } catch let refusal as Refusal {
      reply = .problem(Problem(refusal, handler.model))
    } catch let failure as InvariantFailure {
      log.critical("an invariant is broken: a request fails", metadata: ["invariant": "\(failure)"])
      reply = .problem(Problem(.internalServerError, "failed", "\(failure)"))
    }
    if reply.status == .unauthorized { removeCookie(of: request.head, &reply) }
    try await Self.write(reply, of: request, writer, on: channel)
  }

  /// Removes the browser's cookie if its token is not valid.
  private func removeCookie(of head: HTTPRequest, _ reply: inout Reply) {
    // A login with a wrong code does not concern the cookie.
    if let (path, _) = try? Self.target(head), let route = try? Route(path: path), route == .login { return }
    let cookie = check.cookie(of: head)
    if let token = try? cookie.token(head.headerFields), !token.isEmpty { reply.fields.append(cookie.removal) }
  }

  private func checked(
    _ request: Request, _ writer: borrowing ResponseWriter, _ channel: any Channel
  ) async throws -> CheckedRequest {
    let head = request.head
    let (path, query) = try Self.target(head)
    try check.checkHead(head)
    let route = try Route(path: path)
    let method = try route.method(of: head, in: handler.model)
    let credential = try check.check(head, route)
    let parameters = try QueryParameters(route.ignoresQuery ? "" : query, of: route, method)
    let body = try await body(request, method, route, Sender(credential: credential, channel: channel), writer)
    return CheckedRequest(
      route: route, method: method, isForHead: head.method == .head, parameters: parameters, head: head, body: body,
      credential: credential, cookie: check.cookie(of: head), address: channel.remoteAddress?.ipAddress)
  }

  /// The path and the query of a request's target.
  static func target(_ head: HTTPRequest) throws(Problem) -> (path: Substring, query: Substring) {
    guard let target = head.path, target.hasPrefix("/"), target.utf8.count <= HTTPLimits.maximumTargetSize else {
      throw .malformed("the target of the request must be a path of at most \(HTTPLimits.maximumTargetSize) bytes")
    }
    let path = target.prefix { $0 != "?" }
    return (path, target.dropFirst(path.count + 1))
  }

  private func body(
    _ request: Request, _ method: HTTPRequest.Method, _ route: Route, _ sender: Sender,
    _ writer: borrowing ResponseWriter
  ) async throws -> [UInt8] {
    // A login needs no token, so its body can't be counted with a user.
    let size = route == .login ? HTTPLimits.guaranteedBody : HTTPLimits.maximumBodySize
    let tooLarge = Problem(.contentTooLarge, "limit", "the body has more than \(size) bytes")
    if let length = request.headers[.contentLength].flatMap({ Int($0) }), length > size { throw tooLarge }
    guard method == .post || method == .patch, route != .logout else {
      // An unexpected body is refused, because a proxy could take it for the next request.
      let buffer = try await collected(request, upTo: 0, sender)
      guard buffer?.readableBytes == 0 else { throw Problem.malformed("a \(method.rawValue) request has no body") }
      return []
    }
    try Self.checkType(request.headers[.contentType], method)
    // The client sends the body only after this answer to its head.
    if let expected = request.headers[.expect], expected.lowercased() == "100-continue" {
      try await writer.writeInformationalHead(HTTPResponse(status: .continue))
    }
    guard let buffer = try await collected(request, upTo: size, sender) else { throw tooLarge }
    return Array(buffer.readableBytesView)
  }

  /// The client that sends a body.
  private struct Sender {
    let credential: String
    let channel: any Channel
  }

  /// The body; nil if it is larger.
  /// - Throws: `Problem` if all incomplete bodies together are too large, if the body is malformed, or if it is large
  ///   and its credential is refused.
  private func collected(_ request: Request, upTo size: Int, _ sender: Sender) async throws -> ByteBuffer? {
    var body = ByteBuffer()
    var principal: String?
    let number = bodies.begin()
    // Also if the connection ends.
    defer { bodies.finish(number) }
    do {
      for try await part in request.body {
        let count = body.readableBytes + part.readableBytes
        guard count <= size else { return nil }
        if count > HTTPLimits.guaranteedBody, principal == nil { principal = try await self.principal(of: sender) }
        let isCounted = bodies.receive(count, of: number, from: principal) { [channel = sender.channel] in
          channel.pipeline.fireErrorCaught(UnfinishedBodies.Ended())
        }
        guard isCounted else { throw bodies.refusal }
        if body.readableBytes == 0 { body = part } else { body.writeImmutableBuffer(part) }
      }
      guard bodies.finish(number) else { throw bodies.refusal }
      return body
    } catch is UnfinishedBodies.Ended {
      throw bodies.refusal
    } catch let error as HTTPParserError {
      var problem = Problem.malformed("the body is cut, or its chunks are malformed: \(error)")
      problem.fields[.connection] = "close"
      throw problem
    }
  }

  /// The principal of the request, whose body is still being received.
  private func principal(of sender: Sender) async throws -> String {
    do {
      return try await handler.principal(sender.credential, address: sender.channel.remoteAddress?.ipAddress)
    } catch var problem as Problem {
      // The rest of the body is not read.
      problem.fields[.connection] = "close"
      throw problem
    }
  }

  private static func checkType(_ field: String?, _ method: HTTPRequest.Method) throws(Problem) {
    let accepted = method == .patch ? ["application/json", "application/merge-patch+json"] : ["application/json"]
    let refusal = Problem(
      .unsupportedMediaType, "malformed", "Content-Type must be \(accepted.joined(separator: " or "))")
    guard let field else { throw refusal }
    let parts = field.lowercased().split(separator: ";").map { part in
      String(part.filter { $0 != " " && $0 != "\t" })
    }
    guard let type = parts.first, accepted.contains(type), parts.dropFirst().allSatisfy({ $0 == "charset=utf-8" })
    else { throw refusal }
  }

  // MARK: - Answers

  /// Thrown after the last answer of a connection.
  private struct ConnectionEnd: Error {}

  /// Writes an answer. After the last answer of a connection, waits until the connection has closed and throws, so that
  /// Hummingbird processes no further requests: the end of the refused request is unknown.
  static func write(
    _ reply: Reply, of request: Request, _ writer: consuming ResponseWriter, on channel: any Channel
  ) async throws {
    var head = HTTPResponse(status: reply.status, headerFields: reply.fields)
    addCommonFields(&head.headerFields)
    // The rest of the body is skipped, up to a time limit. `Connection: close` asks the client not to send it.
    if reply.status == .contentTooLarge { head.headerFields[.connection] = "close" }
    let isLast = head.headerFields[.connection] == "close"
    try await write(head, reply.body, isHead: request.method == .head, writer)
    if isLast {
      // `ConnectionEndHandler` closes the channel.
      try await channel.closeFuture.get()
      throw ConnectionEnd()
    }
  }

  private static func write(
    _ head: HTTPResponse, _ body: Reply.Body, isHead: Bool, _ writer: consuming ResponseWriter
  ) async throws {
    var head = head
    switch body {
    case .none:
      if head.status != .notModified { head.headerFields[.contentLength] = "0" }
      try await writer.writeResponse(head)
    case .bytes(let bytes):
      head.headerFields[.contentLength] = String(bytes.count)
      if isHead {
        try await writer.writeResponse(head)
      } else {
        try await writer.write(response: head, body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
      }
    case .stream(let produce):
      // The content is produced even for HEAD, so that its session is released.
      guard !isHead else {
        try await produce { _ in }
        return try await writer.writeResponse(head)
      }
      var body = try await writer.writeHead(head)
      try await produce { buffer in try await body.write(buffer) }
      try await body.finish(nil)
    }
  }

  /// Adds the fields of every answer: by default an answer is not cached, because it depends on the principal and the
  /// time; and browsers must not guess its type.
  static func addCommonFields(_ fields: inout HTTPFields) {
    if fields[.cacheControl] == nil { fields[.cacheControl] = "no-store" }
    if fields[.vary] == nil { fields[.vary] = "Authorization, Cookie, Accept" }
    fields[.xContentTypeOptions] = "nosniff"
  }
}
