// Tests: ReplicaStoreTests.swift, OfflineUndoTests.swift
import GraphModel
import GraphStore

/// Undo without the server. A step that has not left is removed from the queue. Behind one that is on its way, its undo
/// is queued. A step that the server has committed is reversed from the images of the mirror's history, and sent as the
/// undo of its revision.
extension ReplicaStore {
  /// The target of an undo or a redo.
  enum UndoTarget {
    /// The intents are removed from the queue: a step, or the undo that a redo takes back.
    case removal([Intent])
    /// The undo of an intent that is on its way.
    case edit(Intent)
    /// A step of the server's history.
    case committed(UndoStep)
  }

  /// The commits of the server that are looked through.
  private static let reach: Int64 = 100
  /// The unsent edits that are looked through.
  private static let maximumEdits = 1_000

  private static func isOf(_ scope: UniqueID?, _ intent: Intent) -> Bool {
    guard let scope else { return true }
    return (intent.undo.map(\.scope) ?? .zero) == scope
  }

  // MARK: - Targets

  /// The target of an undo; nil for nothing.
  func undoTarget(_ scope: UniqueID?) throws -> UndoTarget? {
    let newest = try unsent.newest(form, limit: Self.maximumEdits).filter { Self.isOf(scope, $0) }
    var undone = (revisions: Set<Revision>(), edits: Set<Int64>())
    for (index, intent) in newest.enumerated() {
      switch intent.content {
      case .undo(let revision, false): undone.revisions.insert(revision)
      case .undo(_, true): return intent.hasLeft ? nil : .removal([intent])
      case .undoEdit(let number): undone.edits.insert(number)
      case .changes:
        if undone.edits.contains(intent.number) { continue }
        // It is the newest committed step then.
        if intent.hasLeft, let edit = intent.edit(usedNumbers: 0), try overlay.isInMirror(edit) { continue }
        return intent.hasLeft ? .edit(intent) : .removal(Self.run(newest[index...]))
      }
    }
    let steps = try overlay.committedSteps(
      of: owner, scope: scope, reach: Self.reach, excluding: undone.revisions)
    return steps.undo.map(UndoTarget.committed)
  }

  /// The step that the first one of some intents ends: those of one group, newest first.
  private static func run(_ intents: ArraySlice<Intent>) -> [Intent] {
    guard let last = intents.first, let group = last.undo else { return Array(intents.prefix(1)) }
    return Array(
      intents.prefix { intent in
        guard case .changes = intent.content, !intent.hasLeft, let other = intent.undo else { return false }
        return other.scope == group.scope && other.group == group.group
      })
  }

  /// The target of a redo; nil for nothing.
  func redoTarget(_ scope: UniqueID?) throws -> UndoTarget? {
    let newest = try unsent.newest(form, limit: Self.maximumEdits).first { Self.isOf(scope, $0) }
    guard let newest else {
      let steps = try overlay.committedSteps(of: owner, scope: scope, reach: Self.reach, excluding: [])
      return steps.redo.map(UndoTarget.committed)
    }
    switch newest.content {
    case .undo(_, false), .undoEdit: return newest.hasLeft ? nil : .removal([newest])
    case .undo, .changes: return nil
    }
  }

  /// The step for a menu.
  func step(of target: UndoTarget) throws -> UndoStep? {
    switch target {
    case .committed(let step): return step
    case .edit(let intent): return try step(of: .removal([intent]))
    case .removal(let intents):
      let revisions = try intents.compactMap { try overlay.revision(of: $0.number) }
      guard let newest = revisions.max(), let oldest = revisions.min() else { return nil }
      return UndoStep(group: intents.first?.undo, oldest: oldest, newest: newest, count: intents.count)
    }
  }

  private static let nothingToUndo = "there is nothing to undo here: an earlier step needs the server"
  private static let nothingToRedo =
    "there is nothing to redo here: an undone edit that was not sent is gone, and an earlier step needs the server"

  // MARK: - Performing

  func undo(_ request: UndoRequest, now: Timestamp, _ state: inout State) throws -> WriteResult {
    // A revision of the server names a step that it has committed.
    if let revision = request.revision, revision < ProvisionalRevision.base {
      return try undo(revision, group: nil, request, now: now, &state)
    }
    let found = try request.redo ? redoTarget(request.scope) : undoTarget(request.scope)
    guard let target = found else {
      throw Refusal(.notFound, request.redo ? Self.nothingToRedo : Self.nothingToUndo)
    }
    if let revision = request.revision, try step(of: target)?.newest != revision {
      throw Self.needsServer("the undo of an edit before the newest one")
    }
    switch target {
    case .removal(let intents): return try remove(intents, request, now: now, &state)
    case .edit(let intent): return try undo(intent, request, now: now, &state)
    case .committed(let step): return try undo(step.newest, group: step.group, request, now: now, &state)
    }
  }

