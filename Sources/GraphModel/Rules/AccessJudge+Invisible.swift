// Tests: PlannerAccessTests.swift

/// The objects that a principal can't see, in the graph as a transaction will leave it, and refusals and conflicts
/// without them.
extension AccessJudge {
  /// The refusal of a change that would also change objects which the principal can't see. It names no invisible
  /// object.
  public static let effectOnInvisible = Refusal(
    .notAllowed, "this would also change objects that you may not change: ask an owner")

  /// Whether the principal may not see an object, present or deleted.
  func isInvisible(_ id: ObjectID, in graph: DraftGraph) throws -> Bool {
    if let draft = graph.draft(of: id) { return draft.before.map { !sees($0) } == true }
    if let image = try graph.reader.image(of: id) { return !sees(image) }
    guard try graph.reader.deletion(of: id) != nil else { return false }
    // A deleted object whose values are unknown counts as invisible.
    return try graph.reader.lastImage(ofDeleted: id).map { !sees($0) } != false
  }

  /// The newest change by which an object became visible; nil if the principal saw each state of `past`. Merging
  /// with an older base would return values that the principal never saw.
  /// - Parameter past: the changes that led to the stored state, oldest first.
  func appearance(of stored: ObjectImage, in past: [PastChange]) -> PastChange? {
    var image = stored
    for change in past.reversed() {
      // Merging knows no values of before.
      if change.isPruned || change.kind != .updated { return nil }
      for reversal in change.reversals.reversed() {
        guard let property = model.property(reversal.property), property.slot != nil,
          let value = reversal.applied(to: image[property])
        else { continue }
        image[property] = value
      }
      if !sees(image) { return change }
    }
    return nil
  }

  /// The newest change after a revision by which an object became visible; nil if the principal saw each state since
  /// then, and for a deleted object.
  func appearance(of id: ObjectID, after revision: Revision, in graph: DraftGraph) throws -> PastChange? {
    if seesEverything { return nil }
    // A plan has taken the images of its drafts.
    guard let stored = try graph.reader.image(of: id), stored.hasChanged(since: revision) else { return nil }
    return appearance(of: stored, in: try graph.reader.history(of: id, after: revision))
  }

  /// A refusal without ids, authors, values and counts of objects that the principal can't see.
  /// - Parameter isOwn: whether the principal itself named the objects of the transaction. An object that does not
  ///   exist for it is then reported under the id that it sent.
  func withoutInvisible(_ refusal: Refusal, in graph: DraftGraph, isOwn: Bool) throws -> Refusal {
    if seesEverything { return refusal }
    guard refusal.code == .conflict ? !refusal.conflicts.isEmpty : !refusal.violations.isEmpty else { return refusal }
    var kept = refusal
    kept.conflicts = try withoutInvisible(refusal.conflicts, in: graph)
    var violations = refusal.violations
    for index in violations.indices {
      if isOwn, violations[index].commonRule == .missing { continue }
      // An object that the rules of the transaction reached, and that the transaction does not name.
      if try isInvisible(violations[index].id, in: graph) { return Self.effectOnInvisible }
      guard [.deny, .dangling].contains(violations[index].commonRule) else { continue }
      let name = model.entityName(violations[index].id.entity)
      violations[index].message = "this \(name) can't be deleted while other objects refer to it"
      if let other = violations[index].value.objectID, try isInvisible(other, in: graph) {
        violations[index].value = .null
      }
    }
    kept.violations = violations
    if kept.code != .conflict {
      kept.message = Refusal(violations: violations).message
    } else if kept.conflicts.isEmpty {
      return Self.effectOnInvisible
    } else if kept.conflicts != refusal.conflicts {
      kept.message = try PlanFindings.message(for: kept.conflicts, in: graph)
    }
    return kept
  }

  /// The conflicts over objects that the principal sees, without references to others. A commit from a time at which
  /// the principal did not see the object is replaced by the one by which it became visible.
  /// - Parameter commit: the commit whose conflicts these are, if it exists already. Conflicts over objects that the
  ///   principal did not see before it keep no values and no authors.
  func withoutInvisible(
    _ conflicts: [Conflict], of commit: Revision? = nil, in graph: DraftGraph
  ) throws -> [Conflict] {
    if seesEverything { return conflicts }
    return try conflicts.compactMap { conflict in
      if try isInvisible(conflict.id, in: graph) { return nil }
      if let cause = conflict.cause, try isInvisible(cause, in: graph) { return conflict.withoutContents }
      if let commit, try !saw(conflict, before: commit, in: graph) { return conflict.withoutContents }
      var conflict = conflict
      if conflict.revision > 0, let change = try appearance(of: conflict.id, after: conflict.revision - 1, in: graph) {
        (conflict.author, conflict.revision) = (change.author, change.revision)
      }
      conflict.mine = try withoutInvisible(conflict.mine, in: graph)
      conflict.theirs = try withoutInvisible(conflict.theirs, in: graph)
      return conflict
    }
  }

  /// Whether the principal, who sees the object now, also saw the state that a conflict of an existing commit shows.
  private func saw(_ conflict: Conflict, before commit: Revision, in graph: DraftGraph) throws -> Bool {
    // The earlier states of a deleted object are not read.
    if try graph.reader.image(of: conflict.id) == nil { return conflict.kind == .deleted }
    let later = try graph.reader.history(of: conflict.id, after: commit)
    // Before its delete a revived object may have been elsewhere.
    if later.contains(where: { $0.kind != .updated }) { return false }
    return try appearance(of: conflict.id, after: commit - 1, in: graph) == nil
  }

  private func withoutInvisible(_ value: Value, in graph: DraftGraph) throws -> Value {
    switch value {
    case .object(let id): try isInvisible(id, in: graph) ? .null : value
    case .objects(let ids): .objects(try ids.filter { try !isInvisible($0, in: graph) })
    default: value
    }
  }
}

extension AccessJudge {
  /// The conflicts of an undo, a restore or an existing commit, without values that the principal can't see.
  /// - Parameter commit: the existing commit; nil for an undo or a restore.
  public func withoutInvisible(
    _ conflicts: [Conflict], of commit: Revision? = nil, reader: any PlannerReader
  ) throws -> [Conflict] {
    if seesEverything || conflicts.isEmpty { return conflicts }
    return try withoutInvisible(conflicts, of: commit, in: DraftGraph(reader, revision: 0))
  }

  /// A refusal without ids, authors, values and counts of objects that the principal can't see.
  public func withoutInvisible(_ refusal: Refusal, reader: any PlannerReader) throws -> Refusal {
    if seesEverything { return refusal }
    return try withoutInvisible(refusal, in: DraftGraph(reader, revision: 0), isOwn: false)
  }

  /// Whether the principal may not see an object, present or deleted.
  public func isInvisible(_ id: ObjectID, reader: any PlannerReader) throws -> Bool {
    if seesEverything { return false }
    return try isInvisible(id, in: DraftGraph(reader, revision: 0))
  }
}
