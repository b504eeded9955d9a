import GraphControllers
import GraphModel
import GraphReplica
import StickiesKit

/// The notes of a board in sections by color, in reading order within each. It applies the incremental changes that
/// the results controller reports between will-change and did-change.
final class ListSections: ResultsControllerDelegate {
  /// The notes of one color.
  struct Section: Equatable {
    var color: String
    var ids: [ObjectID]
  }

  let board: ObjectID
  /// Before the first result there is one section without rows, as in the controller.
  private(set) var sections = [Section(color: "", ids: [])]
  /// Called when the rows have changed.
  var didChange: () -> Void = {}
  /// Called when the query fails; the rows stay as they were.
  var didFail: (Refusal) -> Void = { _ in }
  private let results: ResultsController
  /// The changes reported so far for the current commit.
  private var changes = (sections: [ResultsSectionChange](), objects: [ResultsObjectChange]())

  init(of board: ObjectID, in context: ObjectContext) {
    self.board = board
    var request = BoardPage.notes(of: board, in: context.model)
    let color = context.model.property(Note.self, \.color)
    request.section = GraphPredicate.Path(hops: [], end: .property(color.number))
    request.sort = BoardWindow.readingOrder
    request.maximumCount = BoardPage.maximumNotes
    results = ResultsController(request, in: context)
    results.delegate = self
    results.performFetch()
  }

  func stop() { results.stop() }

  // MARK: - A commit

  func resultsWillChange(_ controller: ResultsController) { changes = ([], []) }

  func results(_ controller: ResultsController, didChange section: ResultsSectionChange) {
    changes.sections.append(section)
  }

  func results(_ controller: ResultsController, didChange object: ResultsObjectChange) {
    changes.objects.append(object)
  }

  func resultsDidChange(_ controller: ResultsController, by difference: ResultsDifference) {
    takeOut()
    putIn()
    didChange()
  }

  func results(_ controller: ResultsController, didFail refusal: Refusal) { didFail(refusal) }

  /// Removes rows and sections by their old positions: rows first, from last to first, then sections.
  private func takeOut() {
    let rows = changes.objects.compactMap { change -> ResultsPosition? in
      switch change {
      case .removed(_, let place), .moved(_, let place, _, _): place
      case .inserted, .updated: nil
      }
    }
    for place in rows.sorted(by: { $0.offset > $1.offset }) { sections[place.section].ids.remove(at: place.row) }
    for case .removed(_, let place) in changes.sections { sections.remove(at: place) }
  }

  /// Inserts by new positions: sections first, from first to last, then rows.
  private func putIn() {
    for case .inserted(let name, let place) in changes.sections {
      // Without its section, the rows below would go into others.
      guard case .string(let color)? = name else { preconditionFailure("every note has a color") }
      sections.insert(Section(color: color, ids: []), at: place)
    }
    let rows = changes.objects.compactMap { change -> (id: ObjectID, place: ResultsPosition)? in
      switch change {
      case .inserted(let id, let place), .moved(let id, _, let place, _): (id, place)
      case .removed, .updated: nil
      }
    }
    for row in rows.sorted(by: { $0.place.offset < $1.place.offset }) {
      sections[row.place.section].ids.insert(row.id, at: row.place.row)
    }
  }
}
