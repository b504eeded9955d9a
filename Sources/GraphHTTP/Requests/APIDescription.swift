// Tests: APIDescriptionTests.swift
import GraphModel
import GraphWire

/// Generates the OpenAPI 3.1 description of the interface from the model. Each entity has its own paths and schemas.
struct APIDescription {
  let model: Model
  /// The name of the cookie of browsers, without the prefix or the port that is added for the host.
  var cookieName = "graph"

  var json: JSON {
    .object([
      .init("openapi", .string("3.1.0")),
      .init(
        "info",
        .object([
          .init("title", .string(model.name)), .init("version", .string("\(model.version)")),
          .init("description", .string(model.documentation)),
        ])),
      .init(
        "security",
        .array([.object([.init("token", .array([]))]), .object([.init("cookie", .array([]))]), .object([])])),
      .init("paths", .object(model.entities.flatMap(paths) + commonPaths + browserPaths + sharePaths)),
      .init(
        "components",
        .object([
          .init("schemas", .object(model.entities.flatMap(schemas) + [.init("Problem", Self.problem)])),
          .init("responses", .object([.init("Problem", Self.problemResponse)])),
          .init(
            "securitySchemes",
            .object([
              .init("token", .object([.init("type", .string("http")), .init("scheme", .string("bearer"))])),
              .init(
                "cookie",
                .object([
                  .init("type", .string("apiKey")), .init("in", .string("cookie")),
                  .init("name", .string(BrowserCookie.securePrefix + cookieName)),
                ])),
            ])),
        ])),
    ])
  }

  // MARK: - Paths

  private func paths(of entity: Entity) -> [JSON.Member] {
    let base = "/v1/objects/\(PercentCoding.encode(entity.name))"
    var list = [
      operation(
        "get", "list\(entity.name)", "A page of \(entity.name) objects.",
        parameters: ["where", "sort", "limit", "after", "fields", "include", "at"],
        answers: [("200", Self.page(entity.name))], problems: ["400", "401", "404", "422"], isConditional: true,
        lines: Self.lines(entity.name))
    ]
    if !entity.isAbstract {
      list.append(
        operation(
          "post", "create\(entity.name)", "Inserts an object.", parameters: ["policy"], headers: ["Idempotency-Key"],
          body: (["application/json"], Self.reference("\(entity.name)Values")),
          answers: [("201", Self.reference(entity.name))],
          problems: ["400", "401", "403", "404", "409", "413", "415", "422"]))
    }
    let single = [
      operation(
        "get", "get\(entity.name)", "One object.", parameters: ["fields", "include", "at"],
        answers: [("200", Self.reference(entity.name))], problems: ["400", "401", "404", "422"], isConditional: true),
      operation(
        "patch", "update\(entity.name)", "Changes an object.", parameters: ["base", "policy"],
        headers: ["If-Match", "Idempotency-Key"],
        body: (["application/json", "application/merge-patch+json"], Self.reference("\(entity.name)Changes")),
        answers: [("200", Self.reference(entity.name))],
        problems: ["400", "401", "403", "404", "409", "412", "413", "415", "422"]),
      operation(
        "delete", "delete\(entity.name)", "Deletes an object.", parameters: ["base", "policy"],
        headers: ["If-Match", "Idempotency-Key"], answers: [("200", Self.anyObject)],
        problems: ["400", "401", "403", "404", "409", "412", "422"]),
    ]
    let id = JSON.object([
      .init("name", .string("id")), .init("in", .string("path")), .init("required", .bool(true)),
      .init("schema", Self.identifier),
    ])
    return [
      .init(base, .object(list)),
      .init("\(base)/{id}", .object([.init("parameters", .array([id]))] + single)),
    ]
  }

