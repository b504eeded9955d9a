// Tests: BrowserLoginTests.swift
import GraphModel
import GraphServer
import HTTPTypes

/// The cookie with a browser's token. docs/decisions/0071 has the reasons for its two names.
struct BrowserCookie: Equatable, Sendable {
  /// The prefix of the cookie's name behind a proxy with HTTPS. Browsers accept a cookie with this prefix only from the
  /// host itself, so that no other host of the same domain can set it.
  static let securePrefix = "__Host-"

  let name: String
  let isSecure: Bool

  /// The cookie of requests to an authority.
  /// - Parameters:
  ///   - base: the name, without the prefix or the port that is added for the host.
  ///   - publicURL: the URL of the proxy; nil for none.
  init(_ base: String, _ authority: String?, publicURL: PublicURL?) {
    let parts = authority.map { ($0.lowercased(), RequestGuard.host($0)) }
    if let publicURL, publicURL.isEncrypted, let host = parts?.1, UTF8Comparison.equal(host, publicURL.host) {
      (name, isSecure) = (Self.securePrefix + base, true)
    } else {
      // Browsers store cookies by host and ignore the port. With one name, two daemons of a machine would overwrite
      // each other's cookies.
      let port = parts?.0.split(separator: ":", omittingEmptySubsequences: false).last.flatMap { UInt16($0) }
      name = if let port { "\(base)-\(port)" } else { "\(base)-80" }
      isSecure = false
    }
  }

  /// The token in a request's cookies; empty if there is none.
  /// - Throws: `Problem` for several cookies with the name: another site on the host has added one.
  func token(_ fields: HTTPFields) throws(Problem) -> String {
    let pairs = fields[values: .cookie].flatMap { $0.split(separator: ";") }.compactMap { part -> Substring? in
      let text = part.drop { $0 == " " || $0 == "\t" }
      guard text.hasPrefix(name + "=") else { return nil }
      return text.dropFirst(name.utf8.count + 1)
    }
    guard pairs.count <= 1 else { throw .malformed("the request has several cookies \(name)") }
    return if let value = pairs.first { String(value) } else { "" }
  }

  /// The field that sets the cookie.
  func setting(_ token: BrowserToken) -> HTTPField {
    field("\(name)=\(token.text)", age: max(0, token.seconds))
  }

  /// The field that removes the cookie.
  var removal: HTTPField { field("\(name)=", age: 0) }

  private func field(_ pair: String, age: Int64) -> HTTPField {
    let secure = isSecure ? "; Secure" : ""
    return HTTPField(name: .setCookie, value: "\(pair); Path=/; Max-Age=\(age); HttpOnly; SameSite=Strict\(secure)")
  }
}
