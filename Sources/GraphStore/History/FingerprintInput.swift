// Tests: CheckTests.swift, BitFlipTests.swift
import GraphModel

/// The complete content of a commit's row, for its fingerprint.
///
/// Each fingerprint covers the preceding one. So equal fingerprints mean equal histories, and any change in a row
/// invalidates its fingerprint.
package struct FingerprintInput {
  var previous: UInt64
  package var revision: Revision
  package var time: Timestamp
  package var author: String
  var transaction: TransactionID
  /// The number of the model version at the commit.
  var model: Int64
  var undoes: Revision?
  var undo: [UInt8]
  var outcome: [UInt8]
  package var counters: [UInt8]
  var changes: [UInt8]

  package init(
    previous: UInt64, revision: Revision, time: Timestamp, author: String, transaction: TransactionID, model: Int64,
    undoes: Revision?, undo: [UInt8], outcome: [UInt8], counters: [UInt8], changes: [UInt8]
  ) {
    (self.previous, self.revision, self.time, self.author) = (previous, revision, time, author)
    (self.transaction, self.model, self.undoes, self.undo) = (transaction, model, undoes, undo)
    (self.outcome, self.counters, self.changes) = (outcome, counters, changes)
  }

  package var fingerprint: UInt64 {
    var writer = BinaryWriter(capacity: 128)
    writer.fixed(1, previous)
    writer.field(2, revision)
    writer.field(3, time)
    writer.field(4, author)
    writer.field(5, transaction)
    // A field of 0 is not written.
    if let undoes { writer.field(6, undoes) }
    writer.field(7, undo)
    writer.field(8, model)
    var sum = Checksum.of(writer.bytes)
    for part in [outcome, counters, changes] { sum = Checksum.of(part, seed: sum) }
    // 0 is the fingerprint of the empty graph.
    return sum == 0 ? 1 : sum
  }
}
