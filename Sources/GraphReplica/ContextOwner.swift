// Tests: ContextOwnerTests.swift
import GraphModel

/// An owner of a context's connection: a client, or the past of one. It sends the messages that calls on the context
/// cause.
///
/// The context itself is pure: a call on it queues actions and loads, which its owner takes with `takeActions` and
/// `sendLoads`. The context notifies the owner of the first message, so that a caller need not send anything
/// explicitly. A context without an owner waits until its maker takes them, as a simulation does.
package protocol ContextOwner: AnyObject {
  /// Called on the context's actor when a call on the context, or on a child of it, has left something to send; once
  /// until `takeActions`. An owner may send it at once, or at the end of the turn together with later calls.
  func contextHasWork()

  /// Called on the context's actor when the program has changed the context's `undoScope`. By default it does nothing.
  /// - Parameter old: the previous scope.
  func undoScopeDidChange(from old: UndoScope?)

  /// Called on the context's actor when an edit of a deleted object was ignored. By default it does nothing.
  func editWasIgnored(of object: ObjectID, _ property: Property)

  /// Waits for a load of the context. The load is cancelled when the tasks of all callers that wait for it are.
  /// - Throws: `Refusal`, `unavailable` when there is no connection; `CancellationError` if the task is cancelled.
  nonisolated(nonsending) func fill(_ load: LoadID) async throws
}

extension ContextOwner {
  package func undoScopeDidChange(from old: UndoScope?) {}

  package func editWasIgnored(of object: ObjectID, _ property: Property) {}
}

/// A context's owner, and whether it has been notified since it last took actions.
struct OwnerLink {
  weak var owner: (any ContextOwner)?
  var isNotified = false
  /// Called with each event of the replica, the actions and the next deadline. For recordings.
  var replicaDidHandle: ((ReplicaEvent, [ReplicaAction], Int64?) -> Void)?
}
