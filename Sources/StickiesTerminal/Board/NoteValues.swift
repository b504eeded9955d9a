import GraphControllers
import GraphModel
import GraphReplica
import StickiesKit
import TerminalCells

/// The values of a note that the screen displays, read from the graph. A shared class instance, because each turn
/// passes those of all notes.
final class NoteValues: Sendable {
  /// Position, size and height, in points.
  let shape: WindowShape
  /// The cells of the board that the note takes when it is not collapsed.
  let cells: Rect
  let text: String
  let color: PaperColor
  let tags: [String]
  let isCollapsed: Bool
  /// The number that the server has yet to assign, such as `+1`; empty for an assigned one.
  let number: String
  /// The marks for attributes of the note itself.
  let marks: NoteBadges

  init(_ note: Note) {
    shape = WindowShape(x: note.x, y: note.y, width: note.width, height: note.height, z: note.z)
    cells = BoardScale.cells(x: shape.x, y: shape.y, width: shape.width, height: shape.height)
    text = note.text
    color = PaperColor(name: note.color.rawValue)
    tags = note.tags.filter { !$0.isFault }.map(\.name)
    isCollapsed = note.collapsed
    number = if let text = ProvisionalNumber.text(Int64(note.number)) { text } else { "" }
    var marks = NoteBadges()
    if note.pinned { marks.insert(.pinned) }
    if note.locked { marks.insert(.locked) }
    self.marks = marks
  }

  /// The cells that the note takes: only the title's row if it is collapsed.
  var outline: Rect {
    isCollapsed ? Rect(origin: cells.origin, size: Size(width: cells.size.width, height: 1)) : cells
  }
}

/// Caches the displayed values of notes until they change. Each turn reads all notes of a board, and most are
/// unchanged.
final class NoteValuesCache {
  /// Maximum number of cached notes: those of the board and of one shown before.
  static let capacity = 2 * BoardPage.maximumNotes
  private let context: ObjectContext
  private let changes: ChangeTracker
  private let tag: EntityNumber?
  private var known = [ObjectID: NoteValues]()
  /// The number of notes read so far, for tests.
  private(set) var reads = 0

  init(in context: ObjectContext) {
    self.context = context
    changes = context.trackChanges()
    tag = context.model.entity(named: Tag.entityName)?.number
  }

  /// The current values of a note; nil if it is not loaded, or only as a fault.
  subscript(id: ObjectID) -> NoteValues? {
    if !changes.isEmpty { forget(changes.take()) }
    if let values = known[id] { return values }
    guard let note = context.fault(id) as? Note, !note.isFault else { return nil }
    reads += 1
    let values = NoteValues(note)
    if known.count >= Self.capacity { known = [:] }
    known[id] = values
    return values
  }

  private func forget(_ ids: Set<ObjectID>) {
    // A changed tag does not identify its notes.
    guard !ids.contains(where: { $0.entity == tag }) else { return known = [:] }
    for id in ids { known[id] = nil }
  }
}
