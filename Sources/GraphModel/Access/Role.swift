/// A set of rights, on the complete store or on one scope. Each role has the rights of the roles before it.
public enum Role: String, Hashable, Sendable, CaseIterable, Comparable {
  /// Reads.
  case reader
  /// Creates objects, and changes and deletes its own: those whose attribute with `"assigned": "creator"` names it.
  case commenter
  /// Changes and deletes the objects of others, too.
  case editor
  /// The owner. Programs of the daemon's own user have this role on the complete store.
  case owner

  /// The roles, for messages and help.
  public static var names: String { allCases.map(\.rawValue).joined(separator: ", ") }

  private var rank: Int {
    switch self {
    case .reader: 1
    case .commenter: 2
    case .editor: 3
    case .owner: 4
    }
  }

  public static func < (left: Role, right: Role) -> Bool { left.rank < right.rank }
}
