import GraphControllers
import GraphModel
import GraphReplica
import StickiesKit

/// How the connection stands, for the status line.
enum ConnectionState: Hashable {
  case connected
  case reconnecting
  case closed(String)

  var isConnected: Bool { self == .connected }
}

/// A note as it was at a revision.
struct PastNote {
  var id: ObjectID
  var values: NoteValues
}

/// A link as it was at a revision.
struct PastLink: Hashable {
  var from: ObjectID
  var to: ObjectID
  var label: String
}

/// A board at a revision: all of it, or of a large one what lies around a place.
struct PastBoard: Hashable {
  var board: ObjectID
  var revision: Revision
  /// What is asked for of a board with more notes than are shown at once.
  var region: BoardRegion
  /// Whether nobody needs to look how many there are.
  var isLarge = false
}

/// A board as it was.
struct PastContents {
  /// What it was called, and its color; nil where it was not there.
  var name: String?
  var color: PaperColor?
  var notes = [PastNote]()
  var links = [PastLink]()
  /// Why the links are not among it, where they can't be had.
  var linksAreMissing: Refusal?
  /// Who made it so, and when; nil where that is not known any more.
  var commit: PastCommit?
  /// Where the notes lie, if these are not all of the board.
  var region: BoardRegion?
  /// The oldest and the newest revision that could be told then: not every commit is heard of, where it is of other boards.
  var reach: ClosedRange<Revision>?
}

/// Some notes that are looked for.
struct NoteSearch: Hashable {
  var predicate: GraphPredicate
  var sort = [SortKey]()
  /// Behind this place of the order.
  var after: FetchCursor?
  var limit = 1
}

/// A commit of history, for the scrubber.
struct PastCommit: Hashable {
  var revision: Revision
  var time: Timestamp
  var author: String
}

/// What a board wants of its connection. All of it is called on the screen's actor and answers there.
struct BoardLink {
  /// Told each state of some rows, and why there is none any more.
  typealias Reading = (
    _ rows: ResultsUpdates.Iterator, _ each: @escaping (ResultsUpdate) -> Void, _ failed: @escaping (Refusal) -> Void
  ) -> Void

  /// The name that commits carry.
  var user: String
  /// The number of this client's session at the server; nil before there was one.
  var session: () -> UInt64?
  /// Does what the context wants done.
  var perform: () -> Void
  /// Sends all unsaved changes; false when there are none.
  var save: (_ done: @escaping (Result<Saved, Refusal>) -> Void) -> Bool
  /// Shows others where one is.
  var present: ([UInt8]) -> Void
  /// A view's way to ask in the background, for `BoardInquiries`; told when something is completed, and whether anything is
  /// under way.
  var observe: (_ hear: @escaping () -> Void, _ busy: @escaping (Bool) -> Void) -> BoardChannel
  /// Says who is told how far a change of many notes is.
  var followBatch: (_ told: @escaping (BatchProgress) -> Void) -> Void
  /// Reads what becomes of rows, in a task of its own that ends with their controller.
  var read: Reading
  /// Bytes for the terminal, between two frames: the clipboard.
  var sendToTerminal: ([UInt8]) -> Void
  /// Stops the program until the shell lets it go on.
  var stop: () -> Void
  /// Keeps texts that no server takes in a file; its path, nil when that failed.
  var keep: (_ texts: [String]) -> String?
  /// Lets a person edit a text in another program; or why that failed. Told again of what is saved behind what `leaveEditor` took.
  var editOutside: (_ text: String, _ done: @escaping (Result<String, Refusal>) -> Void) -> Void
  /// Takes what that program has saved by now, if one is open: it is not waited for.
  var leaveEditor: () -> Void
}
