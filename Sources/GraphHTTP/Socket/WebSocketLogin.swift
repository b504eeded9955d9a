// Tests: WebSocketTests.swift
import GraphWire

/// The identity of a WebSocket client, from its upgrade request. The hello must agree with it.
///
/// A page acts as the user of its cookie or, on a graph without accounts, as the daemon's own user. A program
/// identifies itself in its hello, as on a plain socket. No connection can use both, so that a page can't act with a
/// token that another page has passed to it.
struct WebSocketLogin: Sendable {
  /// The token in the upgrade's cookie; empty for none.
  let cookie: String
  /// Whether the upgrade has an `Origin`, which browsers add and programs do not.
  let isPage: Bool
  /// The author of a page's commits on a graph without accounts.
  let author: String

  /// The message for the hub, with the identity of a page added to its hello.
  /// - Throws: `WebSocketFailure` for a hello with a credential that this connection must not use.
  func checked(_ message: ToServer) throws(WebSocketFailure) -> ToServer {
    guard isPage || !cookie.isEmpty, case .hello(var hello) = message.body else { return message }
    guard hello.credential.isEmpty else {
      throw WebSocketFailure(.policyViolation, "a page is identified by its cookie; its hello must have no credential")
    }
    (hello.credential, hello.author) = (cookie, author)
    return ToServer(message.request, .hello(hello))
  }
}
