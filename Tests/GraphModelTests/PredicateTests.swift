import GraphModel
import GraphTesting
import Testing

@Suite struct PredicateTests {
  private func parse(_ text: String, _ entity: String = "Note") throws -> GraphPredicate {
    let model = try Fixtures.stickies()
    return try GraphPredicate(parsing: text, entity: try #require(model.entity(named: entity)), model: model)
  }

  @Test(arguments: [
    ("colr == \"yellow\"", 1), ("color == \"yelow\"", 10), ("color = ", 9), ("x > \"3\"", 5), ("(x > 3", 7),
    ("x > 3 y", 7), ("ANY color == \"red\"", 5), ("tags.name == \"a\"", 1), ("board < \"x\"", 7), ("x LIKE \"a\"", 3),
    ("text BETWEEN {\"a\"}", 14), ("color[x] == \"red\"", 6), ("number SEARCH \"a\"", 8), ("", 1), ("AND", 1),
    ("board == \"nonsense\"", 10), ("x == 'abc", 6), ("x ~ 3", 3), ("text.size == 3", 1),
    ("created > \"tomorrow\"", 11),
  ])
  func errorReportsItsColumn(text: String, column: Int) throws {
    let error = #expect(throws: PredicateSyntaxError.self) { try parse(text) }
    #expect(error?.column == column, "\(error?.description ?? "")")
  }

  @Test(arguments: [
    "color == \"yellow\"", "NOT (x > 3.0 AND y <= -2.5)", "ANY tags.name IN {\"a\", \"b\"}", "board.name == \"It's\"",
    "text CONTAINS[cd] \"straße \\\"q\\\"\"", "tags.@count > 2", "id BEGINSWITH \"jg\"",
    "pinned == TRUE OR origin == NULL",
    "created BETWEEN {\"2020-01-01T00:00:00.000000Z\", \"2021-01-01T00:00:00.000000Z\"}", "text SEARCH \"wor\"",
    "NONE outgoing.label == \"x\"", "ALL tags.name != \"b\"", "number IN {1, 2, 3}", "x == y", "TRUEPREDICATE",
  ])
  func textFormRoundTrips(text: String) throws {
    let model = try Fixtures.stickies()
    let predicate = try parse(text)
    #expect(try parse(predicate.text(in: model)) == predicate, "\(predicate.text(in: model))")
  }

  /// A pair of brackets counts twice, a negation once. Every legal predicate crosses the wire.
  @Test(arguments: [("(", ")", 100, 102), ("NOT ", "", 200, 805), ("!", "", 200, 202)])
  func nestingLimitIsReportedAtItsColumn(opening: String, closing: String, most: Int, column: Int) throws {
    let model = try Fixtures.stickies()
    func nested(_ count: Int) -> String {
      String(repeating: opening, count: count) + "x > 1" + String(repeating: closing, count: count)
    }
    for count in [most - 1, most] {
      let predicate = try parse(nested(count))
      #expect(try parse(predicate.text(in: model)) == predicate)
    }
    for count in [most + 1, 10_000] {
      let error = #expect(throws: PredicateSyntaxError.self) { try parse(nested(count)) }
      #expect(error?.description == "column \(column): nested deeper than 200")
    }
  }

  @Test func nestingAddsBracketsNegationsAndSubqueries() throws {
    func nested(_ brackets: Int, _ negations: Int) -> String {
      String(repeating: "(", count: brackets) + String(repeating: "NOT ", count: negations) + "x > 1"
        + String(repeating: ")", count: brackets)
    }
    #expect(throws: Never.self) { try parse(nested(99, 2)) }
    #expect(throws: PredicateSyntaxError.self) { try parse(nested(99, 3)) }
    func within(_ condition: String) -> String { "SUBQUERY(tags, $t, \(condition)).@count > 0" }
    #expect(throws: Never.self) { try parse(within(nested(99, 0))) }
    #expect(throws: PredicateSyntaxError.self) { try parse(within(nested(99, 1))) }
  }

  @Test func unclosedBracketsReportTheLimitToo() {
    for (text, column) in [("(", 102), ("(x > 1 AND ", 1_102)] {
      let error = #expect(throws: PredicateSyntaxError.self) { try parse(String(repeating: text, count: 10_000)) }
      #expect(error?.description == "column \(column): nested deeper than 200")
    }
  }

  /// The text on the wire has no superfluous brackets: the receiver reads every predicate that the sender can read.
  @Test(arguments: [
    ("x > 1 AND NOT (", "x > 1", ")"), ("NOT (x > 1 OR y > 1 AND (", "x > 1", "))"),
    ("x > 1 OR y > 1 AND (x > 2 OR ", "x > 1", ")"), ("x > 1 AND (x > 2 AND ", "x > 1", ")"),
    ("x + 2 * (y - ", "x", ")"), ("x - (y - ", "x", ")"), ("2 * abs(y - ", "x", ")"),
  ])
  func deepestReadablePredicateCanBeSent(opening: String, innermost: String, closing: String) throws {
    let model = try Fixtures.stickies()
    let note = try #require(model.entity(named: "Note"))
    func read(_ text: String) throws -> GraphPredicate { try GraphPredicate(parsing: text, entity: note, model: model) }
    let end = innermost == "x" ? " > 1" : ""
    func nested(_ count: Int) -> String {
      String(repeating: opening, count: count) + innermost + String(repeating: closing, count: count) + end
    }
    let most = try #require((1...200).last { (try? read(nested($0))) != nil })
    #expect((30...200).contains(most))
    let predicate = try read(nested(most))
    #expect(try read(predicate.text(in: model)) == predicate, "\(predicate.text(in: model))")
  }

  @Test(arguments: [
    ("x > 1 AND NOT (y > 1)", "x > 1 AND NOT y > 1"), ("(x > 1 AND y > 1) OR x > 2", "x > 1 AND y > 1 OR x > 2"),
    ("(x > 1 OR y > 1) AND x > 2", "(x > 1 OR y > 1) AND x > 2"), ("NOT (x > 1 AND y > 1)", "NOT (x > 1 AND y > 1)"),
    ("x > 1 AND (y > 1 AND x > 2)", "x > 1 AND (y > 1 AND x > 2)"), ("(x + y) + x > 1", "x + y + x > 1"),
    ("x + (y + x) > 1", "x + (y + x) > 1"), ("x - (y - x) > 1", "x - (y - x) > 1"),
    ("(x * y) - x > 1", "x * y - x > 1"),
    ("x - (y * x) > 1", "x - y * x > 1"), ("(x - y) * x > 1", "(x - y) * x > 1"),
    ("x / (y * x) > 1", "x / (y * x) > 1"),
    ("-x * y > 1", "(0 - x) * y > 1"),
  ])
  func bracketsAreWrittenOnlyWhereNeeded(text: String, canonical: String) throws {
    func plain(_ text: String) -> String { text.replacing(".0", with: "") }
    #expect(plain(try parse(text).text(in: Fixtures.stickies())) == canonical)
    #expect(try parse(canonical) == parse(text))
  }

  @Test func sizeIsBounded() throws {
    func values(_ count: Int) -> String {
      "number IN {" + Array(repeating: "1", count: count).joined(separator: ",") + "}"
    }
    func comparisons(_ count: Int) -> String { Array(repeating: "x>1", count: count).joined(separator: " OR ") }
    // The comparison counts with its values.
    _ = try parse(values(19_999))
    _ = try parse(comparisons(20_000))
    let long = "text == \"" + String(repeating: "x", count: GraphPredicate.maximumTextSize) + "\""
    for (text, words) in [
      (values(20_000), "column 40010: more than 20000 values"),
      (comparisons(20_001), "column 140001: more than 20000 comparisons"),
      (long, "column 1: the predicate has more than 1048576 bytes"),
    ] {
      let error = #expect(throws: PredicateSyntaxError.self) { try parse(text) }
      #expect(error?.description == words)
    }
  }

  @Test func everyNegationCountsAsOneLevel() throws {
    let model = try Fixtures.stickies()
    let chain = try parse(String(repeating: "NOT ", count: 150) + "x > 1")
    // The text form, as it is sent, is read as the same predicate.
    #expect(try parse(chain.text(in: model)) == chain)
    #expect(try parse("x => 1") == parse("x >= 1") && parse("x =< 1") == parse("x <= 1"))
  }

  @Test func relationshipCountOfPathIsLimited() throws {
    let model = try Fixtures.company()
    let person = try #require(model.entity(named: "Person"))
    func parse(_ count: Int) throws -> GraphPredicate {
      try GraphPredicate(
        parsing: String(repeating: "manager.", count: count) + "age == 1", entity: person, model: model)
    }
    let most = GraphPredicate.maximumPathLength
    #expect(try parse(most).text(in: model).hasPrefix("manager.manager."))
    for count in [most + 1, 20_000] {
      let error = #expect(throws: PredicateSyntaxError.self) { try parse(count) }
      #expect(error?.reason == "a path has at most \(most) relationships")
    }
  }

  @Test func patternsShareOneLimit() throws {
    func parse(_ count: Int) throws -> GraphPredicate {
      try self.parse((0..<count).map { "text MATCHES \"(a|b){0,900}\($0)\"" }.joined(separator: " OR "))
    }
    // Each of them becomes some 2,700 instructions.
    let most = try #require((1...40).last { (try? parse($0)) != nil })
    #expect((12...24).contains(most))
    let error = #expect(throws: PredicateSyntaxError.self) { try parse(most + 1) }
    #expect(error?.reason == "the patterns of this predicate are too large together; use fewer of them")
  }

  @Test func computedPatternsHaveTheSameLimits() throws {
    let broken = #expect(throws: PredicateSyntaxError.self) { try parse("text MATCHES lowercase(\"(\")") }
    #expect(broken?.reason.hasPrefix("the pattern can't be read at column") == true)
    let half = String(repeating: "a", count: GraphPredicate.maximumPatternSize / 2)
    #expect(throws: Never.self) { try parse("text LIKE concat(\"\(half)\", \"\(half)\")") }
    let long = #expect(throws: PredicateSyntaxError.self) { try parse("text LIKE concat(\"\(half)\", \"\(half)b\")") }
    #expect(long?.reason == "a pattern has at most \(GraphPredicate.maximumPatternSize) bytes")
  }

  /// The parser calculates calls with constants alone, on the thread that serves all clients.
  @Test func stringsWithinFunctionsHaveACommonLimit() throws {
    let quarter = "\"" + String(repeating: "é", count: GraphPredicate.maximumArgumentSize / 8) + "\""
    func nested(_ count: Int) -> String {
      String(repeating: "canonical(", count: count) + quarter + String(repeating: ")", count: count)
    }
    #expect(throws: Never.self) { try parse("text == \(nested(4))") }
    #expect(throws: Never.self) { try parse("text == \(quarter) OR text == \(nested(2)) OR text == \(nested(2))") }
    // These are calculated for each object, with a deadline.
    #expect(throws: Never.self) { try parse("text == concat(\(nested(2)), concat(text, \(quarter)))") }
    for text in ["text == \(nested(5))", "text == \(nested(2)) OR text == \(nested(3))"] {
      let error = #expect(throws: PredicateSyntaxError.self) { try parse(text) }
      #expect(
        error?.reason
          == "the strings within functions of constants are too large together; use fewer functions around them")
    }
  }

