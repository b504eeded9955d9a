import GraphControllers
import TerminalCells

/// Ends the edit on Return, which would insert a line break otherwise.
final class EndEditOnReturnBehavior: Behavior, LineFieldKeyObserver {
  func attach(to control: LineField) { control.observers.add(self) }

  func detach(from control: LineField) { control.observers.remove(self) }

  func field(_ field: LineField, mayHandle key: KeyEvent) -> Bool {
    guard key.key == .enter else { return true }
    field.end()
    return false
  }
}

/// Shows the number of characters, and reports a text longer than the model's limit. The edit does not end then.
final class CharacterCountBehavior: Behavior, LineFieldTextObserver, LineFieldEndGuard {
  /// Maximum length of the text, in bytes of UTF-8, as models count.
  let maximum: Int

  init(maximum: Int) { self.maximum = maximum }

  func attach(to control: LineField) {
    control.observers.add(self)
    fieldDidChange(control)
  }

  func detach(from control: LineField) {
    control.observers.remove(self)
    (control.remark, control.isWrong) = ("", false)
  }

  func fieldDidChange(_ field: LineField) {
    field.isWrong = !fieldMayEnd(field)
    let count = field.text.count
    field.remark = field.isWrong ? "too long" : count == 1 ? "1 character" : "\(count) characters"
  }

  func fieldMayEnd(_ field: LineField) -> Bool { field.text.utf8.count <= maximum }
}

/// Requires a non-empty field: otherwise Return leaves it open and shows the reason.
final class RequiredTextBehavior: Behavior, LineFieldEndGuard {
  private let complaint = FieldErrorBehavior("may not be empty")

  func attach(to control: LineField) { control.observers.add(self) }

  func detach(from control: LineField) {
    control.observers.remove(self)
    control.detach(complaint)
  }

  func fieldMayEnd(_ field: LineField) -> Bool {
    guard field.text.allSatisfy(\.isWhitespace) else { return true }
    field.attach(complaint)
    return false
  }
}

/// Shows an error beside a field until its text changes; then it detaches itself.
final class FieldErrorBehavior: Behavior, LineFieldTextObserver {
  private let sentence: String

  init(_ sentence: String) { self.sentence = sentence }

  func attach(to control: LineField) {
    control.observers.add(self)
    (control.remark, control.isWrong) = (sentence, true)
  }

  func detach(from control: LineField) {
    control.observers.remove(self)
    // Another behavior may have set the remark meanwhile.
    if control.remark == sentence { (control.remark, control.isWrong) = ("", false) }
  }

  func fieldDidChange(_ field: LineField) { field.detach(self) }
}