  private var commonPaths: [JSON.Member] {
    let strings = JSON.object([.init("type", .string("array")), .init("items", Self.anyObject)])
    return [
      .init(
        "/v1/commits",
        .object([
          operation(
            "post", "commit", "Commits a transaction: all changes or none.", headers: ["Idempotency-Key"],
            body: (["application/json"], transaction), answers: [("201", Self.anyObject)],
            problems: ["400", "401", "403", "404", "409", "413", "415", "422"])
        ])),
      .init(
        "/v1/live",
        .object([
          operation(
            "get", "live",
            "A stream of events: a snapshot, then one event for each commit. docs/http.md describes those of several queries.",
            parameters: ["entity", "where", "query", "limit", "timeout"], headers: ["Last-Event-ID"],
            answers: [("200", Self.event)], problems: ["400", "401", "403", "404", "422"], type: "text/event-stream")
        ])),
      .init(
        "/v1/history",
        .object([
          operation(
            "get", "history", "Commits, newest first.",
            parameters: ["after", "limit", "author", "entity", "object", "since", "until", "order", "changes"],
            answers: [("200", strings)], problems: ["400", "401", "404", "422"])
        ])),
      .init(
        "/v1/model",
        .object([
          operation(
            "get", "model", "The model file.", answers: [("200", Self.anyObject)], problems: ["401"],
            isConditional: true)
        ])),
      .init(
        "/healthz",
        .object([operation("get", "health", "Whether the server runs.", answers: [("200", Self.anyObject)])])),
      .init(
        "/readyz",
        .object([
          operation(
            "get", "readiness", "Whether the server accepts commits.", answers: [("200", Self.anyObject)],
            problems: ["401"])
        ])),
    ]
  }

  /// The login of the web application. Its files are not described, and OpenAPI can't describe WebSockets.
  private var browserPaths: [JSON.Member] {
    let secret = JSON.object([
      .init("oneOf", .array(["code", "token"].map { Self.closed([.init($0, Self.secret)], required: [$0]) }))
    ])
    return [
      .init(
        "/v1/session",
        .object([
          operation(
            "get", "session", "The user and the role of the client; null before a login.",
            answers: [("200", Self.anyObject)], problems: ["400", "401"])
        ])),
      .init(
        "/v1/login",
        .object([
          operation(
            "post", "logIn", "Exchanges a code or a token for the cookie of a browser.",
            body: (["application/json"], secret), answers: [("200", Self.anyObject)],
            problems: ["400", "401", "403", "413", "415", "422"])
        ])),
      .init(
        "/v1/logout",
        .object([
          operation(
            "post", "logOut", "Revokes the token of the cookie, and removes the cookie.",
            answers: [("200", Self.anyObject)], problems: ["400", "401", "403"])
        ])),
    ]
  }

  /// - Parameters:
  ///   - isConditional: whether the answer has a tag, which a client sends back to learn that it is still current.
  ///   - lines: the schema of an answer as JSON Lines; nil for an operation without this form.
  func operation(
    _ method: String, _ id: String, _ summary: String, parameters: [String] = [], headers: [String] = [],
    body: (types: [String], schema: JSON)? = nil, answers: [(status: String, schema: JSON)], problems: [String] = [],
    type: String = "application/json", isConditional: Bool = false, lines: JSON? = nil
  ) -> JSON.Member {
    let headers = isConditional ? headers + ["If-None-Match"] : headers
    var members = [JSON.Member("operationId", .string(id)), .init("summary", .string(summary))]
    let list =
      parameters.map { name in
        parameter(
          name, "query", Self.schema(ofParameter: name, of: id), isRequired: name == "object" && id == "listLinks")
      } + headers.map { parameter($0, "header", Self.schema(ofParameter: $0, of: id), isRequired: false) }
    if !list.isEmpty { members.append(.init("parameters", .array(list))) }
    if let body {
      let content = body.types.map { JSON.Member($0, .object([.init("schema", body.schema)])) }
      members.append(
        .init("requestBody", .object([.init("required", .bool(true)), .init("content", .object(content))])))
    }
    var responses = answers.map { status, schema in
      var content = [JSON.Member(type, .object([.init("schema", schema)]))]
      if let lines { content.append(.init("application/x-ndjson", .object([.init("schema", lines)]))) }
      return JSON.Member(
        status,
        .object([.init("description", .string("The answer.")), .init("content", .object(content))]))
    }
    if isConditional {
      responses.append(
        .init("304", .object([.init("description", .string("The answer with the client's tag is still current."))])))
    }
    let all = problems + ["421", "429", "503"]
    responses += all.map { .init($0, .object([.init("$ref", .string("#/components/responses/Problem"))])) }
    members.append(.init("responses", .object(responses)))
    return .init(method, .object(members))
  }

