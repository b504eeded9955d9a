// Tests: RequestGuardTests.swift
import GraphModel
import HTTPTypes

/// Checks the head of a request before it is processed. Refuses requests from web pages of other sites, and requests
/// that a proxy could interpret differently (request smuggling).
struct RequestGuard: Sendable {
  /// The names that `Host` may have, in lower case, without ports. IP addresses are always accepted: with DNS
  /// rebinding, a page of another site can only make its own name resolve to this server.
  let hosts: Set<String>
  /// The origins of this server's pages, in addition to the one in `Host`.
  let origins: Set<String>
  private let publicURL: PublicURL?
  /// The name of the cookie, without the prefix or the port that is added for the host.
  let cookieName: String

  /// - Parameter publicURL: the URL at which a proxy serves this server; nil for none.
  init(host: String, publicURL: PublicURL?, cookieName: String = "graph") {
    var hosts: Set = ["localhost", host.lowercased()]
    if let publicURL { hosts.insert(publicURL.host) }
    self.hosts = hosts
    self.publicURL = publicURL
    self.cookieName = cookieName
    origins = if let publicURL { [publicURL.origin] } else { [] }
  }

  /// The cookie that a browser has for the host of a request.
  func cookie(of head: HTTPRequest) -> BrowserCookie { BrowserCookie(cookieName, head.authority, publicURL: publicURL) }

  /// The credential of a request; empty for none. It comes from `Authorization` or from the cookie, never from both.
  /// - Throws: `Problem` for a request that must not be answered.
  func check(_ head: HTTPRequest, _ route: Route) throws(Problem) -> String {
    // A page of another site can send a GET, but can't read the answer, because there is no CORS. A stream would still
    // cost resources, and any page could read a WebSocket.
    let isSafe = head.method == .get || head.method == .head
    if !isSafe || route == .live || route == .socket { try checkOrigin(head) }
    guard head.headerFields[.contentEncoding] == nil else {
      throw Problem(.unsupportedMediaType, "malformed", "the body has a Content-Encoding; send it without compression")
    }
    let credential = try Self.credential(head)
    let cookie = try cookie(of: head).token(head.headerFields)
    guard credential.isEmpty || cookie.isEmpty else {
      throw .malformed("the request has a token in Authorization and one in a cookie; send one of them")
    }
    if cookie.isEmpty { return credential }
    if !isSafe { try Self.requireOrigin(head) }
    return cookie
  }

  /// Refuses a change with a cookie and without the origin of its page. Browsers send the origin. SameSite alone would
  /// let pages of other ports of this host make changes.
  private static func requireOrigin(_ head: HTTPRequest) throws(Problem) {
    let site = HTTPField.Name("Sec-Fetch-Site").flatMap { head.headerFields[$0] }
    guard head.headerFields[.origin] != nil || site != nil else {
      throw Problem(.forbidden, "notAllowed", "a change with a cookie needs the field Origin")
    }
  }

  /// Refuses a head that a proxy could interpret differently, and unknown names in `Host`.
  func checkHead(_ head: HTTPRequest) throws(Problem) {
    // The parser makes the first `Host` the authority, so a `Host` among the fields is a second one.
    if let name = HTTPField.Name("Host"), head.headerFields[name] != nil {
      throw .malformed("the request has several Host fields")
    }
    if let coding = head.headerFields[.transferEncoding], coding.lowercased() != "chunked" {
      var problem = Problem.malformed("Transfer-Encoding is \(coding.excerpt); it must be chunked")
      // The connection can't be reused, because the end of the body is unknown.
      problem.fields[.connection] = "close"
      throw problem
    }
    try checkHost(head)
  }

  /// Refuses unknown names in `Host`: the page of another site may have made its own name resolve to this server.
  private func checkHost(_ head: HTTPRequest) throws(Problem) {
    guard let authority = head.authority, let host = Self.host(authority) else {
      throw .malformed("the request needs a Host with the name of this server")
    }
    guard hosts.contains(host) || Self.isAddress(host) else {
      throw Problem(
        .misdirectedRequest, "notAllowed",
        "this server does not serve the host \(host.excerpt); stickiesd --public-url names another one")
    }
  }

  private func checkOrigin(_ head: HTTPRequest) throws(Problem) {
    let refusal = Problem(.forbidden, "notAllowed", "a page of another site can't use this server")
    if let name = HTTPField.Name("Sec-Fetch-Site"), let site = head.headerFields[name] {
      guard site == "same-origin" || site == "none" else { throw refusal }
    }
    if let origin = head.headerFields[.origin]?.lowercased(), !origins.contains(origin) {
      guard let authority = head.authority?.lowercased(),
        ["http://", "https://"].contains(where: { UTF8Comparison.equal($0 + authority, origin) })
      else { throw refusal }
    }
  }

  private static func credential(_ head: HTTPRequest) throws(Problem) -> String {
    let values = head.headerFields[values: .authorization]
    guard let value = values.first else { return "" }
    let parts = value.split(separator: " ", omittingEmptySubsequences: true)
    guard values.count == 1, parts.count == 2, parts[0].lowercased() == "bearer" else {
      var problem = Problem(.unauthorized, "notAllowed", "Authorization must be: Bearer TOKEN")
      problem.fields[.wwwAuthenticate] = "Bearer"
      throw problem
    }
    return String(parts[1])
  }

  /// The name in an authority, in lower case, without the port; nil if the authority is malformed.
  static func host(_ authority: String) -> String? {
    var rest = authority.lowercased()[...]
    if rest.hasPrefix("[") {
      guard let end = rest.firstIndex(of: "]") else { return nil }
      let host = String(rest[rest.index(after: rest.startIndex)..<end])
      rest = rest[rest.index(after: end)...]
      return isPort(rest) ? host : nil
    }
    let host = rest.prefix { $0 != ":" }
    return !host.isEmpty && isPort(rest.dropFirst(host.count)) ? String(host) : nil
  }

  private static func isPort(_ text: Substring) -> Bool {
    text.isEmpty || text.first == ":" && text.dropFirst().utf8.allSatisfy { (0x30...0x39).contains($0) }
  }

  static func isAddress(_ host: String) -> Bool {
    if host.contains(":") { return host.utf8.allSatisfy { "0123456789abcdef:.".utf8.contains($0) } }
    let parts = host.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4 && parts.allSatisfy { UInt8($0) != nil }
  }
}

/// The URL at which a proxy serves the server: `https://HOST[:PORT][/PREFIX]`.
package struct PublicURL: Hashable, Sendable {
  /// The scheme, the host and the port, in lower case.
  let origin: String
  /// The host, in lower case.
  let host: String
  /// Whether browsers use HTTPS for it.
  let isEncrypted: Bool
  /// The URL of the web application: the complete URL, with a slash at its end.
  let page: String

  /// Nil for a text that is not such a URL.
  package init?(parsing text: String) {
    let lowered = text.lowercased()
    guard let scheme = ["https://", "http://"].first(where: { lowered.hasPrefix($0) }) else { return nil }
    let authority = lowered.dropFirst(scheme.count).prefix { $0 != "/" }
    guard let host = RequestGuard.host(String(authority)), !authority.contains("@"),
      lowered.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") })
    else { return nil }
    self.host = host
    origin = scheme + authority
    isEncrypted = scheme == "https://"
    page = text.hasSuffix("/") ? text : text + "/"
  }
}
