import GraphModel

/// Which updates hold the whole object, so that an object's past is never walked far: a lot is drawn from its id and the
/// revision, which needs neither a count nor a look at the object's earlier changes. One in `interval` wins; of an object
/// that is large beside it so much fewer that on average a change pays some sixteen bytes for it.
///
/// The values stand in the commit, under its fingerprint; the table `_whole` only says where they are. Changes in the
/// parts of large batches hold none.
struct WholeImages {
  /// 0 for none.
  let interval: Int

  /// - Parameter bytes: of the object.
  func isDue(_ id: ObjectID, in revision: Revision, bytes: Int) -> Bool {
    guard interval > 0 else { return false }
    return Self.lot(id, revision) % UInt64(max(interval, bytes / 16)) == 0
  }

  /// The finalizer of SplitMix64: neighbouring revisions get lots that have nothing to do with each other.
  private static func lot(_ id: ObjectID, _ revision: Revision) -> UInt64 {
    var bits = id.key.low ^ (UInt64(bitPattern: revision) &* 0x9E37_79B9_7F4A_7C15)
    bits = (bits ^ bits >> 30) &* 0xBF58_476D_1CE4_E5B9
    bits = (bits ^ bits >> 27) &* 0x94D0_49BB_1331_11EB
    return bits ^ bits >> 31
  }

  private static let insert = SQL("INSERT INTO _whole (id, revision) VALUES (?, ?)")

  func write(_ id: ObjectID, in revision: Revision, _ connection: Connection) throws {
    let row = try connection.statement(Self.insert)
    row.bind(1, id.key)
    row.bind(2, revision)
    try connection.run(row)
  }
}
