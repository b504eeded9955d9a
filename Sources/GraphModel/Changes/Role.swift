/// The rights of a session on the complete store. Each role has those of the roles before it.
public enum Role: String, Hashable, Sendable, CaseIterable, Comparable {
  /// Reads everything.
  case reader
  /// Changes everything, too.
  case editor
  /// The owner of the store. Programs of the daemon's own user have this role.
  case owner

  /// The roles, for messages and help.
  public static var names: String { allCases.map(\.rawValue).joined(separator: ", ") }

  private var rank: Int {
    switch self {
    case .reader: 1
    case .editor: 2
    case .owner: 3
    }
  }

  public static func < (left: Role, right: Role) -> Bool { left.rank < right.rank }
}
