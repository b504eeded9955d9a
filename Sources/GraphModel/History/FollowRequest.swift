/// A request for the commits after a token, oldest first, one bounded part at a time.
public struct FollowRequest: Hashable, Sendable {
  /// The reader's position.
  public var since: Token
  /// Selects commits and changes; its times are ignored.
  public var filter: HistoryFilter
  /// The maximum number of commits; 0 for the server's choice.
  public var limit: UInt64
  /// Whether the reply waits for the next commit if there is none after the token.
  public var waits: Bool

  /// Creates a request for the commits after a token.
  public init(since: Token, filter: HistoryFilter = HistoryFilter(), limit: UInt64 = 0, waits: Bool = false) {
    self.since = since
    self.filter = filter
    self.limit = limit
    self.waits = waits
  }
}

/// A part of the commits after a token.
public struct CommitPage: Hashable, Sendable {
  /// The commits that match the filter, oldest first.
  public var commits: [CommitRecord]
  /// The position up to which history was read.
  public var at: Token
  /// The head; equal to `at` if the reader has caught up.
  public var head: Token
  /// The damaged commits, which are missing, and the objects whose changes have no values because their rows or later
  /// commits are damaged.
  public var damage: DamageNotice

  /// Creates a part with the position up to which history was read.
  public init(commits: [CommitRecord], at: Token, head: Token, damage: DamageNotice = DamageNotice()) {
    self.commits = commits
    self.at = at
    self.head = head
    self.damage = damage
  }
}

/// The token's text form `STORE.REVISION.FINGERPRINT`, with the fingerprint in sixteen hexadecimal digits.
extension Token: CustomStringConvertible, LosslessStringConvertible {
  public var description: String {
    let digits = String(fingerprint, radix: 16)
    return "\(store).\(revision).\(String(repeating: "0", count: 16 - digits.count))\(digits)"
  }

  /// Parses a token; nil if it is not complete and canonical.
  public init?(_ description: String) {
    let parts = description.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, let store = UniqueID(String(parts[0])), let revision = Revision(parts[1]), revision >= 0,
      String(revision) == parts[1], parts[2].utf8.count == 16, let fingerprint = UInt64(parts[2], radix: 16),
      parts[2].allSatisfy({ $0.isHexDigit && !$0.isUppercase })
    else { return nil }
    self.init(store: store, revision: revision, fingerprint: fingerprint)
  }
}
