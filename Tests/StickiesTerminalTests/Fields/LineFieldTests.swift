import TerminalCells
import Testing

@testable import StickiesTerminal

@Suite struct LineFieldTests {
  private final class Owner: LineFieldTextObserver, LineFieldEndObserver {
    var reported = [String]()

    func fieldDidChange(_ field: LineField) { reported.append(field.text) }

    func fieldDidEnd(_ field: LineField) { reported.append("end: \(field.text)") }
  }

  private final class RefusingObserver: LineFieldKeyObserver {
    func field(_ field: LineField, mayHandle key: KeyEvent) -> Bool { key.key != .character("x") }
  }

  private final class AcceptingObserver: LineFieldKeyObserver {
    func field(_ field: LineField, mayHandle key: KeyEvent) -> Bool { true }
  }

  private func type(_ text: String, into field: LineField) {
    for character in text { _ = field.handle(KeyEvent(.character(character))) }
  }

  @Test func returnEndsEditOnlyWithItsBehavior() {
    let (field, owner) = (LineField(), Owner())
    field.observers.add(owner)
    type("ab", into: field)
    #expect(!field.handle(KeyEvent(.enter)))
    let behavior = EndEditOnReturnBehavior()
    field.attach(behavior)
    #expect(field.handle(KeyEvent(.enter)))
    #expect(owner.reported == ["a", "ab", "end: ab"])
    field.detach(behavior)
    #expect(!field.handle(KeyEvent(.enter)))
    #expect(owner.reported.count == 3)
  }

  @Test func fieldRetainsItsBehaviorsOnly() {
    let field = LineField()
    field.attach(EndEditOnReturnBehavior())
    var stubborn: RefusingObserver? = RefusingObserver()
    if let stubborn { field.observers.add(stubborn) }
    // The last observer agrees: one refusal counts anyway.
    let easygoing = AcceptingObserver()
    field.observers.add(easygoing)
    type("axb", into: field)
    #expect(field.text == "ab")
    #expect(field.observers.observers.count == 3)
    stubborn = nil
    type("x", into: field)
    #expect(field.text == "abx")
    #expect(field.handle(KeyEvent(.enter)))
  }

  @Test func characterCountUsesModelLimit() {
    let field = LineField("日")
    let behavior = CharacterCountBehavior(maximum: 6)
    field.attach(behavior)
    #expect(field.remark == "1 character")
    type("本", into: field)
    #expect((field.remark, field.isWrong) == ("2 characters", false))
    type("x", into: field)
    #expect((field.remark, field.isWrong) == ("too long", true))
    _ = field.handle(KeyEvent(.backspace))
    #expect((field.remark, field.isWrong) == ("2 characters", false))
    field.detach(behavior)
    #expect(field.remark.isEmpty)
  }

  @Test(arguments: [true, false]) func editEndsOnlyWithConsentOfAllObservers(countsFirst: Bool) {
    let (field, owner) = (LineField(), Owner())
    field.observers.add(owner)
    let (count, needs) = (CharacterCountBehavior(maximum: 3), RequiredTextBehavior())
    if countsFirst { field.attach(count) }
    field.attach(needs)
    if !countsFirst { field.attach(count) }
    field.end()
    #expect((field.remark, field.isWrong) == ("may not be empty", true))
    type("abcd", into: field)
    field.end()
    #expect((field.remark, field.isWrong) == ("too long", true))
    _ = field.handle(KeyEvent(.backspace))
    field.end()
    #expect(owner.reported == ["a", "ab", "abc", "abcd", "abc", "end: abc"])
  }

  @Test func editEndsWithoutObservers() {
    let (field, owner) = (LineField(), Owner())
    field.observers.add(owner)
    field.end()
    #expect(owner.reported == ["end: "])
  }

  @Test func errorDisappearsWhenTextChanges() {
    let (field, first, second) = (LineField(), Owner(), Owner())
    field.observers.add(first)
    field.attach(RequiredTextBehavior())
    field.end()
    field.end()
    field.observers.add(second)
    #expect((field.remark, field.isWrong) == ("may not be empty", true))
    #expect(field.observers.observers.count == 4)
    // It leaves in the middle of the call; those before and after it are notified anyway.
    type("a", into: field)
    #expect((field.remark, field.isWrong) == ("", false))
    #expect(first.reported == ["a"] && second.reported == ["a"])
    #expect(field.observers.observers.count == 3)
    _ = field.handle(KeyEvent(.backspace))
    field.end()
    #expect(field.isWrong)
  }

  @Test func fieldHasWordsSelectionAndUndoOnOneLine() {
    let field = LineField("one two")
    _ = field.handle(KeyEvent(.left, .control))
    type("big ", into: field)
    #expect(field.text == "one big two")
    _ = field.handle(KeyEvent(.home, .shift))
    #expect(field.editor.selectedText == "one big ")
    field.paste("1\n2\r\n3 ")
    #expect(field.text == "1 2 3 two")
    _ = field.handle(KeyEvent(.character("z"), .control))
    #expect(field.text == "one big two")
    #expect(!field.handle(KeyEvent(.up)))
    #expect(!field.handle(KeyEvent(.tab)))
    field.replace(with: "new")
    #expect((field.text, field.editor.cursor) == ("new", 3))
  }

  @Test func clickPlacesCursorAndDragSelects() {
    let field = LineField("日本 boats")
    field.place(7)
    #expect(field.editor.cursor == 7)
    field.place(10, isSelecting: true)
    #expect(field.editor.selectedText == "boa")
    var copied = ""
    field.didCopy = { copied = $0 }
    _ = field.handle(KeyEvent(.character("c"), .control))
    #expect(copied == "boa")
  }
}
