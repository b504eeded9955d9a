// Tests: RandomHistoryTests.swift, LargeLogTests.swift
import GRDBSQLite
import GraphModel

/// Reads commits, on one connection and inside one transaction. A large batch's commit is read in parts
/// (`CommitPartSummary`); only its undo holds it completely.
struct HistoryReader {
  let objects: ObjectReader
  private let recent = RecentCommits()

  init(objects: ObjectReader) { self.objects = objects }

  /// A cache of decoded commits for reads of single objects.
  ///
  /// A commit of many objects is decoded once, not once for each object.
  private final class RecentCommits {
    struct Entry {
      let author: String
      let replica: UniqueID
      let isInParts: Bool
      let changes: [ObjectID: HistoryChange]
    }

    /// The key of an entry; part 0 is the commit's row itself.
    struct Key: Hashable {
      let revision: Revision
      let part: Int
    }

    private var entries = [Key: Entry]()
    private var size = 0

    subscript(revision: Revision, part: Int) -> Entry? { entries[Key(revision: revision, part: part)] }

    func keep(_ commit: Commit) -> Entry {
      // Entries never become invalid, because commits don't change. The cache holds some tens of thousands of
      // changes.
      if size > 50_000 { (entries, size) = ([:], 0) }
      let entry = Entry(
        author: commit.author, replica: commit.transaction.replica, isInParts: commit.parts != nil,
        changes: Dictionary(commit.changes.map { ($0.id, $0) }, uniquingKeysWith: { $1 }))
      entries[Key(revision: commit.revision, part: commit.part)] = entry
      size += commit.changes.count
      return entry
    }

    func forget() { (entries, size) = ([:], 0) }
  }

  /// Clears the cache after a rollback, because revisions are reused then.
  func forgetRecent() { recent.forget() }

  var connection: Connection { objects.connection }
  private var model: Model { objects.model }

  /// One row of `_commit` with decoded changes.
  struct Commit {
    var revision: Revision
    var time: Timestamp
    var author: String
    var transaction: TransactionID
    var fingerprint: UInt64
    var undoes: Revision?
    /// If this commit is a redo: the revision that the commit it undoes had undone.
    var redoes: Revision?
    var undo: UndoGroup?
    var changes: [HistoryChange]
    /// The number of further changes, which were not decoded.
    var more = 0
    /// Set if the changes are in parts; then `changes` is empty or contains one part.
    var parts: CommitPartSummary?
    /// The number of the part in `changes`.
    var part = 0
  }

  /// The statement for a commit's row.
  static let columns = """
    SELECT revision, time, a.name, r.id, sequence, fingerprint, undoes, undo, changes,
    (SELECT u.undoes FROM _commit AS u WHERE u.revision = c.undoes), model, outcome, counters,
    (SELECT p.fingerprint FROM _commit AS p WHERE p.revision = c.revision - 1) FROM _commit AS c
    LEFT JOIN _author AS a ON a.number = author LEFT JOIN _replica AS r ON r.number = replica
    """

  /// The newest revision and its fingerprint.
  func head() throws -> (revision: Revision, fingerprint: UInt64) {
    let row = try connection.statement("SELECT revision, fingerprint FROM _commit ORDER BY revision DESC LIMIT 1")
    defer { sqlite3_reset(row.statement) }
    guard try connection.step(row) else { return (0, 0) }
    return (row.integer(0), UInt64(bitPattern: row.integer(1)))
  }

