import GraphControllers
import GraphModel
import GraphReplica
import StickiesKit
import TerminalCells

/// What the screen shows of a note, read from the graph. Shared, not copied: each turn passes those of all notes on.
final class NoteValues: Sendable {
  /// Where it stands, in points.
  let shape: WindowShape
  /// The cells of the board that it takes when it is not collapsed.
  let cells: Rect
  let text: String
  let color: PaperColor
  let tags: [String]
  let isCollapsed: Bool
  /// The signs that belong to the note itself.
  let marks: NoteMarks

  init(_ note: Note) {
    shape = WindowShape(x: note.x, y: note.y, width: note.width, height: note.height, z: note.z)
    cells = BoardScale.cells(x: shape.x, y: shape.y, width: shape.width, height: shape.height)
    text = note.text
    color = PaperColor(name: note.color.rawValue)
    tags = note.tags.filter { !$0.isFault }.map(\.name)
    isCollapsed = note.collapsed
    var marks = NoteMarks()
    if note.pinned { marks.insert(.pinned) }
    if note.locked { marks.insert(.locked) }
    self.marks = marks
  }

  /// The cells that it takes: only the title's row, if it is collapsed.
  var outline: Rect {
    isCollapsed ? Rect(origin: cells.origin, size: Size(width: cells.size.width, height: 1)) : cells
  }
}

/// What has been read of notes, kept until they change: in every turn all notes of a board are looked at, and most of them
/// are as they were.
final class NoteValuesCache {
  /// Notes kept at most: those of a board, and of another one that was shown before.
  static let capacity = 2 * BoardPage.maximumNotes
  private let context: ObjectContext
  private let changes: ChangeTracker
  private let tag: EntityNumber?
  private var known = [ObjectID: NoteValues]()
  /// How many notes were read, for tests.
  private(set) var reads = 0

  init(in context: ObjectContext) {
    self.context = context
    changes = context.trackChanges()
    tag = context.model.entity(named: Tag.entityName)?.number
  }

  /// What a note shows now; nil for one that is not here, or only as a fault.
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
    // A tag does not say whose it is.
    guard !ids.contains(where: { $0.entity == tag }) else { return known = [:] }
    for id in ids { known[id] = nil }
  }
}
