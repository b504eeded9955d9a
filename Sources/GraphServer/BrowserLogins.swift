import GraphHub
import GraphModel

/// Logs browsers in and out. The server calls it on a thread that may wait for a disk.
public protocol BrowserLogins: Sendable {
  /// Makes a code with which a browser logs in once, within `BrowserToken.codeMilliseconds`; empty if the server has no
  /// accounts.
  func makeCode(for user: BrowserUser) -> Result<String, Refusal>

  /// Makes the token of a browser.
  /// - Returns: the token; a refusal with the code `notAllowed` if the secret is wrong.
  func logIn(with secret: BrowserSecret) -> Result<BrowserToken, Refusal>

  /// Revokes the token of a browser, if it is one.
  func logOut(_ token: String)
}

/// The secret of a browser's login.
public enum BrowserSecret: Sendable {
  /// A code, which is used by it.
  case code(String)
  /// The token of a user or of a share link, which stays valid.
  case token(String)
}

/// The token that a browser keeps as a cookie.
public struct BrowserToken: Sendable {
  /// The text, which is a secret.
  public let text: String
  /// The time until it expires, in seconds.
  public let seconds: Int64

  /// The time for which a code is valid, in milliseconds.
  public static let codeMilliseconds: UInt64 = 60_000

  /// The token with this text.
  public init(text: String, seconds: Int64) { (self.text, self.seconds) = (text, seconds) }
}
