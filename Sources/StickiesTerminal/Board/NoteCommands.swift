import GraphControllers
import GraphModel
import GraphReplica
import StickiesKit
import TerminalApplication
import TerminalCells

/// Commands on the focused note or on all selected notes.
final class NoteCommands: BoardPart {
  let services: BoardServices
  let connection: ConnectionMonitor
  let tags: TagController
  let pages: BoardPages
  let selection: SelectionController
  let bulk: BulkChangeController
  private let filtering: FilterController
  private let busy: BusyController
  private let saving: SaveController
  private let editing: EditingController

  init(
    _ services: BoardServices, _ connection: ConnectionMonitor, _ tags: TagController, _ filtering: FilterController,
    _ pages: BoardPages, _ busy: BusyController, _ selection: SelectionController, _ saving: SaveController,
    _ bulk: BulkChangeController, _ editing: EditingController
  ) {
    (self.services, self.connection, self.tags, self.filtering) = (services, connection, tags, filtering)
    (self.pages, self.busy, self.selection) = (pages, busy, selection)
    (self.saving, self.bulk, self.editing) = (saving, bulk, editing)
  }

  /// The loaded notes that a command acts on.
  var targets: [Note] {
    if selection.mode.isEditing {
      return pages.page.windows.ids.filter { selection.isSelected($0) }.compactMap { pages.page.note($0) }
    }
    guard let note = pages.focused?.note else { return [] }
    return [note]
  }

  /// Changes the targets in one undo step.
  /// - Parameter inRow: whether this change joins the undo step of the same change to the same notes just before.
  func change(_ name: String, isForLocked: Bool = false, inRow: Bool = false, _ body: @escaping (Note) -> Void) {
    guard connection.allowsChanges else { return }
    withTargets { [weak self] notes in self?.change(notes, name, isForLocked, inRow: inRow, body) }
  }

  /// Changes notes in one undo step.
  func change(
    _ notes: [Note], _ name: String, _ isForLocked: Bool = false, inRow: Bool = false, _ body: (Note) -> Void
  ) {
    let free = isForLocked ? notes : notes.filter { !$0.locked }
    guard !free.isEmpty, allows(.update, free) else {
      if free.isEmpty, !notes.isEmpty { report("the note is locked; l unlocks it") }
      return
    }
    saving.save()
    let ids = Set(free.map(\.id))
    undoScope.beginGroup(named: name, continuing: inRow ? saving.keyRepeat?.group(of: name, ids, at: now) : nil)
    for note in free { body(note) }
    saving.save(changed: free.map(\.id))
    undoScope.endGroup()
    saving.keyRepeat = inRow ? KeyRepeatGroup(name: name, notes: ids, group: undoScope.lastGroup, time: now) : nil
    if free.count < notes.count { report("\(notes.count - free.count) locked and unchanged") }
  }

  /// Whether the user's rights allow something with all of these notes; shows the reason if not.
  private func allows(_ operation: AccessRules.Operation, _ notes: [Note]) -> Bool {
    guard let why = refusal(operation, of: notes) else { return true }
    report(why, isTrouble: true)
    return false
  }

  /// The missing right for one of these notes; nil if none is missing.
  func refusal(_ operation: AccessRules.Operation, of notes: [Note]) -> String? {
    notes.lazy.compactMap { self.rights.refusal(operation, of: $0) }.first
  }

  func setSize(of note: Note, width: Double, height: Double) {
    let least = (
      width: Double(NoteView.minimumSize.width) * BoardScale.pointsPerColumn,
      height: Double(NoteView.minimumSize.height) * BoardScale.pointsPerRow
    )
    note.width = min(max(width, least.width), 100_000)
    note.height = min(max(height, least.height), 100_000)
  }

  func raise(_ controller: NoteController) {
    guard let note = controller.note, !note.locked, connection.allowsChanges, allows(.update, [note]) else { return }
    let top = pages.page.windows.topHeight(for: controller.id, pages.page)
    guard top != note.z else { return }
    note.z = top
    saving.touch(controller.id)
  }

  func lower(_ note: Note) {
    let lowest =
      pages.page.windows.ids.filter { $0 != note.id }.compactMap { pages.page.shape(of: $0)?.z }.min() ?? note.z
    if note.z >= lowest { note.z = lowest - 1 }
  }

  /// Deletes the targets in one undo step.
  func delete() {
    guard connection.allowsChanges else { return }
    if let all = selection.all {
      editing.end()
      let change = BulkChangeDescription(doing: "Deleting", done: "deleted", undone: "brings them back")
      return bulk.change(all, change) { _ in .delete }
    }
    withTargets { [weak self] notes in
      let free = notes.filter { !$0.locked }
      self?.delete(free)
      guard free.count < notes.count else { return }
      let locked = notes.count - free.count
      self?.report(
        free.isEmpty && locked == 1 ? "the note is locked; l unlocks it" : "\(locked) locked and unchanged")
    }
  }

  private func delete(_ notes: [Note]) {
    guard !notes.isEmpty, allows(.delete, notes) else { return }
    editing.end()
    saving.save()
    undoScope.beginGroup(named: "Delete")
    for note in notes { editing.remove(note) }
    saving.save()
    undoScope.endGroup()
    pages.page.reconcile()
    let (what, them) = notes.count == 1 ? ("deleted", "it") : ("deleted \(notes.count) notes", "them")
    report(
      "\(what); u brings \(them) back" + (connection.state.isConnected ? "" : " when the server is back"),
      gone: Set(notes.map(\.id)))
  }

