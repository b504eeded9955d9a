import GRDBSQLite
import GraphModel

/// Reads commits back, on one connection and inside one transaction.
struct HistoryReader {
  let objects: ObjectReader
  private let recent = RecentCommits()

  init(objects: ObjectReader) { self.objects = objects }

  /// The last commits that were looked into for single objects: a commit of many objects is decoded once, not once for
  /// each of them.
  private final class RecentCommits {
    struct Entry {
      let author: String
      let replica: UniqueID
      let changes: [ObjectID: HistoryChange]
    }

    private var entries = [Revision: Entry]()
    private var size = 0

    subscript(revision: Revision) -> Entry? { entries[revision] }

    func keep(_ commit: Commit) -> Entry {
      // By revision for ever: commits don't change. Some tens of thousands of changes at most.
      if size > 50_000 { (entries, size) = ([:], 0) }
      let entry = Entry(
        author: commit.author, replica: commit.transaction.replica,
        changes: Dictionary(commit.changes.map { ($0.id, $0) }, uniquingKeysWith: { $1 }))
      entries[commit.revision] = entry
      size += commit.changes.count
      return entry
    }

    func forget() { (entries, size) = ([:], 0) }
  }

  /// After a rollback revisions are given anew.
  func forgetRecent() { recent.forget() }

  private var connection: Connection { objects.connection }
  private var model: Model { objects.model }

  /// One row of `_commit`, its changes decoded.
  struct Commit {
    var revision: Revision
    var time: Timestamp
    var author: String
    var transaction: TransactionID
    var fingerprint: UInt64
    var undoes: Revision?
    /// What the commit that this one undoes had undone: then this one is a redo.
    var redoes: Revision?
    var undo: UndoGroup?
    var changes: [HistoryChange]
  }

  private static let columns = """
    SELECT revision, time, a.name, r.id, sequence, fingerprint, undoes, undo, changes,
    (SELECT u.undoes FROM _commit AS u WHERE u.revision = c.undoes) FROM _commit AS c
    JOIN _author AS a ON a.number = author JOIN _replica AS r ON r.number = replica
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
    return try connection.step(row) ? UInt64(bitPattern: row.integer(0)) : nil
  }

  func commit(_ revision: Revision) throws -> Commit? {
    let row = try connection.statement(Self.columns + " WHERE revision = ?")
    row.bind(1, revision)
    defer { sqlite3_reset(row.statement) }
    return try connection.step(row) ? try commit(row) : nil
  }

  private func commit(_ row: Row) throws -> Commit {
    let undo = row.blob(7)
    return Commit(
      revision: row.integer(0), time: row.integer(1), author: row.text(2),
      transaction: TransactionID(replica: row.id(3), sequence: UInt64(bitPattern: row.integer(4))),
      fingerprint: UInt64(bitPattern: row.integer(5)), undoes: row.isNull(6) ? nil : row.integer(6),
      redoes: row.isNull(9) ? nil : row.integer(9), undo: undo.isEmpty ? nil : try UndoGroup(binary: undo),
      changes: try HistoryChange.decode(row.blob(8)))
  }

  /// So many changes newer than the wanted commits are taken back at most.
  static let maximumSkippedChanges = 5_000_000

  /// The commits after `after` up to `through`, with whole images: the present of every object that they and later
  /// commits touched, taken back commit by commit.
  func records(
    after: Revision, through: Revision?, maximumChanges: Int, maximumBytes: Int = .max
  ) throws -> [CommitRecord] {
    var present = [ObjectID: ObjectImage?]()
    var records = [CommitRecord]()
    var (count, skipped, bytes) = (0, 0, 0)
    try forEachCommitNewestFirst(after: after) { commit in
      // What is newer than asked for must be taken back all the same; it counts against a wider bound.
      let isWanted = through.map { commit.revision <= $0 } ?? true
      if isWanted { count += commit.changes.count + 1 } else { skipped += commit.changes.count + 1 }
      guard count <= maximumChanges, skipped <= Self.maximumSkippedChanges else {
        throw Refusal(.limit, "more than \(maximumChanges) changes lie between revision \(after) and now")
      }
      let changes = try takeBack(commit, in: &present)
      if let through, commit.revision > through { return }
      let record = CommitRecord(
        revision: commit.revision, time: commit.time, author: commit.author, transaction: commit.transaction,
        fingerprint: commit.fingerprint, undo: commit.undo, undoes: commit.undoes, redoes: commit.redoes,
        changes: changes)
      bytes += record.approximateSize
      guard bytes <= maximumBytes else {
        throw Refusal(.limit, "the changes between revision \(after) and now take more than \(maximumBytes) bytes")
      }
      records.append(record)
    }
    let wanted = min(through ?? .max, try head().revision) - after
    guard Int64(records.count) == max(0, wanted) else {
      throw Refusal(.limit, "history no longer holds every commit after revision \(after)")
    }
    return records.reversed()
  }

  /// Walks the commits after `after`, newest first.
  func forEachCommitNewestFirst(after: Revision, _ body: (Commit) throws -> Void) throws {
    let row = try connection.statement(Self.columns + " WHERE revision > ? ORDER BY revision DESC")
    row.bind(1, after)
    defer { sqlite3_reset(row.statement) }
    while try connection.step(row) { try body(commit(row)) }
  }

  /// Turns `present` from the state after a commit into the state before it.
  func takeBack(_ commit: Commit, in present: inout [ObjectID: ObjectImage?]) throws -> [ObjectChange] {
    var changes = [ObjectChange]()
    for change in commit.changes {
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
    return changes
  }

  /// One change of one object, with what undoing it takes.
  struct Event {
    var revision: Revision
    var author: String
    var replica: UniqueID
    var change: HistoryChange

    /// As the rules read it.
    var past: PastChange {
      PastChange(
        revision: revision, author: author, replica: replica, kind: change.kind, edits: change.edits.map(\.edit),
        reversals: change.edits.map(\.reversed), spacing: change.spacing)
    }
  }

  /// What happened to one object after `base`, oldest first: the chain from its newest change backwards.
  func events(of id: ObjectID, newest: Revision, after base: Revision) throws -> [Event] {
    var events = [Event]()
    var revision = newest
    while revision > base, let entry = try entry(revision), let change = entry.changes[id] {
      events.append(
        Event(revision: revision, author: entry.author, replica: entry.replica, change: change))
      revision = change.previous
    }
    return events.reversed()
  }

  /// The same, as the rules read it.
  func past(of id: ObjectID, newest: Revision, after base: Revision) throws -> [PastChange] {
    try events(of: id, newest: newest, after: base).map(\.past)
  }

  private func entry(_ revision: Revision) throws -> RecentCommits.Entry? {
    if let known = recent[revision] { return known }
    return try commit(revision).map { recent.keep($0) }
  }

  /// When an object was deleted and who did it; nil for one that is there.
  func deletion(of id: ObjectID) throws -> (revision: Revision, author: String)? {
    let row = try connection.statement("SELECT revision FROM _tombstone WHERE id = ?")
    row.bind(1, id.key)
    defer { sqlite3_reset(row.statement) }
    guard try connection.step(row) else { return nil }
    let revision = row.integer(0)
    return try author(of: revision).map { (revision, $0) }
  }

  /// Who made a commit.
  func author(of revision: Revision) throws -> String? {
    let row = try connection.statement(
      "SELECT a.name FROM _commit JOIN _author AS a ON a.number = author WHERE revision = ?")
    row.bind(1, revision)
    defer { sqlite3_reset(row.statement) }
    return try connection.step(row) ? row.text(0) : nil
  }
}
