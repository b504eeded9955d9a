import DequeModule
import GraphModel
import GraphWire

/// What the hub believes of one connection. Everything it registered is found from here, so that all of it goes when
/// the session ends, however it ends.
///
/// A class: a delta looks at a thousand of them, and a copy of so many fields costs more than the look. A hub's
/// sessions are its own; nothing else holds one.
final class Session {
  enum Phase {
    case awaitingHello
    case open
    /// Told to go; nothing that it says counts any more.
    case closing
  }

  /// How far the session has been told.
  enum Progress {
    /// Everything through the hub's head.
    case current
    /// Everything through this revision; the rest comes from the ring or from history.
    case behind(Revision)
  }

  /// One of the session's live queries.
  struct Reader {
    enum State {
      /// A resume token is being looked up.
      case recognizing(Ticket, since: Revision)
      /// The first result is on its way.
      case loading(Ticket)
      /// A window's order is being read, or the session has no room for its rows.
      case waiting
      case live
    }

    var state: State
    /// Deltas up to this revision are known to the client or contained in its result.
    var through: Revision
    /// The request that asked for it: chunks answer it.
    var request: UInt64
  }

  var phase = Phase.awaitingHello
  var author = ""
  var replica = UniqueID.zero
  /// What an older version of the model is seen through; nil for a client of the server's.
  var lens: ModelLens?
  var progress = Progress.current

  /// The highest revision that an advance has named to the other queries of a session whose newest query catches up. No
  /// advance below it is sent: it would show the new query at a revision that the others have left.
  var advancedThrough: Revision = 0

  var isBehind: Bool { if case .behind = progress { true } else { false } }

  var readers = [UInt64: Reader]()
  /// Bytes on their way to the socket.
  var backlog = 0
  /// Commits of history that are being fed to it.
  var replay = Deque<CommitRecord>()
  var historyTicket: Ticket?
  /// The part of its next frame that is here.
  var unfinished: Hub.UnfinishedFrame?
  var commitsInFlight = 0
  /// The batches among them.
  var batches = Set<Ticket>()
  /// Rows for a batch that it has not asked for.
  var rows: Hub.KeptRows?
  /// Of the transactions that it sent and that are not answered.
  var commitBytes = 0
  /// Requests that wait until the commits before them are answered: a fetch sent after a save sees that save.
  var waiting = Deque<ToServer>()
  /// What wants to hear of the next commit, by request.
  var followers = [UInt64: FollowRequest]()
  /// Reads under way, by request.
  var reads = [UInt64: Ticket]()
  /// The revision at which a loaded query may be shown, where the hub has not got there yet.
  var advanceAt: Revision?
  var isPaused = false
  var lastHeard: Int64
  var lastRequest: UInt64 = 0
  var hasPresence = false

  init(lastHeard: Int64) { self.lastHeard = lastHeard }

  var isLive: Bool { if case .open = phase { true } else { false } }
}
