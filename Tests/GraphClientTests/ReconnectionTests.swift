import Testing

@testable import GraphClient

/// The pauses between attempts to connect again, and the callers that wait for a connection.
@MainActor
@Suite(.timeLimit(.minutes(1))) struct ReconnectionTests {
  @Test func pausesDoubleUpToLongest() {
    var reconnection = Reconnection(firstPauseMilliseconds: 50)
    var pauses = [reconnection.pause]
    for _ in 0..<8 {
      reconnection.growPause(upTo: 5_000)
      pauses.append(reconnection.pause)
    }
    #expect(pauses == [50, 100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000])
  }

  @Test func welcomeResetsPause() {
    var reconnection = Reconnection(firstPauseMilliseconds: 50)
    reconnection.growPause(upTo: 5_000)
    reconnection.growPause(upTo: 5_000)
    reconnection.resetPause(to: 50)
    #expect(reconnection.pause == 50)
    reconnection.growPause(upTo: 5_000)
    #expect(reconnection.pause == 100)
  }

  @Test func endOfAttemptResumesIt() async {
    let owner = Owner()
    let attempt = Task {
      await withCheckedContinuation { owner.reconnection.setAttempt($0) }
      owner.resumed += 1
    }
    // Runs after the task before it: the main actor runs them in order.
    Task {
      #expect(owner.resumed == 0)
      owner.reconnection.endAttempt()
    }
    await attempt.value
    #expect(owner.resumed == 1)
    // There is no attempt to end.
    owner.reconnection.endAttempt()
    #expect(owner.resumed == 1)
  }

  @Test func allWaitsEndTogether() async throws {
    let owner = Owner()
    let waits = (0..<3).map { _ in CancellableWait() }
    for wait in waits { owner.reconnection.add(wait) }
    owner.reconnection.remove(waits[2])
    #expect(owner.reconnection.waitCount == 2)
    owner.reconnection.endWaits()
    owner.reconnection.endWaits()
    #expect(owner.reconnection.waitCount == 0)
    for wait in waits.dropLast() { try await wait.wait() }
    // It was not ended with the others.
    #expect(waits[2].end())
  }

  @MainActor private final class Owner {
    var reconnection = Reconnection(firstPauseMilliseconds: 50)
    var resumed = 0
  }
}
