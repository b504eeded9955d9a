/// A bug that is planted in a run with accounts to test its checks.
public enum AccessBug: String, Sendable, CaseIterable {
  /// Deltas are encoded for a class that sees everything.
  case deltaOfOtherClass
  /// A query resumes although the grants of its user have changed.
  case resumedAfterGrants
  /// A change is judged by the scope that the object had before it only.
  case judgedByOldScope
  /// The refusal of a key that is taken names the object that has it.
  case namedInvisible
  /// History shows all states of an object that is visible now.
  case earlyHistory
  /// The server accepts a replica id of another principal.
  case foreignReplica
}
