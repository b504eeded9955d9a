import GraphModel
import GraphStore
import Testing

/// The form of a commit's row, which the commit log contains and every fingerprint covers.
@Suite struct CommitRowTests {
  private static let replica = UniqueID(high: 1, low: 2)
  private static let row = CommitRow(
    revision: 3, time: 5, author: "ann", transaction: TransactionID(replica: replica, sequence: 7), model: 1,
    undoes: 2, undo: [1], outcome: [2], counters: [3], changes: [4])
  /// Its fields up to the model's number.
  private static let shortFields: [UInt8] =
    [0x10, 3, 0x18, 5, 0x22, 3] + Array("ann".utf8) + [0x2A, 20, 0x0A, 16] + replica.bytes
    + [0x10, 7, 0x30, 2, 0x3A, 1, 1, 0x40, 1]

  @Test func rowHasDocumentedForm() throws {
    #expect(Self.row.binary == Self.shortFields + [0x4A, 1, 2, 0x52, 1, 3, 0x5A, 1, 4])
    #expect(try CommitRow(binary: Self.row.binary) == Self.row)
  }

  /// The fingerprints of all stores depend on this form.
  @Test func fingerprintCoversPrecedingOneAndAllFields() {
    let head = Checksum.of([0x09, 8, 0, 0, 0, 0, 0, 0, 0] + Self.shortFields)
    let fields: [[UInt8]] = [[2], [3], [4]]
    #expect(Self.row.fingerprint(after: 8) == fields.reduce(head) { Checksum.of($1, seed: $0) })
  }
}
