// Tests: CheckTests.swift, BitFlipTests.swift
import GraphModel

/// The complete content of a commit's row, for its fingerprint.
///
/// Each fingerprint covers the preceding one. So equal fingerprints mean equal histories, and any change in a row
/// invalidates its fingerprint.
struct FingerprintInput {
  var previous: UInt64
  var revision: Revision
  var time: Timestamp
  var author: String
  var transaction: TransactionID
  /// The number of the model version at the commit.
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
