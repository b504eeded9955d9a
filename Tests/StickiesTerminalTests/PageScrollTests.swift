import Testing

@testable import StickiesTerminal

/// The scroll from board to board over time.
@Suite struct PageScrollTests {
  /// The position after so many milliseconds, in frames of `step`, and the end of the scroll.
  private func run(_ scroll: inout PageScroll, from now: inout Int64, by step: Int64, frames: Int = 100) -> [Double] {
    var offsets = [Double]()
    for _ in 0..<frames {
      now += step
      let hasArrived = scroll.advance(at: now)
      offsets.append(scroll.offset)
      if hasArrived { break }
    }
    return offsets
  }

  @Test func scrollReachesNeighborWithoutSkippingFrames() {
    var now: Int64 = 1_000
    var scroll = PageScroll(from: 3, at: now)
    scroll.turn(to: 4, count: 10)
    let offsets = run(&scroll, from: &now, by: 16)
    #expect(offsets.count == 10 && offsets.last == 4 && scroll.page == 4)
    #expect(zip(offsets, offsets.dropFirst()).allSatisfy { $0 < $1 })
    // A machine that is busy for a second shows the whole scroll anyway.
    scroll.turn(to: 3, count: 10)
    let slow = run(&scroll, from: &now, by: 1_000)
    #expect(slow == [3.75, 3.5, 3.25, 3])
  }

  @Test func reversedScrollStartsFromCurrentOffset() {
    var now: Int64 = 0
    var scroll = PageScroll(from: 0, at: now)
    scroll.turn(to: 1, count: 2)
    #expect(run(&scroll, from: &now, by: 40, frames: 2) == [0.25, 0.5])
    scroll.turn(to: 0, count: 2)
    let back = run(&scroll, from: &now, by: 40)
    #expect(back.first == 0.375 && back.last == 0)
    #expect(scroll.page == 0)
  }

  @Test(arguments: [(-1, 0, -PageScroll.overshoot), (2, 1, 1 + PageScroll.overshoot)])
  func overscrollSpringsBack(to goal: Int, end: Int, farthest: Double) {
    var now: Int64 = 0
    var scroll = PageScroll(from: end, at: now)
    scroll.turn(to: goal, count: 2)
    let offsets = run(&scroll, from: &now, by: 16)
    #expect(offsets.contains(farthest) && offsets.last == Double(end))
    #expect(scroll.page == end)
  }
}
