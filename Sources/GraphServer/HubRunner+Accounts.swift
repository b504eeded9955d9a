// Tests: CredentialsTests.swift
import GraphHub
import GraphModel
import GraphWire
import NIOCore

/// Credentials: verified on the reader of the hub, and again twice a second while they are used. Refusals are slow
/// after failures.
extension HubRunner {
  /// The verification of credentials. Used on the loop only.
  struct Accounts {
    /// Nil for a server without accounts.
    var authenticator: (any Authenticating)?
    /// Nil if no browser needs to log in.
    var browserLogins: (any BrowserLogins)?
    /// Nil for a server without accounts.
    var shareLinks: (any ShareLinks)?
    /// The URL of the application for browsers; nil without one.
    var webAddress: String?
    var throttle = LoginThrottle()
    var auditLimiter = AuditLimiter()
    /// The thread of the checks of tokens, which wait for nothing else. Otherwise a user whose right has ended could
    /// keep it by work for the hub's reader.
    var checks = ReaderPool(threads: 0)
    /// Whether a check of the tokens in use is under way.
    var isChecking = false
    /// Logins of browsers that are not answered yet.
    var browserLoginsInProgress = 0
    /// The principals whose names the store has forgotten since the start.
    var forgotten = Set<String>()
  }

  /// Verifies the credential of a session's hello.
  func authenticate(_ credential: String?, _ id: SessionID) {
    guard let authenticator = accounts.authenticator else {
      let refusal = Refusal(.notAllowed, "this server has no accounts")
      return inNextTurn { $0.process(.authenticated(.failure(refusal), session: id)) }
    }
    let address = address(of: id)
    internalReaders.enqueue { [self] in
      let result = authenticator.authenticate(credential)
      loop.execute { [self] in
        // A client without a credential is not guessing one.
        guard credential != nil, case .failure(let refusal) = result else {
          return process(.authenticated(result, session: id))
        }
        refuse(refusal, id, address)
      }
    }
  }

  /// Refuses a credential, slowly if the address has failed before.
  private func refuse(_ refusal: Refusal, _ id: SessionID, _ address: String) {
    delayed(refusal, address) { [self] in process(.authenticated(.failure($0), session: id)) }
  }

  /// Records a refused login, and passes the refusal on: slowly if the address has failed before.
  func delayed(_ refusal: Refusal, _ address: String, _ then: @escaping @Sendable (Refusal) -> Void) {
    reportLogin(refusal, address)
    audit(AuditEvent(.refusedLogin, principal: nil, reason: refusal.message), from: address)
    // Only a wrong credential counts, not a file that can't be read.
    guard refusal.code == .notAllowed else { return then(refusal) }
    let network = if let network = ClientNetwork(address) { network.description } else { address }
    let pause = accounts.throttle.recordFailure(network, now: Self.milliseconds)
    if pause == 0 { return then(refusal) }
    let tooMany = Refusal(.limit, "too many logins from this address have failed; try again in a minute")
    // The connection stays occupied meanwhile, so a client can't try again at once.
    let wait = if let pause { pause } else { LoginThrottle.longestPause }
    loop.scheduleTask(in: .milliseconds(wait)) { then(pause == nil ? tooMany : refusal) }
  }

  /// Ends the sessions whose tokens can no longer be used, and those without a token once it is needed, gives others
  /// their new rights, and forgets erased names. Called twice a second.
  func checkTokens() {
    if let authenticator = accounts.authenticator, !accounts.isChecking {
      accounts.isChecking = true
      let (tokens, includeNone) = tokensInUse
      accounts.checks.enqueue { [self] in
        let ended = tokens.isEmpty ? [:] : authenticator.ended(among: tokens)
        let changed = tokens.isEmpty ? [:] : authenticator.changedAccess(among: tokens)
        let withoutToken = includeNone ? authenticator.authenticate(nil) : .success(.owner)
        let erased = authenticator.erasedPrincipals()
        loop.execute { [self] in
          accounts.isChecking = false
          if !ended.isEmpty { process(.tokensEnded(ended)) }
          if case .failure(let refusal) = withoutToken { process(.tokenRequired(refusal)) }
          if !changed.isEmpty { process(.rightsChanged(changed)) }
          forgetNames(of: erased.filter { !accounts.forgotten.contains($0) })
        }
      }
    }
  }

  /// Writes a line to the audit log, on the thread of the hub's reads.
  func audit(_ event: AuditEvent, from address: String) {
    let network = if let network = ClientNetwork(address) { network.description } else { address }
    let who = if let principal = event.principal { principal } else { "" }
    let kind = "\(event.kind.rawValue) \(network) \(who)"
    if let authenticator = accounts.authenticator,
      let omitted = accounts.auditLimiter.omitted(before: kind, now: Self.milliseconds)
    {
      internalReaders.enqueue { authenticator.record(event, from: address, omitted: omitted) }
    }
  }

  private func forgetNames(of principals: [String]) {
    if principals.isEmpty { return }
    accounts.forgotten.formUnion(principals)
    betweenCommits { [store = reads.store] in
      Result { try store.forgetNames(of: principals) }
    } then: { [self] result in
      if case .failure(let error) = result {
        reportErasure(error)
        accounts.forgotten.subtract(principals)
      }
    }
  }

  private static var milliseconds: Int64 { Int64(NIODeadline.now().uptimeNanoseconds / 1_000_000) }
}
