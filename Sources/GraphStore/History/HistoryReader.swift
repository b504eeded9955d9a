// Tests: RandomHistoryTests.swift, LargeLogTests.swift
import GRDBSQLite
import GraphModel

/// Reads commits, on one connection and inside one transaction. A large batch's commit is read in parts
/// (`CommitPartSummary`); only its undo holds it completely.
package struct HistoryReader {
  let objects: ObjectReader
  /// Commits read for single objects.
  let recent = RecentCommits()

  package init(objects: ObjectReader) { self.objects = objects }

  /// Clears the cache after a rollback, because revisions are reused then.
  func forgetRecent() { recent.forget() }

  var connection: Connection { objects.connection }
  private var model: Model { objects.model }

  /// One row of `_commit` with decoded changes.
  package struct Commit {
    package var revision: Revision
    var time: Timestamp
    var author: String
    var transaction: TransactionID
    var fingerprint: UInt64
    var undoes: Revision?
    /// For a redo: the revision of the step that it restores. `undoes` is then the undo of that step.
    var redoes: Revision?
    var undo: UndoGroup?
    package var changes: [HistoryChange]
    /// The number of further changes, which were not decoded.
    var more = 0
    /// Set if the changes are in parts; then `changes` is empty or contains one part.
    var parts: CommitPartSummary?
    /// The number of the part in `changes`.
    var part = 0

    /// The record of the commit for clients, with changes that have complete images.
    func record(of changes: [ObjectChange], _ numbers: NumberAssignment) -> CommitRecord {
      var record = CommitRecord(
        revision: revision, time: time, author: author, transaction: transaction, fingerprint: fingerprint, undo: undo,
        undoes: undoes, redoes: redoes, changes: changes, summary: parts?.summary(numbers))
      record.more = more
      return record
    }
  }

  /// The statement for a commit's row.
  static let columns = """
    SELECT revision, time, a.name, r.id, sequence, fingerprint, undoes, undo, changes,
    (SELECT u.undoes FROM _commit AS u WHERE u.revision = c.undoes), model, outcome, counters,
    (SELECT p.fingerprint FROM _commit AS p WHERE p.revision = c.revision - 1) FROM _commit AS c
    LEFT JOIN _author AS a ON a.number = author LEFT JOIN _replica AS r ON r.number = replica
    """

  /// The newest revision and its fingerprint.
  package func head() throws -> (revision: Revision, fingerprint: UInt64) {
    let row = try connection.statement("SELECT revision, fingerprint FROM _commit ORDER BY revision DESC LIMIT 1")
    defer { sqlite3_reset(row.statement) }
    guard try connection.step(row) else { return (0, 0) }
    return (row.integer(0), UInt64(bitPattern: row.integer(1)))
  }

  /// The fingerprint of a commit; nil if history has no commit of this revision, or no longer has it.
  package func fingerprint(of revision: Revision) throws -> UInt64? {
    if revision == 0 { return 0 }
    let row = try connection.statement("SELECT fingerprint FROM _commit WHERE revision = ?")
    row.bind(1, revision)
    defer { sqlite3_reset(row.statement) }
    if try connection.step(row) { return UInt64(bitPattern: row.integer(0)) }
    return try HistoryFloor.read(connection).flatMap { $0.revision == revision ? $0.fingerprint : nil }
  }

  /// Reads a commit with all its changes, including those in parts, merged to one per object.
  func commit(_ revision: Revision) throws -> Commit? {
    guard var commit = try row(of: revision) else { return nil }
    guard let parts = commit.parts else { return commit }
    for place in try places(of: revision, in: parts) {
      commit.changes += try part(place.number, of: revision, in: parts)
    }
    commit.changes = HistoryChange.joined(commit.changes)
    return commit
  }

  /// The size of a commit's history, determined without decoding its changes.
  struct CommitSize {
    /// The number of changes, known only for a commit in parts.
    var changes = 0
    var bytes = 0
  }

  func extent(of revision: Revision) throws -> CommitSize? {
    let row = try connection.statement(
      """
      SELECT length(changes), CASE WHEN EXISTS (SELECT 1 FROM _part AS p WHERE p.revision = c.revision) THEN changes END,
      (SELECT sum(length(p.changes)) FROM _part AS p WHERE p.revision = c.revision) FROM _commit AS c WHERE revision = ?
      """)
    row.bind(1, revision)
    defer { sqlite3_reset(row.statement) }
    guard try connection.step(row) else { return nil }
    var size = CommitSize(bytes: Int(row.integer(0)))
    if !row.isNull(1), let parts = try CommitPartSummary(row.blob(1)) { size.changes = parts.changes }
    if !row.isNull(2) { size.bytes += Int(row.integer(2)) }
    return size
  }

  /// Reads a commit, without changes if they are in parts.
  func row(of revision: Revision) throws -> Commit? {
    let row = try connection.statement(Self.columns + " WHERE revision = ?")
    row.bind(1, revision)
    defer { sqlite3_reset(row.statement) }
    return try connection.step(row) ? try commit(row) : nil
  }

  func commit(_ row: Row) throws -> Commit {
    try commit(row) { try (HistoryChange.decode($0), 0) }
  }

  /// Reads a commit with the first matching changes; the ids are in the store's numbers.
  func commit(_ row: Row, first most: Int, where isWanted: (ObjectID) -> Bool) throws -> Commit {
    try commit(row) { bytes in
      let (changes, count) = try HistoryChange.decode(bytes, first: most, where: isWanted)
      return (changes, count - changes.count)
    }
  }

  private func commit(_ row: Row, _ decode: ([UInt8]) throws -> (changes: [HistoryChange], more: Int)) throws -> Commit
  {
    let undo = row.blob(7)
    let bytes = row.blob(8)
    try verify(row, changes: bytes)
    let parts = try CommitPartSummary(bytes)
    let version = objects.layout.version(of: row.integer(0))
    let (changes, more) = parts == nil ? try decode(bytes) : ([], 0)
    return Commit(
      revision: row.integer(0), time: row.integer(1), author: row.text(2),
      transaction: TransactionID(replica: row.id(3), sequence: UInt64(bitPattern: row.integer(4))),
      fingerprint: UInt64(bitPattern: row.integer(5)), undoes: row.isNull(6) ? nil : row.integer(6),
      redoes: row.isNull(9) ? nil : row.integer(9), undo: undo.isEmpty ? nil : try UndoGroup(binary: undo),
      changes: changes.map { $0.present(objects.layout, version: version) }, more: more, parts: parts)
  }

  /// The maximum number of changes, newer than the requested commits, that are rolled back.
  static let maximumSkippedChanges = 5_000_000

  /// Returns the commits after `after` up to `through`, with complete images.
  ///
  /// Starts from the present of every object that these and later commits touched, and rolls it back commit by
  /// commit. A commit in parts is returned as its summary; only the changes of the other commits' objects are rolled
  /// back.
  func records(
    after: Revision, through: Revision?, maximumChanges: Int, maximumBytes: Int = .max
  ) throws -> [CommitRecord] {
    let head = try head().revision
    let through = if let through { min(through, head) } else { head }
    var present = [ObjectID: ObjectImage?]()
    var records = [CommitRecord]()
    var (count, skipped, bytes) = (0, 0, 0)
    try refusePruned(after)
    let wantedIDs = try hasParts(after: after) ? ids(after: after, through: through, maximum: maximumChanges) : []
    try forEachRowNewestFirst(after: after) { commit in
      // Commits newer than requested must be rolled back too; a higher limit applies to them.
      let isWanted = commit.revision <= through
      if isWanted { count += commit.changes.count + 1 } else { skipped += commit.changes.count + 1 }
      guard count <= maximumChanges, skipped <= Self.maximumSkippedChanges else {
        throw Refusal(
          .limit, "more than \(maximumChanges) changes lie between revision \(after) and now; ask for fewer commits")
      }
      let changes: [ObjectChange]
      if commit.parts == nil {
        changes = try rollBack(commit, in: &present).filter { model.entity($0.id.entity) != nil }
      } else {
        try rollBackParts(of: commit, touching: wantedIDs, in: &present)
        changes = []
      }
      if isWanted {
        let record = commit.record(of: changes, objects.layout.numbers)
        bytes += record.approximateSize
        guard bytes <= maximumBytes else {
          throw Refusal(.limit, "the changes between revision \(after) and now take more than \(maximumBytes) bytes")
        }
        records.append(record)
      }
    }
    guard Int64(records.count) == max(0, through - after) else {
      throw Refusal(.limit, "history no longer holds every commit after revision \(after)")
    }
    return records.reversed()
  }

  /// The objects of the ordinary commits in this range, ascending.
  private func ids(after: Revision, through: Revision, maximum: Int) throws -> [ObjectID] {
    var ids = Set<ObjectID>()
    var count = 0
    let row = try connection.statement(Self.columns + " WHERE revision > ? AND revision <= ? ORDER BY revision DESC")
    row.bind(1, after)
    row.bind(2, through)
    defer { sqlite3_reset(row.statement) }
    // If there are too many, the walk reports it.
    while count <= maximum, try connection.step(row) {
      let commit = try commit(row)
      count += commit.changes.count + 1
      for change in commit.changes { ids.insert(change.id) }
    }
    return ids.sorted()
  }

  private func rollBackParts(
    of commit: Commit, touching ids: [ObjectID], in present: inout [ObjectID: ObjectImage?]
  ) throws {
    let wanted = Set(ids)
    let parts = try invariant(commit.parts, "only a commit in parts is read by parts")
    for place in try places(of: commit.revision, in: parts).reversed() where Self.isAny(of: ids, in: place) {
      var part = commit
      part.changes = try self.part(place.number, of: commit.revision, in: parts).filter { wanted.contains($0.id) }
      _ = try rollBack(part, in: &present)
    }
  }

  /// - Parameter ids: in ascending order.
  static func isAny(of ids: [ObjectID], in place: CommitPartSummary.PartKey) -> Bool {
    var (low, high) = (0, ids.count)
    while low < high {
      let middle = (low + high) / 2
      if ids[middle].key < place.low { low = middle + 1 } else { high = middle }
    }
    return low < ids.count && ids[low].key <= place.high
  }

  /// Walks the commits after `after`, newest first. A commit in parts is passed once per part, the last part first.
  /// - Parameter omitsDamage: whether damaged commits are skipped instead of refused.
  package func forEachCommitNewestFirst(
    after: Revision, omitsDamage: Bool = false, _ body: (Commit) throws -> Void
  ) throws {
    try forEachRowNewestFirst(after: after, omitsDamage: omitsDamage) { commit in
      guard let parts = commit.parts else { return try body(commit) }
      for place in try places(of: commit.revision, in: parts).reversed() {
        var part = commit
        part.changes = try self.part(place.number, of: commit.revision, in: parts)
        part.part = place.number
        try body(part)
      }
    }
  }

  private func forEachRowNewestFirst(
    after: Revision, omitsDamage: Bool = false, _ body: (Commit) throws -> Void
  ) throws {
    let row = try connection.statement(Self.columns + " WHERE revision > ? ORDER BY revision DESC")
    row.bind(1, after)
    defer { sqlite3_reset(row.statement) }
    while try connection.step(row) {
      if let commit = try objects.unlessDamaged(omitsDamage, { try commit(row) }) { try body(commit) }
    }
  }

  /// Rolls `present` back from the state after a commit to the state before it.
  package func rollBack(_ commit: Commit, in present: inout [ObjectID: ObjectImage?]) throws -> [ObjectChange] {
    var changes = [ObjectChange]()
    changes.reserveCapacity(commit.changes.count)
    for change in commit.changes.reversed() {
      let (before, after) = try rollBack(change, in: &present)
      changes.append(change.objectChange(from: before, to: after))
    }
    changes.reverse()
    return changes
  }

  /// Rolls `present` back over one change.
  private func rollBack(
    _ change: HistoryChange, in present: inout [ObjectID: ObjectImage?]
  ) throws -> (before: ObjectImage?, after: ObjectImage?) {
    let after: ObjectImage?
    if let known = present[change.id] {
      after = known
    } else {
      after = change.kind == .deleted ? nil : try objects.readImage(of: change.id)
    }
    let before = change.before(after, model: model)
    present[change.id] = .some(before)
    return (before, after)
  }
}
