import GraphControllers
import GraphModel

/// A window controller of a front end, without a screen.
final class FakeWindow: WindowControlling {
  private(set) var id: ObjectID
  let serial: Int
  /// The text of the editor; nil when none is open.
  var editor: String?
  var isSent = true

  init(_ id: ObjectID, serial: Int) {
    self.id = id
    self.serial = serial
  }

  var unsentText: String? { isSent ? nil : editor }
  var isEditing: Bool { editor != nil }
  var editedText: String? { editor }
  func objectDidBecome(_ id: ObjectID) { self.id = id }

  func type(_ text: String) {
    editor = text
    isSent = false
  }
}

/// A window set whose calls are lines: `opened #1 for 7` is the first controller, made for object 7.
final class WindowTranscript {
  private(set) var made = 0
  lazy var windows = WindowSet<FakeWindow> { [unowned self] id in
    made += 1
    return FakeWindow(id, serial: made)
  }

  static func id(_ number: UInt64) -> ObjectID { ObjectID(key: UniqueID(high: 1, low: number), entity: 1) }
  static func new(_ number: UInt64) -> ObjectID { .temporary(number, entity: 1) }

  private func name(_ id: ObjectID) -> String { id.isTemporary ? "new \(id.key.low)" : "\(id.key.low)" }

  func lines(_ changes: [WindowChange<FakeWindow>]) -> [String] {
    changes.map { change in
      switch change {
      case .opened(let window, let id): "opened #\(window.serial) for \(name(id))"
      case .closed(let window, let id): "closed #\(window.serial) for \(name(id))"
      case .objectRemoved(let window, let loss):
        "lost #\(window.serial) for \(name(loss.id)): \(loss.sentence): '\(loss.text)'"
      case .objectRestored(let window, let id): "returned #\(window.serial) for \(name(id))"
      case .identified(let window, let id, let was): "#\(window.serial): \(name(was)) is \(name(id))"
      }
    }
  }

  func arrange(_ numbers: [UInt64], _ cause: ArrangementCause = .here) -> [String] {
    arrange(ids: numbers.map(Self.id), cause)
  }

  func arrange(ids: [ObjectID], _ cause: ArrangementCause = .here) -> [String] {
    lines(windows.reconcile(ids, after: cause))
  }

  func commit(_ revision: Revision, by author: String, deleted: [UInt64] = []) -> ArrangementCause {
    ArrangementCause(
      revision: revision, author: author, deleted: Set(deleted.map(Self.id)), isOwn: author == "ann")
  }

  func answer(_ number: UInt64, is permanent: UInt64, at revision: Revision) -> [String] {
    lines(
      windows.identify(
        [CommitResult.IDAssignment(temporary: Self.new(number), permanent: Self.id(permanent))], at: revision))
  }

  var order: [String] { windows.ids.map(name) }
  var focus: String? { windows.focus.map(name) }
}
