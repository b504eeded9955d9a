import GraphClient
import GraphControllers
import GraphModel
import GraphReplica
import GraphWire

/// Waits by a live query or by following commits; nothing is asked twice. Both outlive a lost connection: what was
/// committed meanwhile is told when there is one again. The time limit holds without a connection, too.
@MainActor
struct Wait {
  /// As `timeout(1)` has it, and unlike the code of anything else that can go wrong here.
  nonisolated static let timedOut: Int32 = 124

  /// An answer is waited for so long where nobody waits for anything else.
  private static let answerMilliseconds: Int64 = 10_000

  let shell: Shell
  let timeout: TimeSpan?

  /// Returns when the store has the revision.
  func until(_ revision: Revision) async throws {
    guard let head = shell.client.welcome?.head else { throw Refusal(.unavailable, "the daemon said no welcome") }
    tellLostConnection()
    var reached = head.revision
    if reached < revision {
      if let timeout, timeout.milliseconds == 0 {
        throw TimedOut(limit: timeout, missing: "the store is at revision \(reached)")
      }
      try await within {
        TimedOut(limit: $0, missing: "the store is at revision \(reached)")
      } do: {
        for try await followed in shell.client.commits(since: head) {
          reached = followed.token.revision
          if reached >= revision { return }
        }
      }
    }
    if shell.output.json {
      shell.output.print(JSON.object([.init("revision", .integer(reached))]))
    } else {
      shell.output.print("revision \(reached)")
    }
  }

  /// Returns when at least so many objects match, for 0 when none does.
  /// - Parameter noun: what a person calls one of them.
  func until(_ count: Int, of entity: Entity, where predicate: GraphPredicate, called noun: String) async throws {
    tellLostConnection()
    let bound = predicate.bound(now: GraphClient.now)
    let results = ResultsController(
      ResultsRequest(entity: entity.number, predicate: bound), in: shell.client.context, perform: shell.client.perform)
    results.performFetch()
    defer { results.stop() }
    try await within {
      TimedOut(
        limit: $0,
        missing: results.state == .loaded ? Self.sentence(results.count, noun) : "the daemon has not answered")
    } do: {
      for try await update in results.updates {
        if count == 0 ? update.snapshot.isEmpty : update.snapshot.count >= count { return }
        // Who does not want to wait at all still wants to know.
        if let timeout, timeout.milliseconds == 0 {
          throw TimedOut(limit: timeout, missing: Self.sentence(results.count, noun))
        }
      }
      throw Refusal(.unavailable, "the connection was closed")
    }
    let (found, revision) = (results.count, results.snapshot.revision)
    if shell.output.json {
      shell.output.print(
        JSON.object([.init("revision", .integer(revision)), .init("count", .integer(Int64(found)))]))
    } else {
      shell.output.print("revision \(revision): \(Self.sentence(found, noun))")
    }
  }

  private static func sentence(_ count: Int, _ noun: String) -> String {
    "\(count == 0 ? "no \(noun)" : Output.count(count, noun)) \(count <= 1 ? "matches" : "match")"
  }

  private func tellLostConnection() {
    shell.client.stateDidChange = { state in
      if case .reconnecting(1) = state { StandardError.write("stickies: the connection was lost; trying again") }
    }
  }

  private func within(
    _ late: @escaping @MainActor (TimeSpan) -> TimedOut, do body: @escaping @MainActor () async throws -> Void
  )
    async throws
  {
    guard let timeout else { return try await body() }
    let limit = timeout.milliseconds == 0 ? Self.answerMilliseconds : timeout.milliseconds
    try await Deadline.run(milliseconds: limit, late: { late(timeout) }, body)
  }
}

/// The time was over.
struct TimedOut: ReportedError {
  let limit: TimeSpan
  let missing: String

  var report: Failure.Report {
    Failure.Report(code: "timeout", message: "not within \(limit.text): \(missing)", exit: Wait.timedOut)
  }
}

/// Something that is given up after a while.
@MainActor
enum Deadline {
  /// Runs `body`, but no longer than the time; it goes on unheard then, until what it waits for is closed.
  static func run<Result: Sendable>(
    milliseconds: Int64, late: @escaping @MainActor () -> any Error,
    _ body: @escaping @MainActor () async throws -> Result
  ) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
      let race = Race(continuation)
      let clock = Task {
        try await Task.sleep(for: .milliseconds(milliseconds))
        race.end(.failure(late()))
      }
      Task {
        do {
          race.end(.success(try await body()))
        } catch {
          race.end(.failure(error))
        }
        clock.cancel()
      }
    }
  }

  /// The first to come is heard.
  @MainActor
  private final class Race<Result: Sendable> {
    private var continuation: CheckedContinuation<Result, any Error>?

    init(_ continuation: CheckedContinuation<Result, any Error>) { self.continuation = continuation }

    func end(_ result: Swift.Result<Result, any Error>) {
      continuation?.resume(with: result)
      continuation = nil
    }
  }
}
