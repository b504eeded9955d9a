// Tests: BrowserLoginTests.swift
import GraphHub
import GraphModel
import GraphWire
import NIOCore

/// Logins of browsers, on the reader of the hub.
extension HubRunner {
  /// Answers a session's request for a code.
  func makeCode(for user: BrowserUser, _ ticket: StoreRequestID) {
    guard let web = accounts.webAddress else {
      let refusal = Refusal(.invalid, "this server has no web board: start stickiesd with --http")
      return inNextTurn { $0.process(.browserCode(ticket, .failure(refusal))) }
    }
    internalReaders.enqueue { [self, logins = accounts.browserLogins] in
      let code = logins.map { $0.makeCode(for: user) } ?? .success("")
      submit(
        .browserCode(
          ticket, code.map { BrowserCode(code: $0, url: web, milliseconds: BrowserToken.codeMilliseconds) }))
    }
  }

  /// The maximum number of logins of browsers that are not answered yet: each writes to the file of accounts.
  static let maximumBrowserLogins = 64

  /// Logs a browser in. A wrong secret is refused slowly if its address has failed before.
  func logIn(with secret: BrowserSecret, address: String) -> EventLoopFuture<BrowserToken> {
    loop.assertInEventLoop()
    let promise = loop.makePromise(of: BrowserToken.self)
    guard let logins = accounts.browserLogins else {
      promise.fail(Refusal(.invalid, "this server has no accounts, and needs no login"))
      return promise.futureResult
    }
    guard accounts.browserLoginsInProgress < Self.maximumBrowserLogins else {
      promise.fail(Refusal(.limit, "too many browsers log in at the moment; try again in a minute"))
      return promise.futureResult
    }
    accounts.browserLoginsInProgress += 1
    internalReaders.enqueue { [self] in
      let result = logins.logIn(with: secret)
      loop.execute { [self] in
        accounts.browserLoginsInProgress -= 1
        switch result {
        case .success(let token): promise.succeed(token)
        case .failure(let refusal): delayed(refusal, address) { promise.fail($0) }
        }
      }
    }
    return promise.futureResult
  }
}

extension HubSessions {
  /// Logs a browser in.
  /// - Throws: `Refusal` with the code `notAllowed` if the secret is wrong.
  package func logIn(with secret: BrowserSecret, address: String?) async throws -> BrowserToken {
    let address = if let address { address } else { "local" }
    return try await runner.loop.flatSubmit { [runner] in runner.logIn(with: secret, address: address) }.get()
  }

  /// Revokes the token of a browser, if it is one.
  package func logOut(_ token: String) async throws {
    let promise = runner.loop.makePromise(of: Void.self)
    runner.loop.execute { [runner] in
      guard let logins = runner.accounts.browserLogins else { return promise.succeed() }
      runner.internalReaders.enqueue {
        logins.logOut(token)
        promise.succeed()
      }
    }
    try await promise.futureResult.get()
  }
}
