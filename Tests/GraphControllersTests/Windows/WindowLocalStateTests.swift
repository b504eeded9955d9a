import GraphControllers
import GraphModel
import Testing

/// All clients share positions and stacking order; each client has its own focus.
@Suite struct WindowLocalStateTests {
  private struct Shapes: WindowShapeSource {
    var shapes = [ObjectID: WindowShape]()
    func shape(of id: ObjectID) -> WindowShape? { shapes[id] }
    init(_ heights: [UInt64: Double]) {
      for (number, z) in heights {
        shapes[WindowTranscript.id(number)] = WindowShape(x: Double(number) * 10, y: 0, width: 15, height: 5, z: z)
      }
    }
  }

  private func id(_ number: UInt64) -> ObjectID { WindowTranscript.id(number) }

  @Test func stackingOrderIsSharedByAllClients() {
    let (mine, yours) = (WindowTranscript(), WindowTranscript())
    _ = mine.arrange([1, 2, 3, 4])
    _ = yours.arrange([4, 3, 2, 1])
    let shapes = Shapes([1: 5, 2: -1, 3: 5])
    mine.windows.setFocus(id(2))
    #expect(mine.windows.stackingOrder(shapes) == [id(2), id(1), id(3), id(4)])
    #expect(yours.windows.stackingOrder(shapes) == mine.windows.stackingOrder(shapes))
  }

  @Test func raiseChangesOrderUnlessAlreadyOnTop() {
    let script = WindowTranscript()
    _ = script.arrange([1, 2, 3])
    let shapes = Shapes([1: 5, 2: 1, 3: 5])
    #expect(script.windows.topHeight(for: id(2), shapes) == 6)
    #expect(script.windows.topHeight(for: id(1), shapes) == 6)
    #expect(script.windows.topHeight(for: id(3), shapes) == 5)
  }

  @Test func focusReturnsToPreviousWindow() {
    let script = WindowTranscript()
    _ = script.arrange([1, 2, 3])
    #expect(script.focus == nil)
    for number: UInt64 in [1, 3, 2, 9] { script.windows.setFocus(id(number)) }
    #expect(script.focus == "2")
    _ = script.windows.close(id(2))
    #expect(script.focus == "3")
    _ = script.arrange([1])
    #expect(script.focus == "1")
    script.windows.clearFocus()
    #expect(script.focus == nil)
  }
}
