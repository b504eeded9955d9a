import GraphModel
import GraphReplica
import GraphWire
import Testing

@testable import GraphClient

/// The callers that wait for the outcomes of commits.
@MainActor
@Suite(.timeLimit(.minutes(1))) struct UnansweredCommitsTests {
  private let id = TransactionID(replica: UniqueID(high: 1, low: 1), sequence: 1)
  private let refusal = Refusal(.conflict, "changed")

  @MainActor private final class Owner {
    var commits = UnansweredCommits()
  }

  @Test func deadlineIsSetOnceAndEndsWithLastBatch() {
    var commits = UnansweredCommits()
    #expect(commits.isEmpty && commits.deadline == nil)
    commits.beginBatch()
    commits.beginBatch()
    commits.startDeadline(100)
    commits.startDeadline(200)
    #expect(commits.deadline == 100)
    commits.endBatch()
    #expect(!commits.isEmpty && commits.deadline == 100)
    commits.endBatch()
    #expect(commits.isEmpty && commits.deadline == nil)
  }

  @Test func callerReceivesOutcomeOfItsTransaction() async {
    let owner = Owner()
    let thrown = await #expect(throws: Refusal.self) {
      _ = try await withCheckedThrowingContinuation { (caller: CheckedContinuation<SaveResult, any Error>) in
        owner.commits.add(caller, for: id)
        owner.commits.startDeadline(100)
        // A transaction without a caller.
        owner.commits.finish(TransactionID(replica: id.replica, sequence: 2), .failure(refusal))
        #expect(!owner.commits.isEmpty)
        owner.commits.finish(id, .failure(refusal))
      }
    }
    #expect(thrown == refusal)
    #expect(owner.commits.isEmpty && owner.commits.deadline == nil)
  }

  /// The server can't commit the repeated transaction; whether it has committed the first one is unknown.
  @Test(arguments: [true, false]) func unavailableServerLeavesOutcomeOfRepeatedSaveUnknown(isRepeated: Bool) async {
    let (owner, unavailable) = (Owner(), Refusal(.unavailable, "the disk fails"))
    let thrown = await #expect(throws: Refusal.self) {
      _ = try await withCheckedThrowingContinuation { (caller: CheckedContinuation<SaveResult, any Error>) in
        owner.commits.add(caller, for: id)
        if isRepeated { owner.commits.startDeadline(100) }
        owner.commits.finish(id, .failure(unavailable))
      }
    }
    #expect(thrown == (isRepeated ? GraphClient.unknownOutcome : unavailable))
    #expect(thrown?.isOutcomeUnknown == isRepeated)
  }

  @Test func allCallersFailWithTheirClient() async {
    let owner = Owner()
    let thrown = await #expect(throws: Refusal.self) {
      _ = try await withCheckedThrowingContinuation { (caller: CheckedContinuation<SaveResult, any Error>) in
        owner.commits.add(caller, for: id)
        owner.commits.fail(GraphClient.unknownOutcome)
      }
    }
    #expect(thrown == GraphClient.unknownOutcome)
    #expect(owner.commits.isEmpty)
  }
}
