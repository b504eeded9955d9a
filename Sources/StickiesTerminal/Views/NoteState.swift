import TerminalCells

/// A user, as displayed on a board.
public struct DisplayedUser: Hashable, Sendable {
  /// The user's name.
  public var name: String
  /// The user's color, an index into the theme's colors for people.
  public var color: Int

  /// Creates a person.
  public init(_ name: String, color: Int) {
    self.name = name
    self.color = color
  }
}

/// Attributes of a note that are marked beside its title.
public struct NoteBadges: OptionSet, Hashable, Sendable {
  /// The set as bits.
  public let rawValue: UInt8

  /// Creates a set from bits.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The note is pinned: sorted before others.
  public static let pinned = NoteBadges(rawValue: 1)
  /// The note is locked against accidental changes.
  public static let locked = NoteBadges(rawValue: 2)
  /// The note has changes that the server does not have yet.
  public static let unsent = NoteBadges(rawValue: 4)
  /// The note has a conflict that the user must resolve.
  public static let conflict = NoteBadges(rawValue: 8)
}

/// The display state of a note: everything that drawing needs.
public struct NoteState: Sendable {
  /// The selection circle beside the title.
  public enum Circle: Hashable, Sendable {
    /// The note is not selected.
    case empty
    /// The note is selected.
    case checked
  }

  /// The number of the window on this screen.
  public var id: Int
  /// The frame, in cells of the board.
  public var frame: Rect
  /// The stacking order.
  public var z: Double
  /// The complete text; the first line is the title.
  public var text: String
  /// The color.
  public var color: PaperColor
  /// The search matches in the text, as offsets in UTF-8; not shown in an open editor.
  public var matches: [Range<Int>] = []
  /// The names of the tags.
  public var tags: [String] = []
  /// The number that the server has yet to assign, such as `+1`; empty for an assigned one.
  public var number = ""
  /// The marks beside the title.
  public var marks: NoteBadges = []
  /// Whether only the title is visible.
  public var isCollapsed = false
  /// Whether the note has the focus.
  public var isFocused = false
  /// The state of the selection circle, in edit mode.
  public var circle: Circle
  /// Columns of the circle that have slid in, 0 to `NoteView.circleWidth`.
  public var circleColumns: Int
  /// The other users who edit the note.
  public var editors: [DisplayedUser]
  /// The number of rows scrolled out at the top.
  public var scroll = 0
  /// The editor while the note is edited here; its width must be `NoteView.textWidth(of:)`.
  public var editing: TextEditor?

  /// Creates a note state.
  public init(
    id: Int, frame: Rect, z: Double = 0, text: String, color: PaperColor = .yellow,
    matches: [Range<Int>] = [], tags: [String] = [], number: String = "",
    marks: NoteBadges = [], isCollapsed: Bool = false, isFocused: Bool = false, circle: Circle = .empty,
    circleColumns: Int = 0, editors: [DisplayedUser] = [], scroll: Int = 0, editing: TextEditor? = nil
  ) {
    self.id = id
    self.frame = frame
    self.z = z
    self.text = text
    self.color = color
    self.matches = matches
    self.tags = tags
    self.number = number
    self.marks = marks
    self.isCollapsed = isCollapsed
    self.isFocused = isFocused
    self.circle = circle
    self.circleColumns = circleColumns
    self.editors = editors
    self.scroll = scroll
    self.editing = editing
  }

  /// The cells of the board that the note takes: only the title's row if it is collapsed.
  public var outline: Rect {
    let frame = frame.clamped
    return isCollapsed ? Rect(origin: frame.origin, size: Size(width: frame.size.width, height: 1)) : frame
  }
}
