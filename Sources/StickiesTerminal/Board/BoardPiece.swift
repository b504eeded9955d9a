import GraphControllers
import GraphModel
import GraphReplica
import StickiesKit

/// What is followed of a large board around one place: the uppermost notes of a region, with their links. It goes as a
/// whole when another region has come.
final class BoardPiece: ResultsControllerDelegate {
  /// What a piece is asked for.
  struct Wish: Hashable {
    var region: BoardRegion
    /// Notes that are followed wherever they lie, because somebody works with them here.
    var pinned = Set<ObjectID>()
    /// Which notes are looked for; all of them unless a search is open.
    var filter = GraphPredicate.always
    /// So many notes at most.
    var limit = BoardPart.maximumNotes
  }

  let wish: Wish
  let notes: ResultsController
  let links: ResultsController
  /// The notes came, or changed.
  var didChange: (BoardPiece, ResultsDifference) -> Void = { _, _ in }
  /// The notes can't be had.
  var didFail: (BoardPiece, Refusal) -> Void = { _, _ in }
  /// Links came or went.
  var linksDidChange: () -> Void = {}
  /// The links can't be had.
  var linksDidFail: (Refusal) -> Void = { _ in }
  private var linkListener: RowsListener?

  init(_ wish: Wish, of board: ObjectID, in context: ObjectContext, perform: @escaping () -> Void) {
    self.wish = wish
    let place: GraphPredicate =
      wish.pinned.isEmpty
      ? .all([wish.region.notes, wish.filter])
      : .or([.all([wish.region.notes, wish.filter]), .identifiers(wish.pinned.sorted())])
    var request = BoardPage.notes(of: board, in: context.model)
    request.predicate = .all([request.predicate, place])
    request.sort = [SortKey](Note.self, [\.z.descending])
    request.window = ResultsWindow(limit: wish.limit)
    notes = ResultsController(request, in: context, perform: perform)
    var lines = BoardPage.links(of: board, in: context.model)
    lines.predicate = .all([lines.predicate, wish.region.links])
    lines.maximumCount = BoardPage.maximumLinks
    links = ResultsController(lines, in: context, perform: perform)
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
    // Links that could not be had are not asked for with each commit.
    if links.state == .idle { links.performFetch() }
    didChange(self, difference)
  }

  func results(_ controller: ResultsController, didFail refusal: Refusal) { didFail(self, refusal) }
}

/// Hears that rows come and go.
final class RowsListener: ResultsControllerDelegate {
  private let changed: () -> Void
  /// The rows can't be had.
  var failed: (Refusal) -> Void = { _ in }

  init(_ changed: @escaping () -> Void) { self.changed = changed }

  func resultsDidChange(_ controller: ResultsController, by difference: ResultsDifference) { changed() }

  func results(_ controller: ResultsController, didFail refusal: Refusal) {
    failed(refusal)
    changed()
  }
}
