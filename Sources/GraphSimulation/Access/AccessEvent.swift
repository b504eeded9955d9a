/// The events that runs with accounts count. A test checks that all of them occur.
public enum AccessEvent: String, Sendable, CaseIterable {
  /// A role was granted, changed or removed; a user was removed, or a new user was added in its place.
  case roleGiven, roleChanged, roleTaken, userRemoved, userAdded
  /// A session was ended because the grants of its user had changed, or because its token was revoked.
  case sessionRightsChanged, sessionEndedByRemoval
  /// A client resumed a query, or got a new result although the store knew its state.
  case queryResumed, queryReloaded
  /// A commit made an object visible or invisible to a connected user.
  case cameIntoSight, wentOutOfSight
  /// A change was committed by a user who does not see everything, or refused for a missing right.
  case restrictedCommit, refusedForRight
  /// A key was refused because an object has it that the user does not see.
  case keyOfInvisible
  /// A batch, an undo or redo, or a restore was committed by a user who does not see everything.
  case restrictedBatch, restrictedUndo, restrictedRestore
  /// An object moved between scopes by an edit, by a batch, or by an undo or a restore.
  case movedByEdit, movedByBatch, movedByUndo
  /// A principal used the replica id of another one, and was refused.
  case thiefRefused
  /// A client with the replica id of another client took a new id.
  case cloneRenewed
  /// A presence was received by a user.
  case presenceReceived
  /// An answer about the present was compared with the reduced graph.
  case fetchCompared, groupsCompared, exportCompared, statusCompared
  /// An answer about the past was compared with the reduced graph.
  case historyCompared, pastCompared, differencesCompared, originCompared
  /// The server crashed.
  case serverCrashed
}
