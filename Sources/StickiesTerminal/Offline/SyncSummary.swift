import GraphModel
import GraphOffline

/// The state of the replica on this computer, as the board shows it.
struct SyncSummary: Equatable {
  /// Whether the board shows this computer's copy, and changes wait for the server.
  var isOffline = false
  /// Whether sync is on, and how many edits wait; nil without a replica.
  var status: OfflineReplica.Status?
  /// The edits that the server has refused, oldest first.
  var parked = [OfflineReplica.ParkedEdit]()
  /// Why the server does not take the edits, although it answers; empty otherwise.
  var trouble = ""
  /// The newest notice of a run, such as that of a restored server; empty for none.
  var notice = ""

  /// Whether edits are sent and received.
  var isOn: Bool { status?.isOn == true }

  /// The number of edits that the server does not have, in conflict or not.
  var waiting: Int { if let status { status.unsent + status.parked } else { 0 } }
}

/// An operation on the replica.
enum SyncOperation: Sendable {
  case turnOn
  case turnOff
  /// Loads the copy again. Unsent edits stay and are sent, or are written to a file and removed.
  case resync(discardingUnsent: Bool)
  /// Deletes objects here and on the server.
  case deleteEverywhere(OfflineReplica.Everything)
  /// Sends a parked edit again.
  case retry(Int64)
  /// Sends another form of a parked edit.
  case replace(Int64, by: String)
  /// Removes a parked edit, and the later ones of objects that only it makes.
  case discard(Int64)
}

/// The replica as the board sees it. Answers arrive on the screen's actor.
struct SyncLink {
  /// Runs an operation while the board is disconnected; answers with a sentence about what was done.
  var run: (_ operation: SyncOperation, _ done: @escaping (Result<String, Refusal>) -> Void) -> Void
  /// The objects that a delete of everything would delete.
  var everything: (_ done: @escaping (Result<OfflineReplica.Everything, Refusal>) -> Void) -> Void
  /// The number of later edits that are discarded with a parked one.
  var dependents: (Int64) throws -> Int
  /// The revision above which objects have unsent edits; nil with a server.
  var unsentAfter: () -> Revision?
}
