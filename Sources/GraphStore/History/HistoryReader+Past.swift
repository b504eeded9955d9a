// Tests: PastOptionTests.swift, PastCostTests.swift
import GRDBSQLite
import GraphModel

/// Past states of objects, from history: of all objects touched since a revision, or of one.
extension HistoryReader {
  // MARK: - Available revisions

  /// The oldest readable revision: the graph before the oldest commit in history.
  func oldest() throws -> Revision {
    let row = try connection.statement("SELECT min(revision) FROM _commit")
    defer { sqlite3_reset(row.statement) }
    return try connection.step(row) && !row.isNull(0) ? row.integer(0) - 1 : 0
  }

  /// - Throws: `Refusal` for a revision that never existed, does not exist yet, or was pruned.
  func check(_ revision: Revision, head: Revision) throws {
    guard revision >= 0 else {
      throw Refusal(.malformed, "there is no revision \(revision): revisions start at 0, the empty graph")
    }
    guard revision <= head else {
      throw Refusal(.notFound, "there is no revision \(revision) yet: the newest is \(head)")
    }
    try refusePruned(revision)
    try checkModel(at: revision)
  }

  /// Like `check(_:head:)`, with the present head.
  func check(_ revision: Revision) throws { try check(revision, head: head().revision) }

  /// Checks that every migration since the revision can convert all values to the present model.
  private func checkModel(at revision: Revision) throws {
    guard let unreadable = objects.layout.unreadable, revision < unreadable.before else { return }
    throw Refusal(
      .limit,
      "revision \(revision) was made before the model changed with revision \(unreadable.before), and can't be converted "
        + "to the new model: \(unreadable.obstacle). The log shows the changes of that time; the graph can be read as of "
        + "\(unreadable.before) and later")
  }

  /// Checks that no migration since the revision changed objects without commits.
  ///
  /// States before such a migration can be read, but not the changes that lead from them to the present.
  func checkMigrations(since revision: Revision) throws {
    guard let mapped = objects.layout.mapped, revision < mapped.since else { return }
    throw Refusal(
      .limit,
      "revision \(revision) was made before the model changed with revision \(mapped.since), which \(mapped.what) "
        + "without commits: start again with the present state")
  }

  /// Returns a past object with its derived attributes computed, as far as the object alone determines them.
  func computed(_ image: ObjectImage?, at revision: Revision) -> ObjectImage? {
    let properties = objects.layout.computed(behind: revision)
    guard !properties.isEmpty, var image else { return image }
    for property in properties {
      guard objects.model.entity(image.id.entity)?.property(property.number) != nil else { continue }
      image[property] = objects.model.derivedValue(of: property, in: image)
    }
    return image
  }

  /// - Parameters:
  ///   - excess: the exceeded limit, as the beginning of a sentence.
  ///   - readable: the oldest revision whose state can be read; nil if unknown.
  static func limitRefusal(_ revision: Revision, _ excess: String, readable: Revision? = nil) -> Refusal {
    let later = if let readable { "revision \(readable) or a later one" } else { "a later revision" }
    // The advice comes first, because a terminal may truncate the rest.
    return Refusal(
      .limit,
      "ask for \(later): \(excess) since revision \(revision); single objects can be read as of any revision by their "
        + "ids, and a backup from that time has the whole graph")
  }

  // MARK: - All touched objects

  /// Returns every object touched after a revision, as it was then; nil if it did not exist. Table names must resolve
  /// to the present on this connection.
  func images(at revision: Revision, limits: PastLimits) throws -> [ObjectID: ObjectImage?] {
    var images = [ObjectID: ObjectImage?]()
    var (count, bytes) = (0, 0)
    var mapped = MigratedValues(objects.layout)
    var counts = PastCounts(objects.layout, at: revision)
    try forEachCommitNewestFirst(after: revision) { commit in
      count += commit.changes.count + 1
      for change in commit.changes.reversed() where objects.model.entity(change.id.entity) != nil {
        let after: ObjectImage?
        if let known = images[change.id] {
          after = known
          bytes -= known.memorySize
        } else {
          let isAsked = change.kind == .updated || change.kind == .inserted && !mapped.isEmpty
          after = isAsked ? try objects.readImage(of: change.id) : nil
        }
        mapped.pass(change.id, after, at: commit.revision)
        let before = change.before(after, model: objects.model)
        counts.pass(before, after, at: commit.revision)
        images[change.id] = .some(before)
        bytes += before.memorySize
        assert(bytes >= 0)
        // The limits held for all newer commits. A single commit may touch a million objects.
        if let excess = limits.excess(objects: images.count, bytes: bytes) {
          throw Self.limitRefusal(revision, excess, readable: commit.revision)
        }
      }
      guard count <= Self.maximumSkippedChanges else {
        let excess = "objects have changed more than \(Self.maximumSkippedChanges) times"
        throw Self.limitRefusal(revision, excess, readable: commit.revision)
      }
    }
    // An object whose count was different may not have been touched itself.
    for id in counts.owners where images.index(forKey: id) == nil {
      let image = try objects.readImage(of: id)
      images[id] = image.map { .some($0) }
      bytes += image.memorySize
      if let excess = limits.excess(objects: images.count, bytes: bytes) {
        throw Self.limitRefusal(revision, excess)
      }
    }
    guard !mapped.isEmpty || !objects.layout.computed(behind: revision).isEmpty else { return images }
    return images.mapValues { computed(mapped.migrated($0, at: revision, counts), at: revision) }
  }

