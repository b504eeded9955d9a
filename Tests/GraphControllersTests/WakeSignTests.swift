import Testing

@testable import GraphControllers

/// A task sleeps until it is given a sign, and runs on its own actor.
@MainActor @Suite(.timeLimit(.minutes(1))) struct WakeSignTests {
  @Test func signsBeforeTheWaitCountAsOne() async {
    let sign = WakeSign()
    sign.give()
    sign.give()
    #expect(await sign.wait())
    sign.end()
    #expect(await sign.wait() == false)
  }

  @Test func signBeforeTheEndIsTaken() async {
    let sign = WakeSign()
    sign.give()
    sign.end()
    #expect(await sign.wait())
    #expect(await sign.wait() == false)
    #expect(await sign.wait() == false)
  }

  @Test func sleepingTaskIsWokenForEachSign() async {
    let (sign, answer) = (WakeSign(), WakeSign())
    let task = Task {
      var count = 0
      while await sign.wait() {
        MainActor.assertIsolated()
        count += 1
        answer.give()
      }
      return count
    }
    for _ in 0..<3 {
      sign.give()
      #expect(await answer.wait())
    }
    sign.end()
    #expect(await task.value == 3)
  }

  @Test(arguments: [false, true]) func cancellationEndsTheWait(isWaiting: Bool) async {
    let (sign, begun) = (WakeSign(), WakeSign())
    let task = Task {
      begun.give()
      return await sign.wait()
    }
    // The task waits when this function runs again, because both are on the main actor.
    if isWaiting { #expect(await begun.wait()) }
    task.cancel()
    #expect(await task.value == false)
  }
}
