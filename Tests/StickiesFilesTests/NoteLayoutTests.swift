import GraphTesting
import StickiesFiles
import Testing

@Suite struct NoteLayoutTests {
  typealias Frame = NoteLayout.Frame

  private static func frame(_ x: Double = 0, _ y: Double = 0, _ width: Double = 200, _ height: Double = 200) -> Frame {
    Frame(x: x, y: y, width: width, height: height)
  }

  private static func overlap(_ a: Frame, _ b: Frame) -> Bool {
    a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height
  }

  @Test func thirtyNotesFormAGrid() {
    let frames = NoteLayout.frames(for: Array(repeating: Self.frame(), count: 30), beside: [])
    #expect(Set(frames.map(\.x)).sorted() == [0, 224, 448, 672, 896, 1_120, 1_344, 1_568])
    #expect(Set(frames.map(\.y)).sorted() == [0, 224, 448, 672])
    #expect(frames.prefix(5).map { [$0.x, $0.y] } == [[0, 0], [0, 224], [0, 448], [0, 672], [224, 0]])
  }

  @Test func gridIsRightOfExistingNotes() {
    let there = [Self.frame(-400, 50, 300, 100), Self.frame(500, -80)]
    let frames = NoteLayout.frames(for: [Self.frame(), Self.frame()], beside: there)
    #expect(
      frames.map { [$0.x, $0.y] } == [[724, -80], [724, 144]]
        || frames.map { [$0.x, $0.y] } == [[724, -80], [948, -80]])
  }

  @Test func singleNoteOnEmptyBoardIsAtOrigin() {
    #expect(NoteLayout.frames(for: [Self.frame(7, 7)], beside: []) == [Self.frame()])
    #expect(NoteLayout.frames(for: [], beside: [Self.frame()]) == [])
  }

  @Test func distantNoteDoesNotMoveTheGrid() {
    let frames = NoteLayout.frames(
      for: [Self.frame()], beside: [Self.frame(1e300, 0), Self.frame(0, -1e12), Self.frame()])
    #expect(frames == [Self.frame(224, 0)])
  }

  @Test func noTwoNotesOverlap() {
    for seed: UInt64 in 1...50 {
      var random = SeededGenerator(seed: seed)
      func some(_ count: Int) -> [Frame] {
        (0..<count).map { _ in
          Self.frame(
            .random(in: -2_000...2_000, using: &random), .random(in: -2_000...2_000, using: &random),
            .random(in: 1...900, using: &random), .random(in: 1...900, using: &random))
        }
      }
      let (new, there) = (some(40), some(10))
      let frames = NoteLayout.frames(for: new, beside: there)
      #expect(frames.map { [$0.width, $0.height] } == new.map { [$0.width, $0.height] }, "seed \(seed)")
      for (index, frame) in frames.enumerated() {
        #expect(!(frames[..<index] + there).contains { Self.overlap(frame, $0) }, "seed \(seed), note \(index)")
      }
      let (right, bottom) = (frames.map { $0.x + $0.width }.max() ?? 0, frames.map { $0.y + $0.height }.max() ?? 0)
      let (left, top) = (frames.map(\.x).min() ?? 0, frames.map(\.y).min() ?? 0)
      #expect((right - left) < 6 * (bottom - top) && (bottom - top) < 3 * (right - left), "seed \(seed): no strip")
    }
  }
}
