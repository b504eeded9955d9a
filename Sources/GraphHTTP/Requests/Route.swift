// Tests: RequestTests.swift
import GraphModel
import HTTPTypes

/// A resource of the interface, by its path.
enum Route: Hashable {
  case objects(entity: String)
  case object(entity: String, id: String)
  case commits
  case live
  case history
  case model
  case health
  case readiness
  case description
  /// The identity of the client, for the web application.
  case session
  case login
  case logout
  /// The share links.
  case links
  case link(id: String)
  /// The WebSocket.
  case socket
  /// The address that a person enters in a browser.
  case root
  /// A file of the web application: the components of the path after `/app`.
  case app([String])

  /// The methods of the resource, apart from HEAD, which is allowed where GET is.
  var methods: [HTTPRequest.Method] {
    switch self {
    case .objects, .links: [.get, .post]
    case .object: [.get, .patch, .delete]
    case .link: [.delete]
    case .commits, .login, .logout: [.post]
    case .live, .history, .model, .health, .readiness, .description, .session, .socket, .root, .app: [.get]
    }
  }

  /// Whether the query is ignored, as for the address of a page: other sites may add parameters to links.
  var ignoresQuery: Bool {
    switch self {
    case .root, .app: true
    default: false
    }
  }

  /// The names of the query parameters by method.
  func parameters(of method: HTTPRequest.Method) -> [String] {
    switch (self, method) {
    case (.objects, .get): ["where", "sort", "limit", "after", "fields", "include", "at"]
    case (.objects, _): ["policy"]
    case (.object, .get): ["fields", "include", "at"]
    case (.object, .patch), (.object, .delete): ["base", "policy"]
    case (.live, _): ["entity", "where", "query", "limit", "timeout"]
    case (.history, _):
      ["after", "limit", "author", "entity", "object", "since", "until", "order", "changes"]
    case (.links, .get): ["object"]
    default: []
    }
  }

  /// The parameter that may be given several times; nil for none.
  var repeatableParameter: String? { self == .live ? "query" : nil }

  /// - Throws: `Problem` for a path without a resource.
  init(path: Substring) throws(Problem) {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
    var names = [String]()
    for part in parts {
      guard let name = PercentCoding.decode(part, spaces: false) else {
        throw .malformed("the path \(String(path).excerpt) is not UTF-8 in percent-encoding")
      }
      names.append(name)
    }
    switch names.count {
    case 1 where names[0] == "healthz": self = .health
    case 1 where names[0] == "readyz": self = .readiness
    case 1 where names[0] == "openapi.json": self = .description
    case 1 where names[0].isEmpty: self = .root
    case 1... where names[0] == "app": self = .app(Array(names.dropFirst()))
    case 2 where names[0] == "v1":
      switch names[1] {
      case "commits": self = .commits
      case "live": self = .live
      case "history": self = .history
      case "model": self = .model
      case "session": self = .session
      case "login": self = .login
      case "logout": self = .logout
      case "share": self = .links
      case "socket": self = .socket
      default: throw Self.unknown(path)
      }
    case 3 where names[0] == "v1" && names[1] == "share" && !names[2].isEmpty: self = .link(id: names[2])
    case 3 where names[0] == "v1" && names[1] == "objects" && !names[2].isEmpty: self = .objects(entity: names[2])
    case 4 where names[0] == "v1" && names[1] == "objects" && !names[2].isEmpty && !names[3].isEmpty:
      self = .object(entity: names[2], id: names[3])
    default: throw Self.unknown(path)
    }
  }

  private static func unknown(_ path: Substring) -> Problem {
    .notFound("there is no resource \(String(path).excerpt); /openapi.json describes all resources")
  }

  /// The methods of the resource in a model. Objects of an abstract entity can't be inserted.
  private func methods(in model: Model) -> [HTTPRequest.Method] {
    guard case .objects(let name) = self,
      let entity = model.entities.first(where: { UTF8Comparison.equal($0.name, name) })
    else { return methods }
    return entity.isAbstract ? [.get] : methods
  }

  /// The method of a request, with GET for HEAD.
  /// - Throws: `Problem` for a method that the resource does not have.
  func method(of head: HTTPRequest, in model: Model) throws(Problem) -> HTTPRequest.Method {
    let method = head.method == .head ? .get : head.method
    let methods = methods(in: model)
    if methods.contains(method) { return method }
    let allowed = methods.flatMap { $0 == .get ? ["GET", "HEAD"] : [$0.rawValue] }.joined(separator: ", ")
    var detail = "\(head.method.rawValue) is not a method of this resource; it has \(allowed)"
    if self.methods.contains(method) { detail += ", because its entity is abstract" }
    var problem = Problem(.methodNotAllowed, "malformed", detail)
    problem.fields[.allow] = allowed
    throw problem
  }
}

/// Percent-encoding of URLs.
enum PercentCoding {
  /// The decoded text; nil if an escape is incomplete, or if the bytes are not UTF-8.
  /// - Parameter spaces: whether `+` is a space, as in a query.
  static func decode(_ text: Substring, spaces: Bool) -> String? {
    var bytes = [UInt8]()
    var rest = text.utf8[...]
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "%"):
        guard let high = digit(rest.popFirst()), let low = digit(rest.popFirst()) else { return nil }
        bytes.append(high << 4 | low)
      case UInt8(ascii: "+") where spaces: bytes.append(UInt8(ascii: " "))
      default: bytes.append(byte)
      }
    }
    return String(validating: bytes, as: UTF8.self)
  }

  private static func digit(_ byte: UInt8?) -> UInt8? {
    switch byte {
    case let byte? where (0x30...0x39).contains(byte): byte - 0x30
    case let byte? where (0x41...0x46).contains(byte): byte - 0x41 + 10
    case let byte? where (0x61...0x66).contains(byte): byte - 0x61 + 10
    default: nil
    }
  }

  /// A name as one part of a path.
  static func encode(_ text: String) -> String {
    var encoded = ""
    for byte in text.utf8 {
      let scalar = Unicode.Scalar(byte)
      let isPlain =
        byte < 0x80 && scalar.properties.isAlphabetic || (0x30...0x39).contains(byte) || "-._~".utf8.contains(byte)
      if isPlain { encoded.unicodeScalars.append(scalar) } else { encoded += "%" + hex(byte) }
    }
    return encoded
  }

  private static func hex(_ byte: UInt8) -> String {
    (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
  }
}
