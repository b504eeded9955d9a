/// A multiline text editor that merges concurrent edits. It receives commands and returns changes; it does not draw and
/// has no clock.
///
/// The cursor and the anchor of the selection are UTF-8 offsets, always between two grapheme clusters. Edits by
/// others are merged (`merge`), also into the undo groups: an undo reverts only text that was typed here.
public struct TextEditor: Sendable {
  /// The outcome of a command.
  public struct Outcome: Hashable, Sendable {
    /// The changes of the text, in order; each applies to the text after the previous ones.
    public var changes: [TextEdit] = []
    /// The text that was cut or copied, for the system's clipboard.
    public var copied: String?
    /// Whether the editor used the event; otherwise the next responder handles the key.
    public var isHandled = true
  }

  /// The maximum number of undo groups; older ones are dropped.
  public static let maximumUndoGroups = 256

  /// The text.
  public internal(set) var text: String
  /// The cursor's offset, in UTF-8.
  public internal(set) var cursor: Int
  /// The other end of the selection; equal to the cursor without a selection.
  public internal(set) var anchor: Int
  /// The rows of the text.
  public internal(set) var layout: TextLayout
  /// The text that was last cut or copied, for terminals that do not share their clipboard. The owner may set it.
  public var clipboard = ""
  /// Whether the text can be changed; otherwise it can only be read, selected and copied.
  public var isEditable = true

  /// The column that vertical motions keep across shorter rows.
  var column: Int?
  /// The changes that revert each undo group, the newest group last.
  var undoable: [[TextEdit]] = []
  var redoable: [[TextEdit]] = []
  /// The kind of the newest group, while further edits may join it.
  var group: GroupKind?

  enum GroupKind: Hashable { case typing, blanks, deletingBack, deletingForward }

  /// Creates an editor with the cursor at the end of the text.
  public init(_ text: String, width: Int) {
    self.text = text
    cursor = text.utf8.count
    anchor = cursor
    layout = TextLayout(text, width: width)
  }

  /// The number of columns.
  public var width: Int {
    get { layout.width }
    set { if newValue != layout.width { layout = TextLayout(text, width: newValue) } }
  }

  /// The selected range; empty at the cursor without a selection.
  public var selection: Range<Int> { min(cursor, anchor)..<max(cursor, anchor) }
  /// The selected text.
  public var selectedText: String { String(text.slice(selection)) }
  /// The cell of the cursor.
  public var cursorPosition: Point { layout.position(of: cursor, in: text) }
  /// Whether there is a group to undo.
  public var canUndo: Bool { !undoable.isEmpty }
  /// Whether there is a group to redo; typing clears them.
  public var canRedo: Bool { !redoable.isEmpty }

  /// Returns the selected columns of a row, for drawing; nil if there are none. A selected line break is one column.
  public func selectedColumns(row: Int) -> Range<Int>? {
    guard layout.rows.indices.contains(row), cursor != anchor else { return nil }
    let place = layout.rows[row]
    let low = max(selection.lowerBound, place.range.lowerBound)
    let high = min(selection.upperBound, place.range.upperBound)
    guard low < high else { return nil }
    let start = CellText.width(of: text.slice(place.range.lowerBound..<low))
    let columns = CellText.width(of: text.slice(low..<min(high, place.visible.upperBound)))
    return start..<start + columns + (high > place.visible.upperBound ? 1 : 0)
  }

  /// Applies another client's change and moves the cursor, the selection and the undo groups with it. Returns false,
  /// without effect, if the change does not fit the text.
  @discardableResult public mutating func merge(_ change: TextEdit) -> Bool {
    guard change.fits(text) else { return false }
    change.apply(to: &text)
    // An insertion by others at the cursor goes after it, so typing continues before it. A selection does not grow.
    let selected = selection
    let low = change.map(selected.lowerBound, isBehind: selected.lowerBound < selected.upperBound)
    let high = max(low, change.map(selected.upperBound, isBehind: false))
    (cursor, anchor) = cursor < anchor ? (low, high) : (high, low)
    undoable = Self.rebased(undoable, over: change)
    redoable = Self.rebased(redoable, over: change)
    group = nil
    updateLayout()
    return true
  }

  /// Merges another version of the text as a single change.
  public mutating func adopt(_ text: String) {
    if let change = TextEdit(from: self.text, to: text) { merge(change) }
  }

  private static func rebased(_ groups: [[TextEdit]], over change: TextEdit) -> [[TextEdit]] {
    var theirs = [change]
    var rebased = [[TextEdit]]()
    for group in groups.reversed() {
      let crossed = TextEdit.cross(group, theirs)
      rebased.append(crossed.mine)
      theirs = crossed.theirs
    }
    // Drop groups whose text others have deleted.
    return rebased.reversed().filter { $0.contains { !$0.range.isEmpty || !$0.replacement.isEmpty } }
  }

  /// Updates the rows and moves both ends of the selection to cluster boundaries after a change.
  mutating func updateLayout() {
    layout = TextLayout(text, width: layout.width)
    cursor = boundary(cursor)
    anchor = boundary(anchor)
    column = nil
  }

  /// Returns the nearest cluster boundary at or before `offset`, or at or after it if `isBehind`.
  func boundary(_ offset: Int, isBehind: Bool = false) -> Int {
    let offset = min(max(0, offset), text.utf8.count)
    let index = text.utf8.index(text.startIndex, offsetBy: offset)
    guard index < text.endIndex else { return offset }
    // `index(after:)` starts from the cluster that contains the index.
    let end = text.index(after: index)
    let start = text.index(before: end)
    return self.offset(isBehind && start < index ? end : start)
  }
}
