import CommandLineIO
import GraphClient
import GraphControllers
import GraphModel
import GraphReplica
import GraphWire

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Waits by a live query or by following commits, without polling. Both survive a lost connection and catch up after
/// the reconnect. The time limit also applies while disconnected.
@MainActor
package struct ChangeWaiter {
  /// The exit code after the time limit, the same as that of `timeout(1)`; no other failure has it.
  nonisolated package static let timedOut: Int32 = 124

  package let shell: CommandContext
  let timeout: TimeSpan?
  let missing: TimeoutReason

  package init(shell: CommandContext, timeout: TimeSpan?, missing: TimeoutReason) {
    (self.shell, self.timeout, self.missing) = (shell, timeout, missing)
  }

  /// A description of the condition that is not met yet, for the timeout's message.
  @MainActor
  package final class TimeoutReason {
    var sentence = "the daemon has not answered"
  }

  /// Prints the condition of the wait to a terminal, after a moment. Otherwise a wait for something that never
  /// happens looks like a program that hangs.
  func hint() -> Task<Void, Never>? {
    guard isatty(STDERR_FILENO) == 1, !shell.output.json else { return nil }
    return Task {
      try? await Task.sleep(for: .seconds(1))
      if !Task.isCancelled { StandardError.write("waiting: \(missing.sentence) (Ctrl-C stops)") }
    }
  }

  /// Returns when the store has reached the revision.
  package func until(_ revision: Revision) async throws {
    guard shell.client.unsentAfter == nil else {
      throw Refusal(.unavailable, "a revision needs the server, which can't be reached")
    }
    let head = shell.head
    shell.client.reportLostConnections(to: shell.output)
    var reached = head.revision
    if reached < revision {
      if let timeout, timeout.milliseconds == 0 {
        throw TimeoutError(limit: timeout, missing: "the store is at revision \(reached)")
      }
      missing.sentence = "the store is at revision \(reached)"
      for try await followed in shell.client.commits(since: head) {
        reached = followed.token.revision
        if reached >= revision { break }
        missing.sentence = "the store is at revision \(reached)"
      }
    }
    if shell.output.json {
      shell.output.print(JSON.object([.init("revision", .integer(reached))]))
    } else {
      shell.output.print("revision \(reached)")
    }
  }

  /// Returns when at least `count` objects match; for 0, when none does.
  /// - Parameter noun: the noun for one object in messages.
  package func until(_ count: Int, of entity: Entity, where predicate: GraphPredicate, called noun: String) async throws
  {
    shell.client.reportLostConnections(to: shell.output)
    let bound = predicate.bound(now: GraphClient.now)
    let results = ResultsController(
      ResultsRequest(entity: entity.number, predicate: bound), in: shell.client.context)
    // An object that can't be read may match.
    var damage = DamageNotice()
    shell.client.damageDidAppear = { damage.formUnion($0) }
    results.performFetch()
    defer {
      results.stop()
      shell.client.damageDidAppear = nil
    }
    var isEnough = false
    for try await update in results.updates {
      try IncompleteResult.check(damage, shell.model)
      isEnough = count == 0 ? update.snapshot.isEmpty : update.snapshot.count >= count
      if isEnough { break }
      missing.sentence = Self.shortfall(update.snapshot.count, of: count, noun)
      // With a limit of zero, the first result decides.
      if let timeout, timeout.milliseconds == 0 { throw TimeoutError(limit: timeout, missing: missing.sentence) }
    }
    guard isEnough else { throw Refusal(.unavailable, "the connection was closed") }
    let (found, revision) = (results.count, results.snapshot.revision)
    if shell.output.json {
      shell.output.print(
        JSON.object([.init("revision", .integer(revision)), .init("count", .integer(Int64(found)))]))
    } else {
      shell.output.print("revision \(revision): \(Self.sentence(found, noun))")
    }
  }

  /// The reason of a timeout: how many objects match, and how many should.
  static func shortfall(_ found: Int, of count: Int, _ noun: String) -> String {
    switch count {
    case 0: "\(sentence(found, noun)), and none should"
    case 1: sentence(found, noun)
    default: "\(sentence(found, noun)), \(count) are needed"
    }
  }

  private static func sentence(_ count: Int, _ noun: String) -> String {
    "\(count == 0 ? "no \(noun)" : Output.count(count, noun)) \(count <= 1 ? "matches" : "match")"
  }
}

/// The time limit has expired.
struct TimeoutError: ReportedError {
  let limit: TimeSpan
  let missing: String

  var report: CommandFailure.Report {
    CommandFailure.Report(
      code: "timeout", message: "timed out after \(limit.text): \(missing)", exit: ChangeWaiter.timedOut)
  }
}

/// Runs an operation with a time limit.
@MainActor
package enum TimeLimit {
  /// Runs `body` with a time limit. After the limit it continues, but its result is ignored.
  package static func run<Result: Sendable>(
    milliseconds: Int64, late: @escaping @MainActor () -> any Error,
    _ body: @escaping @MainActor () async throws -> Result
  ) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
      let resumption = SingleResumption(continuation)
      let clock = Task {
        try await Task.sleep(for: .milliseconds(milliseconds))
        resumption.end(.failure(late()))
      }
      Task {
        do {
          resumption.end(.success(try await body()))
        } catch {
          resumption.end(.failure(error))
        }
        clock.cancel()
      }
    }
  }

  /// Resumes the continuation with the first result.
  @MainActor
  private final class SingleResumption<Result: Sendable> {
    private var continuation: CheckedContinuation<Result, any Error>?

    init(_ continuation: CheckedContinuation<Result, any Error>) { self.continuation = continuation }

    func end(_ result: Swift.Result<Result, any Error>) {
      continuation?.resume(with: result)
      continuation = nil
    }
  }
}
