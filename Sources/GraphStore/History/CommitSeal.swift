import GraphModel

/// Everything that a commit's row says, for its fingerprint. Each covers the one before it, so equal fingerprints mean
/// equal pasts; and nothing in a row can change without its fingerprint showing it.
struct CommitSeal {
  var previous: UInt64
  var revision: Revision
  var time: Timestamp
  var author: String
  var transaction: TransactionID
  /// The number of the model that it was made under.
  var model: Int64
  var undoes: Revision?
  var undo: [UInt8]
  var outcome: [UInt8]
  var counters: [UInt8]
  var changes: [UInt8]

  var fingerprint: UInt64 {
    var writer = BinaryWriter(capacity: 128)
    writer.fixed(1, previous)
    writer.field(2, revision)
    writer.field(3, time)
    writer.field(4, author)
    writer.field(5, transaction)
    writer.field(6, undoes ?? 0)
    writer.field(7, undo)
    writer.field(8, model)
    var sum = Checksum.of(writer.bytes)
    for part in [outcome, counters, changes] { sum = Checksum.of(part, seed: sum) }
    // 0 is the fingerprint of the empty graph.
    return sum == 0 ? 1 : sum
  }
}
