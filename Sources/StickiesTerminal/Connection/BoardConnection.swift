import GraphControllers
import GraphModel
import GraphReplica
import StickiesKit

/// The state of the connection, for the status line.
enum ConnectionState: Hashable {
  case connected
  case reconnecting
  case closed(String)

  var isConnected: Bool { self == .connected }
}

/// A note as of a revision.
struct PastNote {
  var id: ObjectID
  var values: NoteValues
}

/// A link as of a revision.
struct PastLink: Hashable {
  var from: ObjectID
  var to: ObjectID
  var label: String
}

/// A request for a board as of a revision; of a large board, the region around a place.
struct PastBoard: Hashable {
  var board: ObjectID
  var revision: Revision
  /// The region that is read if the board has more notes than are shown at once.
  var region: BoardRegion
  /// Whether the board is known to be large, so that the notes need not be counted.
  var isLarge = false
}

/// The contents of a board as of a revision.
struct PastContents {
  /// Name and color of the board; nil if it did not exist.
  var name: String?
  var color: PaperColor?
  var notes = [PastNote]()
  var links = [PastLink]()
  /// The reason why there are no links, if they could not be read.
  var linksAreMissing: Refusal?
  /// The commit of the revision; nil if it was pruned.
  var commit: PastCommit?
  /// The region of the notes, if they are not all notes of the board.
  var region: BoardRegion?
  /// The oldest and the newest readable revision at the time of the read. Needed because the client is not notified
  /// of commits on other boards.
  var reach: ClosedRange<Revision>?
}

/// A search for notes.
struct NoteSearch: Hashable {
  var predicate: GraphPredicate
  var sort = [SortKey]()
  /// The notes after this cursor in the sort order.
  var after: FetchCursor?
  var limit = 1
}

/// A commit of the history, for the scrubber.
struct PastCommit: Hashable {
  var revision: Revision
  var time: Timestamp
  var author: String
}

/// The connection as the board sees it. All closures are called on the screen's actor and answer there.
struct BoardConnection {
  /// Calls a closure with each update of some rows, and another one when they fail.
  typealias UpdateReader = (
    _ rows: ResultsUpdates.Iterator, _ each: @escaping (ResultsUpdate) -> Void, _ failed: @escaping (Refusal) -> Void
  ) -> Void

  /// The author of commits.
  var user: String
  /// The number of this client's session on the server; nil before the first connection.
  var session: () -> UInt64?
  /// The rights of the user; nil if the user may do everything.
  var rights: () -> Rights?
  /// Sends all unsaved changes.
  /// - Returns: false if there are none.
  var save: (_ done: @escaping (Result<SaveResult, Refusal>) -> Void) -> Bool
  /// Sends this client's presence.
  var present: ([UInt8]) -> Void
  /// Creates the channel of a view, for `RequestChannel`. It calls `receive` for each completed request, and `busy`
  /// when requests begin and end.
  var observe: (_ receive: @escaping () -> Void, _ busy: @escaping (Bool) -> Void) -> BoardChannel
  /// Sets the closure that receives the progress of a change of many notes.
  var followBatch: (_ progress: @escaping (BatchProgress) -> Void) -> Void
  /// Reads the updates of rows in a task that ends with their controller.
  var read: UpdateReader
  /// Sends bytes to the terminal between two frames: the clipboard.
  var sendToTerminal: ([UInt8]) -> Void
  /// Suspends the program until the shell resumes it.
  var stop: () -> Void
  /// Writes texts that could not be saved into a file and returns its path; nil if that failed.
  var keep: (_ texts: [String]) -> String?
  /// Opens a text in another program; `done` receives the edited text or the failure. It is called again if the
  /// program saves more after `leaveEditor`.
  var editOutside: (_ text: String, _ done: @escaping (Result<String, Refusal>) -> Void) -> Void
  /// Takes the text that the open program has saved so far, without waiting for its end.
  var leaveEditor: () -> Void
}
