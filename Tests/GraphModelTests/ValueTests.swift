import GraphModel
import GraphTesting
import Testing

@Suite struct ValueTests {
  @Test func idTextBeginsWithLetterAndRoundTrips() throws {
    var random = SeededGenerator(seed: 1)
    for _ in 0..<1_000 {
      let id = UniqueID(high: random.next(), low: random.next())
      let text = id.description
      #expect(text.count == UniqueID.textLength)
      #expect(text.first?.isLetter == true)
      #expect(UniqueID(text) == id)
      for length in 0...26 { #expect(id.hasPrefix(String(text.prefix(length)))) }
    }
    #expect(UniqueID("0000") == nil)
    #expect(UniqueID.range(ofPrefix: "!") == nil)
  }

  @Test(arguments: [
    "0", "1", "-1", "12.5", "-0.001", "100", "99999999999999999999999999999999999999", "0.1", "1e-20", "-1.5e60",
    "1e-6001", "-9.9e5999",
  ])
  func decimalsKeepTheirDigits(text: String) throws {
    let value = try #require(DecimalValue(text))
    #expect(value.description == text)
    #expect(DecimalValue(orderedBytes: value.orderedBytes) == value)
  }

  @Test func decimalBytesSortNumerically() throws {
    var random = SeededGenerator(seed: 2)
    let numbers = (0..<500).map { _ in Int.random(in: -1_000_000...1_000_000, using: &random) }
    for (a, b) in zip(numbers, numbers.dropFirst()) {
      let (x, y) = (try #require(DecimalValue("\(a)e-3")), try #require(DecimalValue("\(b)e-3")))
      #expect((x < y) == (a < b), "\(a) \(b)")
    }
  }

  @Test func sumOfDecimalsIsRoundedOnce() throws {
    func sum(_ numbers: [String]) throws -> String? {
      let values = try numbers.map { Value.decimal(try #require(DecimalValue($0))) }
      guard case .decimal(let sum) = GraphPredicate.Aggregate.sum.value(of: values, type: .decimal) else { return nil }
      return sum.description
    }
    let large = "5" + String(repeating: "0", count: 37)
    #expect(try sum([]) == "0")
    #expect(try sum(["1", "-1"]) == "0")
    #expect(try sum([large, large, "-" + large, "-" + large, "0.1"]) == "0.1")
    #expect(try sum(["1e5999", "1e-6000", "-1e5999"]) == "1e-6000")
    #expect(try sum([String](repeating: "9e5999", count: 12)) == nil)
    // Half to even, of 39 digits.
    let nines = String(repeating: "9", count: 37)
    #expect(try sum([nines + "2", "0.5"]) == nines + "2")
    #expect(try sum([nines + "3", "0.5"]) == nines + "4")
    #expect(try sum(["-" + nines + "2", "-0.5", "-1e-40"]) == "-" + nines + "3")

    // Whole thousandths, of which the oracle has the exact sum.
    var random = SeededGenerator(seed: 11)
    for _ in 0..<300 {
      let numbers = (0..<Int.random(in: 1...40, using: &random)).map { _ in
        Int64.random(in: -(1 << 56)...(1 << 56), using: &random) >> Int64.random(in: 0...50, using: &random)
      }
      #expect(try sum(numbers.map { "\($0)e-3" }) == DecimalValue("\(numbers.reduce(0, +))e-3")?.description)
    }
  }

  @Test func integerPartsAndRemaindersMatchIntegers() throws {
    var random = SeededGenerator(seed: 7)
    for _ in 0..<3_000 {
      let range: Int64 = random.chance(50) ? 20_000 : 1 << 60
      let (a, b) = (Int64.random(in: -range...range, using: &random), Int64.random(in: -range...range, using: &random))
      let (x, y) = (try #require(DecimalValue("\(a)e-3")), try #require(DecimalValue("\(b)e-3")))
      func whole(_ rule: FloatingPointRoundingRule) throws -> Int64 { try #require(x.rounded(rule)?.wholePart) }
      let (quotient, rest) = a.quotientAndRemainder(dividingBy: 1_000)
      #expect(x.wholePart == quotient)
      #expect(try whole(.towardZero) == quotient)
      #expect(try whole(.down) == quotient - (rest < 0 ? 1 : 0))
      #expect(try whole(.up) == quotient + (rest > 0 ? 1 : 0))
      #expect(try whole(.awayFromZero) == quotient + rest.signum())
      #expect(try whole(.toNearestOrAwayFromZero) == quotient + (abs(rest) >= 500 ? rest.signum() : 0))
      let isAway = abs(rest) > 500 || abs(rest) == 500 && quotient % 2 != 0
      #expect(try whole(.toNearestOrEven) == quotient + (isAway ? rest.signum() : 0))
      #expect(x.remainder(dividingBy: y) == (b == 0 ? nil : DecimalValue("\(a % b)e-3")), "\(x) by \(y)")
    }
    for (text, whole) in [
      ("9223372036854775807.9", Int64.max), ("9223372036854775808", nil), ("-9223372036854775808.5", .min),
      ("-9223372036854775809", nil), ("1e5000", nil), ("1e-5000", 0), ("0", 0), ("-0.9", 0),
    ] { #expect(try #require(DecimalValue(text)).wholePart == whole, "\(text)") }
    let nines = try #require(DecimalValue(String(repeating: "9", count: 37) + ".9"))
    #expect(nines.rounded(.up) == DecimalValue("1e37"))
  }

  @Test(arguments: [
    "", "-", ".", "1e", "1e6000000", "1e6001", "1e-9223372036854775808", "x", "1.2.3",
    "100000000000000000000000000000000000000001",
  ])
  func invalidDecimalIsRefused(text: String) { #expect(DecimalValue(text) == nil) }

  @Test(arguments: [
    ("1970-01-01T00:00:00.000000Z", 0), ("2000-02-29T12:34:56.789012Z", 951_827_696_789_012),
    ("1969-12-31T23:59:59.999999Z", -1), ("0001-01-01T00:00:00.000000Z", -62_135_596_800_000_000),
    ("9999-12-31T23:59:59.999999Z", 253_402_300_799_999_999),
  ])
  func datesRoundTrip(text: String, time: Int64) {
    #expect(RFC3339.timestamp(text) == time)
    #expect(RFC3339.text(time) == text)
  }

  @Test func datesAreParsedWithAndWithoutOffsets() {
    #expect(RFC3339.timestamp("2026-11-21") == RFC3339.timestamp("2026-11-21T00:00:00Z"))
    #expect(RFC3339.timestamp("2026-11-21T01:30:00+01:30") == RFC3339.timestamp("2026-11-21"))
    for bad in ["2026-02-30", "2026-13-01", "2026-11-21T25:00:00Z", "2026-11-21T10:00:00", "x"] {
      #expect(RFC3339.timestamp(bad) == nil, "\(bad)")
    }
  }

  @Test func jsonPreservesOrderAndIntegers() throws {
    let text = #"{"b":1,"a":[true,null,-9007199254740993,1.5],"c":"é\n\"\u0001"}"#
    #expect(try JSON(parsing: text).text == text)
  }

  @Test(arguments: [
    "-0", "0.10", "1.0", "1e2", "1E+2", "12345678901234567890", "-9223372036854775809",
    "3.14159265358979323846264338327950",
    "0.1", "5", "1e400", "[1.50,{\"n\":-0.0}]", "9223372036854775807", "0.30000000000000004",
  ])
  func numbersKeepTheirText(text: String) throws { #expect(try JSON(parsing: text).text == text) }

  @Test func numberOutsideDocumentIsParsedByValue() throws {
    func value(_ text: String, _ kind: Attribute.Kind) throws -> Value? {
      Value(json: try JSON(parsing: text), kind: kind)
    }
    #expect(try value("0.10", .double) == .double(0.1))
    #expect(try value("1.0", .double) == .double(1))
    #expect(try value("1e400", .double) == nil)
    #expect(try value("-0", .integer) == .integer(0))
    #expect(try value("1.0", .integer) == .integer(1))
    #expect(try value("-5.80e1", .integer) == .integer(-58))
    #expect(try value("0e9", .integer) == .integer(0))
    #expect(try value("9007199254740993.0", .integer) == .integer(9_007_199_254_740_993))
    #expect(try value("9223372036854775807.0", .integer) == .integer(.max))
    for text in ["1.5", "1e-1", "1e19", "9223372036854775808.0", "1e400", "\"1\"", "true"] {
      #expect(try value(text, .integer) == nil, "\(text)")
    }
    #expect(try value("-0", .decimal) == .decimal(0))
    #expect(try value("0.10", .json) == .string("0.10"))
    #expect(try JSON(parsing: "12345678901234567890").doubleValue == 12345678901234567168)
  }

  @Test func jsonNamesAndStringsCompareByBytes() throws {
    let (one, two) = ("{\"\u{E9}\":1}", "{\"e\u{301}\":1}")
    #expect(try JSON(parsing: one) != JSON(parsing: two))
    #expect(try JSON(parsing: one)["e\u{301}"] == nil)
    let both = "{\"\u{E9}\":1,\"e\u{301}\":2}"
    let json = try JSON(parsing: both)
    #expect(Array(json.text.utf8) == Array(both.utf8))
    #expect(json["\u{E9}"] == .integer(1))
    #expect(json["e\u{301}"] == .integer(2))
    #expect(Set([try JSON(parsing: one), try JSON(parsing: two)]).count == 2)
    #expect(JSON.string("\u{E9}") != JSON.string("e\u{301}"))
  }

  /// The sign for kelvin is a K to `String`, and is three bytes.
  @Test func caseNamesCompareByBytes() throws {
    #expect(Value(json: .string("\u{212A}"), kind: .enumeration, cases: ["K"]) == nil)
    #expect(Value(json: .string("K"), kind: .enumeration, cases: ["K"]) == .string("K"))
  }

  @Test(arguments: [
    "", "{", "[1,]", #"{"a":1,"a":2}"#, "01", "1.", "\"\\x\"", "\"\\ud800\"", "nul", "[1] 2", "\u{1}", "1.e5", "1e",
    "1e+", "--1", "-", "1-2", "-01", "+1", "1.2.3",
  ])
  func invalidJSONIsRefused(text: String) { #expect(throws: JSON.ParseError.self) { try JSON(parsing: text) } }

  @Test func deepJSONDoesNotOverflowStack() {
    let deep = String(repeating: "[", count: 100_000)
    #expect(throws: JSON.ParseError.self) { try JSON(parsing: deep) }
  }

  @Test(arguments: [("[", "]"), ("{\"a\":", "}")]) func jsonNestingIsLimited(opening: String, closing: String) throws {
    func nested(_ count: Int, around innermost: String) -> String {
      String(repeating: opening, count: count) + innermost + String(repeating: closing, count: count)
    }
    let limit = JSON.maximumDepth
    for innermost in ["1", "[]", "{}"] {
      let own = innermost == "1" ? 0 : 1
      for count in [limit - 1, limit] {
        #expect(throws: Never.self) { try JSON(parsing: nested(count - own, around: innermost)) }
      }
      let error = #expect(throws: JSON.ParseError.self) {
        try JSON(parsing: nested(limit + 1 - own, around: innermost))
      }
      #expect(error?.column == opening.utf8.count * limit + 1 && error?.reason == "nested deeper than 128")
    }
  }

  @Test func envelopeContainsDocumentsOfTheMaximumDepth() throws {
    func nested(_ count: Int) -> String {
      String(repeating: "[", count: count) + String(repeating: "]", count: count)
    }
    let limit = JSON.maximumDepth
    for (count, isDocument) in [(limit - 1, true), (limit, true), (limit + 1, false)] {
      let line = try JSON(parsingEnvelope: #"{"document":\#(nested(count))}"#.utf8)
      let document = try #require(line["document"])
      #expect(document.depth == count)
      #expect((Value(json: document, kind: .json) == .string(nested(count))) == isDocument)
    }
    let highest = limit + JSON.envelopeLevels
    #expect(try JSON(parsingEnvelope: nested(highest).utf8).depth == highest)
    let error = #expect(throws: JSON.ParseError.self) { try JSON(parsingEnvelope: nested(highest + 1).utf8) }
    #expect(error?.reason == "nested deeper than \(highest)")
  }

  @Test func decimalTextExcludesOtherForms() {
    for (text, number) in [("16", 16.0), ("-.5", -0.5), ("1e3", 1_000), ("+2.5E-1", 0.25)] {
      #expect(Double(decimal: text) == number, "\(text)")
    }
    for text in ["", "0x10", "0x1p4", "inf", "-infinity", "nan", "1e999", " 1", "1 ", "1,5", "e"] {
      #expect(Double(decimal: text) == nil, "\(text)")
    }
  }

  @Test func base64RoundTrips() {
    var random = SeededGenerator(seed: 3)
    for length in 0..<40 {
      let bytes = (0..<length).map { _ in UInt8.random(in: 0...255, using: &random) }
      #expect(Base64.bytes(Base64.text(bytes)) == bytes)
    }
    #expect(Base64.bytes("a") == nil)
  }

  @Test func stringsCompareByBytes() {
    #expect(Value.string("é") != Value.string("e\u{301}"))
    #expect(Value.order(.string("Z"), .string("a")) == .ascending)
    #expect(Value.order(.null, .string("")) == .ascending)
  }

  @Test func everyValueHasOneBinaryForm() throws {
    let id = ObjectID(key: UniqueID(high: 7, low: 9), entity: 3)
    let values: [Value] = [
      .null, .bool(false), .bool(true), .integer(.min), .integer(.max), .integer(0), .double(0), .double(-1.5e300),
      .decimal(try #require(DecimalValue("-12.5"))), .string(""), .string("a\u{0}b🎈"), .date(-1), .uuid(id.key),
      .data([]), .data([0, 255]), .object(id), .objects([]), .objects([id]),
    ]
    for value in values { #expect(try Value(binary: value.binary) == value) }
  }
}
