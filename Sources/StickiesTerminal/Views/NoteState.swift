import TerminalCells

/// Somebody, as a board shows them.
public struct Person: Hashable, Sendable {
  /// What they are called.
  public var name: String
  /// Which of the theme's colors for people is theirs.
  public var color: Int

  /// Somebody.
  public init(_ name: String, color: Int) {
    self.name = name
    self.color = color
  }
}

/// What of a note is shown by a sign beside its title.
public struct NoteMarks: OptionSet, Hashable, Sendable {
  /// The set as bits.
  public let rawValue: UInt8

  /// A set of bits.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// It comes before others.
  public static let pinned = NoteMarks(rawValue: 1)
  /// One is asked before it is edited.
  public static let locked = NoteMarks(rawValue: 2)
  /// It has changes that the server does not have yet.
  public static let unsent = NoteMarks(rawValue: 4)
  /// Changes of it met with others' changes, and somebody has to choose.
  public static let conflict = NoteMarks(rawValue: 8)
}

/// All that is to be known of a note to draw it.
public struct NoteState: Sendable {
  /// A circle beside the title, while several notes can be chosen.
  public enum Circle: Hashable, Sendable {
    /// Not chosen.
    case empty
    /// Chosen.
    case checked
  }

  /// The window's number on this screen.
  public var id: Int
  /// Where it lies, in cells of the board.
  public var frame: Rect
  /// Its place in the pile.
  public var z: Double
  /// All of the text; the first line is the title.
  public var text: String
  /// The paper.
  public var color: PaperColor
  /// What of the text was searched for, as offsets in UTF-8; not shown in an open editor.
  public var matches: [Range<Int>] = []
  /// What it is filed under.
  public var tags: [String] = []
  /// Signs beside the title.
  public var marks: NoteMarks = []
  /// Only the title shows.
  public var isCollapsed = false
  /// Keys go to it.
  public var isFocused = false
  /// What the circle says, while several can be chosen.
  public var circle: Circle
  /// Columns of the circle that have slid in, 0 to `NoteView.circleWidth`.
  public var circleColumns: Int
  /// Who edits it elsewhere.
  public var editors: [Person]
  /// Rows that are scrolled out above.
  public var scroll = 0
  /// The editor, while it is edited here; its width has to be `NoteView.textWidth(of:)`.
  public var editing: TextEditor?

  /// A note.
  public init(
    id: Int, frame: Rect, z: Double = 0, text: String, color: PaperColor = .yellow,
    matches: [Range<Int>] = [], tags: [String] = [],
    marks: NoteMarks = [], isCollapsed: Bool = false, isFocused: Bool = false, circle: Circle = .empty,
    circleColumns: Int = 0, editors: [Person] = [], scroll: Int = 0, editing: TextEditor? = nil
  ) {
    self.id = id
    self.frame = frame
    self.z = z
    self.text = text
    self.color = color
    self.matches = matches
    self.tags = tags
    self.marks = marks
    self.isCollapsed = isCollapsed
    self.isFocused = isFocused
    self.circle = circle
    self.circleColumns = circleColumns
    self.editors = editors
    self.scroll = scroll
    self.editing = editing
  }

  /// The cells that it takes on the board: only the title's row, if it is collapsed.
  public var outline: Rect {
    let frame = frame.clamped
    return isCollapsed ? Rect(origin: frame.origin, size: Size(width: frame.size.width, height: 1)) : frame
  }
}
