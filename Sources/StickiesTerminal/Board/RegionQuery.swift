import GraphControllers
import GraphModel
import GraphReplica
import StickiesKit

/// A live query of a large board around one place: the uppermost notes of a region, with their links. It is stopped
/// as a unit when the next piece has arrived.
final class RegionQuery: ResultsControllerDelegate {
  /// The parameters of a piece.
  struct Parameters: Hashable {
    var region: BoardRegion
    /// Notes that are in use here, followed regardless of their position.
    var pinned = Set<ObjectID>()
    /// The predicate of the filter and the search; `always` if there is none.
    var filter = GraphPredicate.always
    /// The maximum number of notes.
    var limit = BoardWindow.maximumNotes
  }

  let parameters: Parameters
  let notes: ResultsController
  let links: ResultsController
  /// Called when the notes have arrived or changed.
  var didChange: (RegionQuery, ResultsDifference) -> Void = { _, _ in }
  /// Called when the notes could not be loaded.
  var didFail: (RegionQuery, Refusal) -> Void = { _, _ in }
  /// Called when links have been added or removed.
  var linksDidChange: () -> Void = {}
  /// Called when the links could not be loaded.
  var linksDidFail: (Refusal) -> Void = { _ in }
  private var linkListener: RowsListener?

  init(_ parameters: Parameters, of board: ObjectID, in context: ObjectContext) {
    self.parameters = parameters
    let place: GraphPredicate =
      parameters.pinned.isEmpty
      ? .all([parameters.region.notes, parameters.filter])
      : .or([.all([parameters.region.notes, parameters.filter]), .identifiers(parameters.pinned.sorted())])
    var request = BoardPage.notes(of: board, in: context.model)
    request.predicate = .all([request.predicate, place])
    request.sort = [SortKey](Note.self, [\.z.descending])
    request.window = ResultsWindow(limit: parameters.limit)
    notes = ResultsController(request, in: context)
    var lines = BoardPage.links(of: board, in: context.model)
    lines.predicate = .all([lines.predicate, parameters.region.links])
    lines.maximumCount = BoardPage.maximumLinks
    links = ResultsController(lines, in: context)
    notes.delegate = self
    let listener = RowsListener { [weak self] in self?.linksDidChange() }
    listener.failed = { [weak self] in self?.linksDidFail($0) }
    linkListener = listener
    links.delegate = listener
  }

  func start() { notes.performFetch() }

  func stop() {
    notes.stop()
    links.stop()
  }

  func resultsDidChange(_ controller: ResultsController, by difference: ResultsDifference) {
    // Links whose fetch failed are not requested again with each commit.
    if links.state == .idle { links.performFetch() }
    didChange(self, difference)
  }

  func results(_ controller: ResultsController, didFail refusal: Refusal) { didFail(self, refusal) }
}

/// Calls a closure when the rows of a results controller change.
final class RowsListener: ResultsControllerDelegate {
  private let changed: () -> Void
  /// Called when the rows could not be loaded.
  var failed: (Refusal) -> Void = { _ in }

  init(_ changed: @escaping () -> Void) { self.changed = changed }

  func resultsDidChange(_ controller: ResultsController, by difference: ResultsDifference) { changed() }

  func results(_ controller: ResultsController, didFail refusal: Refusal) {
    failed(refusal)
    changed()
  }
}
