import GraphClient
import GraphModel
import GraphOffline
import GraphReplica

extension SyncSummary {
  /// The state of a client's replica.
  @MainActor
  init(_ client: GraphClient) {
    self.init(
      isOffline: client.isOffline, status: client.syncStatus.current, parked: client.conflicts.current,
      trouble: client.syncTrouble.current, notice: client.syncNotice.current)
  }
}

/// Calls a closure when the state of a client's replica has changed, until it ends.
@MainActor
final class SyncFollower {
  private var tasks = [Task<Void, Never>]()

  init(_ client: GraphClient, _ didChange: @escaping @MainActor () -> Void) {
    let (status, conflicts) = (client.syncStatus, client.conflicts)
    let (trouble, notice) = (client.syncTrouble, client.syncNotice)
    tasks = [
      Task { for await _ in status { didChange() } }, Task { for await _ in conflicts { didChange() } },
      Task { for await _ in trouble { didChange() } }, Task { for await _ in notice { didChange() } },
    ]
  }

  func end() {
    for task in tasks { task.cancel() }
    tasks = []
  }
}

extension SyncLink {
  /// The replica of a client.
  @MainActor
  init(_ client: GraphClient) {
    let model = client.context.model
    self.init(
      run: { operation, done in Self.answer(done) { try await operation.run(client) } },
      everything: { done in Self.answer(done) { try await client.objectsToDeleteEverywhere() } },
      dependents: { number in
        guard let replica = client.keptReplica else { return 0 }
        return try replica.dependents(of: number, model: model).count
      },
      unsentAfter: { client.unsentAfter })
  }

  @MainActor
  private static func answer<Answer: Sendable>(
    _ done: @escaping (Result<Answer, Refusal>) -> Void, _ body: @escaping @MainActor () async throws -> Answer
  ) {
    Task { @MainActor in
      do {
        done(.success(try await body()))
      } catch {
        done(.failure(error as? Refusal ?? Refusal(.unavailable, "\(error)")))
      }
    }
  }
}

extension SyncOperation {
  /// Runs the operation.
  /// - Returns: a sentence about what was done.
  @MainActor func run(_ client: GraphClient) async throws -> String {
    switch self {
    case .turnOn:
      guard let report = try await client.turnSyncOn() else {
        return "sync is on: your edits are sent when the server answers"
      }
      return "sync is on" + Self.sentence(sent: report.sent, parked: report.parked)
    case .turnOff:
      try await client.turnSyncOff()
      return "sync is off: this computer keeps the copy and your edits"
    case .resync(let discardsUnsent):
      let result = try await client.resetCopy(discardingUnsent: discardsUnsent)
      if let file = result.removedEdits {
        return "the copy was loaded again; the removed edits are in \(file.path)"
      }
      return "the copy was loaded again" + Self.sentence(sent: result.report.sent, parked: result.report.parked)
    case .deleteEverywhere(let objects):
      let outcome = try await client.deleteEverywhere(objects)
      let deleted = "\(Self.count(outcome.deleted, "object")) deleted here and on the server"
      return outcome.kept.isEmpty
        ? deleted : "\(deleted); \(Self.count(outcome.kept.count, "object")) changed by others stay"
    case .retry(let number):
      try await client.retryConflict(number)
      return "edit \(number) is sent again"
    case .replace(let number, let text):
      try await client.replaceConflict(number, byForm: text)
      return "edit \(number) was changed and is sent again"
    case .discard(let number):
      return "\(Self.count(try await client.discardEdit(number).count, "edit")) removed"
    }
  }

  private static func sentence(sent: Int, parked: Int) -> String {
    var parts = [String]()
    if sent > 0 { parts.append("\(count(sent, "edit")) sent") }
    if parked > 0 { parts.append("\(parked) in conflict") }
    return parts.isEmpty ? "" : ": " + parts.joined(separator: ", ")
  }

  private static func count(_ number: Int, _ noun: String) -> String {
    number == 1 ? "1 \(noun)" : "\(number) \(noun)s"
  }
}