  private func parameter(_ name: String, _ place: String, _ schema: JSON, isRequired: Bool) -> JSON {
    .object([
      .init("name", .string(name)), .init("in", .string(place)), .init("required", .bool(isRequired)),
      .init("schema", schema),
    ])
  }

  private static func schema(ofParameter name: String, of operation: String) -> JSON {
    switch name {
    case "limit" where operation == "live": number(1, nil)
    case "limit" where operation == "history": number(1, RequestHandler.maximumCommits)
    case "limit": number(1, HTTPLimits.maximumPage)
    case "base": number(1, nil)
    case "timeout": number(1, HTTPLimits.maximumTimeout)
    case "changes": number(0, nil)
    // Each as a predicate behind its entity; one in place of `entity` and `where`.
    case "query": .object([.init("type", .string("array")), .init("items", type("string"))])
    case "policy": oneOf(MergePolicy.names)
    case "order": oneOf(["newest", "oldest"])
    case "since", "until": type("string", [.init("format", .string("date-time"))])
    case "Idempotency-Key":
      type("string", [.init("minLength", .integer(1)), .init("maxLength", .integer(Int64(HTTPLimits.maximumKeySize)))])
    case "object" where operation == "listLinks": identifier
    default: type("string")
    }
  }

  // MARK: - Schemas

  private func schemas(of entity: Entity) -> [JSON.Member] {
    let stored = entity.properties.filter { $0.slot != nil }
    let known: [JSON.Member] = [
      .init("id", Self.identifier), .init("entity", Self.type("string")), .init("revision", Self.number(1, nil)),
    ]
    let settable = entity.properties.filter { property in
      property.slot != nil && property.attribute?.assignment == nil && property.attribute?.derivation == nil
    }
    let values = settable.map { JSON.Member($0.name, schema(of: $0)) }
    return [
      .init(
        entity.name,
        .object([
          .init("type", .string("object")),
          .init("required", .array(known.map { .string($0.name) })),
          .init("properties", .object(known + stored.map { .init($0.name, schema(of: $0)) })),
        ])),
      .init("\(entity.name)Values", Self.closed(values)),
      .init("\(entity.name)Changes", Self.closed(values)),
    ]
  }

  private func schema(of property: Property) -> JSON {
    let isNullable = property.isOptional || property.relationship != nil
    guard let attribute = property.attribute else {
      let isToMany = property.relationship?.isToMany == true
      return isToMany
        ? .object([.init("type", .string("array")), .init("items", Self.identifier)]) : Self.nullable(Self.identifier)
    }
    var members = [JSON.Member]()
    func bound(_ name: String, _ value: Value) {
      if !value.isNull { members.append(.init(name, value.json(kind: attribute.kind))) }
    }
    let schema: JSON
    switch attribute.kind {
    case .bool: schema = Self.type("boolean")
    case .integer, .double:
      bound("minimum", attribute.minimum)
      bound("maximum", attribute.maximum)
      schema = Self.type(attribute.kind == .integer ? "integer" : "number", members)
    case .decimal: schema = Self.type("string", [.init("pattern", .string("^-?[0-9]+(\\.[0-9]+)?$"))])
    case .string, .text: schema = Self.type("string")
    case .uri: schema = Self.type("string", [.init("format", .string("uri"))])
    case .enumeration: schema = Self.oneOf(attribute.cases)
    case .date: schema = Self.type("string", [.init("format", .string("date-time"))])
    case .uuid: schema = Self.type("string", [.init("format", .string("uuid"))])
    case .data: schema = Self.type("string", [.init("contentEncoding", .string("base64"))])
    case .json: return .bool(true)
    }
    return isNullable ? Self.nullable(schema) : schema
  }

  private var transaction: JSON {
    let changes = JSON.object([
      .init("type", .string("array")), .init("minItems", .integer(1)),
      .init("maxItems", .integer(Int64(HTTPLimits.maximumChanges))),
      .init("items", .object([.init("anyOf", .array(model.entities.flatMap(changeSchemas)))])),
    ])
    return Self.closed(
      [.init("policy", Self.oneOf(MergePolicy.names)), .init("changes", changes)], required: ["changes"])
  }

