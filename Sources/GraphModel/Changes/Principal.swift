/// The one on whose behalf a session acts: the author of its commits, and the owner of its undo stacks.
///
/// History keeps the id, which its fingerprints cover, and beside it the shown name. A rename therefore changes no
/// commit. The id of a principal without an account is its name.
public struct Principal: Hashable, Sendable {
  /// The id, which never changes: `user:` and the account, `uid:` and a local user's number, or a name without either
  /// of these prefixes. 1 to 256 bytes.
  public var id: String
  /// The shown name.
  public var name: String

  /// The prefix of the ids of accounts.
  public static let accountPrefix = "user:"
  /// The prefix of the ids of local users that are not the machine's owner.
  public static let localUserPrefix = "uid:"

  /// A principal with a name of its own.
  public init(id: String, name: String) { (self.id, self.name) = (id, name) }

  /// A principal without an account: its name is its id.
  public init(author name: String) { (id, self.name) = (name, name) }

  /// Whether the text can be the name of a principal without an account.
  public static func isReserved(_ name: String) -> Bool {
    name.hasPrefix(accountPrefix) || name.hasPrefix(localUserPrefix)
  }

  /// Equality of ids and names by their bytes: a name in another normalization is another one.
  public static func == (left: Principal, right: Principal) -> Bool {
    UTF8Comparison.equal(left.id, right.id) && UTF8Comparison.equal(left.name, right.name)
  }

  public func hash(into hasher: inout Hasher) { for byte in id.utf8 { hasher.combine(byte) } }
}
