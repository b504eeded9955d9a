import Foundation
import GraphModel
import GraphReplica
import GraphTesting
import Testing

/// Microseconds and dates: a stored time survives a read and a write.
@Suite struct DateExactnessTests {
  private static let reference: Timestamp = 978_307_200_000_000
  /// 272 years: the range in which a Double of seconds distinguishes microseconds.
  private static let exactRange: Timestamp = 272 * 365 * 86_400 * 1_000_000

  @Test func everyMicrosecondOfTheExactRangeIsItsOwnDate() {
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<200_000 {
      let distance = Timestamp.random(in: -Self.exactRange...Self.exactRange, using: &generator)
      let time = Self.reference + distance
      #expect(Date(microseconds: time).microseconds == time)
      if Date(microseconds: time).microseconds != time { return }
    }
    for time: Timestamp in [0, 1, -1, 999_999, -999_999, 1_000_000, -6_000_000_000_000_001, 1_772_323_200_123_457] {
      #expect(Date(microseconds: time).microseconds == time)
      #expect(Date(microseconds: time).microseconds != Date(microseconds: time + 1).microseconds)
    }
  }

  @Test func dateIsTheOneOfFoundation() {
    #expect(Date(microseconds: 0) == Date(timeIntervalSince1970: 0))
    #expect(Date(microseconds: 1_500_000) == Date(timeIntervalSince1970: 1.5))
    #expect(Date(timeIntervalSince1970: -0.25).microseconds == -250_000)
    #expect(Date(timeIntervalSince1970: 1e30).microseconds == .max)
    #expect(Date(timeIntervalSince1970: -1e30).microseconds == .min)
    #expect(Date(timeIntervalSinceReferenceDate: .infinity).microseconds == .max)
  }

  /// Also of times that a Date can't distinguish from their neighbors.
  @Test func dateThatIsWrittenBackKeepsItsMicrosecond() throws {
    let script = try ReplicaTranscript(Fixtures.company(), entity: "Person")
    let born = try script.number("born")
    let person = try ReplicaTests.following(script, [script.image(5, 1)])
    var generator = SystemRandomNumberGenerator()
    let far: [Timestamp] = [.min, .min + 1, .max, .max - 1, 253_402_300_799_999_999, -62_135_596_800_000_001]
    for time in far + (0..<2_000).map({ _ in Timestamp.random(in: .min ... .max, using: &generator) }) {
      person.setValue(Value.date(time), for: born)
      let date = try #require(Date(person.value(born)))
      person.setValue(date, for: born)
      #expect(person.value(born) == .date(time))
      person.updateValue(date, for: born)
      #expect(person.value(born) == .date(time))
    }
    person.setValue(Date(microseconds: 7), for: born)
    #expect(person.value(born) == .date(7))
    person.setValue(nil as Date?, for: born)
    #expect(person.value(born) == .null)
  }
}
