// Tests: CredentialsTests.swift
import GraphHub
import GraphModel
import GraphWire
import NIOCore

/// Credentials: verified on the reader of the hub, slowly after failures, and again once a second while they are used.
extension HubRunner {
  /// The verification of credentials. Used on the loop only.
  struct Accounts {
    /// Nil for a server without accounts.
    var authenticator: (any Authenticating)?
    var throttle = LoginThrottle()
    /// Whether a check of the tokens in use is under way.
    var isChecking = false
  }

  /// Verifies the credential of a session's hello.
  func authenticate(_ credential: String?, _ id: SessionID) {
    guard let authenticator = accounts.authenticator else {
      let refusal = Refusal(.notAllowed, "this server has no accounts")
      return inNextTurn { $0.process(.authenticated(.failure(refusal), session: id)) }
    }
    // A client without a credential guesses nothing.
    guard let credential else {
      return internalReaders.enqueue { [self] in submit(.authenticated(authenticator.authenticate(nil), session: id)) }
    }
    let address = address(of: id)
    guard let pause = accounts.throttle.begin(address, now: Self.milliseconds) else {
      let refusal = Refusal(.limit, "too many logins from this address have failed; try again in a minute")
      return inNextTurn { $0.process(.authenticated(.failure(refusal), session: id)) }
    }
    let verify: @Sendable () -> Void = { [self] in
      internalReaders.enqueue { [self] in
        let result = authenticator.authenticate(credential)
        loop.execute { [self] in finishAuthenticating(result, id, address) }
      }
    }
    if pause == 0 { verify() } else { loop.scheduleTask(in: .milliseconds(pause), verify) }
  }

  private func finishAuthenticating(_ result: Result<ClientIdentity, Refusal>, _ id: SessionID, _ address: String) {
    switch result {
    case .success: accounts.throttle.recordSuccess(address)
    // Only a wrong credential counts, not a file that can't be read.
    case .failure(let refusal):
      if refusal.code == .notAllowed { accounts.throttle.recordFailure(address, now: Self.milliseconds) }
      reportLogin(refusal, address)
    }
    process(.authenticated(result, session: id))
  }

  /// Ends the sessions whose tokens can no longer be used. Called once a second.
  func checkTokens() {
    let tokens = tokensInUse
    if let authenticator = accounts.authenticator, !accounts.isChecking, !tokens.isEmpty {
      accounts.isChecking = true
      internalReaders.enqueue { [self] in
        let ended = authenticator.ended(among: tokens)
        loop.execute { [self] in
          accounts.isChecking = false
          if !ended.isEmpty { process(.tokensEnded(ended)) }
        }
      }
    }
  }

  private static var milliseconds: Int64 { Int64(NIODeadline.now().uptimeNanoseconds / 1_000_000) }
}
