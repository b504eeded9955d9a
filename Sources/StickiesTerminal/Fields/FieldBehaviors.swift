import GraphControllers
import TerminalCells

/// Return ends the edit of a line, where it would be a line break elsewhere.
final class ReturnEndsEdit: Behavior, LineFieldKeyObserver {
  func attach(to control: LineField) { control.observers.add(self) }

  func detach(from control: LineField) { control.observers.remove(self) }

  func field(_ field: LineField, mayTake key: KeyEvent) -> Bool {
    guard key.key == .enter else { return true }
    field.end()
    return false
  }
}

/// Says how many characters a field has, and complains when they are more than a model takes.
final class CharacterCount: Behavior, LineFieldTextObserver {
  /// How long the text may be, in bytes of UTF-8, as models count.
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
    field.isWrong = field.text.utf8.count > maximum
    let count = field.text.count
    field.remark = field.isWrong ? "too long" : count == 1 ? "1 character" : "\(count) characters"
  }
}