  func fingerprint(of revision: Revision) throws -> UInt64? {
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
    guard commit.parts != nil else { return commit }
    for place in try places(of: revision) { commit.changes += try part(place.number, of: revision) }
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
      guard isWanted else { return }
      let record = CommitRecord(
        revision: commit.revision, time: commit.time, author: commit.author, transaction: commit.transaction,
        fingerprint: commit.fingerprint, undo: commit.undo, undoes: commit.undoes, redoes: commit.redoes,
        changes: changes, summary: commit.parts?.summary(objects.layout.numbers))
      bytes += record.approximateSize
      guard bytes <= maximumBytes else {
        throw Refusal(.limit, "the changes between revision \(after) and now take more than \(maximumBytes) bytes")
      }
      records.append(record)
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
    for place in try places(of: commit.revision).reversed() where Self.isAny(of: ids, in: place) {
      var part = commit
      part.changes = try self.part(place.number, of: commit.revision).filter { wanted.contains($0.id) }
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
  func forEachCommitNewestFirst(after: Revision, _ body: (Commit) throws -> Void) throws {
    try forEachRowNewestFirst(after: after) { commit in
      guard commit.parts != nil else { return try body(commit) }
      for place in try places(of: commit.revision).reversed() {
        var part = commit
        part.changes = try self.part(place.number, of: commit.revision)
        part.part = place.number
        try body(part)
      }
    }
  }

  private func forEachRowNewestFirst(after: Revision, _ body: (Commit) throws -> Void) throws {
    let row = try connection.statement(Self.columns + " WHERE revision > ? ORDER BY revision DESC")
    row.bind(1, after)
    defer { sqlite3_reset(row.statement) }
    while try connection.step(row) { try body(commit(row)) }
  }

  /// Rolls `present` back from the state after a commit to the state before it.
  func rollBack(_ commit: Commit, in present: inout [ObjectID: ObjectImage?]) throws -> [ObjectChange] {
    var changes = [ObjectChange]()
    changes.reserveCapacity(commit.changes.count)
    for change in commit.changes.reversed() {
      let after: ObjectImage?
      if let known = present[change.id] {
        after = known
      } else {
        after = change.kind == .deleted ? nil : try objects.readImage(of: change.id)
      }
      let before = change.before(after, model: model)
      present[change.id] = .some(before)
      changes.append(
        ObjectChange(
          kind: change.kind, id: change.id, before: before, after: change.kind == .deleted ? nil : after,
          edits: change.edits.map(\.edit), spacing: change.spacing))
    }
    changes.reverse()
    return changes
  }

  /// One change of one object, with the data to undo it.
  struct RecordedChange {
    var revision: Revision
    var author: String
    var replica: UniqueID
    var change: HistoryChange

    /// The change in the form that the rules read.
    var past: PastChange {
      PastChange(
        revision: revision, author: author, replica: replica, kind: change.kind,
        isRevival: change.kind == .inserted && change.previous > 0, edits: change.edits.map(\.edit),
        reversals: change.edits.map(\.reversed), spacing: change.spacing)
    }
  }

  /// Returns the changes of one object after `base`, oldest first. Follows the chain from its newest change
  /// backwards, as far as history has it.
  func events(of id: ObjectID, newest: Revision, after base: Revision) throws -> [RecordedChange] {
    try chain(of: id, newest: newest, after: base).events
  }

  /// - Returns: the events, and the change at which the chain ended: at or below `base`, unless the rest was pruned.
  private func chain(
    of id: ObjectID, newest: Revision, after base: Revision
  ) throws -> (events: [RecordedChange], end: Revision) {
    var events = [RecordedChange]()
    var revision = newest
    while revision > base, let entry = try entry(revision), let change = try change(of: id, in: revision, entry),
      change.previous < revision
    {
      events.append(
        RecordedChange(revision: revision, author: entry.author, replica: entry.replica, change: change))
      revision = change.previous
    }
    return (events.reversed(), revision)
  }

  /// Like `events`, in the form that the rules read; a pruned part comes first, as one change.
  func past(of id: ObjectID, newest: Revision, after base: Revision) throws -> [PastChange] {
    let (events, end) = try chain(of: id, newest: newest, after: base)
    let past = events.map(\.past)
    return try end > base && end <= oldest() ? [.pruned(upTo: end)] + past : past
  }

  /// Returns the change of one object in a commit.
  func event(of id: ObjectID, in revision: Revision) throws -> RecordedChange? {
    guard let entry = try entry(revision), let change = try change(of: id, in: revision, entry) else { return nil }
    return RecordedChange(revision: revision, author: entry.author, replica: entry.replica, change: change)
  }

  /// Returns the change of one object in a commit; nil if history does not have it.
  func change(of id: ObjectID, at revision: Revision) throws -> HistoryChange? {
    try entry(revision).flatMap { try change(of: id, in: revision, $0) }
  }

  private func entry(_ revision: Revision) throws -> RecentCommits.Entry? {
    if let known = recent[revision, 0] { return known }
    return try row(of: revision).map { recent.keep($0) }
  }

  /// Returns the change of one object in a commit; repeated changes in a batch are merged into one.
  private func change(
    of id: ObjectID, in revision: Revision, _ entry: RecentCommits.Entry
  ) throws -> HistoryChange? {
    guard entry.isInParts else { return entry.changes[id] }
    let changes: [HistoryChange] = try parts(of: revision, holding: id).compactMap { number in
      if let known = recent[revision, number] { return known.changes[id] }
      guard var commit = try row(of: revision) else { return nil }
      commit.changes = try part(number, of: revision)
      commit.part = number
      return recent.keep(commit).changes[id]
    }
    return HistoryChange.joined(changes).first
  }

  /// The revision and the author of an object's delete; nil for a present object.
  func deletion(of id: ObjectID) throws -> (revision: Revision, author: String)? {
    let row = try connection.statement("SELECT revision FROM _tombstone WHERE id = ?")
    row.bind(1, id.key)
    defer { sqlite3_reset(row.statement) }
    guard try connection.step(row) else { return nil }
    let revision = row.integer(0)
    // Tombstones outlive their pruned commits.
    if let author = try author(of: revision) { return (revision, author) }
    return try revision <= oldest() ? (revision, "") : nil
  }

  /// The author of a commit.
  func author(of revision: Revision) throws -> String? {
    let row = try connection.statement(
      "SELECT a.name FROM _commit JOIN _author AS a ON a.number = author WHERE revision = ?")
    row.bind(1, revision)
    defer { sqlite3_reset(row.statement) }
    return try connection.step(row) ? row.text(0) : nil
  }
}
