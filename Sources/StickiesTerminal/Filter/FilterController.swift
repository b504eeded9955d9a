import StickiesKit

/// The filter of the screen. Hidden notes do not change, and the status line shows that the filter is active.
final class FilterController {
  var filter = BoardFilter() { didSet { if filter != oldValue { didChange() } } }
  /// Called when the filter has changed.
  var didChange: () -> Void = {}
  let tags: TagController

  init(tags: TagController) { self.tags = tags }

  /// Shows all notes again.
  func showAll() { filter = BoardFilter() }

  /// Gives a new note a color and a tag that pass the filter, so that it stays visible.
  func apply(to note: Note) {
    if !filter.colors.isEmpty, !filter.colors.contains(note.color),
      let color = NoteColor.allCases.first(where: filter.colors.contains)
    {
      note.color = color
    }
    if let name = filter.tags.sorted().first { tags.attach(tags.tag(named: name.text), to: note) }
  }
}
