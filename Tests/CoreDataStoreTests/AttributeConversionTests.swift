import GraphModel
import GraphTesting
import Testing

@testable import CoreDataStore

/// Values of columns are converted to values of attributes exactly, or are refused.
@Suite struct AttributeConversionTests {
  private static let model = """
    {"format": 1, "name": "Types", "version": 1,
     "enumerations": [{"name": "Color", "cases": ["red", "blue"]}],
     "entities": [{"name": "Thing", "attributes": [
      {"name": "bool", "type": "bool", "optional": true}, {"name": "integer", "type": "integer", "optional": true},
      {"name": "double", "type": "double", "optional": true}, {"name": "decimal", "type": "decimal", "optional": true},
      {"name": "string", "type": "string", "optional": true}, {"name": "date", "type": "date", "optional": true},
      {"name": "uuid", "type": "uuid", "optional": true}, {"name": "data", "type": "data", "optional": true},
      {"name": "uri", "type": "uri", "optional": true}, {"name": "text", "type": "text", "optional": true},
      {"name": "color", "type": "enumeration", "enumeration": "Color", "optional": true}]}]}
    """

  private let entity: Entity

  init() throws { entity = try #require(try Model(parsing: Self.model.utf8).entity(named: "Thing")) }

  private func convert(_ stored: StoreValue, _ name: String) throws -> Value {
    let property = try #require(entity.property(named: name))
    let attribute = try #require(property.attribute)
    return try AttributeConversion.value(stored, attribute)
  }

  private func reason(_ stored: StoreValue, _ name: String) throws -> String {
    let failure = #expect(throws: AttributeConversion.Failure.self) { try convert(stored, name) }
    return try #require(failure).reason
  }

  private func text(_ text: String) -> StoreValue { .text(Array(text.utf8)) }

  @Test func valueOfTheTypeIsTaken() throws {
    #expect(try convert(.integer(1), "bool") == .bool(true))
    #expect(try convert(.integer(0), "bool") == .bool(false))
    #expect(try convert(.integer(.min), "integer") == .integer(.min))
    #expect(try convert(.real(3), "integer") == .integer(3))
    #expect(try convert(.integer(3), "double") == .double(3))
    #expect(try convert(.real(0.1), "double") == .double(0.1))
    #expect(try convert(text("a\u{0}b"), "string") == .string("a\u{0}b"))
    #expect(try convert(text(""), "text") == .string(""))
    #expect(try convert(.blob([]), "data") == .data([]))
    #expect(try convert(.blob([1, 2]), "data") == .data([1, 2]))
    #expect(try convert(text("https://example.org/"), "uri") == .string("https://example.org/"))
    #expect(try convert(text("blue"), "color") == .string("blue"))
    let id = UniqueID(high: 0x123E_4567_E89B_12D3, low: 0xA456_4266_1417_4000)
    #expect(try convert(.blob(id.bytes), "uuid") == .uuid(id))
    #expect(try convert(text("123e4567-e89b-12d3-a456-426614174000"), "uuid") == .uuid(id))
    for property in entity.attributes { #expect(try convert(.null, property.name) == .null) }
  }

  @Test func valueOfAnotherTypeIsReported() throws {
    #expect(try reason(.integer(2), "bool") == "2 is not a boolean: 0 or 1 is expected")
    #expect(try reason(.real(1.5), "integer") == "1.5 is not a whole number")
    #expect(try reason(.real(1e300), "integer") == "1e+300 is not a whole number")
    #expect(try reason(.real(.infinity), "double") == "it is infinite")
    #expect(try reason(text("5"), "integer") == "the column has a text, and the attribute is an integer")
    #expect(try reason(.blob([1]), "string") == "the column has bytes, and the attribute is a string")
    #expect(try reason(.integer(1), "data") == "the column has an integer, and the attribute is a data")
    #expect(try reason(.text([0xFF]), "string") == "the text is not valid UTF-8")
    #expect(try reason(.blob([1, 2, 3]), "uuid") == "a UUID has 16 bytes, and this value 3")
    #expect(try reason(text("no scheme"), "uri") == "\"no scheme\" is not a uri")
    #expect(try reason(text("green"), "color") == "\"green\" is not an enumeration")
    #expect(try reason(text("1.2.3"), "decimal") == "\"1.2.3\" is not a decimal")
    #expect(try reason(.blob([1]), "decimal") == "the column has bytes, and the attribute is a decimal")
  }

  @Test func decimalHasDigitsThatSurviveAFloatingPointNumber() throws {
    func decimal(_ stored: StoreValue) throws -> String { try AttributeConversion.decimal(stored).description }
    #expect(try decimal(.real(10.11)) == "10.11")
    #expect(try decimal(.real(3.3333333332999993)) == "3.3333333333")
    #expect(try decimal(.real(-0.1)) == "-0.1")
    #expect(try decimal(.real(1e-30)) == "0.000000000000000000000000000001" || decimal(.real(1e-30)) == "1e-30")
    #expect(try decimal(.real(123456789012345.0)) == "123456789012345")
    #expect(try decimal(.integer(.max)) == "9223372036854775807")
    #expect(try decimal(.text(Array("0.12345678901234567890123456789".utf8))) == "0.12345678901234567890123456789")
  }

  @Test func dateIsTheNearestMicrosecond() throws {
    func date(_ seconds: Double) throws -> Timestamp { try AttributeConversion.date(seconds) }
    #expect(try date(0) == 978_307_200_000_000)
    #expect(try date(-978_307_200) == 0)
    #expect(try date(632_791_365.430915) == 1_611_098_565_430_915)
    #expect(try date(-0.000001) == 978_307_199_999_999)
    #expect(try date(-86_400.5) == 978_220_799_500_000)
    #expect(try date(0.0000004) == 978_307_200_000_000)
    #expect(try date(0.0000006) == 978_307_200_000_001)
    // The next double below half a microsecond, whose product with a million rounds to a half.
    #expect(try date((0.0000005).nextDown) == 978_307_200_000_000)
    #expect(try date(0.9999999) == 978_307_201_000_000)
    // Foundation's distant future, the year 4001.
    #expect(try date(63_113_904_000) == 64_092_211_200_000_000)
    for seconds in [Double.infinity, .nan, 1e18, -1e13] {
      #expect(throws: AttributeConversion.Failure.self) { try date(seconds) }
    }
  }

  /// Foundation's distant past is two days before the year 1.
  @Test func dateOutsideOfYearsHasTheNearestOne() throws {
    func failure(_ value: StoreValue) throws -> AttributeConversion.Failure {
      try #require(throws: AttributeConversion.Failure.self) {
        if case .real(let seconds) = value { return try AttributeConversion.date(seconds) }
        return try AttributeConversion.date(Double(try #require(value.integer)))
      }
    }
    let past = try failure(.real(-63_114_076_800.5))
    #expect(past.nearest == RFC3339.range.lowerBound)
    #expect(
      try failure(.integer(252_423_993_600))
        == AttributeConversion.Failure(
          reason: "the date 252423993600, in seconds since 2001, is outside of the years 0001 to 9999",
          nearest: RFC3339.range.upperBound))
    #expect(
      try failure(.integer(-63_114_076_800)).reason
        == "the date -63114076800 (Date.distantPast), in seconds since 2001, is outside of the years 0001 to 9999")
    #expect(try failure(.real(1e300)).nearest == RFC3339.range.upperBound)
    #expect(try AttributeConversion.date(-63_113_904_000) == RFC3339.range.lowerBound)
    #expect(try failure(.real(.nan)).nearest == nil)
  }

  /// Random dates of microseconds survive the way through seconds as a floating-point number.
  @Test func microsecondsSurviveSeconds() throws {
    var random = SeededGenerator(seed: 7)
    for _ in 0..<10_000 {
      // Between 1930 and 2070 a double is finer than a quarter of a microsecond.
      let time = Int64(bitPattern: random.next()) % 2_200_000_000_000_000
      let seconds = Double(time) / 1_000_000
      #expect(try AttributeConversion.date(seconds) == time + 978_307_200_000_000, "\(time)")
    }
  }
}
