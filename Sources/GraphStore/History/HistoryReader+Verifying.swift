// Tests: DamageTests.swift, DamagedHistoryTests.swift, CheckTests.swift
import GRDBSQLite
import GraphModel

/// Verification of commits against their fingerprints. Each covers the complete row and the preceding fingerprint. The
/// row of a large batch has a checksum for each of its parts and one for their id ranges, except in commits of earlier
/// versions: their parts are verified by `check`, and reads find only bytes that can't be decoded.
extension HistoryReader {
  /// - Parameters:
  ///   - row: a row of `columns`.
  ///   - changes: the changes in their stored form.
  /// - Throws: `Refusal(.unavailable)` if the commit has changed, if this reader looks for damage.
  func verify(_ row: Row, changes: [UInt8]) throws {
    if let damage = objects.damage, try !isAsWritten(row, changes: changes) {
      throw objects.damageFound.add(commit: row.integer(0), damage.refusal(commit: row.integer(0)))
    }
  }

  /// Reads and decodes a part of a batch.
  /// - Parameter summary: the parts of the commit; nil while its batch is being written.
  /// - Throws: `Refusal(.unavailable)` if its bytes have changed or can't be decoded, if this reader looks for damage.
  func decodePart<Result>(
    _ number: Int, of revision: Revision, in summary: CommitPartSummary?, _ decode: ([UInt8]) throws -> Result
  ) throws -> Result {
    let bytes = try partBytes(number, of: revision)
    if let summary, !summary.isAsWritten(bytes, number: number) { try reportDamagedPart(of: revision) }
    do {
      return try decode(bytes)
    } catch let error as MalformedMessage {
      try reportDamagedPart(of: revision)
      throw error
    }
  }

  /// - Throws: `Refusal(.unavailable)` with the commit, if this reader looks for damage.
  func reportDamagedPart(of revision: Revision) throws {
    if let damage = objects.damage {
      throw objects.damageFound.add(commit: revision, damage.refusal(commit: revision))
    }
  }

  private func isAsWritten(_ row: Row, changes: [UInt8]) throws -> Bool {
    let written = UInt64(bitPattern: row.integer(5))
    if try fingerprint(of: row, changes: changes, after: previous(row)) == written { return true }
    // If only the fingerprint of the preceding commit is damaged, this commit is not.
    guard let previous = try recomputedFingerprint(of: row.integer(0) - 1) else { return false }
    return fingerprint(of: row, changes: changes, after: previous) == written
  }

  private func recomputedFingerprint(of revision: Revision) throws -> UInt64? {
    // A text of its own, because the connection keeps its statements and the caller's row may be of another one.
    let row = try connection.statement(Self.columns + " WHERE c.revision = ?")
    row.bind(1, revision)
    defer { sqlite3_reset(row.statement) }
    return try connection.step(row) ? try fingerprint(of: row, changes: row.blob(8), after: previous(row)) : nil
  }

  private func fingerprint(of row: Row, changes: [UInt8], after previous: UInt64) -> UInt64 {
    CommitRow(
      revision: row.integer(0), time: row.integer(1), author: row.text(2),
      transaction: TransactionID(replica: row.id(3), sequence: UInt64(bitPattern: row.integer(4))),
      model: row.integer(10), undoes: row.isNull(6) ? nil : row.integer(6), undo: row.blob(7), outcome: row.blob(11),
      counters: row.blob(12), changes: changes
    ).fingerprint(after: previous)
  }

  /// The fingerprint of the preceding commit; for the oldest commit in history, from the floor.
  private func previous(_ row: Row) throws -> UInt64 {
    if !row.isNull(13) { return UInt64(bitPattern: row.integer(13)) }
    // Without its predecessor the commit can't be verified, so it counts as damaged.
    guard let previous = try fingerprint(of: row.integer(0) - 1) else { return 0 }
    return previous
  }
}
