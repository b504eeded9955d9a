import Dispatch
import GraphAccess
import GraphHub
import GraphModel
import GraphServer
import Synchronization

/// Logins of browsers. Each browser has its own token, as a cookie.
extension AccountAuthenticator: BrowserLogins {
  /// The time for which a browser stays logged in, unless the token of its login expires before.
  private static let lifetime: Timestamp = 30 * 86_400 * 1_000_000

  private static var milliseconds: Int64 { Int64(DispatchTime.now().uptimeNanoseconds / 1_000_000) }

  func makeCode(for user: BrowserUser) -> Result<String, Refusal> {
    assert(LoginCodes.lifetime == Int64(BrowserToken.codeMilliseconds), "the server says how long a code is valid")
    return result {
      guard let file = try file(), try file.hasUsers() else { return "" }
      let login = try login(of: user, file)
      let code = codes.withLock { $0.add(login, now: Self.milliseconds, random: AccountCommand.random) }
      guard let code else { throw Refusal(.limit, "too many browsers are about to log in; try again in a minute") }
      return code
    }
  }

  private func login(of user: BrowserUser, _ file: AccessFile) throws -> LoginCodes.Login {
    switch user {
    case .token(let number):
      let selector = TokenSelector(number)
      guard let state = try file.states(of: [selector], now: now)[selector] else {
        throw Refusal(.notAllowed, "the token no longer exists; log in with a new one")
      }
      let record = try state.get()
      return LoginCodes.Login(user: record.user.id, token: selector, expires: record.expires)
    case .named(""):
      throw Refusal(
        .invalid, "you are the daemon's own user, who has no account: name a user with stickies login --browser --user")
    case .named(let name): return LoginCodes.Login(user: try file.user(named: name).id, token: nil, expires: nil)
    }
  }

  func logIn(with secret: BrowserSecret) -> Result<BrowserToken, Refusal> {
    result {
      guard let file = try file() else {
        throw Refusal(.invalid, "this server has no accounts, and needs no login")
      }
      let now = now
      let login: LoginCodes.Login
      switch secret {
      case .code(let code):
        guard let found = codes.withLock({ $0.remove(code, now: Self.milliseconds) }) else {
          throw Refusal(
            .notAllowed,
            "the code is not valid: it works once, within a minute; run stickies login --browser again")
        }
        login = found
      case .token(let text):
        let record = try file.authenticate(AccessToken(parsing: text), now: now)
        login = LoginCodes.Login(user: record.user.id, token: record.selector, expires: record.expires)
      }
      var end = now + Self.lifetime
      if let expires = login.expires { end = min(end, expires) }
      let token = try file.createBrowserToken(
        ofUser: login.user, parent: login.token, expires: end, now: now, random: AccountCommand.random)
      return BrowserToken(text: token.secretText, seconds: (end - now) / 1_000_000)
    }
  }

  func logOut(_ token: String) {
    // A failure is ignored: an invalid token needs no revocation, and the browser removes its cookie anyway.
    _ = result { try file()?.revokeBrowserToken(AccessToken(parsing: token), now: now) }
  }

  func result<Value>(_ body: () throws -> Value) -> Result<Value, Refusal> {
    do {
      return .success(try body())
    } catch let refusal as Refusal {
      return .failure(refusal)
    } catch {
      return .failure(report(error))
    }
  }
}
