import GraphControllers
import GraphModel
import GraphReplica
import StickiesKit
import TerminalApplication

/// The selected notes, and the mode in which notes are selected. In a large board the selection of all notes is a
/// predicate, not a list of ids.
final class SelectionController: BoardPart {
  let services: BoardServices
  var mode = EditMode<ObjectID>()
  /// Whether the connection was lost since the last check of the selection.
  private(set) var wasDisconnected = false
  /// Whether the filter changed since the last check of the selection.
  var wasFiltered = false
  private let connection: ConnectionMonitor
  private let filtering: FilterController
  private let pages: BoardPages
  private let busy: BusyController
  /// The selection of all notes of a large board except some.
  private var allNotes: SelectAllState?
  /// The number of notes of a large board when its selection was last checked.
  private var checkedTotal: Int?
  private var isChecking = false

  init(
    _ services: BoardServices, _ connection: ConnectionMonitor, _ filtering: FilterController, _ pages: BoardPages,
    _ busy: BusyController
  ) {
    (self.services, self.connection, self.filtering) = (services, connection, filtering)
    (self.pages, self.busy) = (pages, busy)
  }

  /// Ends the mode before another board is shown.
  func boardWillChange() {
    mode.cancel(at: now)
    (isChecking, checkedTotal, wasDisconnected, wasFiltered) = (false, nil, false, false)
  }

  /// Others may have changed the selected notes before the connection is back.
  func connectionWasLost() { wasDisconnected = true }

  /// Applies a new filter. Hidden notes are deselected; in a large board this includes notes that are not loaded.
  func filterDidChange() {
    all?.narrow(to: filtering.filter.predicate, mode.selection.target)
    wasFiltered = true
  }

  /// The selection, if it is all notes of a large board except some.
  var all: SelectAllState? { mode.selection.isAll ? allNotes : nil }

  func isSelected(_ id: ObjectID) -> Bool {
    guard let all else { return mode.selection.contains(id) }
    return mode.selection.contains(id, isListed: all.contains(id))
  }

  /// Toggles the selection of a loaded note.
  func toggle(_ id: ObjectID) {
    guard let all else { return mode.toggle(id) }
    guard !id.isTemporary else { return report("the note is not on the server yet") }
    let isListed = all.contains(id)
    var selection = mode.selection
    selection.toggle(id, isListed: isListed)
    guard selection.namedCount <= SelectAllState.maximumNamed else {
      return report("at most \(SelectAllState.maximumNamed) notes can be deselected", isTrouble: true)
    }
    mode.toggle(id, isListed: isListed)
    all.follow(selection.target)
  }

  /// Selects all notes of the board that match the filter, without a list of their ids.
  func selectAllOfBoard() {
    guard let part = pages.page.part else { return }
    let (filter, shown) = (part.filter, filtering.filter)
    let newest = NoteSearch(
      predicate: pages.page.notes(where: .always), sort: [SortKey](Note.self, [\.number.descending]))
    busy.requests.find(newest) { [weak self] result in
      guard let self, mode.isEditing, pages.page.part === part else { return }
      switch result {
      case .success(let notes):
        guard let newest = notes.first?.number else { return mode.selection.clear() }
        let all = SelectAllState(
          of: part, board: pages.page.board, filter: filter, newest: Int64(newest), in: context, listener: allListener)
        busy.requests.count(all.selected(.all(except: [], also: []))) { [weak self] in
          self?.select(all, of: part, under: shown, $0)
        }
      case .failure(let refusal): report(refusal.message, isTrouble: true)
      }
    }
  }

  /// Selects all notes, unless the filter has changed since they were requested.
  /// - Parameter filter: the filter at the time of the request.
  private func select(
    _ all: SelectAllState, of part: BoardWindow, under filter: BoardFilter, _ count: Result<Int, Refusal>
  ) {
    guard mode.isEditing, pages.page.part === part, filter == filtering.filter else { return all.stop() }
    switch count {
    case .success(let count):
      allNotes?.stop()
      allNotes = all
      mode.selection.selectAll(count: count)
      application.setNeedsDisplay()
    case .failure(let refusal):
      all.stop()
      report(refusal.message, isTrouble: true)
    }
  }

  private var allListener: RowsListener {
    let listener = RowsListener { [weak self] in self?.application.setNeedsDisplay() }
    listener.failed = { [weak self] in self?.report($0.message, isTrouble: true) }
    return listener
  }

  /// Updates the count of selected notes after commits; once per turn. Drops `allNotes` if not all are selected.
  func recount() {
    guard let allNotes else { return }
    if mode.selection.isAll {
      if let count = allNotes.count { mode.selection.recount(count) }
    } else {
      allNotes.stop()
      self.allNotes = nil
    }
  }

  /// Removes notes from the selection that were deleted or that the filter hides. They may be selected individually
  /// without being loaded, so no other notification reports them.
  func check(_ part: BoardWindow) {
    guard mode.isEditing, !mode.selection.isAll, !mode.selection.isEmpty, connection.state.isConnected,
      let total = part.total, !isChecking
    else { return }
    defer { checkedTotal = total }
    // While disconnected, additions may have compensated for deletes.
    guard wasDisconnected || wasFiltered || checkedTotal.map({ total < $0 }) == true else { return }
    (wasDisconnected, wasFiltered) = (false, false)
    guard case .some(let all) = mode.selection.target else {
      return assertionFailure("a selection that is not of all names its notes")
    }
    let selected = all.filter { !$0.isTemporary }
    isChecking = true
    part.requests.identify(pages.page.notes(where: .all([.identifiers(selected), filtering.filter.predicate]))) {
      [weak self] result in
      // If the board is no longer shown, the answer does not concern the current selection.
      guard let self, pages.page.part === part else { return }
      isChecking = false
      guard case .success(let ids) = result else { return wasFiltered = true }
      let there = Set(ids)
      mode.selection.objectsWereDeleted(selected.filter { !there.contains($0) && pages.page.windows[$0] == nil })
      application.setNeedsDisplay()
    }
  }

  /// Redraws while circles and tool bar slide in or out.
  func slide() {
    application.setNeedsDisplay()
    guard mode.isSliding(at: now) else { return }
    _ = application.schedule(at: now + 20) { [weak self] in self?.slide() }
  }

  /// The number of columns of the selection circles that have slid in, on the canvas and in the list.
  var circleColumns: Int { Int((mode.slideFraction(at: now) * Double(NoteView.circleWidth)).rounded()) }
}
