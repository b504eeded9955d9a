// Tests: AuditEventTests.swift
import GraphModel

/// An event for the audit log: a login or a refusal.
///
/// It contains no values of objects: a refusal names the missing right.
public struct AuditEvent: Hashable, Sendable {
  /// The kinds of events.
  public enum Kind: String, Hashable, Sendable {
    /// A session of a user was opened.
    case login
    /// A credential was refused.
    case refusedLogin = "login refused"
    /// A request was refused because a right is missing.
    case refusal = "refused"
  }

  /// The kind of the event.
  public var kind: Kind
  /// The id of the principal; nil if the client did not prove who it is.
  public var principal: String?
  /// The number of the token that the session uses; nil for none.
  public var token: UInt64?
  /// The missing right, or why the credential was refused; empty for a login.
  public var reason: String

  /// Creates an event.
  public init(_ kind: Kind, principal: String?, token: UInt64? = nil, reason: String = "") {
    (self.kind, self.principal, self.token, self.reason) = (kind, principal, token, reason)
  }
}
