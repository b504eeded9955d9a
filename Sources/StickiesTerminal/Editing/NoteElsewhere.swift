import GraphControllers
import GraphModel
import GraphReplica
import StickiesKit

/// Follows one note wherever it is, for an editor that is open on it after it has left what is shown: somebody may have
/// taken it to another board, or deleted it while nobody listened.
final class NoteElsewhere {
  /// Told when it is found, when it changes, and when it is not there any more.
  var didChange: () -> Void = {}
  /// Whoever edits it has been told where it is.
  var isTold = false
  private let rows: ResultsController
  private var listener: RowsListener?

  init(_ id: ObjectID, in context: ObjectContext, perform: @escaping () -> Void) {
    rows = ResultsController(
      ResultsRequest(entity: id.entity, predicate: .identifiers([id]), sort: []), in: context, perform: perform)
    listener = RowsListener { [weak self] in
      // Of what can't be asked nobody knows where it is.
      if let self, rows.state == .loaded { didChange() }
    }
    rows.delegate = listener
  }

  deinit { rows.stop() }

  func start() { rows.performFetch() }

  /// The note; nil for one that is not there.
  var note: Note? { rows.count > 0 ? rows.object(at: 0) as? Note : nil }
}
