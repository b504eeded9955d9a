// Tests: AnyActorTests.swift
import GraphReplica

/// The actor that a client belongs to. A method of the client runs on it, but does not know it: only the function that
/// makes the client and its mailbox do.
struct ClientHome {
  weak var actor: (any Actor)?
  /// Tasks that start at the end of the turn.
  var unstartedTasks = [() async -> Void]()
}

/// Wakes a client at its replica's deadline.
struct ClientAlarm {
  var timer = TickTimer()
  /// Sleeps until the timer fires.
  var sleep: Task<Void, Never>?

  func cancel() { sleep?.cancel() }
}

extension GraphClient {
  /// Begins to make the calls that other threads post.
  func begin(on actor: isolated any Actor) {
    precondition(home.actor == nil, "a client belongs to one actor")
    home.actor = actor
    mailbox.run(for: self, on: actor)
  }

  /// Asserts that the caller is on the client's actor. The compiler has checked it, in programs of language mode 6.
  func assertIsolation() {
    assert(
      {
        home.actor?.assertIsolated("a client is used on the actor that made it")
        return true
      }())
  }

  /// The client as code on other actors has it.
  package var link: ClientLink { ClientLink(states: observers.states, mailbox: mailbox) }

  /// Starts a task on the client's actor, at the end of the turn. It may use the client and what belongs to it, which a
  /// `Task` of a method can't: the method's actor is known only at run time. Without effect once the client is closed.
  func spawn(_ body: @escaping () async -> Void) {
    home.unstartedTasks.append(body)
    mailbox.postStart { client, actor in client.startTasks(on: actor) }
  }

  private func startTasks(on actor: isolated any Actor) {
    let bodies = home.unstartedTasks
    home.unstartedTasks = []
    for body in bodies {
      Task {
        _ = actor
        await body()
      }
    }
  }
}
