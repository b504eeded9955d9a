// Tests: PastCostTests.swift
import GraphModel

/// Selects the updates that hold the complete object (keyframes).
///
/// Keyframes keep the walk along an object's past short. A pseudo-random choice depends only on the id and the
/// revision, so it needs neither a counter nor the object's earlier changes. On average one in `interval` updates is
/// selected, and fewer for large objects, so that a change costs about sixteen bytes on average. The values are in
/// the commit, covered by its fingerprint; the table `_whole` only lists them. Changes in the parts of large batches
/// hold none.
struct KeyframePolicy {
  /// 0 for no keyframes.
  let interval: Int

  /// - Parameter bytes: the size of the object.
  func isDue(_ id: ObjectID, in revision: Revision, bytes: Int) -> Bool {
    guard interval > 0 else { return false }
    return Self.hash(id, revision) % UInt64(max(interval, bytes / 16)) == 0
  }

  /// Mixed, so that adjacent revisions give independent results.
  private static func hash(_ id: ObjectID, _ revision: Revision) -> UInt64 {
    (id.key.low ^ (UInt64(bitPattern: revision) &* 0x9E37_79B9_7F4A_7C15)).mixed
  }

  private static let insert = SQL("INSERT INTO _whole (id, revision) VALUES (?, ?)")

  func write(_ id: ObjectID, in revision: Revision, _ connection: Connection) throws {
    let row = try connection.statement(Self.insert)
    row.bind(1, id.key)
    row.bind(2, revision)
    try connection.run(row)
  }
}
