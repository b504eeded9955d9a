// Tests: ShareTests.swift
import GraphModel
import GraphServer
import GraphWire
import HTTPTypes

/// Share links: secrets that give people without an account a role on one object and what belongs to it.
extension RequestHandler {
  /// The longest life of a link, in days. One without an end has `null` for it.
  static let maximumDays: Int64 = 3_650
  private static let defaultDays: Int64 = 90
  static let sharedRoles = Role.allCases.filter { $0 != .owner }

  /// Makes a link; only this answer has its secret.
  func share(_ request: CheckedRequest, _ reader: GraphReader) async throws -> Reply {
    let wish = try Self.wish(request.body)
    try await requireContainer(wish.scope, reader)
    let link = try await sessions.makeLink(wish, by: request.credential)
    var reply = Reply.json(.created, Self.json(link, wish.scope))
    // Relative to the request's own URL, so that it is right under any prefix of a proxy.
    reply.fields[.location] = "share/\(PercentCoding.encode(link.id))"
    return reply
  }

  /// Lists the links to an object.
  func links(_ request: CheckedRequest, _ reader: GraphReader) async throws -> Reply {
    guard let object = request.parameters["object"] else {
      throw Problem.malformed("the parameter object is missing: the id of a shared object")
    }
    let scope = try Self.key(object, pointer: nil)
    try await requireContainer(scope, reader)
    let links = try await sessions.links(to: scope, for: request.credential)
    return .json(.ok, .object([.init("links", .array(links.map { Self.json($0, scope) }))]))
  }

  /// Removes a link.
  func removeLink(_ id: String, _ request: CheckedRequest) async throws -> Reply {
    try await sessions.removeLink(id, by: request.credential)
    return .json(.ok, .object([.init("removed", .string(id))]))
  }

  /// Refuses a scope that is no container, or that the user does not see.
  private func requireContainer(_ key: UniqueID, _ reader: GraphReader) async throws {
    let containers = model.entities.filter { $0.scope == .container && $0.parent == nil }
    for entity in containers {
      if try await reader.image(ObjectID(key: key, entity: entity.number)).image != nil { return }
    }
    let names = containers.map(\.name).joined(separator: ", ")
    throw Problem.notFound(
      names.isEmpty ? "the model has no entity whose objects can be shared" : "there is no \(names) with the id \(key)")
  }

  private static func key(_ text: String, pointer: String?) throws(Problem) -> UniqueID {
    if let key = UniqueID(text) { return key }
    throw .malformed("\"\(text.excerpt)\" is not a complete id", pointer: pointer)
  }

  // MARK: - Bodies

  private static func wish(_ body: [UInt8]) throws(Problem) -> ShareRequest {
    let document = try BodyReader.document(body)
    guard let members = document.members else {
      throw .malformed("a share link has the members object and role", pointer: "")
    }
    var (scope, role) = (UniqueID?.none, Role?.none)
    var (label, days) = (String?.none, Int64?.some(defaultDays))
    for member in members {
      let pointer = JSON.pointer([member.name])
      switch (member.name, member.value) {
      case ("object", .string(let text)): scope = try key(text, pointer: pointer)
      case ("role", .string(let text)):
        role = sharedRoles.first { UTF8Comparison.equal($0.rawValue, text) }
        if role == nil {
          let names = sharedRoles.map(\.rawValue).joined(separator: ", ")
          throw .malformed("role is \(text.excerpt); it must be one of \(names)", pointer: pointer)
        }
      case ("label", .string(let text)): label = text
      case ("days", .null): days = nil
      case ("days", let value):
        guard let number = value.wholeValue, (1...maximumDays).contains(number) else {
          throw .malformed(
            "days must be a number from 1 to \(maximumDays), or null for a link without an end", pointer: pointer)
        }
        days = number
      case ("object", _), ("role", _), ("label", _): throw .malformed("\(member.name) must be a text", pointer: pointer)
      default:
        throw .malformed(
          "a share link has no member \(member.name.excerpt); it has object, role, label and days", pointer: pointer)
      }
    }
    guard let scope, let role else { throw .malformed("a share link has the members object and role", pointer: "") }
    return ShareRequest(scope: scope, role: role, label: label, seconds: days.map { $0 * 86_400 })
  }

  private static func json(_ link: ShareLink, _ scope: UniqueID) -> JSON {
    func time(_ time: Timestamp?) -> JSON { if let time { .string(RFC3339.text(time)) } else { .null } }
    var members: [JSON.Member] = [
      .init("id", .string(link.id)), .init("name", .string(link.name)), .init("object", .string(scope.description)),
      .init("maker", link.maker.map { .string($0) } ?? .null),
      .init("role", .string(link.role.rawValue)), .init("created", time(link.created)),
      .init("expires", time(link.expires)), .init("used", time(link.used)),
    ]
    if let secret = link.secret { members.append(.init("token", .string(secret))) }
    return .object(members)
  }
}
