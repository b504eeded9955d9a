import GraphControllers
import GraphModel
import GraphReplica
import StickiesKit

/// Follows the edited note after it has left the board. Another client may have moved it to another board, or deleted
/// it while this client was disconnected.
final class DetachedNoteObserver {
  /// Called when the note is found, changes or no longer exists.
  var didChange: () -> Void = {}
  /// Whether the user has been informed about the new place.
  var isReported = false
  private let rows: ResultsController
  private var listener: RowsListener?

  init(_ id: ObjectID, in context: ObjectContext) {
    rows = ResultsController(
      ResultsRequest(entity: id.entity, predicate: .identifiers([id]), sort: []), in: context)
    listener = RowsListener { [weak self] in
      // If the query failed, the place remains unknown.
      if let self, rows.state == .loaded { didChange() }
    }
    rows.delegate = listener
  }

  deinit { rows.stop() }

  func start() { rows.performFetch() }

  /// The note; nil if it does not exist.
  var note: Note? { rows.count > 0 ? rows.object(at: 0) as? Note : nil }
}
