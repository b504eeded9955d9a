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

/// Says how many characters a field has, and complains when they are more than a model takes: then the edit does not end.
final class CharacterCount: Behavior, LineFieldTextObserver, LineFieldEndGuard {
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
    field.isWrong = !fieldMayEnd(field)
    let count = field.text.count
    field.remark = field.isWrong ? "too long" : count == 1 ? "1 character" : "\(count) characters"
  }

  func fieldMayEnd(_ field: LineField) -> Bool { field.text.utf8.count <= maximum }
}

/// For a field that may not be empty: Return leaves it open then, and it says why.
final class NeedsText: Behavior, LineFieldEndGuard {
  private let complaint = Complaint("may not be empty")

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

/// What is wrong with a field, beside it until it says something else; then the complaint leaves.
final class Complaint: Behavior, LineFieldTextObserver {
  private let sentence: String

  init(_ sentence: String) { self.sentence = sentence }

  func attach(to control: LineField) {
    control.observers.add(self)
    (control.remark, control.isWrong) = (sentence, true)
  }

  func detach(from control: LineField) {
    control.observers.remove(self)
    // Somebody else may have something to say by now.
    if control.remark == sentence { (control.remark, control.isWrong) = ("", false) }
  }

  func fieldDidChange(_ field: LineField) { field.detach(self) }
}
