// Tests: BrowserLoginTests.swift
import GraphModel
import GraphServer
import GraphWire
import HTTPTypes

/// The identity of a browser: its login, its logout, and the user that its cookie names.
extension RequestHandler {
  /// The id of the principal that a credential proves.
  /// - Throws: `Problem` if it is refused.
  func principal(_ credential: String, address: String?) async throws -> String {
    let session = try await pool.session(credential: credential, address: address)
    defer { pool.release(session, isReusable: true) }
    return try await session.welcome().principal
  }

  /// The answer to `/v1/session`. It is not an error for a client that has not logged in, because browsers would show
  /// that error in their console at each start.
  func session(_ request: CheckedRequest) async throws -> Reply {
    do {
      let session = try await pool.session(credential: request.credential, address: request.address)
      defer { pool.release(session, isReusable: true) }
      return description(try await session.welcome(), hasAccounts: !request.credential.isEmpty)
    } catch let problem as Problem where problem.status == .unauthorized && request.credential.isEmpty {
      return description(nil, hasAccounts: true)
    }
  }

  /// Exchanges a code, or the token of a user or of a share link, for a cookie. A cookie of the request is ignored: it
  /// may have expired, which is a reason to log in.
  func logIn(_ request: CheckedRequest) async throws -> Reply {
    let token: BrowserToken
    do {
      token = try await sessions.logIn(with: try Self.secret(request.body), address: request.address)
    } catch let refusal as Refusal where refusal.code == .notAllowed || refusal.code == .limit {
      throw Problem.login(refusal)
    }
    let session = try await pool.session(credential: token.text, address: request.address)
    defer { pool.release(session, isReusable: true) }
    var reply = description(try await session.welcome(), hasAccounts: true)
    reply.fields.append(request.cookie.setting(token))
    return reply
  }

  private static func secret(_ body: [UInt8]) throws -> BrowserSecret {
    let members = try BodyReader.document(body).members
    guard let members, members.count == 1, let member = members.first, case .string(let text) = member.value,
      text.utf8.count <= ProtocolLimits.maximumCredentialSize
    else { throw Problem.malformed("a login has one member: code or token, a text") }
    switch member.name {
    case "code": return .code(text)
    case "token": return .token(text)
    default: throw Problem.malformed("a login has no member \(member.name.excerpt); it has code or token")
    }
  }

  /// Revokes the token of the request's cookie and removes the cookie.
  func logOut(_ request: CheckedRequest) async throws -> Reply {
    guard request.fields[.authorization] == nil else {
      throw Problem.malformed("only a browser logs out; the token of a program is revoked with stickiesd token revoke")
    }
    if !request.credential.isEmpty { try await sessions.logOut(request.credential) }
    var reply = description(nil, hasAccounts: !request.credential.isEmpty)
    reply.fields.append(request.cookie.removal)
    return reply
  }

  /// - Parameter welcome: nil for a client that must log in first.
  private func description(_ welcome: Welcome?, hasAccounts: Bool) -> Reply {
    func text(_ value: String?) -> JSON { value.map { .string($0) } ?? .null }
    return .json(
      .ok,
      .object([
        .init("user", text(welcome?.author)), .init("role", text(welcome?.role)), .init("build", text(app?.build)),
        .init("store", text(welcome?.head.store.hyphenated)), .init("accounts", .bool(hasAccounts)),
      ]))
  }
}
