/// What a run can meet. A run counts each, so that a generator that has stopped making something does not go unnoticed:
/// promises about what never happens hold of nothing.
public enum Happening: String, Sendable, CaseIterable {
  /// Batches that were committed, by what they did.
  case batchInserted, batchUpdated, batchDeleted
  /// Of those, the ones that were written in several slices.
  case batchInSlices
  /// A batch that breaks a rule, and writes nothing.
  case batchRefused
  /// A batch that finds nothing to change, and is no commit.
  case batchOfNothing
  /// The connection of a batch is lost between two slices, or before the first.
  case batchGivenUp
  /// The power goes between two slices of a batch.
  case batchLostPower
  /// The power goes while a commit is on its way to the disk.
  case commitLostPower
  /// A batch whose answer was lost is asked for again.
  case batchAskedAgain
  /// And had been committed the first time.
  case batchAnsweredAgain
  /// A client is told how far its batch is.
  case batchProgress
  /// A fault is filled, or turns out to stand for nothing.
  case faultFilled, faultOfDeleted
  /// Relationships are followed from objects, from a live query, and at rest, where all that comes can be compared.
  case prefetched, queryPrefetched, prefetchedAtRest
  /// The graph as it was is asked, by a predicate and by ids.
  case pastRead, pastReadByID
  /// An object comes back, alone or with what was in it; one that is there gets back what it had.
  case restored, restoredContents, restoredOverPresent, restoreRefused
  /// An undo right behind its step, which puts a list back in the order that it had; and one of several commits.
  case undoneOrder, undoneWholeGroup
  /// Undo and redo of the next step, of a stack of its own, of several commits, of a commit that is named: of the next step,
  /// and from the middle of the stack.
  case undone, redone, undoneInScope, undoneGroup, undoneByRevision, undoneInMiddle
  /// A client is told at rest what undo and redo would take.
  case undoStateTold
  /// A value of each type that an attribute may have is there at a quiet moment, and dates before 1970.
  case everyTypeIsThere, dateBefore1970
  /// Objects have members without an order, and members of their own kind, at a quiet moment.
  case unorderedMembers, recursiveMembers
  /// A transaction is refused because something would have too few members, or too short a text.
  case refusedTooFew, refusedTooShort
  /// A value that is never saved is there still, also where the object was changed by commits meanwhile.
  case transientKept, transientOutlivedCommits
  /// Live queries show something at rest: full text, of the objects themselves and at the end of a path; aggregates and
  /// conditions over many.
  case searchFollowed, searchOverPathFollowed, aggregateFollowed, manyFollowed
  /// The present is asked, and answers: how many there are, ids, values of objects, groups, distinct rows, one row for all.
  case fetchedCount, fetchedIdentifiers, fetchedRows, fetchedGroups, fetchedDistinct, fetchedAggregate
  /// A page, and another one behind it; a question that the model names.
  case fetchedPage, fetchedNextPage, fetchedTemplate
  /// A child context is given up, or its edits become its parent's: also where others have changed the object meanwhile; it
  /// has made and deleted objects.
  case padDiscarded, padConfirmed, padConfirmedOverCommits, padMade, padDeleted
  /// An object comes back with the time at which it was first made.
  case cameBackAsOld
  /// A slice of history goes between two commits, and the power with it.
  case historyPruned, pruningLostPower
  /// A client asks for what it has missed since a revision above, at and below the oldest that is kept.
  case resumedAboveFloor, resumedAtFloor, resumedBelowFloor
  /// And one from below it has edits that are not saved.
  case resumedBelowFloorWithEdits
  /// The graph is asked as it was at a revision that was pruned.
  case prunedPastRead
  /// A transaction whose commit was pruned is asked for again.
  case prunedAskedAgain
  /// A transaction is refused because what its base needs was pruned, or because it may have been committed.
  case refusedAsPruned
  /// An edit that began below the floor is committed.
  case editedBelowFloor
  /// The store is put back to a backup, and what somebody had been told was committed is gone.
  case storePutBack, acknowledgedTakenBack
  /// A client that was shown what is gone notices, and one that has unsaved edits.
  case restoreNoticed, restoreNoticedWithEdits
  /// And comes back when the store has passed what it was shown, by other commits.
  case restoreOvertaken
  /// What nobody had answered lands in the restored store: for the first time, or once more where the commit was taken back.
  case landedAfterRestore, landedAgain
  /// A client of an older version of the model connects; its saves and batches are committed, or refused.
  case olderConnected, committedThroughLens, refusedThroughLens, batchThroughLens
  /// Its live queries and windows that show something, its loads and reads of the past are held against what the lens shows.
  case followedThroughLens, scrolledThroughLens, loadedThroughLens, pastReadThroughLens
  /// It asks for counts, ids and by the model's named questions.
  case fetchedThroughLens
  /// Something in the store is another thing to it than it is.
  case seenOtherwise
}

/// How often each happened.
struct HappeningCounts {
  private(set) var counts = [Happening: Int]()

  mutating func note(_ happening: Happening) { counts[happening, default: 0] += 1 }

  mutating func add(_ other: HappeningCounts) { counts.merge(other.counts, uniquingKeysWith: +) }
}