  /// Undoes or redoes the last step.
  func undo(isRedo: Bool) {
    // Undo runs on the server; queued while disconnected, it would surprise the user after the reconnect.
    guard connection.state.isConnected else {
      return report("\(isRedo ? "redo" : "undo") needs the server", isTrouble: true)
    }
    guard connection.allowsChanges else { return }
    guard !bulk.isChanging else { return report(BulkChangeController.isStillChanging) }
    saving.keyRepeat = nil
    saving.save()
    busy.requests.step(isRedo: isRedo) { [weak self] result in
      guard let self else { return }
      switch result {
      case .success(let isWhole):
        let stays = isWhole ? "" : "; later changes by others stay"
        report((isRedo ? "Redone" : "Undone") + stays)
      case .failure(RequestChannel.cancelled): report("cancelled; the server may still do it")
      case .failure(let refusal): report(refusal.message, isTrouble: refusal.code != .notFound)
      }
    }
  }

  /// Closes windows; their notes do not change.
  func closeWindows(_ controllers: [NoteController]) {
    editing.end()
    let open = controllers.filter { pages.page.windows[$0.id] != nil }
    guard !open.isEmpty else { return }
    for controller in open { pages.windowsDidChange(pages.page.windows.close(controller.id)) }
    report(
      open.count == 1
        ? "the window is closed, the note is not deleted; o brings it back"
        : "\(open.count) windows are closed, no note is deleted; o brings them back")
  }

  /// Gives all target notes the color that follows the color of the first one.
  func changeColor() {
    let colors = NoteColor.allCases
    func next(_ note: Note) -> NoteColor {
      guard let place = colors.firstIndex(of: note.color) else { preconditionFailure("allCases has every color") }
      return colors[(place + 1) % colors.count]
    }
    if let all = selection.all {
      let color = context.model.property(Note.self, \.color).number
      return bulk.change(all, BulkChangeDescription(doing: "Coloring", done: "colored")) {
        .set(color, .string(next($0).rawValue))
      }
    }
    var color: NoteColor?
    change("Color") { note in
      let new = color ?? next(note)
      color = new
      note.color = new
    }
  }

  /// Changes each target note depending on its own values.
  /// - Parameters:
  ///   - done: the past participle in the message about a change of all notes of a large board.
  ///   - inRow: whether this change joins the undo step of the same change to the same notes just before.
  func changeEach(
    _ name: String, _ done: String, inRow: Bool = false, _ body: @escaping (Note) -> Void
  ) {
    guard let all = selection.all else { return change(name, inRow: inRow, body) }
    bulk.changeEach(all, name, BulkChangeDescription(doing: "Changing", done: done), body)
  }

  /// Gives all target notes the opposite of the first one's value.
  /// - Parameters:
  ///   - path: the value of a note in memory.
  ///   - property: the same property in the model, for a change on the server.
  func toggle(
    _ name: String, _ path: ReferenceWritableKeyPath<Note, Bool>,
    property: (ObjectPath<Note, ExactlyOne>) -> TypedExpression<Bool, ExactlyOne>
  ) {
    if let all = selection.all {
      let number = context.model.property(Note.self, property).number
      let change = BulkChangeDescription(doing: "Changing", done: "changed", sparesLocked: name != "Lock")
      return bulk.change(all, change) {
        .set(number, .bool(!$0[keyPath: path]))
      }
    }
    var value: Bool?
    change(name, isForLocked: name == "Lock") { note in
      let new = value ?? !note[keyPath: path]
      value = new
      note[keyPath: path] = new
    }
  }

  /// Maximum number of notes read by one request.
  private static let awayAtOnce = 1_000

  // MARK: - Notes that are not loaded

  /// Selected notes that are not loaded.
  private var away: [ObjectID] {
    guard pages.page.part != nil, selection.mode.isEditing, case .some(let ids) = selection.mode.selection.target else {
      return []
    }
    return ids.filter { pages.page.windows[$0] == nil }
  }

  /// Whether a command has notes to act on.
  var hasTargets: Bool { selection.mode.isEditing && !selection.mode.selection.isEmpty || !targets.isEmpty }

  /// Calls the closure with the target notes, at once if they are loaded; not for a selection of all.
  func withTargets(_ body: @escaping ([Note]) -> Void) {
    let away = away
    guard !away.isEmpty else { return body(targets) }
    let token = busy.begin("Reading \(away.count) notes that are out of sight…")
    read(away[...], after: [], of: away.count, token, body)
  }

  /// Reads the notes in slices and updates the overlay's progress.
  private func read(
    _ ids: ArraySlice<ObjectID>, after notes: [Note], of count: Int, _ token: BusyToken,
    _ body: @escaping ([Note]) -> Void
  ) {
    guard !ids.isEmpty else {
      busy.end(token)
      let here = Set(notes.map(\.id))
      return body(notes.filter { !$0.isDeleted } + targets.filter { !here.contains($0.id) })
    }
    busy.overlay.setProgress(Double(count - ids.count) / Double(count), of: token)
    // The filter may hide them since another client changed them.
    let predicate = pages.page.notes(
      where: .all([.identifiers(Array(ids.prefix(Self.awayAtOnce))), filtering.filter.predicate]))
    busy.reads.find(NoteSearch(predicate: predicate, limit: Self.awayAtOnce)) { [weak self] result in
      guard let self else { return }
      switch result {
      case .success(let found): read(ids.dropFirst(Self.awayAtOnce), after: notes + found, of: count, token, body)
      case .failure(let refusal):
        busy.end(token)
        report("nothing was changed: \(refusal.message)", isTrouble: true)
      }
    }
  }
}
