/// A bug that is planted to test the checks.
public enum PlantedBug: String, Sendable, CaseIterable {
  /// The store's writer is opened with synchronous=OFF.
  case notSynchronous
  /// The store returns results before COMMIT.
  case replyBeforeCommit
  /// The store does not look up a transaction's id.
  case forgottenTransactionID
  /// Live queries and windows receive no removals.
  case lostRemoval
  /// Clients send the newest revision as the base of each update, so that their splices are not moved.
  case unmovedSplices
  /// Clients send the last received revision as the base of each update, not the one that the user saw.
  case forgottenBases
  /// The store does not move members of an ordered relationship to make space for others.
  case unspreadPlaces
  /// The store does not write an object in which only a count changes.
  case lostCounts
  /// Fetches of a past revision return the present.
  case pastOfToday
  /// The record of a large batch lacks the entities of its objects.
  case unreportedBatch
  /// Fetches by id find nothing.
  case forgottenFault
  /// The store takes a pruned transaction for a new one.
  case forgottenPrunedID
  /// The store ignores the pruned part of an object's past.
  case forgottenFloor
  /// The server compares revision numbers only.
  case forgottenFingerprint
  /// Clients miss the report that the store does not recognize their state.
  case unnoticedRestore
  /// A client of an older version receives cases that its version does not have.
  case unsettledRead
  /// The last chunk of a read bypasses the hub, like the chunks before it.
  case lastChunkPastTheHub
  /// Clients send increments without their preconditions.
  case ignoredPreconditions
  /// History is pruned by the server's clock, although it may have been set.
  case trustedClock
  /// The commit log returns before its sync.
  case unsyncedLog
  /// The commit log's space is reused before SQLite has synced the commits.
  case earlyRelease
  /// Reads do not see the commits that SQLite has not committed yet.
  case hiddenCommits
}
