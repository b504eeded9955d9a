import GraphControllers
import GraphModel
import Testing

/// Background work, as its observers are notified of it.
@Suite struct RequestLedgerTests {
  @Test func nothingIsSentBeforeFirstObserver() {
    var ledger = RequestLedger()
    #expect(ledger.send(for: 1) == nil)
    let owner = ledger.open()
    #expect(ledger.send(for: owner)?.actions == [.busy(owner, true), .perform(1)])
  }

  @Test func indicatorStopsWithLastOutcome() throws {
    var ledger = RequestLedger()
    let (one, other) = (ledger.open(), ledger.open())
    #expect(ledger.send(for: one)?.actions == [.busy(one, true), .perform(1)])
    #expect(ledger.send(for: one)?.actions == [.perform(2)])
    #expect(ledger.send(for: other)?.actions == [.busy(other, true), .perform(3)])
    #expect(ledger.finish(1) == [.notify(one, 1)])
    #expect(ledger.cancel(2) == [.stop(2), .busy(one, false), .notify(one, 2)])
    #expect(!ledger.isBusy(one) && ledger.isBusy(other))
    // Answers for it are dropped.
    #expect(ledger.finish(2) == [] && ledger.cancel(2) == [])
    #expect(ledger.finish(3) == [.busy(other, false), .notify(other, 3)])
    #expect(ledger.count == 0)
  }

  @Test func answerToClosedViewIsDropped() {
    var ledger = RequestLedger()
    let owner = ledger.open()
    _ = ledger.send(for: owner)
    _ = ledger.send(for: owner)
    #expect(ledger.close(owner) == [.stop(1), .stop(2)])
    #expect(ledger.finish(1) == [] && ledger.count == 0)
    #expect(ledger.send(for: owner) == nil && ledger.close(owner) == [])
  }
}

/// The same with real tasks: the performer's gates decide when an answer arrives.
@MainActor @Suite struct RequestCenterTests {
  /// Performs requests when the test says so.
  private actor Performer {
    private var gates = [String: CheckedContinuation<String, any Error>]()
    private var early = [String: Result<String, Refusal>]()
    private(set) var performed = 0

    func perform(_ request: String) async throws -> String {
      performed += 1
      if let result = early.removeValue(forKey: request) { return try result.get() }
      return try await withCheckedThrowingContinuation { gates[request] = $0 }
    }

    func end(_ request: String, _ result: Result<String, Refusal>) {
      guard let gate = gates.removeValue(forKey: request) else { return early[request] = result }
      gate.resume(with: result.mapError { $0 as any Error })
    }
  }

  @MainActor private final class View {
    var lines = [String]()
    var observer: RequestObserver<String, String>?
    let (reported, report) = AsyncStream.makeStream(of: Void.self)

    func open(_ center: RequestCenter<String, String>) {
      let observer = center.observe { [unowned self] in
        MainActor.assertIsolated()
        let busy = self.observer?.isBusy == true ? "busy" : "idle"
        lines.append("\(last), \(busy)")
        report.yield()
      }
      observer.busyDidChange = { [unowned self] in lines.append($0 ? "starts" : "stops at \(last)") }
      self.observer = observer
    }

    /// The state that it observes.
    private var last: String {
      guard let completed = observer?.last else { return "nothing" }
      return "\(completed.request): \(text(completed.outcome))"
    }

    private func text(_ outcome: CompletedRequest<String, String>.Outcome) -> String {
      switch outcome {
      case .answered(let answer): answer
      case .failed(let error): "failed, \((error as? Refusal)?.message ?? "\(error)")"
      case .cancelled: "cancelled"
      }
    }
  }

  private func script() -> (RequestCenter<String, String>, Performer, View) {
    let performer = Performer()
    let center = RequestCenter<String, String> { try await performer.perform($0) }
    let view = View()
    view.open(center)
    return (center, performer, view)
  }

  @Test func answersAndErrorsCarryTheirRequestAndStopTheIndicator() async throws {
    let (center, performer, view) = script()
    var reported = view.reported.makeAsyncIterator()
    view.observer?.send("one")
    view.observer?.send("two")
    #expect(view.lines == ["starts"] && center.count == 2)
    await performer.end("two", .success("2"))
    await reported.next()
    await performer.end("one", .failure(Refusal(.unavailable, "away")))
    await reported.next()
    #expect(view.lines == ["starts", "two: 2, busy", "stops at one: failed, away", "one: failed, away, idle"])
    #expect(center.count == 0)
  }

  @Test func cancelIsImmediateAndLaterAnswerDropped() async throws {
    let (center, performer, view) = script()
    var reported = view.reported.makeAsyncIterator()
    let number = try #require(view.observer?.send("one"))
    view.observer?.cancel(number)
    #expect(view.lines == ["starts", "stops at one: cancelled", "one: cancelled, idle"])
    await reported.next()
    await performer.end("one", .success("1"))
    // The later answer would have been notified first.
    view.observer?.send("two")
    await performer.end("two", .success("2"))
    await reported.next()
    #expect(view.lines.suffix(3) == ["starts", "stops at two: 2", "two: 2, idle"] && center.count == 0)
  }

  @Test func answerToClosedViewIsDropped() async throws {
    let (center, performer, view) = script()
    let other = View()
    other.open(center)
    var reported = other.reported.makeAsyncIterator()
    view.observer?.send("one")
    view.observer?.close()
    #expect(view.observer?.isBusy == false && view.observer?.send("again") == nil)
    await performer.end("one", .success("1"))
    other.observer?.send("two")
    await performer.end("two", .success("2"))
    await reported.next()
    #expect(view.lines == ["starts", "stops at nothing"])
    #expect(other.lines == ["starts", "stops at two: 2", "two: 2, idle"] && center.count == 0)
  }

  @Test func releasedViewIsClosed() async throws {
    let (center, performer, view) = script()
    view.observer?.send("one")
    view.observer = nil
    while center.count > 0 { await Task.yield() }
    await performer.end("one", .success("1"))
    #expect(view.lines == ["starts"])
  }
}
