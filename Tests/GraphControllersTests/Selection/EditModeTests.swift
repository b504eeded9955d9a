import GraphControllers
import Testing

/// Edit, select, act, cancel.
@Suite struct EditModeTests {
  private let delete = SelectionAction("delete", named: "Delete")

  @Test func editButtonBecomesCancelAndClearsSelection() {
    var mode = EditMode<Int>()
    #expect(mode.button.title == "Edit")
    mode.toggle(1)
    #expect(mode.selection.isEmpty)
    mode.begin(at: 0)
    #expect(mode.button.title == "Cancel")
    mode.toggle(1)
    mode.toggle(2)
    mode.begin(at: 10)
    #expect(mode.selection.count == 2)
    mode.cancel(at: 1_000)
    #expect(mode.button == .edit)
    #expect(mode.selection.isEmpty)
  }

  @Test func checkboxAnimationReversesInPlace() {
    var mode = EditMode<Int>()
    #expect(mode.slideFraction(at: 0) == 0)
    mode.begin(at: 1_000)
    #expect(mode.slideFraction(at: 1_000) == 0)
    #expect(mode.slideFraction(at: 1_150) == 0.75)
    #expect(mode.isSliding(at: 1_150))
    mode.cancel(at: 1_150)
    #expect(mode.slideFraction(at: 1_150) == 0.75)
    #expect(mode.slideFraction(at: 1_250) == 0.25)
    #expect(mode.slideFraction(at: 1_300) == 0)
    #expect(!mode.isSliding(at: 1_300))
    mode.begin(at: 2_000)
    #expect(mode.slideFraction(at: 9_000) == 1)
    #expect(!mode.isSliding(at: 9_000))
  }

  @Test func actionTitleContainsCountAndIsDisabledAtZero() {
    var mode = EditMode<Int>()
    mode.begin(at: 0)
    #expect(delete.title(mode.selection) == "Delete")
    #expect(!delete.isEnabled(mode.selection))
    mode.toggle(7)
    mode.toggle(3)
    #expect(delete.title(mode.selection) == "Delete (2)")
    #expect(delete.isEnabled(mode.selection))
    #expect(mode.selection.target == .some([3, 7]))
  }

  @Test func actionIsDisabledWhenSelectionIsDeletedByOthers() {
    var mode = EditMode<Int>()
    mode.begin(at: 0)
    mode.toggle(7)
    mode.selection.objectsWereDeleted([7])
    #expect(!delete.isEnabled(mode.selection))
    #expect(mode.isEditing)
  }

  @Test func selectionSurvivesScrolling() {
    var mode = EditMode<Int>()
    mode.begin(at: 0)
    mode.toggle(2)
    // A view of three rows scrolls down a list and back; rows are created again each time.
    func rows(from first: Int) -> [Bool] { (first..<first + 3).map { mode.selection.contains($0) } }
    #expect(rows(from: 1) == [false, true, false])
    #expect(rows(from: 500) == [false, false, false])
    #expect(rows(from: 1) == [false, true, false])
  }

  @Test func selectAllOfWindowedListNeedsNoIDs() {
    var mode = EditMode<Int>()
    mode.begin(at: 0)
    mode.selection.selectAll(count: 100_000)
    mode.toggle(4)
    // It came later.
    mode.toggle(100_001, isListed: false)
    mode.toggle(5)
    #expect(delete.title(mode.selection) == "Delete (99999)")
    #expect(mode.selection.target == .all(except: [4, 5], also: [100_001]))
  }
}
