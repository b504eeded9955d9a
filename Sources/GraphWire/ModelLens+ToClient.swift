import GraphModel

extension ModelLens {
  /// The server's message as a client of the older version receives it. Deltas and origins are translated earlier: a
  /// delta's changes before it is built, because it is the same for all clients with this lens, an origin where its
  /// property is known.
  public func view(of message: ToClient) -> ToClient {
    var result = message
    switch message.body {
    case .refused(let refusal): result.body = .refused(view(of: refusal))
    case .model: result.body = .model(source: old.source, hash: old.hash)
    case .chunk(var chunk):
      chunk.objects = chunk.objects.compactMap { view(of: $0) }
      chunk.rows = chunk.rows.map { $0.map { view(of: $0) } }
      result.body = .chunk(chunk)
    case .committed(var committed, let objects, let isComplete):
      committed.identities = committed.identities.map {
        CommitResult.IDAssignment(temporary: view(of: $0.temporary), permanent: view(of: $0.permanent))
      }
      committed.conflicts = committed.conflicts.map { view(of: $0) }
      result.body = .committed(committed, objects: objects.compactMap { view(of: $0) }, isComplete: isComplete)
    case .log(let commits, let last): result.body = .log(commits.map { view(of: $0) }, last: last)
    case .followed(let commits, let at, let head):
      result.body = .followed(commits.map { view(of: $0) }, at: at, head: head)
    case .status(var status):
      status.counters = status.counters.compactMap { counter in
        view(ofProperty: counter.property).map { ServerStatus.Counter(property: $0, next: counter.next) }
      }
      result.body = .status(status)
    case .differences(let differences, let last):
      result.body = .differences(differences.compactMap { view(of: $0) }, last: last)
    case .windowMoved(var moved):
      moved.rows = moved.rows.map { view(of: $0) }
      moved.objects = moved.objects.compactMap { view(of: $0) }
      result.body = .windowMoved(moved)
    case .welcome, .subscribed, .unsubscribed, .delta, .advance, .reset, .pong, .close, .presence, .undoState,
      .progress, .revisionAt, .why, .exportHead:
      break
    }
    assert(result.request == message.request, "the client knows its request by the number")
    return result
  }

  /// A commit with the changes that the older version has, which may be none.
  private func view(of commit: CommitEntry) -> CommitEntry {
    var result = commit
    result.changes = commit.changes.compactMap { view(of: $0) }
    return result
  }

  /// A change as the older version has it; nil if it has none of it.
  public func view(of change: Delta.Change) -> Delta.Change? {
    guard shows(change.id.entity) else { return nil }
    let edits = view(of: change.edits, in: change.object)
    if change.kind == .updated, edits.isEmpty, !change.edits.isEmpty, change.place == nil { return nil }
    var result = Delta.Change(
      kind: change.kind, id: view(of: change.id), object: change.object.flatMap { view(of: $0) },
      previous: change.previous, edits: edits, deleted: change.deleted)
    result.place = change.place
    return result
  }

  /// A part of a fetch's answer; nil for an object that the older version does not have.
  public func view(of part: FetchElement) -> FetchElement? {
    switch part {
    case .object(let image): view(of: image).map { .object($0) }
    case .row(let values): .row(values.map { view(of: $0) })
    }
  }
}
