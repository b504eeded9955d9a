// Tests: WebSocketTests.swift
import GraphWire

/// The identity of a WebSocket's client, from its upgrade; the hello must agree with it.
///
/// A page is its cookie's user, or without accounts the daemon's own user; it cannot choose. A program says in its
/// hello who it is, as on a socket. No connection can use both, so that a page never acts for a token that it was given
/// by another page.
struct WebSocketLogin: Sendable {
  /// The token in the upgrade's cookie; empty for none.
  let cookie: String
  /// Whether the upgrade has an `Origin`, which browsers add and programs do not.
  let isPage: Bool
  /// The author of a page's commits without accounts.
  let author: String

  /// The message as the hub may receive it.
  /// - Throws: `WebSocketFailure` for a hello with a credential that the connection must not have.
  func checked(_ message: ToServer) throws(WebSocketFailure) -> ToServer {
    guard isPage || !cookie.isEmpty, case .hello(var hello) = message.body else { return message }
    guard hello.credential.isEmpty else {
      throw WebSocketFailure(.policyViolation, "a page is identified by its cookie; its hello must have no credential")
    }
    (hello.credential, hello.author) = (cookie, author)
    return ToServer(message.request, .hello(hello))
  }
}
