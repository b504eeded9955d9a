/// The events that a run counts. A test checks that all of them occur, because an invariant about an event that never
/// occurs checks nothing.
public enum CoverageEvent: String, Sendable, CaseIterable {
  /// A batch was committed, by operation.
  case batchInserted, batchUpdated, batchDeleted
  /// A batch was written in several slices.
  case batchInSlices
  /// A batch that breaks a rule was refused and wrote nothing.
  case batchRefused
  /// A batch matched no objects and was not committed.
  case batchOfNothing
  /// A batch was cancelled because its connection was lost between two slices or before the first.
  case batchCancelled
  /// The power failed between two slices of a batch.
  case batchLostPower
  /// The power failed during a commit.
  case commitLostPower
  /// Several groups of commits were prepared before the first of them was finished.
  case groupsPrepared
  /// A batch was sent again because its answer was lost.
  case batchAskedAgain
  /// A batch was sent again that had been committed the first time.
  case batchAnsweredAgain
  /// A client received the progress of its batch.
  case batchProgress
  /// A fault was fulfilled, or its object had been deleted.
  case faultFilled, faultOfDeleted
  /// Relationships were prefetched from objects, by a live query, or at a quiet moment, with a complete comparison.
  case prefetched, queryPrefetched, prefetchedAtRest
  /// A past revision was fetched, by a predicate or by ids.
  case pastRead, pastReadByID
  /// An object was restored, alone or with its contents, or to its past values; or a restore was refused.
  case restored, restoredContents, restoredOverPresent, restoreRefused
  /// An undo right after its step restored the order of a list; or reverted several commits.
  case undoneOrder, undoneWholeGroup
  /// Undo and redo.
  ///
  /// Of the next step, in a separate stack, of several commits, of a named commit that is the next step, and of one
  /// in the middle of the stack.
  case undone, redone, undoneInScope, undoneGroup, undoneByRevision, undoneInMiddle
  /// A client received the correct undo state at a quiet moment.
  case undoStateReported
  /// At a quiet moment there were values of all attribute types, and dates before 1970.
  case everyTypeIsThere, dateBefore1970
  /// At a quiet moment there were members of unordered and of recursive relationships.
  case unorderedMembers, recursiveMembers
  /// A transaction was refused because of too few members or too short a text.
  case refusedTooFew, refusedTooShort
  /// A transient value was kept, or was kept although commits changed its object.
  case transientKept, transientOutlivedCommits
  /// A live query had results at a quiet moment.
  ///
  /// In order: full-text search on the object itself, and at the end of a path; an aggregate; a quantifier.
  case searchFollowed, searchOverPathFollowed, aggregateFollowed, manyFollowed
  /// A fetch of the present had results: count, ids, rows, groups, distinct rows, an aggregate.
  case fetchedCount, fetchedIdentifiers, fetchedRows, fetchedGroups, fetchedDistinct, fetchedAggregate
  /// A page was fetched, and the next one; or a fetch request template was used.
  case fetchedPage, fetchedNextPage, fetchedTemplate
  /// A child context was discarded or saved.
  ///
  /// Or it was saved over other clients' changes of the same object, or with inserted or deleted objects.
  case childDiscarded, childSaved, childSavedOverCommits, childInserted, childDeleted
  /// A revived object kept its creation time.
  case cameBackAsOld
  /// A slice of history was pruned; or the power failed meanwhile.
  case historyPruned, pruningLostPower
  /// A client resumed from a revision above, at or below the floor (the oldest revision that is kept).
  case resumedAboveFloor, resumedAtFloor, resumedBelowFloor
  /// A client with unsaved edits resumed from below the floor.
  case resumedBelowFloorWithEdits
  /// A read of a pruned revision was refused.
  case prunedPastRead
  /// A transaction whose commit was pruned was sent again.
  case prunedAskedAgain
  /// A transaction was refused because the history at its base was pruned, or because it may have been committed
  /// already.
  case refusedAsPruned
  /// An edit with a base that was pruned was committed.
  case editedBelowFloor
  /// The store was restored from a backup; or the restore removed acknowledged commits.
  case storePutBack, acknowledgedTakenBack
  /// A client detected that the store has lost commits that it had seen; or did so with unsaved edits.
  case restoreNoticed, restoreNoticedWithEdits
  /// A client detected lost commits after new commits had passed the last revision that it had seen.
  case restoreOvertaken
  /// An unanswered transaction was committed in the restored store, for the first time or again.
  case landedAfterRestore, landedAgain
  /// A client with an older version of the model connected; its saves or batches were committed or refused.
  case olderConnected, committedThroughLens, refusedThroughLens, batchThroughLens
  /// The live queries, windows, loads and reads of the past of such a client had results and were compared with the
  /// lens's view.
  case followedThroughLens, scrolledThroughLens, loadedThroughLens, pastReadThroughLens
  /// The fetches of counts and ids and the fetch request templates of such a client had results.
  case fetchedThroughLens
  /// The lens translated a stored value for such a client.
  case seenOtherwise
  /// A counter was incremented, or the increment was refused because another client had changed the counter.
  case counterIncremented, incrementRefused
  /// The increment of a counter was undone or redone.
  case incrementUndone
  /// The server's clock was set ahead or back; or a commit has an earlier time than the previous one.
  case clockSetAhead, clockSetBack, commitSetBack
  /// History was pruned by age; or was not pruned because the clock was not trusted.
  case prunedByAge, pruningRefused
  /// A commit was repeated from its entry.
  case entryApplied
}

/// Counts the events.
struct CoverageEventCounts {
  private(set) var counts = [CoverageEvent: Int]()

  mutating func record(_ event: CoverageEvent) { counts[event, default: 0] += 1 }

  mutating func add(_ other: CoverageEventCounts) { counts.merge(other.counts, uniquingKeysWith: +) }
}
