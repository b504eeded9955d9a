import GraphModel
import GraphWire

/// Processes results of the writer.
///
/// The hub sends deltas to the clients whose live queries a commit touches, in revision order, and then the author's
/// reply.
extension Hub {
  mutating func deliver(_ results: [(ticket: StoreRequestID, result: WriteResult)], _ actions: inout [HubAction]) {
    let before = head.revision
    var batch = BatchFrames()
    if let first = results.lazy.compactMap(\.result.record).first, first.revision != before + 1 {
      // The hub has missed commits, because a batch failed half-way: all sessions catch up from history.
      batch.lagging = skipUnknown(upTo: first.revision - 1)
      var lost = Set<UInt64>()
      for number in orders.numbers { lose(number, through: first.revision - 1, &lost, &actions) }
      for number in lost { batch.unknown[number] = Self.windowLost }
    }
    for (_, result) in results {
      guard let record = result.record else { continue }
      deliver(record, before: before, &batch, &actions)
    }
    // Sessions with a single query get the frames of the whole batch as one shared buffer.
    for number in batch.order {
      guard let frames = batch.frames[number] else { continue }
      broadcast(frames, of: number, before: before, &actions)
    }
    // A session that lags only because of one large delta may have an empty socket; it is served right away.
    for id in batch.lagging.sorted() { pump(id, &actions) }
    for number in batch.tooLarge.sorted() {
      for id in queries[number]?.readers ?? [] { reset(number, of: id, Self.tooLarge, &actions) }
    }
    for record in results.compactMap(\.result.record) {
      guard let summary = record.summary else { continue }
      for id in sessions.keys.sorted() {
        if case .current? = sessions[id]?.progress { reset(id, after: record, summary, &actions) }
      }
    }
    for (number, reason) in batch.unknown.sorted(by: { $0.key < $1.key }) where !batch.tooLarge.contains(number) {
      for id in queries[number]?.readers ?? [] where sessions[id]?.readers[number]?.through ?? 0 < head.revision {
        reset(number, of: id, reason, &actions)
      }
    }
    // Evict before replying, so that an order is evicted by the commit that made it too large.
    keepWithinBudget(&actions)
    for (ticket, result) in results { reply(ticket, result, &actions) }
    tellFollowers(&actions)
    announceReached(&actions)
    finishShutdown(&actions)
  }

  /// - Returns: the sessions that are behind because of the gap; no other event would resume them.
  private mutating func skipUnknown(upTo revision: Revision) -> Set<SessionID> {
    var lagging = Set<SessionID>()
    for id in sessions.keys {
      guard case .current = sessions[id]?.progress else { continue }
      sessions[id]?.progress = .behind(head.revision)
      lagging.insert(id)
    }
    ring.clear()
    head.revision = revision
    return lagging
  }

  /// The frames of a batch, by query.
  private struct BatchFrames {
    var frames = [UInt64: [UInt8]]()
    var order = [UInt64]()
    var lagging = Set<SessionID>()
    /// The readers of a query that have others as well; looked up once for the batch.
    var readersOfSeveral = [UInt64: [SessionID]]()
    /// Queries with a delta that exceeds the frame size; they receive no later commit of the batch.
    var tooLarge = Set<UInt64>()
    /// Key-path queries and windows on which the effect of a commit is unknown, with the reason. They receive no
    /// later commit of the batch.
    var unknown = [UInt64: String]()

    mutating func append(_ frame: [UInt8], for number: UInt64) {
      if frames[number] == nil { order.append(number) }
      frames[number, default: []] += frame
    }
  }

