// Tests: VisibleHistoryTests.swift
import GraphModel

/// History as a visibility class sees it: of each change the states in which it sees the object, by the object's own
/// image at that time and the class's grants of now.
///
/// History is read as a whole, because each state follows from later ones, and reduced afterwards.
struct VisibleHistory {
  let visibility: Visibility
  private let history: HistoryReader
  /// The states of referenced objects. For each reader the requested revisions must not rise.
  private let references: ObjectTimeTravelReader

  init(_ visibility: Visibility, _ history: HistoryReader) {
    (self.visibility, self.history) = (visibility, history)
    references = ObjectTimeTravelReader(history: history, omitsDamage: true)
  }

  // MARK: - Commits

  /// The commit as the class sees it; nil if no change of it is visible. For a commit in parts, only the entities are
  /// shown. Call it for newer commits first.
  func reduced(_ record: CommitRecord) throws -> CommitRecord? {
    var record = record
    record.more = 0
    if let summary = record.summary { record.summary = ChangeSummary(count: 0, entities: summary.entities) }
    // All later states first, because a reader only goes back.
    let after = try visible(in: record.changes.compactMap(\.after), at: record.revision)
    let before = try visible(in: record.changes.compactMap(\.before), at: record.revision - 1)
    record.changes = record.changes.compactMap { change in
      visibility.reduced(change) { id, isBefore in (isBefore ? before : after).contains(id) }
    }
    return record.changes.isEmpty && record.summary == nil ? nil : record
  }

  /// The visible objects among those to which the images refer.
  private func visible(in images: [ObjectImage], at revision: Revision) throws -> Set<ObjectID> {
    var (seen, visible) = (Set<ObjectID>(), Set<ObjectID>())
    for image in images where visibility.sees(image) {
      for id in image.values.flatMap(\.objectIDs) where seen.insert(id).inserted {
        if try sees(id, at: revision) { visible.insert(id) }
      }
    }
    return visible
  }

  private func sees(_ id: ObjectID, at revision: Revision) throws -> Bool {
    guard let found = try references.readableImage(of: id, at: revision), let image = found else { return false }
    return visibility.sees(image)
  }

  /// The object as the class sees it at a revision; nil if it does not. Call it with revisions that do not rise.
  func reduced(_ image: ObjectImage?, at revision: Revision) throws -> ObjectImage? {
    guard let image, visibility.sees(image) else { return nil }
    return try visibility.reduced(image) { try sees($0, at: revision) }
  }

  /// The value with the references to objects that the class saw at a revision. Call it with revisions that do not
  /// rise.
  func reduced(_ value: Value, at revision: Revision) throws -> Value {
    try Visibility.reduced(value) { try sees($0, at: revision) }
  }

  // MARK: - Single objects

  /// The revision of the change with which the class began to see an object without interruption until now, or until
  /// its delete; nil if it does not see it.
  func visibleSince(_ id: ObjectID, deletion: Revision?) throws -> Revision? {
    var since: Revision?
    try forEachState(of: id) { revision, image in
      guard let image else { return deletion == revision }
      guard visibility.sees(image) else { return false }
      since = revision
      return true
    }
    return since
  }

  /// Whether the class sees an object in any state that history has.
  func hasSeen(_ id: ObjectID) throws -> Bool {
    var found = false
    try forEachState(of: id) { _, image in
      if let image, visibility.sees(image) { found = true }
      return !found
    }
    return found
  }

  /// Passes the states of an object, newest first, each with the revision of the change that made it.
  private func forEachState(of id: ObjectID, _ body: (Revision, ObjectImage?) throws -> Bool) throws {
    let states = ObjectTimeTravelReader(history: history, omitsDamage: true)
    // The oldest changes may have been pruned: the present state counts anyway.
    let present: ObjectImage?? = try history.objects.unlessDamaged { try history.objects.readImage(of: id) }
    if let image = present ?? nil, try history.oldest() >= image.revision {
      _ = try body(image.revision, image)
      return
    }
    var revisions = try ChangedRevisions(of: id, in: history, after: history.oldest(), omitsDamage: true)
    while let revision = try revisions.next(), let image = try states.readableImage(of: id, at: revision),
      try body(revision, image)
    {}
  }
}

extension DamageNotice {
  /// The notice without ids: whether a class would see damaged objects is unknown.
  var withoutObjects: DamageNotice { DamageNotice(commits: commits) }
}
