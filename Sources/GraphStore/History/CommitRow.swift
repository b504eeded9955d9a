// Tests: CommitRowTests.swift, CheckTests.swift, BitFlipTests.swift, RedoTests.swift
import GraphModel

/// The content of a row of `_commit` but for its fingerprint, with names in place of the numbers that the store assigns
/// to them.
///
/// The fingerprint covers all of it and the preceding fingerprint. So equal fingerprints mean equal histories, and any
/// change in a row invalidates its fingerprint.
package struct CommitRow: Equatable, Sendable {
  package var revision: Revision
  package var time: Timestamp
  package var author: String
  var transaction: TransactionID
  /// The number of the model version at the commit.
  package var model: Int64
  var undoes: Revision?
  var undo: [UInt8]
  var outcome: [UInt8]
  package var counters: [UInt8]
  /// The changes, or the summary of a large batch's parts.
  var changes: [UInt8]

  package init(
    revision: Revision, time: Timestamp, author: String, transaction: TransactionID, model: Int64,
    undoes: Revision? = nil, undo: [UInt8] = [], outcome: [UInt8] = [], counters: [UInt8], changes: [UInt8]
  ) {
    (self.revision, self.time, self.author, self.transaction) = (revision, time, author, transaction)
    (self.model, self.undoes, self.undo, self.outcome) = (model, undoes, undo, outcome)
    (self.counters, self.changes) = (counters, changes)
  }

  /// The fingerprint that this commit would have after another state.
  package func fingerprint(after previous: UInt64) -> UInt64 {
    var writer = BinaryWriter(capacity: 128)
    writer.fixed(1, previous)
    encodeShortFields(to: &writer)
    var sum = Checksum.of(writer.bytes)
    sum = Checksum.of(outcome, seed: sum)
    sum = Checksum.of(counters, seed: sum)
    sum = Checksum.of(changes, seed: sum)
    // 0 is the fingerprint of the empty graph.
    return sum == 0 ? 1 : sum
  }
}

/// The form of a row in an entry of the commit log. Only the fingerprint's input has field 1, the previous fingerprint.
extension CommitRow: BinaryCodable {
  package func encode(to writer: inout BinaryWriter) {
    encodeShortFields(to: &writer)
    writer.field(9, outcome)
    writer.field(10, counters)
    writer.field(11, changes)
  }

  /// Encodes the fields that fingerprints cover in this form. They cover the other ones as they are stored.
  private func encodeShortFields(to writer: inout BinaryWriter) {
    writer.field(2, revision)
    writer.field(3, time)
    writer.field(4, author)
    writer.field(5, transaction)
    // A field of 0 is not written.
    if let undoes { writer.field(6, undoes) }
    writer.field(7, undo)
    writer.field(8, model)
  }

  package init(from reader: inout BinaryReader) throws(MalformedMessage) {
    self.init(
      revision: 0, time: 0, author: "", transaction: TransactionID(replica: .zero, sequence: 0), model: 0,
      counters: [], changes: [])
    while let (number, field) = try reader.next() {
      switch number {
      case 2: revision = try field.integer()
      case 3: time = try field.integer()
      case 4: author = try field.string()
      case 5: transaction = try field.form()
      case 6: undoes = try field.integer()
      case 7: undo = try field.array()
      case 8: model = try field.integer()
      case 9: outcome = try field.array()
      case 10: counters = try field.array()
      case 11: changes = try field.array()
      default: break
      }
    }
  }
}
