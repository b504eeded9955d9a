import GraphHub
import GraphModel
import GraphServer
import Synchronization

/// The accounts of a server with one user, bob: a code that works once, and tokens that can be revoked.
final class BrowserAccounts: Authenticating, BrowserLogins {
  private struct State {
    var codes: Set<String> = ["code1", "code2"]
    /// The numbers of the tokens that are valid.
    var tokens: [String: UInt64] = ["stk_program": 1]
  }

  private let state = Mutex(State())

  func revoke(_ token: String) { state.withLock { $0.tokens[token] = nil } }

  func isValid(_ token: String) -> Bool { state.withLock { $0.tokens[token] != nil } }

  // MARK: - Tokens

  func authenticate(_ credential: String?) -> Result<ClientIdentity, Refusal> {
    guard let credential, let number = state.withLock({ $0.tokens[credential] }) else {
      return .failure(Refusal(.notAllowed, "the token is wrong"))
    }
    let bob = Principal(id: "user:b", name: "bob")
    return .success(.user(bob, token: number, access: GrantedAccess(.editor, of: bob)))
  }

  func ended(among tokens: [UInt64: Int64]) -> [UInt64: Refusal] {
    let valid = state.withLock { Set($0.tokens.values) }
    return tokens.filter { !valid.contains($0.key) }
      .mapValues { _ in Refusal(.notAllowed, "the token was revoked") }
  }

  func erasedPrincipals() -> [String] { [] }
  func record(generation: Int64, of principal: String, at revision: Revision) {}
  func record(_ event: AuditEvent, from address: String, omitted: Int) {}

  // MARK: - Browsers

  func makeCode(for user: BrowserUser) -> Result<String, Refusal> { .success("code1") }

  func logIn(with secret: BrowserSecret) -> Result<BrowserToken, Refusal> {
    state.withLock { state in
      switch secret {
      case .code(let code):
        guard state.codes.remove(code) != nil else { return .failure(Refusal(.notAllowed, "the code is not valid")) }
      case .token(let token):
        guard state.tokens[token] != nil else { return .failure(Refusal(.notAllowed, "the token is wrong")) }
      }
      let number = UInt64(state.tokens.count + 1)
      state.tokens["stk_browser\(number)"] = number
      return .success(BrowserToken(text: "stk_browser\(number)", seconds: 60))
    }
  }

  func logOut(_ token: String) { revoke(token) }
}
