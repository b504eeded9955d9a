// Tests: RightsTests.swift

/// A role that a user has, on the complete store or on the objects of one scope.
public struct Grant: Hashable, Sendable {
  /// The role.
  public var role: Role
  /// The key of the scope's container; nil for the complete store.
  public var scope: UniqueID?

  /// Creates a grant.
  public init(_ role: Role, on scope: UniqueID? = nil) {
    self.role = role
    self.scope = scope
  }
}

/// The rights of one principal: the facts on which ``AccessJudge`` decides. Without accounts there are no rights
/// either: nil in place of this value allows everything.
public struct Rights: Hashable, Sendable {
  /// The principal's id: the value of `$user` in rules, and of the attributes with `"assigned": "creator"`.
  public let user: String
  /// The role on the complete store; nil for none.
  public let role: Role?
  /// The roles on scopes, by the key of the container.
  public let scopes: [UniqueID: Role]
  /// The role on objects that all scopes share. A role on one scope gives at most the role of a commenter: the objects
  /// of others are in use in scopes that the principal may not change, or see.
  public let sharedRole: Role?

  /// Creates rights. Of several grants for one scope, the strongest counts.
  public init(user: String, grants: some Sequence<Grant>) {
    self.user = user
    var role: Role?
    var scopes = [UniqueID: Role]()
    for grant in grants {
      if let scope = grant.scope {
        scopes[scope] = Self.stronger(scopes[scope], grant.role)
      } else {
        role = Self.stronger(role, grant.role)
      }
    }
    (self.role, self.scopes) = (role, scopes)
    sharedRole = scopes.values.max().map { Self.stronger(role, min($0, .commenter)) } ?? role
  }

  /// The rights of a principal with one role on the complete store.
  public init(user: String, role: Role) { self.init(user: user, grants: [Grant(role)]) }

  /// The role on the objects of a scope: the stronger one of that on the store and that on the scope.
  /// - Parameter scope: the key of the container; nil for an object without a scope.
  /// - Returns: nil for no role, and therefore no right.
  public func role(in scope: UniqueID?) -> Role? {
    guard !scopes.isEmpty, let scope, let own = scopes[scope] else { return role }
    return Self.stronger(role, own)
  }

  /// The strongest role anywhere, which is the upper bound of the principal's rights. Nil for no grant.
  public var strongestRole: Role? { scopes.values.reduce(role, Self.stronger) }

  private static func stronger(_ known: Role?, _ other: Role) -> Role {
    if let known { max(known, other) } else { other }
  }

  /// Compares users by their bytes, as `Principal` does.
  public static func == (left: Rights, right: Rights) -> Bool {
    UTF8Comparison.equal(left.user, right.user) && left.role == right.role && left.scopes == right.scopes
  }

  public func hash(into hasher: inout Hasher) {
    for byte in user.utf8 { hasher.combine(byte) }
    hasher.combine(role)
    hasher.combine(scopes)
  }
}
