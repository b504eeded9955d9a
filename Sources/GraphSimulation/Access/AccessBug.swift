/// A bug that is planted in a run with accounts, to test the checks of the simulation.
public enum AccessBug: String, Sendable, CaseIterable {
  /// Deltas are encoded for a visibility class that sees everything.
  case deltaOfOtherClass
  /// A query resumes although the grants of its user have changed.
  case resumedAfterGrants
  /// The rules of a change use only the scope that the object had before the change.
  case judgedByOldScope
  /// The refusal of a duplicate key names the object that has the key.
  case namedInvisible
  /// For an object that is visible now, history shows all earlier states.
  case earlyHistory
  /// A part of the followed commits may end at a commit that the user does not see.
  case endOfInvisible
  /// The server accepts a replica id of another principal.
  case foreignReplica
}
