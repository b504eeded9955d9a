/// A predicate of the model over an object's own image, with `$user` and `$role`. It narrows what a role allows.
public struct AccessRule: Sendable {
  /// The predicate in the model file.
  public let text: String
  /// The parsed predicate; `$user` and `$role` are variables of the type string.
  public let predicate: GraphPredicate
  /// Whether the rule reads `$user`, so that it differs from user to user.
  public let readsUser: Bool
  /// Whether the rule reads `$role`.
  public let readsRole: Bool

  init(text: String, predicate: GraphPredicate) {
    self.text = text
    self.predicate = predicate
    readsUser = predicate.bound(variables: [Self.user: .null]) != predicate
    readsRole = predicate.bound(variables: [Self.role: .null]) != predicate
  }

  /// The names of the variables.
  static let user = "user"
  static let role = "role"

  /// The predicate for one user in one role, without variables and without comparisons of constants.
  public func predicate(user: String, role: Role) -> GraphPredicate {
    predicate.bound(variables: [Self.user: .string(user), Self.role: .string(role.rawValue)]).simplified
  }
}

/// The access rules of an entity, inherited ones included.
public struct AccessRules: Sendable {
  /// An operation on an object.
  public enum Operation: String, Hashable, Sendable, CaseIterable {
    /// Seeing the object.
    case read
    /// Creating or reviving it.
    case insert
    /// Changing a property.
    case update
    /// Deleting it.
    case delete
  }

  /// The rules by operation; an operation without a rule depends on the role alone.
  public internal(set) var rules = [Operation: AccessRule]()
  /// The further rules for updates of single properties.
  public internal(set) var properties = [PropertyNumber: AccessRule]()
  /// The attribute with the principal that created the object; nil if the entity has none.
  public internal(set) var creator: Property?

  var isEmpty: Bool { rules.isEmpty && properties.isEmpty && creator == nil }
}

extension GraphPredicate {
  /// An equivalent predicate in which comparisons of constants are decided.
  var simplified: GraphPredicate {
    switch self {
    case .always, .never: return self
    case .and(let parts):
      let rest = parts.map(\.simplified).filter { $0 != .always }
      return rest.contains(.never) ? .never : rest.isEmpty ? .always : rest.count == 1 ? rest[0] : .and(rest)
    case .or(let parts):
      let rest = parts.map(\.simplified).filter { $0 != .never }
      return rest.contains(.always) ? .always : rest.isEmpty ? .never : rest.count == 1 ? rest[0] : .or(rest)
    case .not(let inner):
      switch inner.simplified {
      case .always: return .never
      case .never: return .always
      case let rest: return .not(rest)
      }
    case .comparison(let comparison):
      guard comparison.quantifier == .one, comparison.left.isConstant, comparison.right.isConstant else { return self }
      return ValueMatcher(comparison)(comparison.left.constant, .constant) ? .always : .never
    }
  }
}
