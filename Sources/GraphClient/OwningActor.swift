// Tests: AnyActorTests.swift
import GraphReplica

/// The actor that a client belongs to. A method of the client runs on it, but does not know it: only the function that
/// makes the client and its mailbox do.
struct OwningActor {
  weak var actor: (any Actor)?
  /// Tasks that start at the end of the turn.
  var unstartedTasks = [() async -> Void]()
}

/// Refers to an object that it does not keep alive.
struct WeakReference<Object: AnyObject> {
  private(set) weak var object: Object?

  init(_ object: Object) { self.object = object }
}

/// Wakes a client at its replica's deadline.
struct ClientAlarm {
  var timer = TickTimer()
  /// Sleeps until the timer fires.
  var sleep: Task<Void, Never>?

  func cancel() { sleep?.cancel() }
}
