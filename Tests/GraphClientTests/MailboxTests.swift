import GraphControllers
import Testing

@testable import GraphClient

/// Calls of other threads are made on the owner's actor, in their order.
@MainActor @Suite(.timeLimit(.minutes(1))) struct MailboxTests {
  private final class Owner {
    var calls = [Int]()
    let done = WakeSign()

    deinit { done.end() }
  }

  private func start(_ mailbox: Mailbox<Owner>, _ owner: Owner) { mailbox.run(for: owner, on: MainActor.shared) }

  @Test func callsOfOtherThreadsKeepTheirOrder() async {
    let (mailbox, owner) = (Mailbox<Owner>(), Owner())
    mailbox.post { $0.calls.append(0) }
    start(mailbox, owner)
    await Task.detached {
      for number in 1...1_000 { mailbox.post { $0.calls.append(number) } }
    }.value
    mailbox.post { $0.done.give() }
    #expect(await owner.done.wait())
    #expect(owner.calls == Array(0...1_000))
    mailbox.close()
  }

  @Test func actorRunsOtherTasksBetweenCalls() async throws {
    let (mailbox, owner) = (Mailbox<Owner>(), Owner())
    mailbox.postStart { owner, actor in
      Task {
        _ = actor
        owner.calls.append(-1)
      }
    }
    for number in 0..<100 { mailbox.post { $0.calls.append(number) } }
    mailbox.post { $0.done.give() }
    start(mailbox, owner)
    #expect(await owner.done.wait())
    #expect(owner.calls.filter { $0 >= 0 } == Array(0..<100))
    #expect(try #require(owner.calls.firstIndex(of: -1)) < 100)
    mailbox.close()
  }

  @Test func closedMailboxMakesThePostedCallsOnly() async {
    let (mailbox, owner) = (Mailbox<Owner>(), Owner())
    mailbox.post { $0.calls.append(1) }
    mailbox.post { $0.done.give() }
    mailbox.close()
    mailbox.post { $0.calls.append(2) }
    start(mailbox, owner)
    #expect(await owner.done.wait())
    #expect(owner.calls == [1])
  }

  @Test func ownerIsReleasedWhileNoCallIsMade() async {
    let mailbox = Mailbox<Owner>()
    var owner: Owner? = Owner()
    guard let released = owner?.done, let first = owner else { return }
    start(mailbox, first)
    owner = nil
    _ = consume first
    #expect(await released.wait() == false)
    // A call that is posted now is released and not made.
    let dropped = WakeSign()
    final class Ending: Sendable {
      let sign: WakeSign
      init(_ sign: WakeSign) { self.sign = sign }
      deinit { sign.end() }
    }
    let ending = Ending(dropped)
    mailbox.post { [ending] _ in ending.sign.give() }
    _ = consume ending
    #expect(await dropped.wait() == false)
  }

  /// An actor with a mailbox, which other threads read.
  private actor Home {
    let mailbox = Mailbox<Owner>()
    private let owner = Owner()

    func run() { mailbox.run(for: owner, on: self) }

    var calls: [Int] { owner.calls }

    func waitForSign() async { _ = await owner.done.wait() }
  }

  @Test func anyActorMakesTheCalls() async {
    let home = Home()
    for number in 0..<100 { home.mailbox.post { $0.calls.append(number) } }
    await home.run()
    for number in 100..<200 { home.mailbox.post { $0.calls.append(number) } }
    home.mailbox.post { $0.done.give() }
    await home.waitForSign()
    #expect(await home.calls == Array(0..<200))
    home.mailbox.close()
  }
}
