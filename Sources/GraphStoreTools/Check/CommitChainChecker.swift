// Tests: CheckTests.swift
import GRDBSQLite
import GraphModel
import GraphStore

/// Checks the commits without the objects: the floor, the fingerprints, the outcomes, and the values that lost.
struct CommitChainChecker {
  private let store: CheckedStore
  private let connection: Connection

  init(_ store: CheckedStore) { (self.store, connection) = (store, store.connection) }

  /// Checks the floor of a pruned history: the chain proves the fingerprint, a checksum the rest.
  func checkFloor() throws {
    // A store whose history was never pruned has no floor.
    guard try HistoryFloor.tableExists(connection) else { return }
    let place = StoreFinding.Place(table: "_floor")
    let rows = try connection.statement("SELECT count(*), max(sum) FROM _floor")
    let (count, sum) = try connection.step(rows) ? (rows.integer(0), rows.integer(1)) : (0, 0)
    sqlite3_reset(rows.statement)
    // The table is empty if the first pruning was interrupted at its start.
    if count > 1 { store.report(.history, place, "has \(count) rows instead of one") }
    guard let floor = try HistoryFloor.read(connection) else { return }
    if floor.sum != sum { store.report(.history, place, "has changed") }
    if try store.layoutVersion() < HistoryFloor.layout {
      store.report(.store, place, "exists, but the file allows older programs to write it")
    }
    // The replica of a pruned commit must not be taken for a new one.
    let strays = try connection.statement(
      "SELECT replica FROM _pruned WHERE replica NOT IN (SELECT number FROM _replica)")
    while try connection.step(strays) {
      store.report(.history, .init(table: "_pruned", row: strays.integer(0)), "names a missing replica")
    }
    let below = try connection.statement("SELECT id, revision FROM _whole WHERE revision <= ?")
    below.bind(1, floor.revision)
    while try connection.step(below) {
      store.report(.history, .init(table: "_whole"), "names revision \(below.integer(1)), which was pruned")
    }
  }

  /// Recomputes every commit's fingerprint from the preceding one.
  /// - Parameter readsOutcomes: whether the numbers in outcomes are known.
  func checkChain(readsOutcomes: Bool) throws {
    let row = try connection.statement(
      """
      SELECT revision, time, a.name, r.id, sequence, fingerprint, undoes, undo, changes,
        EXISTS (SELECT 1 FROM _model AS m WHERE m.number = model), outcome, counters, model FROM _commit
      LEFT JOIN _author AS a ON a.number = author LEFT JOIN _replica AS r ON r.number = replica ORDER BY revision
      """)
    // In a pruned store the chain begins at the floor.
    var (previous, revision, time) = (UInt64(0), Revision(0), Timestamp?.none)
    if let floor = try HistoryFloor.read(connection) {
      (previous, revision, time) = (floor.fingerprint, floor.revision, floor.time)
    }
    var setbacks = try setbacks()
    while try connection.step(row) {
      let place = StoreFinding.Place(table: "_commit", row: row.integer(0))
      if row.integer(0) != revision + 1 { store.report(.history, place, "does not follow revision \(revision)") }
      revision = row.integer(0)
      let undoes = row.isNull(6) ? nil : Optional(row.integer(6))
      let commit = CommitRow(
        revision: revision, time: row.integer(1), author: row.text(2),
        transaction: TransactionID(replica: row.id(3), sequence: UInt64(bitPattern: row.integer(4))),
        model: row.integer(12), undoes: undoes, undo: row.blob(7), outcome: row.blob(10), counters: row.blob(11),
        changes: row.blob(8))
      if let last = time, row.integer(1) < last {
        let isKnown = setbacks.removeValue(forKey: revision) == Setback(time: row.integer(1), previous: last)
        if !isKnown {
          store.report(.history, place, "has an earlier time than the commit before it, and no mark for that")
        }
      }
      time = row.integer(1)
      let expected = commit.fingerprint(after: previous)
      previous = UInt64(bitPattern: row.integer(5))
      if previous != expected { store.report(.fingerprint, place, "has changed since it was committed") }
      // The fingerprint can't represent 0 or less.
      if let undoes, undoes < 1 || undoes >= revision {
        store.report(.fingerprint, place, "undoes revision \(undoes), which is not an earlier one")
      }
      if row.integer(9) == 0 { store.report(.history, place, "was made with a model that the store does not have") }
      if readsOutcomes, !row.isNull(10) { checkAnswer(row.blob(10), place) }
    }
    for revision in setbacks.keys.sorted() {
      store.report(.history, .init(table: "_setback", row: revision), "says that the clock went back, but it did not")
    }
  }

  /// A row of `_setback`.
  private struct Setback: Equatable {
    let time: Timestamp
    let previous: Timestamp
  }

  private func setbacks() throws -> [Revision: Setback] {
    guard try ClockSetbacks.tableExists(connection) else { return [:] }
    var setbacks = [Revision: Setback]()
    let row = try connection.statement("SELECT revision, time, previous FROM _setback")
    while try connection.step(row) {
      setbacks[row.integer(0)] = Setback(time: row.integer(1), previous: row.integer(2))
    }
    return setbacks
  }

  /// Checks the answer to a client that sends the transaction again.
  private func checkAnswer(_ bytes: [UInt8], _ place: StoreFinding.Place) {
    let kept = try? CommitResult(binary: bytes)
    let answer = kept.map { store.layout.numbers.present($0) }
    guard let kept, let answer, kept.binary == bytes, answer.revision == place.row,
      answer.identities.allSatisfy({ $0.temporary.isTemporary && store.isKnown($0.permanent.entity) })
    else { return store.report(.history, place, "has an outcome that does not match the commit") }
  }

  /// Checks `_lost` against the outcomes of commits, to which its rows only point. The outcomes are sealed.
  func checkOverwrittenValues() throws {
    let table = try connection.statement("SELECT 1 FROM sqlite_schema WHERE name = '_lost'")
    defer { sqlite3_reset(table.statement) }
    // An older store gets the table with the first conflict that loses a value.
    guard try connection.step(table) else { return }
    let row = try connection.statement(
      """
      SELECT id, property, l.revision, outcome FROM _lost AS l LEFT JOIN _commit AS c ON c.revision = l.revision
      """)
    while try connection.step(row) {
      let (id, property) = (row.id(0), PropertyNumber(truncatingIfNeeded: row.integer(1)))
      let conflicts = row.isNull(3) ? [] : try CommitResult(binary: row.blob(3)).conflicts
      guard !conflicts.contains(where: { $0.isLoss && $0.id.key == id && $0.property == property }) else { continue }
      store.report(
        .history, .init(table: "_lost"),
        "lists a lost value for revision \(row.integer(2)), but the outcome of that revision has none")
    }
  }
}
