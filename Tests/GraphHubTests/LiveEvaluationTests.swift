import GraphModel
import GraphTesting
import GraphWire
import Testing

@testable import GraphHub

/// The bounds of evaluating live queries on the event loop. Steps are counted, so the tests need no clock.
@Suite struct LiveEvaluationTests {
  private static func steps(_ text: String) throws -> Int {
    let model = try Fixtures.stickies()
    let note = try #require(model.entity(named: "Note"))
    return try GraphPredicate(parsing: text, entity: note, model: model).evaluationSteps
  }

  private static func chain(_ count: Int, _ term: (Int) -> String) -> String {
    (0..<count).map(term).joined(separator: " OR ")
  }

  // MARK: - One query

  @Test func stepsGrowWithTerms() throws {
    let plain = try Self.steps("x == 1")
    #expect(try Self.steps("x == 1 AND y == 2") > plain)
    #expect(try Self.steps("text LIKE \"*a*\"") > 10 * plain)
    #expect(try Self.steps("text LIKE[c] \"*a*\"") > Self.steps("text LIKE \"*a*\""))
    #expect(try Self.steps("text LIKE \"*\(String(repeating: "a", count: 900))*\"") > 800)
    #expect(try Self.steps("length(text) == 1") > plain)
    #expect(
      try Self.steps("SUBQUERY(board.notes, $a, $a.text LIKE \"*a*\").@count > 0") > Self.steps("text LIKE \"*a*\""))
    // The elements of a list are looked up in a set.
    #expect(try Self.steps("x IN {\((0..<1_000).map(String.init).joined(separator: ", "))}") == plain)
    let one = try Self.steps("text LIKE \"*a*\"") - 1
    #expect(try Self.steps(Self.chain(7) { _ in "text LIKE \"*a*\"" }) == 7 * one + 1)
  }

  @Test func queryBeyondLimitIsRefused() throws {
    let text = "text LIKE \"*a*\" OR color == \"pink\""
    let steps = try Self.steps(text)
    for (limit, isAccepted) in [(steps - 1, false), (steps, true), (steps + 1, true)] {
      var limits = HubLimits()
      limits.liveQuerySteps = limit
      var script = try HubTranscript(limits: limits)
      try script.open(1)
      let lines = try script.send(.subscribe(Subscribe(entity: script.note.number, predicate: text)), 1)
      #expect(lines == (isAccepted ? ["1 < query 1", "read #1 for 1"] : ["1 < refused: limit"]))
      let window = Subscribe(
        entity: script.note.number, predicate: text, window: Subscribe.Window(sort: "number", offset: 0, limit: 10))
      let isRefused = try script.send(.subscribe(window), 1).contains("1 < refused: limit")
      #expect(isRefused != isAccepted)
    }
  }

  @Test(arguments: [(1_700, true), (1_900, false)])
  func longChainOfTextsIsRefused(count: Int, isAccepted: Bool) throws {
    var script = try HubTranscript()
    try script.open(1)
    let text = Self.chain(count) { "text LIKE \"*\($0 + 1_000)*\"" }
    let lines = try script.send(.subscribe(Subscribe(entity: script.note.number, predicate: text)), 1)
    #expect(lines.first == (isAccepted ? "1 < query 1" : "1 < refused: limit"))
  }

  @Test func longestChainOfNumbersIsAccepted() throws {
    #expect(
      try Self.steps(Self.chain(GraphPredicate.maximumSize / 4) { "number == \($0)" }) * 4 <= HubLimits().liveQuerySteps
    )
  }

  // MARK: - One commit

  @Test func expensiveQueriesAreStoppedAndCheapOnesAreNot() {
    let meter = LiveEvaluationMeter(total: 3_200)
    func isEvaluated(_ number: UInt64, _ steps: Int) -> Bool {
      meter.evaluate(number, steps: steps, isLong: false) { true } == true
    }
    #expect((1...32).allSatisfy { isEvaluated($0, 100) })
    #expect(meter.stopped.isEmpty)
    // The total is spent; each query has 100 steps.
    #expect(!isEvaluated(33, 101))
    #expect(isEvaluated(34, 100))
    #expect(!isEvaluated(34, 1))
    #expect(!isEvaluated(33, 0))
    #expect(meter.stopped == [33, 34])
    // 3,402 of 12,800 are spent.
    #expect((100..<193).allSatisfy { isEvaluated($0, 100) })
    #expect(!isEvaluated(193, 100))
    #expect(!isEvaluated(194, 1))
  }

  @Test func longTextIsCountedDuringEvaluation() {
    let long = String(repeating: "a", count: 1 << 20)
    for (total, isStopped) in [(4 * Cancellation.pollInterval, true), (64 * Cancellation.pollInterval, false)] {
      let meter = LiveEvaluationMeter(total: total)
      let found = meter.evaluate(1, steps: 1, isLong: true) { long.utf8.count > 0 && Self.reads(long) }
      #expect((found == nil) == isStopped)
      #expect(meter.stopped == (isStopped ? [1] : []))
    }
  }

  private static func reads(_ text: String) -> Bool {
    let comparison = GraphPredicate.Comparison(.one, .value(.string(text)), .contains, .value(.string("b")))
    guard let model = try? Fixtures.stickies(), let note = model.entity(named: "Note") else { return false }
    let image = ObjectImage(id: .temporary(1, entity: note.number), revision: 1, values: [])
    return PredicateEvaluator(.comparison(comparison), model: model).matches(image)
  }

  /// The query over the texts is not indexed, and this text takes some sixteen checks.
  @Test(arguments: [false, true]) func commitWithLongTextReloadsOnlyExpensiveQuery(isStopped: Bool) throws {
    var limits = HubLimits()
    limits.commitSteps = Cancellation.pollInterval * (isStopped ? 2 : 64)
    var script = try HubTranscript(limits: limits)
    try script.open(1)
    try script.open(2)
    try script.follow(1, "NOT text CONTAINS \"b\"", ticket: 1, at: 0)
    try script.follow(2, "color == \"pink\"", ticket: 2, at: 0)
    let lines = try script.committed(9, script.record(1, text: String(repeating: "a", count: 1 << 20), color: "pink"))
    #expect(
      lines.filter { $0.hasPrefix("1 ") } == (isStopped ? ["1 < reset 1", "1 < query 1"] : ["1 < delta 1 of 1"]))
    #expect(lines.filter { $0.hasPrefix("2 ") } == ["2 < delta 2 of 1"])
    #expect(script.reasons == (isStopped ? [Hub.tooMany] : []))
    // The reload is an ordinary first result, and the next commit is sent as a delta.
    if isStopped { _ = try script.finishRead(3, at: 1) }
    let next = try script.committed(10, script.record(2, text: "short", color: "blue"))
    #expect(next.filter { $0.hasPrefix("1 ") } == ["1 < delta 1 of 2"])
  }
}
