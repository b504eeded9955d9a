// Tests: WebAppTests.swift
import Foundation
import GraphModel
import HTTPTypes

/// The files of a web application, which the interface serves beside the graph. They are embedded in the program.
///
/// Their addresses begin with `/app/BUILD/`, where BUILD is a hash of all files: a browser may cache a file forever,
/// because a new build has new addresses. All links between the files are relative, so that they work under any prefix
/// of a proxy.
package struct WebApp: Sendable {
  /// A file, plain and compressed.
  struct File: Sendable {
    let type: String
    /// The entity tag of the plain file. The compressed one has another tag.
    let tag: String
    let identity: [UInt8]
    /// Nil if compression does not make the file smaller.
    let gzip: [UInt8]?
  }

  /// The hash of all files.
  package let build: String
  private let files: [String: File]

  /// - Parameter text: the build in a line, then a line for each file: its path, its hash, its bytes in base64, and the
  ///   same with gzip or `-`. `scripts/embed-web` writes it.
  /// - Throws: `MalformedMessage` for another text.
  package init(parsing text: String) throws {
    var lines = text.split(separator: "\n")[...]
    guard let build = lines.popFirst(), build.utf8.allSatisfy({ (0x30...0x7A).contains($0) }) else {
      throw MalformedMessage("the embedded files have no build")
    }
    self.build = String(build)
    var files = [String: File]()
    for line in lines {
      let parts = line.split(separator: " ")
      guard parts.count == 4, let identity = Data(base64Encoded: String(parts[2])) else {
        throw MalformedMessage("the embedded file \(String(line.prefix(40))) is malformed")
      }
      let gzip = parts[3] == "-" ? nil : Data(base64Encoded: String(parts[3]))
      guard let type = Self.type(of: parts[0]), parts[3] == "-" || gzip != nil else {
        throw MalformedMessage("the embedded file \(parts[0]) has an unknown type, or its bytes are not base64")
      }
      files[String(parts[0])] = File(
        type: type, tag: String(parts[1].prefix(32)), identity: Array(identity), gzip: gzip.map { Array($0) })
    }
    self.files = files
  }

  private static func type(of path: Substring) -> String? {
    switch path.split(separator: ".").last {
    case "html": "text/html; charset=utf-8"
    case "js": "text/javascript; charset=utf-8"
    case "css": "text/css; charset=utf-8"
    case "svg": "image/svg+xml"
    case "png": "image/png"
    case "webmanifest": "application/manifest+json"
    case "json": "application/json"
    case "txt": "text/plain; charset=utf-8"
    default: nil
    }
  }

  // MARK: - Answers

  /// The service worker. Browsers look for a new version at the address of the old one and accept no redirection there.
  private static let worker = "sw.js"

  /// The answer to a request for a path below `/app`. `parts` are the components of the path.
  /// - Throws: `Problem` for a path without a file.
  func reply(to parts: [String], _ fields: HTTPFields) throws(Problem) -> Reply {
    guard let requested = parts.first, parts.count > 1 else {
      // The path is `/app`, `/app/` or `/app/BUILD`, which lack the build or the slash at the end.
      return Self.redirect(to: parts.isEmpty ? "app/\(build)/" : "\(build)/")
    }
    var path = parts.dropFirst().joined(separator: "/")
    if path.isEmpty { path = "index.html" }
    let isCurrent = UTF8Comparison.equal(requested, build)
    if isCurrent || path == Self.worker, let file = files[path] { return reply(file, path, fields) }
    // A page of an older build is redirected to the present one. A script is not, because files of two builds do not
    // work together.
    if !isCurrent, path == "index.html" || fields.wantsPage {
      return Self.redirect(to: String(repeating: "../", count: parts.count - 1) + "\(build)/")
    }
    throw .notFound("there is no file \(path.excerpt) in this build of the application; load the page again")
  }

  /// The answer to a browser at the root of the interface.
  var entrance: Reply { Self.redirect(to: "app/\(build)/") }

  /// A relative redirection, so that it works under the prefix of a proxy. It must not be cached, because the next
  /// build has another address.
  private static func redirect(to location: String) -> Reply {
    var reply = Reply(.found, .none)
    reply.fields[.location] = location
    return reply
  }

  private func reply(_ file: File, _ path: String, _ fields: HTTPFields) -> Reply {
    let gzip = fields.acceptsGzip ? file.gzip : nil
    let tag = gzip == nil ? "\"\(file.tag)\"" : "\"\(file.tag)-gzip\""
    let isCurrent = fields[.ifNoneMatch].map { EntityTag.matches($0, tag) } == true
    var reply = Reply(
      isCurrent ? .notModified : .ok, isCurrent ? .none : .bytes(gzip ?? file.identity), type: file.type)
    if gzip != nil { reply.fields[.contentEncoding] = "gzip" }
    reply.fields[.eTag] = tag
    reply.fields[.vary] = "Accept-Encoding"
    reply.fields[.cacheControl] = path == Self.worker ? "no-cache" : "public, max-age=31536000, immutable"
    for (name, value) in Self.safety { reply.fields[name] = value }
    let isDocument = path == Self.worker || ["text/html", "image/svg+xml"].contains { file.type.hasPrefix($0) }
    if isDocument { for (name, value) in Self.documentSafety { reply.fields[name] = value } }
    // The scope of the service worker is the root of the interface, also under the prefix of a proxy.
    if path == Self.worker, let name = HTTPField.Name("Service-Worker-Allowed") { reply.fields[name] = "../../" }
    return reply
  }

  /// The content security policy. A page can only run scripts of its own origin. With Trusted Types, a page can't turn
  /// a text into markup; the one allowed policy is for the address of the service worker.
  static let policy = [
    "default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "img-src 'self' blob: data:",
    "manifest-src 'self'", "worker-src 'self'", "require-trusted-types-for 'script'", "trusted-types app-worker",
    "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
  ].joined(separator: "; ")

  /// The fields of every file.
  private static let safety = fields([("Cross-Origin-Resource-Policy", "same-origin")])

  /// The fields of what runs by itself: pages and the worker. Other files obey those of their page, and a visit loads
  /// sixty of them.
  private static let documentSafety = fields([
    ("Content-Security-Policy", policy), ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Permissions-Policy", "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()"),
  ])

  private static func fields(_ named: [(String, String)]) -> [(HTTPField.Name, String)] {
    named.compactMap { name, value in HTTPField.Name(name).map { ($0, value) } }
  }
}

extension HTTPFields {
  /// Whether a browser asks for a page.
  var wantsPage: Bool {
    self[.accept].map { $0.lowercased().split(separator: ",").contains { $0.contains("text/html") } } == true
  }

  /// Whether the client accepts a compressed answer.
  var acceptsGzip: Bool {
    guard let field = self[.acceptEncoding]?.lowercased() else { return false }
    return field.split(separator: ",").contains { part in
      let parts = part.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" } }
      guard parts.first == "gzip" else { return false }
      return !parts.dropFirst().contains { ["q=0", "q=0.", "q=0.0", "q=0.00", "q=0.000"].contains($0) }
    }
  }
}
