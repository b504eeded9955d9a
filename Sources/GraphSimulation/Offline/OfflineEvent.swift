/// The events that runs with offline replicas count. A test checks that all of them occur.
public enum OfflineEvent: String, Sendable, CaseIterable {
  /// An edit was acknowledged without the server; one named an object of an unsent edit, or followed an unsent text.
  case edited, editedNewObject, followedText
  /// An edit was made by a process that had the replica open while another one synchronized it.
  case editedBesideRun
  /// A run was complete, ended by a refusal, killed, or cut off.
  case runCompleted, runRefused, runKilled, runCut
  /// A run found another one at work.
  case runLocked
  /// The outcome of an edit that had left was asked for again.
  case askedAgain
  /// An edit was committed, parked, parked behind another one, parked in part, or parked because of the model.
  case committed, parked, parkedBehind, parkedInPart, parkedForModel
  /// A user tried a parked edit again, discarded an edit, or undid one.
  case retried, discarded, undone
  /// The undo of an edit that had left was queued, or sent.
  case queuedUndo, sentUndo
  /// Sync was turned off and on; the copy was reset.
  case turnedOff, reset
  /// A replica was copied, the copy took an id of its own, and a file was restored from an old copy.
  case cloned, renewed, restoredOldCopy
  /// The mirror was loaded as a whole, or brought up to date by commits.
  case loaded, received
  /// A commit hid an object that others refer to, so the mirror was loaded again.
  case hiddenReferrer
  /// A role was taken or given; a run ended because of it.
  case roleTaken, roleGiven, rightsChanged
  /// The server's model and a program's model were replaced by a newer version.
  case migrated, upgraded
  /// The server pruned history, was restored from a backup, or crashed.
  case pruned, serverRestored, serverCrashed
  /// A queue was adapted to a server that was restored.
  case rebased
  /// The objects of a mirror were compared with those of a server that had pruned the mirror's state.
  case unverified
  /// A replica was compared with the server; one of a user who does not see everything.
  case compared, comparedPart
}
