// Tests: WriteTests.swift
import GraphJSON
import GraphModel
import HTTPTypes

/// A refused request, as problem details (RFC 9457). docs/http.md says when each status is used.
struct Problem: Error {
  var status: HTTPResponse.Status
  /// A code for programs: that of a refusal of the wire, or one that only HTTP has.
  var code: String
  /// A sentence for a person.
  var detail: String
  /// The JSON pointer to the place in the body that is wrong.
  var pointer: String?
  /// Further members: `violations` and `conflicts`.
  var members = [JSON.Member]()
  /// Header fields of the answer.
  var fields = HTTPFields()

  init(_ status: HTTPResponse.Status, _ code: String, _ detail: String, pointer: String? = nil) {
    (self.status, self.code, self.detail, self.pointer) = (status, code, detail, pointer)
  }

  /// The problem for a request that the server does not understand.
  static func malformed(_ detail: String, pointer: String? = nil) -> Problem {
    Problem(.badRequest, "malformed", detail, pointer: pointer)
  }

  static func notFound(_ detail: String) -> Problem { Problem(.notFound, "notFound", detail) }

  /// Creates the problem for a refusal of the hub or of the store.
  /// - Parameter isConditional: whether the request has `If-Match`, whose failure is a status of its own.
  init(_ refusal: Refusal, _ model: Model, isConditional: Bool = false) {
    self.init(Self.status(of: refusal.code, isConditional: isConditional), refusal.code.rawValue, refusal.message)
    members = RefusalJSON(model: model).members(of: refusal)
    if status == .serviceUnavailable { fields[.retryAfter] = "1" }
  }

  /// The problem for a refused hello: the credential is missing or wrong, or there were too many attempts.
  static func login(_ refusal: Refusal) -> Problem {
    var problem: Problem
    switch refusal.code {
    case .notAllowed:
      problem = Problem(.unauthorized, "notAllowed", refusal.message)
      problem.fields[.wwwAuthenticate] = "Bearer"
    case .limit:
      problem = Problem(.tooManyRequests, "limit", refusal.message)
      problem.fields[.retryAfter] = "60"
    default:
      problem = Problem(.serviceUnavailable, refusal.code.rawValue, refusal.message)
      problem.fields[.retryAfter] = "1"
    }
    return problem
  }

  private static func status(of code: Refusal.Code, isConditional: Bool) -> HTTPResponse.Status {
    switch code {
    case .conflict: isConditional ? .preconditionFailed : .conflict
    case .denied, .unique: .conflict
    case .invalid, .limit: .unprocessableContent
    case .notFound, .pruned: .notFound
    case .malformed: .badRequest
    case .notAllowed: .forbidden
    case .unavailable, .cancelled: .serviceUnavailable
    }
  }

  var json: JSON {
    var list = [
      JSON.Member("type", .string("about:blank")), .init("title", .string(status.reasonPhrase)),
      .init("status", .integer(Int64(status.code))), .init("code", .string(code)), .init("detail", .string(detail)),
    ]
    if let pointer { list.append(.init("pointer", .string(pointer))) }
    return .object(list + members)
  }
}
