import GraphControllers
import TerminalCells

/// An observer of a field; each kind of notification has a protocol of its own.
protocol LineFieldObserver: AnyObject {}

/// Is notified when the text of a field has changed.
protocol LineFieldTextObserver: LineFieldObserver {
  func fieldDidChange(_ field: LineField)
}

/// Is asked before a field handles a key; one refusal withholds the key.
protocol LineFieldKeyObserver: LineFieldObserver {
  func field(_ field: LineField, mayHandle key: KeyEvent) -> Bool
}

/// Is asked before the edit ends. One refusal keeps the field open, and the refusing observer shows the reason.
protocol LineFieldEndGuard: LineFieldObserver {
  func fieldMayEnd(_ field: LineField) -> Bool
}

/// Is notified when the edit has ended and the text is final.
protocol LineFieldEndObserver: LineFieldObserver {
  func fieldDidEnd(_ field: LineField)
}

/// A field for one line of text. It has a text editor without line breaks, observers, and behaviors, which it
/// retains. The field draws nothing; its owner draws it and passes keys to it.
final class LineField {
  /// Wide enough that a line is never broken into rows.
  private static let columns = 1 << 20

  private(set) var editor: TextEditor
  /// The observers, referenced weakly.
  let observers = MulticastDelegate<any LineFieldObserver>()
  private let behaviors = BehaviorOwner<LineField>()
  /// A behavior's remark on the text, shown beside it.
  var remark = ""
  /// Whether the remark is an error.
  var isWrong = false
  /// Called with cut and copied text, besides the field's own clipboard.
  var didCopy: (String) -> Void = { _ in }

  init(_ text: String = "") { editor = TextEditor(Self.oneLine(text), width: Self.columns) }

  var text: String { editor.text }

  /// Attaches a behavior and retains it as long as the field lives.
  func attach<Attached: Behavior>(_ behavior: Attached) where Attached.Control == LineField {
    behaviors.attach(behavior, to: self)
  }

  /// Detaches a behavior.
  func detach<Attached: Behavior>(_ behavior: Attached) where Attached.Control == LineField {
    behaviors.detach(behavior, from: self)
  }

  /// Whether a key types a character.
  static func isTyped(_ key: KeyEvent) -> Bool {
    if case .character = key.key { key.modifiers.isEmpty } else { false }
  }

  /// Handles a key.
  /// - Returns: false if the key has no meaning in a line, such as Tab.
  func handle(_ key: KeyEvent) -> Bool {
    let mayHandle = observers.ask((any LineFieldKeyObserver).self, whenNobodyResponds: true) {
      $0.field(self, mayHandle: key)
    }
    guard mayHandle else { return true }
    switch key.key {
    case .enter, .tab, .up, .down, .pageUp, .pageDown: return false
    default: return follow { $0.handle(.key(key)) }
    }
  }

  /// Inserts pasted text; its lines are joined.
  func paste(_ text: String) { _ = follow { $0.perform(.paste(Self.oneLine(text))) } }

  /// Replaces the text and moves the cursor to its end.
  func replace(with text: String) {
    _ = follow { editor in
      _ = editor.perform(.selectAll)
      return editor.perform(.paste(Self.oneLine(text)))
    }
  }

  /// Moves the cursor to an offset in UTF-8, optionally extending the selection.
  func place(_ offset: Int, isSelecting: Bool = false) {
    let end = text.utf8.index(text.startIndex, offsetBy: min(max(0, offset), text.utf8.count))
    let column = CellText.width(of: text[..<end])
    _ = editor.perform(.place(Point(x: column, y: 0), isSelecting: isSelecting))
  }

  /// Ends the edit, unless an end guard refuses.
  func end() {
    let mayEnd = observers.ask((any LineFieldEndGuard).self, whenNobodyResponds: true) { $0.fieldMayEnd(self) }
    if mayEnd { observers.notify((any LineFieldEndObserver).self) { $0.fieldDidEnd(self) } }
  }

  private func follow(_ change: (inout TextEditor) -> TextEditor.Outcome) -> Bool {
    let outcome = change(&editor)
    if let copied = outcome.copied { didCopy(copied) }
    if !outcome.changes.isEmpty { observers.notify((any LineFieldTextObserver).self) { $0.fieldDidChange(self) } }
    return outcome.isHandled
  }

  private static func oneLine(_ text: String) -> String {
    text.split(whereSeparator: \.isNewline).joined(separator: " ")
  }
}
