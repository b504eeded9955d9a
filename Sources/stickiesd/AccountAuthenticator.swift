import Dispatch
import Foundation
import GraphAccess
import GraphHub
import GraphModel
import GraphServer
import Logging
import Synchronization

/// Verifies tokens with the accounts beside the store.
///
/// The file is opened when it first exists, so that accounts can be made while the daemon runs. If the file is moved,
/// replaced, damaged or open to other users later, every login is refused, and the sessions of all tokens end.
final class AccountAuthenticator: Authenticating {
  private let directory: String
  private let log: Logger
  private let auditLog: AuditLog
  /// Whether the store has commits of users with accounts, so that there has been a file.
  private let requiresFile: Bool
  /// The codes of browsers that are about to log in; guarded by its mutex.
  let codes = Mutex(LoginCodes())
  /// The opened file; guarded by its mutex, because the server may call from any thread.
  private let opened = Mutex<AccessFile?>(nil)
  /// Limits the log lines that clients can cause by connecting; guarded by its mutex.
  private let limiter = Mutex(LogRateLimiter(clock: { Int64(DispatchTime.now().uptimeNanoseconds) }))

  /// - Throws: `StoreFailure` if there is a file that can't be used.
  init(directory: String, requiresFile: Bool, log: Logger) throws {
    (self.directory, self.requiresFile, self.log) = (directory, requiresFile, log)
    auditLog = AuditLog(directory: directory)
    let file = try AccessFile.open(directory: directory)
    opened.withLock { $0 = file }
    if file == nil, requiresFile { _ = report(missingFile) }
  }

  private var missingFile: StoreFailure {
    StoreFailure(
      .moved, "\(directory)/\(AccessFile.name) is missing, and the store has commits of its users",
      advice: "Put it back, or make accounts again with stickiesd user add. Until then clients on TCP are refused.")
  }

  var now: Timestamp { Int64(Date().timeIntervalSince1970 * 1_000_000) }

  func authenticate(_ credential: String?) -> Result<ClientIdentity, Refusal> {
    do {
      return .success(try identity(credential))
    } catch let refusal as Refusal {
      return .failure(refusal)
    } catch {
      return .failure(report(error))
    }
  }

  /// Whether clients on TCP must log in. Removed users count: the removal of the last user must not open the server to
  /// everyone.
  var hasUsers: Bool { get throws { try opened.withLock { $0 }?.hasUsers() == true } }

  private func identity(_ credential: String?) throws -> ClientIdentity {
    guard let file = try file() else {
      guard credential == nil else {
        throw Refusal(.notAllowed, "this server has no accounts, and needs no token: log out of it")
      }
      return .owner
    }
    guard let credential else {
      if try !file.hasUsers() { return .owner }
      throw Refusal(.notAllowed, "this server needs a token: get one from its owner, and log in with it")
    }
    let token = try file.authenticate(AccessToken(parsing: credential), now: now)
    return .user(token.user.principal, token: token.selector.number, access: Self.access(of: token.user))
  }

  private static func access(of user: AccessUser) -> GrantedAccess {
    GrantedAccess(user.rights, generation: user.generation, since: user.since)
  }

  func ended(among tokens: [UInt64: Int64]) -> [UInt64: Refusal] {
    do {
      guard let file = try file() else { return [:] }
      var ended = [UInt64: Refusal]()
      for (selector, state) in try file.states(of: tokens.keys.map { TokenSelector($0) }, now: now) {
        switch state {
        case .failure(let end): ended[selector.number] = end
        case .success(let token) where token.user.grants.isEmpty: ended[selector.number] = .noRole
        case .success: break
        }
      }
      return ended
    } catch {
      let refusal = report(error)
      return Dictionary(uniqueKeysWithValues: tokens.keys.map { ($0, refusal) })
    }
  }

  func changedAccess(among tokens: [UInt64: Int64]) -> [String: GrantedAccess] {
    do {
      guard let file = try file() else { return [:] }
      var changed = [String: GrantedAccess]()
      for (selector, state) in try file.states(of: tokens.keys.map { TokenSelector($0) }, now: now) {
        guard case .success(let token) = state, !token.user.grants.isEmpty,
          token.user.generation != tokens[selector.number]
        else { continue }
        changed[token.user.principal.id] = Self.access(of: token.user)
      }
      return changed
    } catch {
      // `ended` fails for the same reason, and ends the sessions.
      _ = report(error)
      return [:]
    }
  }

  func erasedPrincipals() -> [String] {
    do {
      guard let file = try file() else { return [] }
      return try file.erasedPrincipals()
    } catch {
      _ = report(error)
      return []
    }
  }

  func record(generation: Int64, of principal: String, at revision: Revision) {
    do {
      try file()?.recordAccess(of: principal, generation: generation, at: revision)
    } catch {
      // The next login records it again.
      _ = report(error)
    }
  }

  func record(_ event: AuditEvent, from address: String, omitted: Int) {
    let entry = AuditEntry(
      event.kind.rawValue, at: now, user: event.principal, address: address,
      token: event.token.map { TokenSelector($0).description }, text: event.reason, omitted: omitted)
    do {
      try auditLog.append(entry)
    } catch {
      // A full disk must not keep users out.
      if let omitted = limiter.withLock({ $0.omitted(before: "audit") }) {
        log.error(
          "the audit log can't be written; an event is missing",
          metadata: ["failure": "\(error)"].merging(omitted > 0 ? ["omitted": "\(omitted)"] : [:]) { $1 })
      }
    }
  }

  func file() throws -> AccessFile? {
    try opened.withLock { opened in
      if let file = opened {
        try file.verify()
      } else {
        opened = try AccessFile.open(directory: directory)
        if opened == nil, requiresFile { throw missingFile }
      }
      return opened
    }
  }

  /// Logs the error and returns a refusal for clients, which does not contain the path.
  func report(_ error: any Error) -> Refusal {
    if let omitted = limiter.withLock({ $0.omitted(before: "failure") }) {
      log.error(
        "the accounts can't be used: logins are refused",
        metadata: ["failure": "\(error)"].merging(omitted > 0 ? ["omitted": "\(omitted)"] : [:]) { $1 })
    }
    return Refusal(.unavailable, "the server can't read its accounts; its owner finds the reason in its log")
  }
}