  /// Removes intents from the queue.
  private func remove(
    _ intents: [Intent], _ request: UndoRequest, now: Timestamp, _ state: inout State
  ) throws -> WriteResult {
    let numbers = Set(intents.map(\.number))
    for number in numbers {
      if let other = try unsent.dependents(of: number, form: form).first(where: { !numbers.contains($0) }) {
        throw Refusal(
          .conflict,
          "edit \(other) changes an object of this step: stickies sync conflicts and stickies sync export show it")
      }
    }
    let undoes = try step(of: .removal(intents)).map(\.newest)
    // The undo of an edit that is on its way shows it again, as a state that no change describes.
    let isPlanned = intents.allSatisfy { if case .undoEdit = $0.content { false } else { true } }
    let ids = try overlay.objects(concernedBy: numbers)
    let before = try images(ids)
    _ = try unsent.discard(numbers.sorted(), form: form)
    let after = try images(ids)
    let revision = try nextRevision(state)
    let changes = ids.compactMap { id in
      ObjectChange(of: id, from: before[id], to: after[id], in: revision, model)
    }
    return try finish(request, undoes: undoes, isPlanned ? changes : nil, now: now, &state)
  }

  private func images(_ ids: [ObjectID]) throws -> [ObjectID: ObjectImage] {
    var images = [ObjectID: ObjectImage]()
    for id in ids { images[id] = try overlay.image(of: id) }
    return images
  }

  /// Queues the undo of an intent that is on its way.
  private func undo(
    _ intent: Intent, _ request: UndoRequest, now: Timestamp, _ state: inout State
  ) throws -> WriteResult {
    let undoes = try overlay.revision(of: intent.number)
    var draft = Intent(
      number: 0, transaction: request.id, model: model, author: owner, made: now, content: .undoEdit(intent.number))
    draft.undo = intent.undo
    _ = try unsent.append(draft, form: form) { _, _ in [] }
    try overlay.refresh()
    return try finish(request, undoes: undoes, nil, now: now, &state)
  }

  /// Queues the undo or redo of a step that the server has committed.
  private func undo(
    _ revision: Revision, group: UndoGroup?, _ request: UndoRequest, now: Timestamp, _ state: inout State
  ) throws -> WriteResult {
    var draft = Intent(
      number: 0, transaction: request.id, model: model, author: owner, made: now, policy: .overwrite,
      content: .undo(revision: revision, redo: request.redo))
    draft.undo = group
    // The head advances with the record.
    let head = state.head
    let plan: TransactionPlan
    do {
      plan = try enqueue(draft, &state).planned.result.get()
    } catch let refusal as Refusal where refusal.code == .invalid && mirror.kept != nil {
      // The step refers to objects that the copy does not have.
      throw Self.needsServer("the undo of a step outside of this computer's copy")
    }
    state.head = head
    return try finish(request, undoes: revision, plan.changes, now: now, &state)
  }

  /// - Parameter changes: the effect on the graph that the user sees; nil if clients must read it again.
  private func finish(
    _ request: UndoRequest, undoes: Revision?, _ changes: [ObjectChange]?, now: Timestamp, _ state: inout State
  ) throws -> WriteResult {
    // A revision that was left out makes clients read again.
    let revision = try nextRevision(state) + (changes == nil ? 1 : 0)
    state.head = revision
    overlay.record(revision, over: try mirror.head.revision)
    let result = CommitResult(
      revision: revision, fingerprint: token(revision).fingerprint, identities: [], conflicts: [])
    let shown = if let changes { changes } else { [ObjectChange]() }
    var record = CommitRecord(
      revision: revision, time: now, author: owner, transaction: request.id, fingerprint: result.fingerprint,
      undoes: undoes, redoes: request.redo ? undoes : nil, changes: shown)
    if !state.related.isEmpty { record.related = try overlay.effects(of: shown, on: state.related) }
    state.keep(record, result)
    return WriteResult(outcome: .committed(result), record: record)
  }
}

extension ReplicaStore {
  /// The revision of a step that is shown now: above what was shown, and that of the newest plan.
  private func nextRevision(_ state: State) throws -> Revision { max(state.head + 1, try overlay.newestRevision()) }
}

extension ObjectChange {
  /// The change between two states of an object, as a commit of its own; nil for none.
  fileprivate init?(
    of id: ObjectID, from before: ObjectImage?, to after: ObjectImage?, in revision: Revision, _ model: Model
  ) {
    switch (before, after) {
    case (nil, nil): return nil
    case (let before?, nil): self.init(kind: .deleted, id: before.id, before: before, after: nil)
    case (nil, let after?):
      self.init(
        kind: .inserted, id: after.id, before: nil,
        after: ObjectImage(id: after.id, revision: revision, values: after.values))
    case (let before?, let after?):
      guard let entity = model.entity(after.id.entity) else { return nil }
      let edits = entity.storedProperties.compactMap { property in
        before[property] == after[property] ? nil : Edit(property.number, .set(after[property]))
      }
      self.init(
        kind: .updated, id: after.id, before: before,
        after: ObjectImage(id: after.id, revision: revision, values: after.values), edits: edits)
    }
  }
}
