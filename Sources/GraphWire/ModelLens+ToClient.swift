import GraphModel

extension ModelLens {
  /// The server's message as a client of the older version receives it.
  public func downgraded(_ message: ToClient) -> ToClient {
    guard message.body.isTranslatedByLens else { return message }
    var result = message
    switch message.body {
    case .refused(let refusal): result.body = .refused(downgraded(refusal))
    case .model: result.body = .model(source: old.source, hash: old.hash)
    case .chunk(var chunk):
      chunk.objects = chunk.objects.compactMap { downgraded($0) }
      chunk.rows = chunk.rows.map { $0.map { downgraded($0) } }
      chunk.damage = downgraded(chunk.damage)
      result.body = .chunk(chunk)
    case .committed(var committed, let objects, let isComplete, let deleted):
      committed.identities = committed.identities.map {
        CommitResult.IDAssignment(temporary: downgraded($0.temporary), permanent: downgraded($0.permanent))
      }
      committed.conflicts = committed.conflicts.map { downgraded($0) }
      result.body = .committed(
        committed, objects: objects.compactMap { downgraded($0) }, isComplete: isComplete,
        deleted: deleted.map { downgraded($0) }.filter { $0.entity != 0 })
    case .log(let commits, let last, let damage):
      result.body = .log(commits.map { downgraded($0) }, last: last, damage: downgraded(damage))
    case .followed(let commits, let at, let head, let damage):
      result.body = .followed(commits.map { downgraded($0) }, at: at, head: head, damage: downgraded(damage))
    case .status(var status):
      status.counters = status.counters.compactMap { counter in
        downgraded(property: counter.property).map { ServerStatus.Counter(property: $0, next: counter.next) }
      }
      result.body = .status(status)
    case .differences(let differences, let last, let damage):
      result.body = .differences(
        differences.compactMap { downgraded($0) }, last: last, damage: downgraded(damage))
    case .windowMoved(var moved):
      moved.rows = moved.rows.map { downgraded($0) }
      moved.objects = moved.objects.compactMap { downgraded($0) }
      result.body = .windowMoved(moved)
    default: preconditionFailure("a lens has no translation of \(message.body)")
    }
    assert(result.request == message.request, "the client knows its request by the number")
    return result
  }

  /// A commit with the changes that the older version has, which may be none.
  private func downgraded(_ commit: CommitEntry) -> CommitEntry {
    var result = commit
    result.changes = commit.changes.compactMap { downgraded($0) }
    return result
  }

  /// The part of a change that the older version has; nil if there is none.
  public func downgraded(_ change: Delta.Change) -> Delta.Change? {
    guard isVisible(change.id.entity) else { return nil }
    let edits = downgraded(change.edits, in: change.object)
    if change.kind == .updated, edits.isEmpty, !change.edits.isEmpty, change.place == nil { return nil }
    var result = Delta.Change(
      kind: change.kind, id: downgraded(change.id), object: change.object.flatMap { downgraded($0) },
      previous: change.previous, edits: edits, deleted: change.deleted)
    result.place = change.place
    return result
  }

  /// The damage of an answer, without objects of entities that the older version does not have.
  public func downgraded(_ damage: DamageNotice) -> DamageNotice {
    var result = damage
    result.objects = damage.objects.compactMap { isVisible($0.entity) ? downgraded($0) : nil }
    return result
  }

  /// A part of a fetch's answer; nil for an object that the older version does not have.
  public func downgraded(_ part: FetchElement) -> FetchElement? {
    switch part {
    case .object(let image): downgraded(image).map { .object($0) }
    case .row(let values): .row(values.map { downgraded($0) })
    }
  }
}
