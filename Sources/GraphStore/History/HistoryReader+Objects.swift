// Tests: PastOptionTests.swift, PastCostTests.swift
import GRDBSQLite
import GraphModel
import HeapModule

/// The changes of single objects, and of many objects at once. Walking along each of 100,000 objects would decode a
/// commit that changed them all 100,000 times.
extension HistoryReader {
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

  /// Returns the changes of one object after `base`, oldest first, as far as history has them.
  func events(of id: ObjectID, newest: Revision, after base: Revision) throws -> [RecordedChange] {
    try chain(of: id, newest: newest, after: base).events
  }

  /// - Returns: the events, and the change at which the walk ended: at or below `base`, unless the rest was pruned.
  private func chain(
    of id: ObjectID, newest: Revision, after base: Revision
  ) throws -> (events: [RecordedChange], end: Revision) {
    var walk = ObjectWalk(id, from: newest, self)
    var events = [RecordedChange]()
    while let event = try walk.next(after: base) { events.append(event) }
    return (events.reversed(), walk.revision)
  }

  /// Like `events`, in the form that the rules read; a pruned part comes first, as one change.
  func past(of id: ObjectID, newest: Revision, after base: Revision) throws -> [PastChange] {
    let (events, end) = try chain(of: id, newest: newest, after: base)
    let past = events.map(\.past)
    return try end > base && end <= oldest() ? [.pruned(upTo: end)] + past : past
  }

  /// Returns the change of one object in a commit; nil if history does not have it.
  func event(of id: ObjectID, in revision: Revision) throws -> RecordedChange? {
    guard let entry = try entry(revision), let change = try change(of: id, in: revision, entry) else { return nil }
    return RecordedChange(revision: revision, author: entry.author, replica: entry.replica, change: change)
  }

  private func entry(_ revision: Revision) throws -> RecentCommits.Entry? {
    if let known = recent[revision, 0] { return known }
    guard let commit = try row(of: revision) else { return nil }
    // Single objects are found by the id ranges of the parts.
    if let parts = commit.parts, parts.boundsSum != nil { _ = try places(of: revision, in: parts) }
    return recent.keep(commit)
  }

  /// Returns the change of one object in a commit; repeated changes in a batch are merged into one.
  private func change(
    of id: ObjectID, in revision: Revision, _ entry: RecentCommits.Entry
  ) throws -> HistoryChange? {
    guard entry.isInParts else { return entry.changes[id] }
    let changes: [HistoryChange] = try parts(of: revision, holding: id).compactMap { number in
      if let known = recent[revision, number] { return known.changes[id] }
      guard var commit = try row(of: revision) else { return nil }
      commit.changes = try part(number, of: revision, in: commit.parts)
      commit.part = number
      return recent.keep(commit).changes[id]
    }
    // The object names this commit as the one that changed it.
    if changes.isEmpty { try reportDamagedPart(of: revision) }
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
    try CommitAuthors(connection).stamp(of: revision)?.author
  }

  // MARK: - Many objects

  /// The changes of an object after `base`, up to `newest`, its last change.
  struct ChangeRange {
    var newest: Revision
    var base: Revision
  }

  /// Returns the changes of each object, oldest first, as far as history has them. Each commit is read once, newest
  /// first, and only the changes of these objects are decoded.
  /// - Parameter omitsDamage: whether the changes of an object end at a damaged commit. Otherwise it is refused.
  func events(
    of spans: [ObjectID: ChangeRange], omitsDamage: Bool = false
  ) throws -> [ObjectID: [RecordedChange]] {
    var events = [ObjectID: [RecordedChange]]()
    var waiting = [Revision: [ObjectID]]()
    var revisions = Heap<Revision>()
    func wait(_ id: ObjectID, for revision: Revision) throws {
      let span = try invariant(spans[id], "only changes of the requested objects are read")
      if revision > span.base {
        if waiting[revision] == nil { revisions.insert(revision) }
        waiting[revision, default: []].append(id)
      }
    }
    for (id, span) in spans { try wait(id, for: span.newest) }
    while let revision = revisions.popMax(), let ids = waiting.removeValue(forKey: revision) {
      guard let found = try objects.unlessDamaged(omitsDamage, { try self.events(of: ids, in: revision) }) else {
        continue
      }
      for event in found where event.change.previous < revision {
        events[event.change.id, default: []].append(event)
        try wait(event.change.id, for: event.change.previous)
      }
    }
    return events.mapValues { $0.reversed() }
  }

  /// Returns the changes of some objects in a commit; repeated changes in a batch are merged into one.
  private func events(of ids: [ObjectID], in revision: Revision) throws -> [RecordedChange] {
    let row = try connection.statement(Self.columns + " WHERE revision = ?")
    row.bind(1, revision)
    defer { sqlite3_reset(row.statement) }
    guard try connection.step(row) else { return [] }
    let (author, replica, bytes) = (row.text(2), row.id(3), row.blob(8))
    try verify(row, changes: bytes)
    let keys = Set(ids.map(\.key))
    let version = objects.layout.version(of: revision)
    func changes(in bytes: [UInt8]) throws -> [HistoryChange] {
      try HistoryChange.decode(bytes) { keys.contains($0.key) }.changes
        .map { $0.present(objects.layout, version: version) }
    }
    var found = [HistoryChange]()
    if let parts = try CommitPartSummary(bytes) {
      let sorted = ids.sorted()
      for place in try places(of: revision, in: parts) where Self.isAny(of: sorted, in: place) {
        found += try decodePart(place.number, of: revision, in: parts, changes)
      }
      found = HistoryChange.joined(found)
    } else {
      found = try changes(in: bytes)
    }
    return found.map { RecordedChange(revision: revision, author: author, replica: replica, change: $0) }
  }
}