  private mutating func deliver(
    _ record: CommitRecord, before: Revision, _ batch: inout BatchFrames, _ actions: inout [HubAction]
  ) {
    var deltas = [UInt64: [UInt8]]()
    var touched = [SessionID: [[UInt8]]]()
    var lost = Set<UInt64>()
    for number in queries.unknown(to: record) {
      if orders.contains(number) {
        lose(number, through: record.revision, &lost, &actions)
      } else {
        lost.insert(number)
      }
    }
    if let summary = record.summary {
      for number in orders.numbers where queries.couldMatter(summary, to: number) {
        lose(number, through: record.revision, &lost, &actions)
      }
    }
    for number in lost {
      if batch.unknown[number] == nil { batch.unknown[number] = reason(of: number, record) }
      deltas[number] = []
    }
    for (number, frame) in frames(of: record) {
      guard let entry = queries[number] else { continue }
      guard frame.count <= limits.maximumFrameSize else {
        // No client could decode the frame, so all readers reload the result.
        batch.tooLarge.insert(number)
        deltas[number] = []
        continue
      }
      deltas[number] = frame
      // The readers have missed a commit of this batch and are about to reload. A client would take a delta after the
      // gap as complete.
      guard batch.unknown[number] == nil, !batch.tooLarge.contains(number) else { continue }
      batch.append(frame, for: number)
      let several =
        batch.readersOfSeveral[number] ?? entry.readers.filter { sessions[$0]?.readers.count ?? 0 > 1 }
      batch.readersOfSeveral[number] = several
      for id in several {
        if expects(id, number, record.revision) { touched[id, default: []].append(frame) }
      }
    }
    // A session with several queries receives all deltas of a revision together; the advance ends them.
    let advance = touched.isEmpty ? [] : advanceFrame(record.revision, record.fingerprint)
    for (id, frames) in touched.sorted(by: { $0.key < $1.key }) {
      let bytes = Array(frames.joined()) + advance
      guard let session = sessions[id], hasRoom(session, for: bytes.count) else {
        sessions[id]?.progress = .behind(record.revision - 1)
        batch.lagging.insert(id)
        continue
      }
      send(frame: bytes, to: id, &actions)
    }
    ring.append(record, deltas: deltas, lastQuery: queries.lastNumber)
    head = Token(store: head.store, revision: record.revision, fingerprint: record.fingerprint)
  }

  /// The reason why a commit's record does not contain its effect on a query.
  /// - Parameter isHistory: the record was read from history, which contains only the changes of objects.
  func reason(of number: UInt64, _ record: CommitRecord, isHistory: Bool = false) -> String {
    if queries[number]?.window != nil { return Self.windowLost }
    if isHistory { return Self.onlyInHistory }
    guard let related = record.related, number <= related.knownThrough else { return Self.madeBefore }
    return related.unknown.contains(number) ? Self.tooMany : Self.tooLarge
  }

  static let madeBefore = "a commit was in progress when the query arrived; its effect on the query is unknown"
  static let onlyInHistory = "history does not record the effect of a commit on a query with key paths"
  static let tooMany = "reading the query again costs less than computing the effect of one commit"
  static let windowLost = "the effect of the commits on the window is no longer available"
  static let tooLarge = "one commit changed more than a frame can hold"

  /// The frames that a commit sends to the readers of each query and window that it touches.
  private mutating func frames(
    of record: CommitRecord
  ) -> [(number: UInt64, frame: [UInt8])] {
    var frames = [(number: UInt64, frame: [UInt8])]()
    for (number, changes) in queries.effects(of: record) {
      if orders.contains(number) {
        frames += windowFrames(of: changes, to: number, record)
      } else if let frame = frame(of: changes, record, number) {
        frames.append((number, frame))
      }
    }
    return frames
  }

  /// The encoded delta; nil when the query's readers see no change.
  func frame(of changes: [LiveQueryChange], _ record: CommitRecord, _ number: UInt64) -> [UInt8]? {
    guard let entry = queries[number] else { return nil }
    var told = changes
    if forgetsRemovals {
      told.removeAll { if case .removed = $0 { true } else { false } }
    }
    if let lens = entry.lens { told = told.compactMap { lens.downgraded($0) } }
    guard !told.isEmpty else { return nil }
    let delta = Delta(
      query: number, commit: record,
      changes: told.map { Delta.Change($0, wholeObjects: entry.query.wholeObjects) })
    return Frame.encode(ToClient(0, .delta(delta)))
  }

