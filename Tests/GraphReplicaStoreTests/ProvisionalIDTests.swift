import GraphModel
import GraphStore
import Testing

@Suite struct ProvisionalIDTests {
  @Test func idNamesItsEditAndPlace() {
    for (number, place) in [(Int64(1), UInt64(1)), (41, 3), (1 << 41, (1 << 20) - 1)] {
      let id = ProvisionalID.make(number: number, place: place, entity: 2)
      #expect(!id.isTemporary)
      let parts = ProvisionalID.parts(of: id)
      #expect(parts?.number == number && parts?.place == place)
      #expect(UniqueID(id.key.description) == id.key)
    }
  }

  @Test func idsOfServersAreNotProvisional() {
    // The high half of a server's id has the microseconds of the commit.
    for time in [UInt64(0), 1_700_000_000_000_000, 4_102_444_800_000_000] {
      let id = ObjectID(key: UniqueID(high: time << 8 | 1, low: 7), entity: 1)
      #expect(ProvisionalID.parts(of: id) == nil)
    }
  }

  @Test func numbersReadAsPlusAndCount() {
    #expect(ProvisionalNumber.text(ProvisionalNumber.base + 1) == "+1")
    #expect(ProvisionalNumber.text(ProvisionalNumber.base) == nil)
    #expect(ProvisionalNumber.text(7) == nil)
    #expect(ProvisionalNumber.number("+12") == ProvisionalNumber.base + 12)
    for text in ["", "+", "12", "+0", "+x", "+-1", "+99999999999999999999"] {
      #expect(ProvisionalNumber.number(text) == nil)
    }
  }
}