  /// The changes of a transaction that concern an entity.
  private func changeSchemas(of entity: Entity) -> [JSON] {
    func change(_ kind: String, _ members: [JSON.Member], required: [String]) -> JSON {
      Self.closed(
        [.init("kind", Self.oneOf([kind])), .init("entity", Self.oneOf([entity.name]))] + members,
        required: ["kind", "entity"] + required)
    }
    let existing: [JSON.Member] = [
      .init("id", Self.identifier), .init("base", Self.number(1, nil)), .init("ifRevision", Self.number(1, nil)),
    ]
    let update = change(
      "update", existing + [.init("values", Self.reference("\(entity.name)Changes"))], required: ["id", "values"])
    let delete = change("delete", existing, required: ["id"])
    if entity.isAbstract { return [update, delete] }
    let insert = change(
      "insert", [.init("$id", Self.type("string")), .init("values", Self.reference("\(entity.name)Values"))],
      required: ["values"])
    return [insert, update, delete]
  }

  /// The objects of an answer as JSON Lines. OpenAPI 3.1 has no schema for the parts of a stream.
  private static func lines(_ entity: String) -> JSON {
    type("string", [.init("description", .string("One \(entity) in each line, as JSON."))])
  }

  static let anyObject = type("object")
  /// An id that the server gives: its last digit has four bits, and its second half is a time, which is not zero.
  static let identifier = type(
    "string",
    [
      .init(
        "pattern",
        .string("^(?!.{13}0{13}$)[a-hj-km-np-s][0-9a-hj-km-np-tv-z]{24}[02468acegjmprtwy]$"))
    ])

  static func type(_ name: String, _ more: [JSON.Member] = []) -> JSON {
    .object([.init("type", .string(name))] + more)
  }

  static func number(_ minimum: Int64, _ maximum: Int64?) -> JSON {
    var members = [JSON.Member("minimum", .integer(minimum))]
    if let maximum { members.append(.init("maximum", .integer(maximum))) }
    return type("integer", members)
  }

  static func oneOf(_ names: [String]) -> JSON {
    type("string", [.init("enum", .array(names.map(JSON.string)))])
  }

  static func nullable(_ schema: JSON) -> JSON {
    .object([.init("anyOf", .array([schema, type("null")]))])
  }

  /// One event of a stream.
  private static let event = type(
    "object",
    [
      .init("required", .array([.string("event"), .string("data")])),
      .init(
        "properties",
        .object([
          .init("event", oneOf(["snapshot", "resumed", "complete", "commit", "heartbeat", "end"])),
          .init("data", type("string")), .init("id", type("string")),
        ])),
    ])

  private static func reference(_ name: String) -> JSON {
    .object([.init("$ref", .string("#/components/schemas/\(name)"))])
  }

  static func closed(_ properties: [JSON.Member], required: [String] = []) -> JSON {
    let members = [JSON.Member("properties", .object(properties)), .init("additionalProperties", .bool(false))]
    return type(
      "object", required.isEmpty ? members : members + [.init("required", .array(required.map(JSON.string)))])
  }

  private static var secret: JSON {
    type("string", [.init("maxLength", .integer(Int64(ProtocolLimits.maximumCredentialSize)))])
  }

  private static func page(_ name: String) -> JSON {
    type(
      "object",
      [
        .init("required", .array([.string("objects"), .string("next"), .string("revision")])),
        .init(
          "properties",
          .object([
            .init("objects", .object([.init("type", .string("array")), .init("items", anyObject)])),
            .init("next", nullable(type("string"))), .init("revision", number(0, nil)),
          ])),
      ])
  }

  private static let problem = type(
    "object",
    [
      .init("required", .array(["title", "status", "code", "detail"].map(JSON.string))),
      .init(
        "properties",
        .object([
          .init("title", type("string")), .init("status", type("integer")), .init("code", type("string")),
          .init("detail", type("string")), .init("pointer", type("string")),
        ])),
    ])

  private static let problemResponse = JSON.object([
    .init("description", .string("The request was refused; docs/http.md explains the statuses.")),
    .init(
      "content",
      .object([
        .init("application/problem+json", .object([.init("schema", reference("Problem"))]))
      ])),
  ])
}
