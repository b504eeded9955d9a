// Tests: AnyActorTests.swift

/// The calls that other threads post for an object that belongs to one actor: messages of a socket, the end of a timer
/// or of a task, the release of a handle.
///
/// The object is not `Sendable`; its mailbox is, and a call receives the object as its argument. One task on the actor
/// makes the calls in the order in which they were posted (`run`). It ends when the mailbox is closed, so an actor that
/// keeps such an object is released only after that.
final class Mailbox<Owner: AnyObject>: Sendable {
  /// A call, made on the owner's actor, which is its second argument.
  typealias Call = @Sendable (Owner, isolated any Actor) -> Void

  private let calls: AsyncStream<Call>
  private let continuation: AsyncStream<Call>.Continuation

  init() { (calls, continuation) = AsyncStream.makeStream(of: Call.self) }

  deinit { continuation.finish() }

  /// Adds a call, on any thread. A call that is posted after the end, or after the owner was released, is dropped.
  func post(_ call: @escaping @Sendable (Owner) -> Void) { continuation.yield { owner, _ in call(owner) } }

  /// Adds a call that starts tasks on the actor.
  func postStart(_ call: @escaping Call) { continuation.yield(call) }

  /// Ends the mailbox after the calls that have been posted.
  func close() { continuation.finish() }

  /// Makes the calls on an actor, until the mailbox is closed or the owner released.
  /// - Parameter owner: belongs to the actor; held weakly between two calls.
  func run(for owner: Owner, on actor: isolated any Actor) {
    Task { [weak owner, calls] in
      for await call in calls {
        guard let owner else { break }
        // A closure that uses the parameter runs on its actor.
        call(owner, actor)
      }
    }
  }
}
