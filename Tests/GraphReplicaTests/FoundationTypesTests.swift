import Foundation
import GraphModel
import GraphReplica
import GraphTesting
import Testing

/// The types of Foundation by which generated classes represent attributes.
@Suite struct FoundationTypesTests {
  @Test func uuidHasTheBytesOfTheID() throws {
    let id = UniqueID(high: 0x0123_4567_89AB_CDEF, low: 0xFEDC_BA98_7654_3210)
    #expect(UUID(id).uuidString == "01234567-89AB-CDEF-FEDC-BA9876543210")
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<1_000 {
      let id = UniqueID(high: generator.next(), low: generator.next())
      #expect(UUID(id).uniqueID == id)
    }
    #expect(UUID(Value.uuid(id)) == UUID(id) && UUID(Value.null) == nil && UUID(id).attributeValue == .uuid(id))
  }

  @Test(arguments: [
    "0", "640.00", "-12.5", "99999999999999999999999999999999999999", "-1e-38", "1e100", "1e-100", "0.1",
    "12345678901234567890123456789012345678e89",
  ])
  func decimalIsExact(text: String) throws {
    let number = try #require(DecimalValue(text))
    #expect(Decimal(number).decimalValue == number)
    #expect(Decimal(Value.decimal(number))?.attributeValue == .decimal(number))
  }

  @Test func decimalBeyondFoundationIsNotANumber() throws {
    for text in ["1e200", "1e-200"] {
      let number = try #require(DecimalValue(text))
      #expect(Decimal(number).isNaN)
    }
    #expect(Decimal.nan.decimalValue == nil && Decimal.nan.attributeValue == .null)
    let tenth = try #require(DecimalValue("0.1"))
    #expect(Decimal(string: "0.1") == Decimal(tenth))
  }

  @Test func dataAndLinksAreRepresented() {
    #expect(Data(Value.data([1, 2])) == Data([1, 2] as [UInt8]))
    #expect(Data([1, 2] as [UInt8]).attributeValue == .data([1, 2]))
    #expect(URL(Value.string("https://a.example/b"))?.attributeValue == .string("https://a.example/b"))
    #expect(URL(Value.null) == nil && Data(Value.null) == nil && Date(Value.integer(1)) == nil)
  }

  @Test func valuesConvertToTypesOfSwift() {
    let id = ObjectID(key: UniqueID(high: 1, low: 2), entity: 3)
    #expect(Bool(Value.bool(true)) == true && Int(Value.integer(-5)) == -5 && Double(Value.double(0.5)) == 0.5)
    #expect(String(Value.string("a")) == "a" && ObjectID(Value.object(id)) == id)
    #expect(Size(Value.string("large")) == .large && Size(Value.string("huge")) == nil)
    // Null and values of other kinds are nil, and no conversion.
    let others: [Value] = [.null, .date(1), .objects([id])]
    for value in others {
      #expect(Bool(value) == nil && Int(value) == nil && Double(value) == nil && String(value) == nil)
      #expect(ObjectID(value) == nil && Size(value) == nil)
    }
    #expect(Double(Value.integer(1)) == nil && Int(Value.double(1)) == nil && Int(Value.string("1")) == nil)
  }

  private enum Size: String, EnumeratedValue { case small, large }

  @Test func representationThatIsWrittenBackKeepsTheStoredValue() throws {
    let script = try ReplicaTranscript(Fixtures.company(), entity: "Person")
    let (home, salary) = (try script.number("home"), try script.number("salary"))
    // URL writes it with escapes, and Decimal has no such exponent.
    let link = Value.string("https://a.example/ü")
    let number = Value.decimal(try #require(DecimalValue("1e200")))
    let person = try ReplicaTests.following(script, [script.image(5, 1, ["home": link, "salary": number])])
    let (address, pay) = (URL(person.value(home)), Decimal(person.value(salary)))
    #expect(address != nil && pay?.isNaN == true)
    person.setValue(address, for: home)
    person.setValue(pay, for: salary)
    #expect(person.value(home) == link && person.value(salary) == number)
    person.setValue(URL(string: "https://b.example"), for: home)
    person.setValue(Decimal(3), for: salary)
    #expect(person.value(home) == .string("https://b.example"))
    #expect(person.value(salary) == .decimal(3))
  }

  @Test func equalRepresentationIsNoChange() throws {
    let script = try ReplicaTranscript(Fixtures.company(), entity: "Person")
    let (born, age) = (try script.number("born"), try script.number("age"))
    let person = try ReplicaTests.following(script, [script.image(5, 1, ["born": .date(7), "age": .integer(3)])])
    person.updateValue(Date(microseconds: 7), for: born)
    person.updateValue(Value.integer(3), for: age)
    #expect(!person.hasChanges)
    person.updateValue(Date(microseconds: 8), for: born)
    person.updateValue(Value.integer(4), for: age)
    #expect(person.value(born) == .date(8) && person.value(age) == .integer(4))
  }
}
