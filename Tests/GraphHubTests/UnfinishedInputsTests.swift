import GraphHub
import Testing

/// The choice of the inputs that end when the incomplete ones are too large.
@Suite struct UnfinishedInputsTests {
  private var inputs = UnfinishedInputs<Int, String>(limit: 1_000, guaranteed: 100)

  /// Ends inputs until they have space.
  private mutating func ended() -> [Int] {
    var ended = [Int]()
    while let next = inputs.inputToEnd {
      inputs.discard(next)
      ended.append(next)
    }
    return ended
  }

  @Test mutating func inputsOfSenderWithMostBytesEndFirst() {
    inputs.receive(300, of: 1, from: "ben", at: 1)
    inputs.receive(350, of: 2, from: "ann", at: 2)
    inputs.receive(350, of: 3, from: "ann", at: 3)
    #expect(ended() == [])
    inputs.receive(301, of: 1, from: "ben", at: 4)
    #expect(ended() == [2])
    // The totals are those of the remaining inputs.
    inputs.receive(500, of: 4, from: "ben", at: 5)
    #expect(ended() == [1])
    #expect(Set(inputs.ids) == [3, 4])
  }

  @Test mutating func oldestInputOfSenderEndsFirst() {
    inputs.receive(400, of: 2, from: "ann", at: 1)
    inputs.receive(400, of: 1, from: "ann", at: 1)
    inputs.receive(400, of: 3, from: "ann", at: 0)
    // A later part of an input does not make it younger; a pause of the server does.
    inputs.receive(401, of: 3, from: "ann", at: 9)
    #expect(inputs.inputToEnd == 3)
    inputs.restart(3, at: 2)
    #expect(inputs.inputToEnd == 1)
  }

  @Test mutating func smallInputsAreExemptAndCounted() {
    for id in 1...20 { inputs.receive(100, of: id, from: "ann", at: 1) }
    #expect(ended() == [])
    inputs.receive(101, of: 21, from: "ben", at: 2)
    #expect(ended() == [21])
  }

  @Test mutating func senderOfAnInputCanBecomeKnown() {
    inputs.receive(100, of: 1, from: "", at: 1)
    inputs.receive(600, of: 1, from: "ann", at: 1)
    inputs.receive(500, of: 2, from: "ben", at: 0)
    #expect(ended() == [1])
  }

  @Test(arguments: [0, 1]) mutating func limitIsInclusive(excess: Int) {
    inputs.receive(500, of: 1, from: "ann", at: 1)
    inputs.receive(500 + excess, of: 2, from: "ann", at: 2)
    #expect(ended() == (excess == 0 ? [] : [1]))
    // Completed inputs, and those of closed connections, leave the total.
    inputs.receive(0, of: 2, from: "ann", at: 3)
    inputs.discard(1)
    inputs.discard(1)
    #expect(inputs.ids.isEmpty && inputs.part(of: 2) == nil)
    inputs.receive(1_000, of: 3, from: "ann", at: 4)
    #expect(ended() == [])
    #expect(inputs.part(of: 3).map { [Int64($0.bytes), $0.since] } == [1_000, 4])
  }
}
