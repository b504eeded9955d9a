// Tests: APIDescriptionTests.swift
import GraphModel

/// The description of share links.
extension APIDescription {
  var sharePaths: [JSON.Member] {
    let wish = Self.closed(
      [
        .init("object", Self.identifier), .init("role", Self.oneOf(RequestHandler.sharedRoles.map(\.rawValue))),
        .init("label", Self.type("string", [.init("minLength", .integer(1)), .init("maxLength", .integer(60))])),
        .init("days", Self.nullable(Self.number(1, RequestHandler.maximumDays))),
      ], required: ["object", "role"])
    let id = JSON.object([
      .init("name", .string("id")), .init("in", .string("path")), .init("required", .bool(true)),
      .init("schema", Self.type("string", [.init("pattern", .string("^[0-9a-f]{16}$"))])),
    ])
    return [
      .init(
        "/v1/share",
        .object([
          operation(
            "get", "listLinks", "The share links to an object.", parameters: ["object"],
            answers: [("200", Self.anyObject)], problems: ["400", "401", "403", "404", "422"]),
          operation(
            "post", "createLink", "Makes a share link.", body: (["application/json"], wish),
            answers: [("201", Self.anyObject)],
            problems: ["400", "401", "403", "404", "409", "413", "415", "422"]),
        ])),
      .init(
        "/v1/share/{id}",
        .object([
          .init("parameters", .array([id])),
          operation(
            "delete", "removeLink", "Removes a share link.", answers: [("200", Self.anyObject)],
            problems: ["400", "401", "403", "404", "422"]),
        ])),
    ]
  }
}
