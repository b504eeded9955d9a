/// A request for commits of the log.
public struct LogRequest: Hashable, Sendable {
  /// The commits after this revision.
  public var after: Revision
  /// The maximum number of commits; 0 for the server's choice.
  public var limit: UInt64
  /// The last revision; 0 is the head.
  public var through: Revision
  /// Selects commits and changes.
  public var filter: HistoryFilter
  /// Whether to start with the oldest commit instead of the newest.
  public var oldestFirst: Bool
  /// The maximum number of matching changes listed per commit; the others are counted. Nil lists all of them; with 0
  /// the server reads no objects.
  public var changes: UInt64?

  /// Creates a request, by default for the newest commits, newest first.
  public init(
    after: Revision = 0, limit: UInt64 = 0, through: Revision = 0, filter: HistoryFilter = HistoryFilter(),
    oldestFirst: Bool = false, changes: UInt64? = nil
  ) {
    self.after = after
    self.limit = limit
    self.through = through
    self.filter = filter
    self.oldestFirst = oldestFirst
    self.changes = changes
  }
}
