// Tests: CopiedReplicaTests.swift
import GraphModel

/// The id of a replica, and the ids that its transactions have on the wire.
///
/// A *copy* is a replica of which another instance has committed: a virtual machine was cloned, or a file was restored.
/// The welcome shows it, with a higher sequence number than this instance has sent. Numbers that both would use name
/// different transactions, and the server would answer the second with the outcome of the first. A copy therefore takes
/// a new id. Its owner keeps the old ids of transactions that wait; they are replaced when a message is sent. A
/// transaction that was sent before keeps its id, because it may have been committed under it.
struct ReplicaIdentity {
  /// The id in the next hello.
  private(set) var id: UniqueID
  /// The highest sequence number that this instance has sent under its id; 0 for none.
  private(set) var lastSequence: UInt64
  private var formerIDs = Set<UniqueID>()
  /// The batches and imports that were sent and whose outcome has not arrived, by the owner's id: the newest request,
  /// and the id on the wire.
  private var openBatches = [TransactionID: (request: RequestID, wireID: TransactionID)]()
  private(set) var phase = Phase.unique

  enum Phase {
    case unique
    /// The server has transactions of another instance. Only transactions that were sent before are sent again.
    case copied
    /// The owner was asked for a new id.
    case awaitingID
  }

  init(id: UniqueID, lastSequence: UInt64) { (self.id, self.lastSequence) = (id, lastSequence) }

  /// Compares this instance with the server's highest sequence number of the replica.
  mutating func connect(known: UInt64) { phase = known > lastSequence ? .copied : .unique }

  mutating func disconnect() { phase = .unique }

  mutating func requestID() {
    assert(phase == .copied, "only a copy needs another id")
    phase = .awaitingID
  }

  /// Replaces the id for all transactions that have not been sent.
  mutating func renew(_ id: UniqueID) {
    precondition(id != self.id && !formerIDs.contains(id), "the new id of a copy was never used: \(id)")
    formerIDs.insert(self.id)
    (self.id, lastSequence) = (id, 0)
  }

  /// The id on the wire of a transaction that has not been sent.
  func wireID(_ transaction: TransactionID) -> TransactionID {
    guard formerIDs.contains(transaction.replica) else { return transaction }
    return TransactionID(replica: id, sequence: transaction.sequence)
  }

  /// The id on the wire of a batch or an import, or of its rows.
  func wireID(ofBatch batch: TransactionID) -> TransactionID { openBatches[batch]?.wireID ?? wireID(batch) }

  /// Whether a batch or an import may be sent now: a copy may only repeat one.
  func maySend(batch: TransactionID) -> Bool { phase == .unique || openBatches[batch] != nil }

  /// Records that a transaction is sent under this id of the wire.
  mutating func recordSent(_ transaction: TransactionID) {
    if transaction.replica == id { lastSequence = max(lastSequence, transaction.sequence) }
  }

  /// Records that a batch is sent.
  mutating func recordSent(batch: TransactionID, as request: RequestID) {
    let wireID = wireID(ofBatch: batch)
    openBatches[batch] = (request, wireID)
    recordSent(wireID)
  }

  /// Records the outcome of a batch.
  mutating func finishBatch(_ request: RequestID) {
    if let batch = openBatches.first(where: { $0.value.request == request })?.key { openBatches[batch] = nil }
  }
}
