/// Asks for the commits behind a token, the oldest first: a part of them at a time, however many there are.
public struct FollowRequest: Hashable, Sendable {
  /// Where the reader stands.
  public var since: Token
  /// Which commits, and which of their changes; its times are not looked at.
  public var filter: HistoryFilter
  /// So many commits at most; 0 for the server's choice.
  public var limit: UInt64
  /// Where nothing has been committed since, the answer waits until something is.
  public var waits: Bool

  /// What follows a token.
  public init(since: Token, filter: HistoryFilter = HistoryFilter(), limit: UInt64 = 0, waits: Bool = false) {
    self.since = since
    self.filter = filter
    self.limit = limit
    self.waits = waits
  }
}

/// Commits behind a token.
public struct FollowedPart: Hashable, Sendable {
  /// Those that fit the filter, the oldest first.
  public var commits: [CommitRecord]
  /// Up to where history was read for them.
  public var at: Token
  /// The newest state: the reader is there when the two are equal.
  public var head: Token

  /// What was read, and up to where.
  public init(commits: [CommitRecord], at: Token, head: Token) {
    self.commits = commits
    self.at = at
    self.head = head
  }
}

/// `message Follow { Token since = 1; HistoryFilter filter = 2; uint64 limit = 3; bool waits = 4; }`
extension FollowRequest: BinaryForm {
  public func encode(to writer: inout BinaryWriter) {
    writer.field(1, since)
    if !filter.isEmpty { writer.field(2, filter) }
    writer.field(3, limit)
    writer.field(4, waits)
  }

  public init(from reader: inout BinaryReader) throws(MalformedMessage) {
    self.init(since: Token(store: .zero, revision: 0, fingerprint: 0))
    while let (number, field) = try reader.next() {
      switch number {
      case 1: since = try field.form()
      case 2: filter = try field.form()
      case 3: limit = try field.unsigned()
      case 4: waits = try field.bool()
      default: break
      }
    }
  }
}

/// What a person or a program keeps: `STORE.REVISION.FINGERPRINT`, the fingerprint in sixteen hexadecimal digits.
extension Token: CustomStringConvertible, LosslessStringConvertible {
  public var description: String {
    let digits = String(fingerprint, radix: 16)
    return "\(store).\(revision).\(String(repeating: "0", count: 16 - digits.count))\(digits)"
  }

  /// Nil for anything but a whole token.
  public init?(_ description: String) {
    let parts = description.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, let store = UniqueID(String(parts[0])), let revision = Revision(parts[1]), revision >= 0,
      String(revision) == parts[1], parts[2].utf8.count == 16, let fingerprint = UInt64(parts[2], radix: 16),
      parts[2].allSatisfy({ $0.isHexDigit && !$0.isUppercase })
    else { return nil }
    self.init(store: store, revision: revision, fingerprint: fingerprint)
  }
}
