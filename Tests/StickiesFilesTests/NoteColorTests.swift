import StickiesFiles
import StickiesModel
import Testing

@Suite struct NoteColorTests {
  @Test func filesHaveTheColorsOfTheModel() {
    #expect(NoteColor.allCases.map(\.rawValue) == Color.allCases.map(\.rawValue))
  }
}
