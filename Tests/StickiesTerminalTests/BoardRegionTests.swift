import GraphModel
import StickiesKit
import TerminalCells
import GraphTesting
import Testing

@testable import StickiesTerminal

/// The part of a large board that is requested, and when it is requested again.
@MainActor
@Suite struct BoardRegionTests {
  private let seen = Rect(x: 100, y: -40, width: 80, height: 20)

  @Test func regionExtendsOneScreenOnEverySide() {
    #expect(BoardRegion(around: seen).cells == Rect(x: 20, y: -60, width: 240, height: 60))
    #expect(!BoardRegion(around: Rect(x: 0, y: 0, width: 0, height: 0)).cells.isEmpty)
  }

  @Test func regionIsKeptUntilQuarterScreenFromEdge() {
    let region = BoardRegion(around: seen)
    #expect(region.serves(seen))
    #expect(region.serves(seen.moved(x: 60, y: 0)) && !region.serves(seen.moved(x: 61, y: 0)))
    #expect(region.serves(seen.moved(x: 0, y: -15)) && !region.serves(seen.moved(x: 0, y: -16)))
    // It is requested again before anything is missing.
    #expect(region.covers(seen.moved(x: 80, y: 20)) && !region.covers(seen.moved(x: 81, y: 0)))
    // The region of a small screen does not serve a larger one.
    #expect(!region.serves(Rect(x: 100, y: -40, width: 180, height: 50)))
  }

  @Test func everyNoteIsInsideOrOnOneSide() throws {
    let model = StickiesModel.model
    let entity = try #require(model.entity(named: "Note"))
    let region = BoardRegion(around: seen)
    let inside = PredicateEvaluator(region.notes, model: model)
    let sides = BoardSide.allCases.map { PredicateEvaluator(region.notes(beyond: $0), model: model) }
    var random = SeededGenerator(seed: 7)
    for number in 0..<2_000 {
      var image = ObjectImage(
        id: ObjectID(key: UniqueID(high: 1, low: UInt64(number)), entity: entity.number), revision: 1,
        values: entity.storedProperties.map { $0.attribute?.defaultValue ?? .null })
      func set(_ name: String, _ value: Double) throws {
        image[try #require(entity.property(named: name))] = .double(value)
      }
      let (x, y) = (
        Double.random(in: -1_000...3_000, using: &random), Double.random(in: -2_000...1_000, using: &random)
      )
      let (width, height) = (Double.random(in: 1...900, using: &random), Double.random(in: 1...900, using: &random))
      try set("x", x)
      try set("y", y)
      try set("width", width)
      try set("height", height)
      let isInside = inside.matches(image)
      let count = sides.filter { $0.matches(image) }.count
      #expect(count == (isInside ? 0 : 1), "note \(number)")
      let drawn = BoardScale.cells(x: x, y: y, width: width, height: height)
      if !drawn.intersection(region.cells).isEmpty { #expect(isInside, "note \(number)") }
    }
  }

  @Test func sideConditionsMatchNotes() {
    #expect(BoardSide.side(of: Rect(x: 90, y: -30, width: 20, height: 3), beyond: seen) == nil)
    #expect(BoardSide.side(of: Rect(x: 80, y: -90, width: 20, height: 3), beyond: seen) == .left)
    #expect(BoardSide.side(of: Rect(x: 180, y: 90, width: 20, height: 3), beyond: seen) == .right)
    #expect(BoardSide.side(of: Rect(x: 120, y: -43, width: 20, height: 3), beyond: seen) == .up)
    #expect(BoardSide.side(of: Rect(x: 120, y: -20, width: 20, height: 3), beyond: seen) == .down)
  }

  @Test func countsAreCenteredAtTheirEdges() {
    let marks = OffscreenCounts(counts: [.left: 7, .right: 97_000, .down: 12])
    let frame = Rect(x: 0, y: 1, width: 80, height: 22)
    let drawn = marks.marks(in: frame, symbols: Theme().symbols)
    #expect(drawn.map(\.text) == ["←7", "97000→", "↓12"])
    #expect(
      drawn.map(\.place) == [
        Rect(x: 0, y: 12, width: 2, height: 1), Rect(x: 74, y: 12, width: 6, height: 1),
        Rect(x: 39, y: 22, width: 3, height: 1),
      ])
  }
}
