import GraphModel
import StickiesKit
import Testing

@testable import StickiesTerminal

/// Lookups in the model of the notes by the classes' typed paths.
@Suite @MainActor struct BuiltInModelTests {
  private let model = StickiesModel.model

  @Test func frameHasPositionAndSize() throws {
    let note = try #require(model.entity(named: "Note"))
    #expect(model.builtIn(Note.self) === note)
    let frame = try ["x", "y", "z", "width", "height"].map { try #require(note.property(named: $0)).number }
    #expect(model.framePropertyNumbers == Set(frame))
    #expect(frame.count == 5)
  }
}
