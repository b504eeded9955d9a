import GraphControllers
import TerminalCells

/// Somebody who has to do with a field. What one hears of it is a protocol of its own.
protocol LineFieldObserver: AnyObject {}

/// Is told when the field says something else.
protocol LineFieldTextObserver: LineFieldObserver {
  func fieldDidChange(_ field: LineField)
}

/// Is asked before the field takes a key; one refusal keeps it from the field.
protocol LineFieldKeyObserver: LineFieldObserver {
  func field(_ field: LineField, mayTake key: KeyEvent) -> Bool
}

/// Is asked before the edit ends; one refusal keeps the field open, and whoever refuses says why.
protocol LineFieldEndGuard: LineFieldObserver {
  func fieldMayEnd(_ field: LineField) -> Bool
}

/// Is told when the edit has ended: what the field says now counts.
protocol LineFieldEndObserver: LineFieldObserver {
  func fieldDidEnd(_ field: LineField)
}

/// A field for one line of text: an editor whose text has no line break, its observers, and its behaviors, which it keeps.
/// It draws nothing; whoever has it draws it, and hands it the keys.
final class LineField {
  /// A line is never broken into rows: it has more columns than anybody types.
  private static let columns = 1 << 20

  private(set) var editor: TextEditor
  /// Who hears of it, held weakly.
  let observers = MulticastDelegate<any LineFieldObserver>()
  private let behaviors = BehaviorOwner<LineField>()
  /// What a behavior has to say about the text, to be shown beside it.
  var remark = ""
  /// Whether that is a complaint.
  var isWrong = false
  /// Where what is cut and copied goes, besides the field's own clipboard.
  var didCopy: (String) -> Void = { _ in }

  init(_ text: String = "") { editor = TextEditor(Self.oneLine(text), width: Self.columns) }

  var text: String { editor.text }

  /// Takes a behavior, and keeps it for as long as the field lives.
  func attach<Attached: Behavior>(_ behavior: Attached) where Attached.Control == LineField {
    behaviors.attach(behavior, to: self)
  }

  /// Gives a behavior up.
  func detach<Attached: Behavior>(_ behavior: Attached) where Attached.Control == LineField {
    behaviors.detach(behavior, from: self)
  }

  /// Whether a key writes a letter into a line.
  static func isTyped(_ key: KeyEvent) -> Bool {
    if case .character = key.key { key.modifiers.isEmpty } else { false }
  }

  /// Takes a key. False for one that means nothing to a line, such as tab.
  func take(_ key: KeyEvent) -> Bool {
    let mayTake = observers.ask((any LineFieldKeyObserver).self, whenNobodyResponds: true) {
      $0.field(self, mayTake: key)
    }
    guard mayTake else { return true }
    switch key.key {
    case .enter, .tab, .up, .down, .pageUp, .pageDown: return false
    default: return follow { $0.handle(.key(key)) }
    }
  }

  /// Takes what was pasted; its lines become one.
  func paste(_ text: String) { _ = follow { $0.perform(.paste(Self.oneLine(text))) } }

  /// Says something else, with the cursor behind it.
  func replace(with text: String) {
    _ = follow { editor in
      _ = editor.perform(.selectAll)
      return editor.perform(.paste(Self.oneLine(text)))
    }
  }

  /// Puts the cursor to an offset in UTF-8; a drag selects.
  func place(_ offset: Int, isSelecting: Bool = false) {
    let end = text.utf8.index(text.startIndex, offsetBy: min(max(0, offset), text.utf8.count))
    let column = CellText.width(of: text[..<end])
    _ = editor.perform(.place(Point(x: column, y: 0), isSelecting: isSelecting))
  }

  /// The edit ends, if all who are asked agree; where nobody is, it does.
  func end() {
    let mayEnd = observers.ask((any LineFieldEndGuard).self, whenNobodyResponds: true) { $0.fieldMayEnd(self) }
    if mayEnd { observers.tell((any LineFieldEndObserver).self) { $0.fieldDidEnd(self) } }
  }

  private func follow(_ change: (inout TextEditor) -> TextEditor.Outcome) -> Bool {
    let outcome = change(&editor)
    if let copied = outcome.copied { didCopy(copied) }
    if !outcome.changes.isEmpty { observers.tell((any LineFieldTextObserver).self) { $0.fieldDidChange(self) } }
    return outcome.isHandled
  }

  private static func oneLine(_ text: String) -> String {
    text.split(whereSeparator: \.isNewline).joined(separator: " ")
  }
}