  func advanceFrame(_ revision: Revision, _ fingerprint: UInt64) -> [UInt8] {
    Frame.encode(ToClient(0, .advance(revision: revision, fingerprint: fingerprint)))
  }

  /// Whether the session is up to date and expects a delta of this revision for this query.
  private func expects(_ id: SessionID, _ number: UInt64, _ revision: Revision) -> Bool {
    guard let session = sessions[id], session.isLive, case .current = session.progress,
      let reader = session.readers[number], case .live = reader.state
    else { return false }
    return reader.through < revision
  }

  private mutating func broadcast(
    _ frames: [UInt8], of number: UInt64, before: Revision, _ actions: inout [HubAction]
  ) {
    guard let entry = queries[number] else { return }
    var receivers = [SessionID]()
    receivers.reserveCapacity(entry.readers.count)
    var lagging = [SessionID]()
    for id in entry.readers {
      guard let session = sessions[id] else { continue }
      if session.isBehind { lagging.append(id) }
      guard session.readers.count == 1, session.isLive, case .current = session.progress,
        let reader = session.readers[number], case .live = reader.state,
        reader.through < head.revision
      else { continue }
      // A session whose result was read in the middle of the batch, or whose backlog is full, catches up from the
      // ring.
      guard reader.through <= before, hasRoom(session, for: frames.count) else {
        session.progress = .behind(before)
        lagging.append(id)
        continue
      }
      session.backlog += frames.count
      totalBacklog += frames.count
      receivers.append(id)
    }
    if !receivers.isEmpty { actions.append(.broadcast(frames, to: receivers)) }
    for id in lagging { pump(id, &actions) }
  }

  private mutating func reply(_ ticket: StoreRequestID, _ result: WriteResult, _ actions: inout [HubAction]) {
    guard let (id, request, bytes) = commits.removeValue(forKey: ticket) else { return }
    totalCommitBytes -= bytes
    guard let session = sessions[id] else { return }
    session.commitsInFlight -= 1
    session.commitBytes -= bytes
    session.batches.remove(ticket)
    switch result.outcome {
    case .refused(let refusal): send(answer(refusal, request), to: id, &actions)
    case .committed(let committed):
      let (objects, isComplete) = storedObjects(of: result.record)
      send(ToClient(request, .committed(committed, objects: objects, isComplete: isComplete)), to: id, &actions)
    }
    performWaiting(id, &actions)
    if isShuttingDown, sessions[id]?.commitsInFlight == 0 {
      end(id, Refusal(.unavailable, "the server is shutting down"), &actions)
    }
  }

  /// The objects as stored, so that the author needs no second request; incomplete past the reply limit.
  private func storedObjects(of record: CommitRecord?) -> (objects: [ObjectImage], isComplete: Bool) {
    guard let record, record.summary == nil else { return ([], false) }
    var objects = [ObjectImage]()
    var size = 0
    for change in record.changes {
      guard let image = change.after else { continue }
      size += 64 + image.values.reduce(0) { $0 + $1.stringSize }
      if size > limits.replyBytes { return (objects, false) }
      objects.append(image)
    }
    return (objects, true)
  }

  mutating func fail(_ tickets: [StoreRequestID], _ failure: StoreFailure, _ actions: inout [HubAction]) {
    for ticket in tickets {
      let result = WriteResult(outcome: .refused(Refusal(.unavailable, failure.description)), record: nil)
      reply(ticket, result, &actions)
    }
    finishShutdown(&actions)
  }
}

extension Value {
  fileprivate var stringSize: Int {
    switch self {
    case .string(let text): text.utf8.count
    case .data(let bytes): bytes.count
    case .objects(let ids): 24 * ids.count
    default: 16
    }
  }
}