  @Test func nonFiniteResultsAreNull() throws {
    let (large, ten) = (Value.double(1e308), Value.double(10))
    #expect(ArithmeticOperator.multiply.apply(large, ten) == .null)
    #expect(ArithmeticOperator.subtract.apply(.double(-1.7e308), large) == .null)
    #expect(ArithmeticOperator.divide.apply(large, .double(1e-10)) == .null)
    #expect(GraphPredicate.Aggregate.sum.value(of: [large, large], type: .double) == .null)
    // The same for predicates that are simplified while they are read.
    #expect(try parse("x < 1e308 * 10") == parse("x < NULL"))
    let error = #expect(throws: PredicateSyntaxError.self) { try parse("x < power(0, -1)") }
    #expect(error?.reason == "power() has no value for this")
  }

  @Test func foldingIgnoresCaseAndMarks() {
    #expect("ÉCOLE".folded([.caseInsensitive, .diacriticInsensitive]) == "ecole")
    #expect("École".folded(.caseInsensitive) == "école")
    #expect("Don't stop-me, naïve".words == ["don", "t", "stop", "me", "naive"])
  }

  @Test func wildcardsMatchInLinearTime() throws {
    let model = try Fixtures.stickies()
    let note = try #require(model.entity(named: "Note"))
    let predicate = try parse("text LIKE \"" + String(repeating: "*a", count: 200) + "*b\"")
    var image = ObjectImage(
      id: .temporary(1, entity: note.number), revision: 1, values: Array(repeating: .null, count: note.slotCount))
    image[try #require(note.property(named: "text"))] = .string(String(repeating: "a", count: 20_000))
    #expect(!PredicateEvaluator(predicate, model: model).matches(image))
  }
}
