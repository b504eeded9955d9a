/// A text of many lines that somebody edits, while others may edit it too. Commands in, changes out; it draws nothing and has
/// no clock.
///
/// The cursor and the other end of the selection are offsets in UTF-8 that always stand between two characters as people see them.
/// What others change is merged under them (`merge`), into what can be undone too: an undo takes back what was typed here and
/// nothing of theirs.
public struct TextEditor: Sendable {
  /// What a command did.
  public struct Outcome: Hashable, Sendable {
    /// How the text changed, in order; each change in the text that those before it made.
    public var changes: [TextEdit] = []
    /// What was cut or copied, for the clipboard of whoever runs this.
    public var copied: String?
    /// True if the command meant something here; a key that does not goes up the chain of responders.
    public var isHandled = true
  }

  /// Groups that can be undone at most; older ones are forgotten.
  public static let maximumUndoGroups = 256

  /// The text.
  public internal(set) var text: String
  /// Where the cursor stands, in UTF-8.
  public internal(set) var cursor: Int
  /// The selection's other end; the cursor, if nothing is selected.
  public internal(set) var anchor: Int
  /// The rows that it is shown in.
  public internal(set) var layout: TextLayout
  /// What was cut or copied last, here or wherever its owner says: for terminals that don't hand out their clipboard.
  public var clipboard = ""
  /// False lets it be read, selected and copied only.
  public var isEditable = true

  /// The column that moves up and down keep to, over shorter rows.
  var column: Int?
  /// The changes that take back a group, the newest group last.
  var undoable: [[TextEdit]] = []
  var redoable: [[TextEdit]] = []
  /// What the newest group consists of, while more of the same joins it.
  var group: GroupKind?

  enum GroupKind: Hashable { case typing, blanks, deletingBack, deletingForward }

  /// An editor with its cursor behind the text.
  public init(_ text: String, width: Int) {
    self.text = text
    cursor = text.utf8.count
    anchor = cursor
    layout = TextLayout(text, width: width)
  }

  /// Columns to be had.
  public var width: Int {
    get { layout.width }
    set { if newValue != layout.width { layout = TextLayout(text, width: newValue) } }
  }

  /// What is selected; empty at the cursor if nothing is.
  public var selection: Range<Int> { min(cursor, anchor)..<max(cursor, anchor) }
  /// The selected text.
  public var selectedText: String { String(text.slice(selection)) }
  /// The cell of the cursor.
  public var cursorPosition: Point { layout.position(of: cursor, in: text) }
  /// True if there is something to undo.
  public var canUndo: Bool { !undoable.isEmpty }
  /// True if something was undone and nothing typed since.
  public var canRedo: Bool { !redoable.isEmpty }

  /// The columns of a row that are selected, for whoever draws it; nil if none. A selected line break is one column.
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

  /// Changes the text by somebody else's change: cursor, selection and what can be undone move with it. False, and nothing
  /// done, if the change does not fit the text.
  @discardableResult public mutating func merge(_ change: TextEdit) -> Bool {
    guard change.fits(text) else { return false }
    change.apply(to: &text)
    // At the cursor, what others insert pushes nothing: one goes on typing before it. A selection does not grow.
    let selected = selection
    let low = change.map(selected.lowerBound, isBehind: selected.lowerBound < selected.upperBound)
    let high = max(low, change.map(selected.upperBound, isBehind: false))
    (cursor, anchor) = cursor < anchor ? (low, high) : (high, low)
    undoable = Self.rebased(undoable, over: change)
    redoable = Self.rebased(redoable, over: change)
    group = nil
    settle()
    return true
  }

  /// Takes a text that others made of this one, as the one change that it is.
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
    // What others deleted needs no undo.
    return rebased.reversed().filter { $0.contains { !$0.range.isEmpty || !$0.replacement.isEmpty } }
  }

  /// Puts the text's rows and both ends of the selection right after a change.
  mutating func settle() {
    layout = TextLayout(text, width: layout.width)
    cursor = boundary(cursor)
    anchor = boundary(anchor)
    column = nil
  }

  /// The nearest place between two characters that is not behind `offset`, or not before it.
  func boundary(_ offset: Int, isBehind: Bool = false) -> Int {
    let offset = min(max(0, offset), text.utf8.count)
    let index = text.utf8.index(text.startIndex, offsetBy: offset)
    guard index < text.endIndex else { return offset }
    // Swift's steps begin at the character that an index lies in.
    let end = text.index(after: index)
    let start = text.index(before: end)
    return self.offset(isBehind && start < index ? end : start)
  }
}