  // MARK: - One object

  /// Returns an object as it was at a revision; nil if it did not exist. The walk begins at the present or at the
  /// nearest keyframe, whichever is closer.
  func image(of id: ObjectID, at revision: Revision) throws -> ObjectImage? {
    // A keyframe from before a migration without commits lacks the values that the migration added.
    var first = revision
    if let mapped = objects.layout.mapped { first = max(first, mapped.since) }
    guard var (image, made) = try nearest(id, from: first) else { return nil }
    var mapped = MigratedValues(objects.layout)
    while made > revision {
      guard let event = try event(of: id, in: made), event.change.previous < made else {
        throw try prunedCommit(made)
      }
      mapped.pass(id, image, at: made)
      image = event.change.before(image, model: objects.model)
      made = event.change.previous
    }
    return computed(mapped.migrated(image, at: revision), at: revision)
  }

  /// The start of the walk: an image, and the revision that produced it.
  private func nearest(_ id: ObjectID, from revision: Revision) throws -> (image: ObjectImage?, made: Revision)? {
    if let keyframe = try keyframe(of: id, from: revision), let event = try event(of: id, in: keyframe),
      !event.change.values.isEmpty
    {
      return (ObjectImage(id: event.change.id, revision: keyframe, values: event.change.values), keyframe)
    }
    if let present = try objects.readImage(of: id) { return (present, present.revision) }
    let row = try connection.statement("SELECT revision FROM _tombstone WHERE id = ?")
    row.bind(1, id.key)
    defer { sqlite3_reset(row.statement) }
    return try connection.step(row) ? (nil, row.integer(0)) : nil
  }

  /// The object's first keyframe at or after a revision.
  private func keyframe(of id: ObjectID, from revision: Revision) throws -> Revision? {
    let row = try connection.statement(
      "SELECT revision FROM _whole WHERE id = ? AND revision >= ? ORDER BY revision LIMIT 1")
    row.bind(1, id.key)
    row.bind(2, revision)
    defer { sqlite3_reset(row.statement) }
    return try connection.step(row) ? row.integer(0) : nil
  }

  // MARK: - Times

  /// Returns the newest commit at or before a time. For the last pruned commit, the floor still has the time.
  ///
  /// Times may fall between revisions (`ClockSetbacks`): of several runs that reach back to the time, the newest
  /// counts.
  func revision(at time: Timestamp) throws -> (revision: Revision, time: Timestamp, author: String) {
    let (oldest, head) = (try oldest(), try head().revision)
    if let found = try newestCommit(upTo: time, from: oldest + 1, through: head), let commit = try dated(found) {
      return commit
    }
    if let floor = try HistoryFloor.read(connection), floor.revision == oldest, floor.time <= time {
      return (oldest, floor.time, try name(ofAuthor: floor.author))
    }
    guard oldest == 0 else {
      guard let kept = try dated(oldest + 1) else { throw missingCommit(oldest + 1) }
      throw Refusal(
        .pruned,
        "the history of that time was pruned: the oldest commit that is kept, revision \(kept.revision), is from "
          + RFC3339.text(kept.time))
    }
    return (0, 0, "")
  }

  private func name(ofAuthor number: Int64) throws -> String {
    let row = try connection.statement("SELECT name FROM _author WHERE number = ?")
    row.bind(1, number)
    defer { sqlite3_reset(row.statement) }
    return try connection.step(row) ? row.text(0) : ""
  }

  private func dated(_ revision: Revision) throws -> (revision: Revision, time: Timestamp, author: String)? {
    let row = try connection.statement(
      "SELECT time, a.name FROM _commit JOIN _author AS a ON a.number = author WHERE revision = ?")
    row.bind(1, revision)
    defer { sqlite3_reset(row.statement) }
    return try connection.step(row) ? (revision, row.integer(0), row.text(1)) : nil
  }
}
