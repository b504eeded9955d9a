import GraphModel
import GraphTesting
import Testing

/// Arithmetic, functions and dates, and the parser's messages about invalid ones.
@Suite struct ExpressionTests {
  private func predicate(_ text: String, _ arguments: [String: JSON] = [:]) throws -> GraphPredicate {
    let model = try Fixtures.company()
    return try GraphPredicate(
      parsing: text, entity: try #require(model.entity(named: "Person")), model: model, arguments: arguments)
  }

  private func holds(_ text: String, _ values: [String: Value], now: Timestamp? = nil) throws -> Bool {
    let model = try Fixtures.company()
    let person = try #require(model.entity(named: "Person"))
    var image = ObjectImage(id: .temporary(1, entity: person.number), revision: 1, values: person.initialValues)
    for (name, value) in values { image[try #require(person.property(named: name))] = value }
    let predicate = try GraphPredicate(parsing: text, entity: person, model: model).bound(now: now)
    return PredicateEvaluator(predicate, model: model).matches(image)
  }

  @Test(arguments: [
    "age * 2 == 14", "age + 0.5 > 7.4", "-age < 0", "age / 2 == 3", "(age + 1) * (age - 1) == 48", "age / 0 == NULL",
    "salary * 3 == \"31.5\"", "salary / 4 == \"2.625\"", "salary > age", "abs(0 - age) == 7", "modulus(age, 4) == 3",
    "length(name) == 4", "uppercase(name) == \"ZOË!\"", "canonical(name) == \"zoe!\"",
    "concat(name, \"x\") ENDSWITH \"!x\"",
    "sqrt(age + 2) == 3", "power(2, age) == 128", "round(score) == 3", "string(age) == \"7\"", "integer(score) == 2",
    "ifNull(bio, \"none\") == \"none\"", "ifNull(age, 3) == 7", "oneOf(name, \"a\", \"b\", \"c\") == \"a\"",
    "oneOf(name, NULL, \"b\") == NULL", "oneOf(name, \"a\", \"Zoë!\") == name", "oneOf(bio, \"a\", \"b\") == NULL",
    "trimmed(\"  a \") != name", "7 == age", "8 > age",
    "age IN {1, age}", "age BETWEEN {age - 1, age + 1}", "name MATCHES[cd] \"z.e!\"", "NOT (name MATCHES \"z\")",
  ])
  func trueExpressionsEvaluateToTrue(text: String) throws {
    let values: [String: Value] = [
      "age": .integer(7), "name": .string("Zoë!"), "score": .double(2.5),
      "salary": .decimal(try #require(DecimalValue("10.5"))),
    ]
    #expect(try holds(text, values), "\(text)")
  }

  @Test func trimmedRemovesWhiteSpaceOfAllScriptsAtBothEndsOnly() {
    for (text, trimmed) in [
      ("", ""), (" \t\r\n", ""), ("a", "a"), (" a b\u{A0}", "a b"), ("\u{3000}日 本\u{2028}", "日 本"),
      ("\u{301}a ", "\u{301}a"), (" \u{200B} ", "\u{200B}"), (String(repeating: " ", count: 100_000) + "x", "x"),
    ] { #expect(GraphFunction.trimmed.apply([.string(text)]) == .string(trimmed)) }
  }

  @Test func concatOfTooMuchTextIsNull() {
    let half = String(repeating: "a", count: 1 << 23)
    let whole = GraphFunction.concat.apply([.string(half), .string(half)])
    #expect(whole.stringValue?.utf8.count == 1 << 24)
    #expect(GraphFunction.concat.apply([whole, .string("a")]) == .null)
    #expect(GraphFunction.concat.apply([whole, .string("")]) == whole)
  }

  @Test func functionsOfDecimalsAreExact() throws {
    for (number, text) in [
      ("99999999999999999999.99", "floor(salary) == 99999999999999999999"),
      ("99999999999999999999.99", "ceiling(salary) == 100000000000000000000"),
      ("99999999999999999999.99", "integer(salary) == NULL"),
      ("12345678901234567.89", "integer(salary) == 12345678901234567"),
      ("9007199254740993.25", "integer(salary) == 9007199254740993"), ("2.50", "round(salary) == 3"),
      ("-2.5", "round(salary) == -3 AND trunc(salary) == -2 AND floor(salary) == -3 AND ceiling(salary) == -2"),
      ("2.5", "string(floor(salary) + 0.1) == \"2.1\""), ("0.04", "round(salary) == 0 AND ceiling(salary) == 1"),
      ("12.75", "modulus(salary, 5) == 2.75"), ("-12.75", "modulus(salary, 0.5) == -0.25"),
      ("5", "modulus(7.25, salary) == 2.25"),
      ("5", "modulus(salary, 0) == NULL"), ("1e40", "modulus(salary, 3) == NULL"),
    ] {
      #expect(try holds(text, ["salary": .decimal(try #require(DecimalValue(number)))]), "\(text) of \(number)")
    }
  }

  /// A number beside a decimal is read digit by digit, also where no double has it.
  @Test func decimalsAreWrittenWithoutQuotes() throws {
    let salary = Value.decimal(try #require(DecimalValue("99999999999999999999.99")))
    for text in [
      "salary == 99999999999999999999.99", "99999999999999999999.99 == salary", "salary > 99999999999999999999.98",
      "salary IN {1, 99999999999999999999.99}", "salary BETWEEN {99999999999999999999.99, 100000000000000000000}",
      "salary - 0.01 == 99999999999999999999.98", "salary != -99999999999999999999.99",
      "salary + 99999999999999999999.99 == 199999999999999999999.98",
    ] {
      #expect(try holds(text, ["salary": salary]), "\(text)")
    }
    #expect(try !holds("salary == 99999999999999999999.98", ["salary": salary]))
    // A value that no column could hold is not rounded to one that exists.
    let long = "0." + String(repeating: "1", count: 39)
    for text in ["salary < \(long)", "salary IN {1, \(long)}", "salary + \(long) > 1"] {
      let error = #expect(throws: PredicateSyntaxError.self) { try predicate(text) }
      #expect(error?.reason == "a decimal has at most 38 digits", "\(text)")
    }
    let error = #expect(throws: PredicateSyntaxError.self) { try predicate("age < 9007199254740992.4") }
    #expect(error?.reason.hasPrefix("a number with this many digits must be a decimal") == true)
    #expect(try holds("age < decimal(\"7.1\") AND age > 6.5", ["age": .integer(7)]))
  }

  @Test func enumerationLimitAppliesToListOfNames() throws {
    let names = (0...1_000).map { "\"n\($0)\"" }
    func text(_ count: Int) -> String {
      "oneOf(name, \"a\", \(names.prefix(count).joined(separator: ", "))) == \"a\""
    }
    #expect(try holds(text(1_000), ["name": .string("n1000")]))
    #expect(try !holds(text(1_000), ["name": .string("n999")]))
    #expect(throws: PredicateSyntaxError.self) { try predicate(text(1_001)) }
  }

  @Test func datesAreCalculatedWithDurations() throws {
    let model = try Fixtures.stickies()
    let note = try #require(model.entity(named: "Note"))
    var image = ObjectImage(id: .temporary(1, entity: note.number), revision: 1, values: note.initialValues)
    let created = try #require(RFC3339.timestamp("2026-11-21T23:30:15Z"))
    image[try #require(note.property(named: "created"))] = .date(created)
    let now = try #require(RFC3339.timestamp("2026-11-24T00:00:00Z"))
    for text in [
      "created > now() - days(3)", "created < now() - days(2)", "now() - created < days(2.1)",
      "created + hours(1) > date(\"2026-11-22\")",
      "year(created) == 2026 AND month(created) == 11 AND day(created) == 21",
      "weekday(created) == 7", "hour(created) == 23 AND minute(created) == 30 AND second(created) == 15",
      "startOfDay(created) == \"2026-11-21\"", "created BETWEEN {now() - weeks(1), now()}",
      "(now() - created) / 2 > days(1)",
    ] {
      let predicate = try GraphPredicate(parsing: text, entity: note, model: model)
      #expect(PredicateEvaluator(predicate.bound(now: now), model: model).matches(image), "\(text)")
      for form in [predicate, predicate.bound(now: now)] {
        let again = try GraphPredicate(parsing: form.text(in: model), entity: note, model: model)
        #expect(again == form, "\(form.text(in: model))")
      }
    }
  }

  /// The canonical text crosses the wire: it names the type of every constant.
  @Test(arguments: [
    "born - hired + days(1) > days(30)", "days(2) < born - hired", "days(2) * age > born - hired",
    "(born - hired) * 2 - hours(1) < days(3) / 2", "ifNull(born - hired, days(1)) > days(3)",
    "days(2) IN {born - hired, days(age)}", "ifNull(born - hired, days(1)) IN {days(2), NULL}",
    "now() - days(1) < born", "now() BETWEEN {born, hired}", "now() - born + days(1) > hours(1)",
    "born + (days(1) - (now() - hired)) > now()", "abs(5) < age", "lowercase(\"N\") == name",
    "home == lowercase(\"NO URI\")", "level IN {lowercase(\"SENIOR\"), lowercase(\"BOSS\")}",
    "reports.@count == double(2)", "age + 1 IN {double(2), 3}", "decimal(\"2.5\") < salary * 2",
    "oneOf(\"a\", NULL, \"b\") LIKE[c] \"b*\"", "oneOf(\"a\", NULL, \"b\") BETWEEN {\"a\", lowercase(\"B\")}",
  ])
  func predicateTextRoundTrips(text: String) throws {
    let model = try Fixtures.company()
    let form = try predicate(text)
    for form in [form, form.bound(now: 1_700_000_000_123_456)] {
      let again = form.text(in: model)
      #expect((try? predicate(again)) == form, "\(again)")
    }
  }

  /// Indexes of the store and of live queries use this form.
  @Test func constantIsMovedToTheRight() throws {
    #expect(try predicate("abs(5) < age") == predicate("age > 5"))
    #expect(
      try predicate("now() - days(1) <= born").bound(now: 86_400_000_000) == predicate("born >= date(\"1970-01-01\")"))
    #expect(try predicate("\"abc\" CONTAINS name").text(in: Fixtures.company()) == "\"abc\" CONTAINS name")
  }

  /// A sum that does not fit into 64 bits is a fraction, and one of a list if it has the same value.
  @Test func largeNumbersAreComparedByValue() throws {
    #expect(try holds("age * 4611686018427387904 IN {age * 4611686018427387904}", ["age": .integer(2)]))
    #expect(try holds("4611686018427387904 * 2 - age IN {9223372036854774784}", ["age": .integer(1024)]))
  }

  @Test(arguments: [
    ("age + name > 3", 5), ("lowercase(age) == \"a\"", 1), ("nonsense(age) == 3", 1), ("power(age) == 3", 1),
    ("age > days(3)", 7), ("name == 3", 9), ("reports.@sum.name > 3", 1), ("reports.@median.age > 3", 1),
    ("reports.@count.age > 3", 1), ("SUBQUERY(manager, $x, $x.age > 3).@count > 1", 10),
    ("SUBQUERY(reports, x, age > 3).@count > 1", 19), ("SUBQUERY(reports, $x, $y.age > 3).@count > 1", 23),
    ("SUBQUERY(reports, $x, $x.age > 3) > 1", 35), ("name MATCHES \"(\"", 14), ("age == $limit", 8),
    ("ANY reports.age + 1 > 2", 17), ("age == date(\"soon\")", 8), ("badge > age", 9), ("age == (3", 10),
  ])
  func errorReportsItsPosition(text: String, column: Int) throws {
    let error = #expect(throws: PredicateSyntaxError.self) { try predicate(text) }
    #expect(error?.column == column, "\(error?.description ?? "")")
  }

  @Test(arguments: [
    ("concat(name) == \"a\"", "concat() takes 2 to 20 arguments, not 1"),
    (
      "concat(\(Array(repeating: "name", count: 21).joined(separator: ","))) == \"a\"",
      "takes 2 to 20 arguments, not 21"
    ),
    ("oneOf(name, \"a\") == \"a\"", "oneOf() takes 3 to 1002 arguments, not 2"),
    ("days() > days(1)", "takes 1 argument, not 0"),
    ("concat(name, age) == \"a\"", "takes text, but argument 2 is a whole number: use string() to convert it"),
    ("oneOf(name, \"a\", 1) == \"a\"", "takes text, but argument 3 is a whole number"),
    ("age > -days(1)", "a duration has no sign: write days(-1)"),
    ("now() + -(days(1) + hours(2)) > now()", "a duration has no sign"),
  ])
  func errorInCallReportsExpectedArguments(text: String, expected: String) {
    let error = #expect(throws: PredicateSyntaxError.self) { try predicate(text) }
    #expect(error?.description.contains(expected) == true, "\(error?.description ?? "")")
  }

  @Test func variablesAreReplacedByValues() throws {
    #expect(try predicate("age > $limit", ["limit": .integer(5)]) == predicate("age > 5"))
    #expect(try predicate("age IN $ages", ["ages": .array([.integer(1), .integer(2)])]) == predicate("age IN {1, 2}"))
    #expect(throws: PredicateSyntaxError.self) { try predicate("age > $limit", ["other": .integer(5)]) }
    #expect(throws: PredicateSyntaxError.self) { try predicate("age > $limit", ["limit": .string("many")]) }
  }

  /// Every legal expression crosses the wire; an illegal one is refused before any stack is deep.
  @Test func variableCanBeTheRangeOfBetween() throws {
    let range = JSON.array([.integer(20), .integer(30)])
    #expect(try predicate("age BETWEEN $range", ["range": range]) == predicate("age BETWEEN {20, 30}"))
    for (value, message) in [
      (JSON.array([.integer(20)]), "BETWEEN takes {low, high}"), (.integer(20), "$range needs a list as its value"),
    ] {
      let mistake = #expect(throws: PredicateSyntaxError.self) { try predicate("age BETWEEN $range", ["range": value]) }
      #expect(mistake?.reason == message)
    }
    let missing = #expect(throws: PredicateSyntaxError.self) {
      try predicate("age BETWEEN $range", ["other": .integer(1)])
    }
    #expect(missing?.reason == "$range has no value; it needs a list")
  }

  @Test(arguments: [("(", ")", 200, 202), ("abs(", ")", 200, 805), ("-", "", 200, 202)])
  func nestingLimitReportsFirstExcessiveColumn(
    opening: String, closing: String, most: Int, column: Int
  ) throws {
    let model = try Fixtures.company()
    func nested(_ count: Int) -> String {
      String(repeating: opening, count: count) + "age" + String(repeating: closing, count: count) + " > 1"
    }
    for count in [most - 1, most] {
      let form = try predicate(nested(count))
      #expect(try predicate(form.text(in: model)) == form)
    }
    for count in [most + 1, 10_000] {
      let error = #expect(throws: PredicateSyntaxError.self) { try predicate(nested(count)) }
      #expect(error?.description == "column \(column): nested deeper than 200")
    }
  }

  @Test func operationCountIsLimited() throws {
    let model = try Fixtures.company()
    func sum(_ count: Int) -> String { "age" + String(repeating: " + age", count: count) + " > 1" }
    for count in [199, 200] {
      let form = try predicate(sum(count))
      #expect(try predicate(form.text(in: model)) == form)
    }
    for count in [201, 30_000] {
      let error = #expect(throws: PredicateSyntaxError.self) { try predicate(sum(count)) }
      #expect(error?.description == "column 1205: more than 200 operations in one comparison")
    }
  }

  /// Against sums and products of whole numbers that 128 bits hold.
  @Test(arguments: [UInt64(1), 2])
  func decimalsCalculateExactly(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<2_000 {
      let (a, b) = (
        Int64.random(in: -999_999_999...999_999_999, using: &random), Int64.random(in: -99_999...99_999, using: &random)
      )
      let shift = Int.random(in: 0...9, using: &random)
      let left = try #require(DecimalValue("\(a)e-\(shift)"))
      let right = try #require(DecimalValue("\(b)"))
      var scaled = Int128(b)
      for _ in 0..<shift { scaled *= 10 }
      #expect(left.adding(right) == DecimalValue("\(Int128(a) + scaled)e-\(shift)"), "\(left) + \(right)")
      #expect(left.multiplied(by: right) == DecimalValue("\(Int128(a) * Int128(b))e-\(shift)"), "\(left) * \(right)")
      if b != 0, let product = left.multiplied(by: right) { #expect(product.divided(by: right) == left) }
    }
    func number(_ text: String) throws -> DecimalValue { try #require(DecimalValue(text)) }
    #expect(try number("1").divided(by: number("3"))?.description == "0." + String(repeating: "3", count: 38))
    #expect(try number("2").divided(by: number("3"))?.description.hasSuffix("67") == true)
    #expect(try number("1").divided(by: number("0")) == nil)
    #expect(try number("1e100").adding(number("1")) == number("1e100"))
  }
}

/// Sums do not depend on the order of the values.
@Suite struct SumTests {
  @Test func integersAreSummedExactlyInAnyOrder() {
    let values: [Value] = [.integer(.max), .integer(1), .integer(-5)]
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
      let sum = GraphPredicate.Aggregate.sum.value(of: order.map { values[$0] }, type: .integer)
      #expect(sum == .integer(.max - 4))
    }
    let large = GraphPredicate.Aggregate.sum.value(of: [.integer(.max), .integer(.max)], type: .integer)
    #expect(large == .double(0x1p64))
    // One that was calculated and did not fit counts like the others.
    let mixed = GraphPredicate.Aggregate.sum.value(of: [.integer(1), .double(0x1p64), .integer(2)], type: .integer)
    #expect(mixed == .double(0x1p64))
  }

  @Test func absoluteValueOfMinimumIsDefined() {
    #expect(GraphFunction.abs.apply([.integer(.min)]) == .double(0x1p63))
    #expect(GraphFunction.abs.apply([.integer(.min + 1)]) == .integer(.max))
  }
}
