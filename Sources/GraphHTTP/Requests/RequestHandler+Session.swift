// Tests: SessionTests.swift
import GraphModel
import GraphWire
import HTTPTypes

/// Who the client is.
extension RequestHandler {
  /// The answer to `/v1/session`, also for a client that has not logged in: an error would end up in the console of
  /// every browser.
  func session(_ request: CheckedRequest) async throws -> Reply {
    do {
      let session = try await pool.session(credential: request.credential, address: request.address)
      defer { pool.release(session, isReusable: true) }
      let welcome = try invariant(session.welcome, "a session that was opened has a welcome")
      return description(welcome, hasAccounts: !request.credential.isEmpty)
    } catch let problem as Problem where problem.status == .unauthorized && request.credential.isEmpty {
      return description(nil, hasAccounts: true)
    }
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
