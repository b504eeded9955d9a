import GRDBSQLite
import GraphModel

/// Commits against their fingerprints: each covers all that the row says, and the fingerprint of the commit before it.
/// The parts of a large batch are covered all together; `check` reads them, and single ones are read unverified.
extension HistoryReader {
  /// - Parameters:
  ///   - row: of `columns`.
  ///   - changes: its changes, as they lie there.
  /// - Throws: `Refusal(.unavailable)` for a commit that is not as it was written, if damage is looked for.
  func verify(_ row: Row, changes: [UInt8]) throws {
    guard let damage = objects.damage else { return }
    let revision = row.integer(0)
    let seal = CommitSeal(
      previous: try previous(row), revision: revision, time: row.integer(1), author: row.text(2),
      transaction: TransactionID(replica: row.id(3), sequence: UInt64(bitPattern: row.integer(4))),
      model: row.integer(10), undoes: row.isNull(6) ? nil : row.integer(6), undo: row.blob(7), outcome: row.blob(11),
      counters: row.blob(12), changes: changes)
    guard seal.fingerprint != UInt64(bitPattern: row.integer(5)) else { return }
    throw damage.refusal(commit: revision)
  }

  /// The fingerprint before a commit's; of the oldest one that is kept it is known by the floor.
  private func previous(_ row: Row) throws -> UInt64 {
    if !row.isNull(13) { return UInt64(bitPattern: row.integer(13)) }
    return try fingerprint(of: row.integer(0) - 1) ?? 0
  }
}
