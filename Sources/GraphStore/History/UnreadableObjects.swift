// Tests: PastDamageTests.swift
import GRDBSQLite
import GraphModel

/// The reason why an object's state at a revision is unknown.
enum PastDamage: Hashable {
  /// The object's row has changed outside a commit.
  case row
  /// The commit of this revision changed the object, and is damaged or missing.
  case commit(Revision)

  /// The notice that names these objects and the commits.
  static func notice(_ causes: [ObjectID: PastDamage]) -> DamageNotice {
    let commits = Set(causes.values.compactMap { if case .commit(let revision) = $0 { revision } else { nil } })
    return DamageNotice(objects: causes.keys.sorted(), commits: commits.sorted())
  }
}

/// The objects whose state is unknown during a walk back through all commits (`GraphRollback`).
///
/// An object is added if its row is damaged, or if the walk lacks the commit that made its present state. The revision
/// of each image names that commit, so the bytes of a damaged commit are not needed to find the objects that it
/// changed. An object is removed at an older change that holds its complete state: an insert, a delete, or a keyframe.
struct UnreadableObjects {
  private(set) var causes = [ObjectID: PastDamage]()
  private let revision: Revision
  private let mappedSince: Revision
  /// For each revived object without an older change so far, the revision of its delete.
  private var revivals = [ObjectID: Revision]()
  /// The number of different commits that were passed, and the last one of them.
  private var passed: Revision = 0
  private var last: Revision?
  /// The unreadable objects without an image.
  private var placeholders = [ObjectID]()

  /// - Parameter revision: the revision to which the walk goes.
  init(at revision: Revision, layout: StoreLayout) {
    self.revision = revision
    // A keyframe from before a migration without commits lacks the values that the migration added.
    mappedSince = if let mapped = layout.mapped { mapped.since } else { 0 }
  }

  mutating func add(_ id: ObjectID, _ cause: PastDamage) { causes[id] = cause }

  /// Called with each commit of the walk, for a commit in parts with each part.
  mutating func pass(_ commit: Revision) {
    if commit != last { passed += 1 }
    last = commit
  }

  /// Called before the walk rolls back a change.
  /// - Parameter after: the object after the change, as far as the walk knows it.
  /// - Returns: the object after the change; from the change itself if that has the complete object.
  mutating func pass(
    _ change: HistoryChange, of commit: Revision, after: ObjectImage?, _ history: HistoryReader
  ) throws -> ObjectImage? {
    revivals[change.id] = nil
    switch change.kind {
    case .inserted:
      causes[change.id] = nil
      if change.previous > revision { revivals[change.id] = change.previous }
    case .deleted: causes[change.id] = nil
    case .updated where causes[change.id] != nil && !change.values.isEmpty && commit >= mappedSince:
      causes[change.id] = nil
      return ObjectImage(id: change.id, revision: commit, values: change.values)
    case .updated:
      guard causes[change.id] == nil else { break }
      if let after {
        if after.revision > commit { add(change.id, .commit(after.revision)) }
      } else if let deletion = try history.deletion(of: change.id) {
        add(change.id, .commit(deletion.revision))
      } else {
        // The row was removed outside a commit.
        add(change.id, .row)
      }
    }
    return after
  }

  /// Called after the last commit: finds the objects with a newer change than the revision that the walk lacks.
  /// - Parameter images: the objects that the walk has touched.
  mutating func finish(_ images: [ObjectID: ObjectImage?], _ history: HistoryReader) throws {
    for (id, image) in images where causes[id] == nil {
      if let image {
        if image.revision > revision { add(id, .commit(image.revision)) }
      } else if let deletion = revivals[id] {
        add(id, .commit(deletion))
      }
    }
    // Only if commits are missing, other objects can have been touched by these alone.
    if try passed < history.head().revision - revision { try addUntouched(images, history) }
    for id in causes.keys { if case .some(.none) = images[id] { placeholders.append(id) } }
  }

  private mutating func addUntouched(_ images: [ObjectID: ObjectImage?], _ history: HistoryReader) throws {
    let layout = history.objects.layout
    for table in layout.orderedTables {
      let row = try history.connection.statement(
        "SELECT _id, _entity, _revision FROM main.\(quoted(table.name)) WHERE _revision > ?")
      row.bind(1, revision)
      defer { sqlite3_reset(row.statement) }
      while try history.connection.step(row) {
        let id = ObjectID(key: row.id(0), entity: layout.numbers.entity(row, 1))
        if images.index(forKey: id) == nil { add(id, .commit(row.integer(2))) }
      }
    }
    let row = try history.connection.statement("SELECT id, entity, revision FROM _tombstone WHERE revision > ?")
    row.bind(1, revision)
    defer { sqlite3_reset(row.statement) }
    while try history.connection.step(row) {
      let id = ObjectID(key: row.id(0), entity: layout.numbers.entity(row, 1))
      guard images.index(forKey: id) == nil, layout.model.entity(id.entity) != nil else { continue }
      add(id, .commit(row.integer(2)))
      placeholders.append(id)
    }
  }

  /// Adds an image without values for each unreadable object that has none, so that references to it stay valid.
  func images(over images: [ObjectID: ObjectImage?]) -> [ObjectID: ObjectImage?] {
    var images = images
    for id in placeholders { images[id] = .some(ObjectImage(id: id, revision: revision, values: [])) }
    return images
  }
}
