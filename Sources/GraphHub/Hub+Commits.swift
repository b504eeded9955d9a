import GraphModel
import GraphWire

/// Processes results of the writer.
///
/// The hub sends deltas to the clients whose live queries a commit touches, in revision order, and then the author's
/// reply.
extension Hub {
  /// Publishes the results of a group, the requests that the writer took together, in runs of consecutive revisions.
  ///
  /// A batch request is committed alone. Other requests may be committed one by one after a failure, and the outcome of
  /// one may be unknown. Its commit may be on disk although its request is answered with a failure; it leaves a gap.
  mutating func publish(_ results: [(ticket: StoreRequestID, result: WriteResult)], _ actions: inout [HubAction]) {
    unknownOutcomes.observe(results)
    var first = results.startIndex
    var last: Revision?
    for index in results.indices {
      guard let revision = results[index].result.record?.revision else { continue }
      if let last, revision > last + 1 {
        publishRun(results[first..<index], &actions)
        first = index
      }
      last = max(last ?? revision, revision)
    }
    publishRun(results[first...], &actions)
  }

  private mutating func publishRun(
    _ results: ArraySlice<(ticket: StoreRequestID, result: WriteResult)>, _ actions: inout [HubAction]
  ) {
    let before = head.revision
    var batch = BatchFrames(last: results.lazy.compactMap(\.result.record).map(\.revision).max() ?? before)
    if let first = results.lazy.compactMap(\.result.record).first(where: { $0.revision > before }),
      first.revision != before + 1
    {
      skipUnknown(upTo: first.revision - 1, &batch, &actions)
    }
    for index in results.indices {
      // After an unknown outcome, a transaction that was sent twice has the same record twice.
      guard let record = results[index].result.record, record.revision > head.revision else { continue }
      sendDeltas(of: record, before: before, &batch, &actions)
    }
    // Sessions with a single query get the frames of the whole run as one shared buffer.
    for number in batch.order {
      guard let frames = batch.frames[number] else {
        assertionFailure("a query of the batch has frames")
        continue
      }
      broadcast(frames, of: number, before: before, &actions)
    }
    // A session may be behind although nothing waits to be sent to it, for example because one delta was too large.
    // No event would resume such a session, so it is resumed here.
    for session in batch.lagging.values.inOrder() { pump(session, &actions) }
    for index in results.indices {
      guard let summary = results[index].result.record?.summary, let record = results[index].result.record,
        record.revision > before
      else { continue }
      for session in sessions.values.inOrder() {
        if case .current = session.progress { reset(session, after: record, summary, &actions) }
      }
    }
    resetReaders(of: batch.incomplete.keys, batch, &actions)
    // Evict before replying, so that an order is evicted by the commit that made it too large.
    enforceMemoryLimit(&actions)
    for (ticket, result) in results { reply(ticket, result, &actions) }
    answerFollowers(&actions)
    sendPendingAdvances(&actions)
    finishShutdown(&actions)
  }

  /// Skips commits that the hub has missed, because a request was committed but answered with a failure: all sessions
  /// catch up from history. No other event would resume those that are behind because of the gap.
  private mutating func skipUnknown(
    upTo revision: Revision, _ batch: inout BatchFrames, _ actions: inout [HubAction]
  ) {
    for (id, session) in sessions {
      guard case .current = session.progress else { continue }
      session.progress = .behind(head.revision)
      batch.lagging[id] = session
    }
    ring.clear()
    head.revision = revision
    var invalidated = Set<UInt64>()
    for number in orders.numbers { invalidateOrder(number, through: revision, &invalidated, &actions) }
    for number in invalidated { batch.incomplete[number] = Self.windowEffectsUnavailable }
  }

  /// Resets the readers of queries that can't receive a commit of the run. A reader whose result has all commits of the
  /// run needs no reset.
  ///
  /// A reset follows the deltas of earlier commits. It is sent at one of two times, as the deltas are:
  /// - to sessions with several queries before the advance to the commit. Otherwise a client would take its old result
  ///   for one of that revision, and resume from there if the connection is lost before the new result has arrived;
  /// - to the others after the frames of the whole run. A session with one query receives no advance, a session that
  ///   lags is reset when it reaches the commit, and a window never resumes.
  /// - Parameter precedesAdvance: resets only the readers that an advance to the commit follows.
  private mutating func resetReaders(
    of numbers: some Sequence<UInt64>, precedesAdvance: Bool = false, _ batch: BatchFrames,
    _ actions: inout [HubAction]
  ) {
    for number in numbers.sorted() {
      guard let reason = batch.incomplete[number] else {
        assertionFailure("a query without a commit of the run has a reason")
        continue
      }
      let isWindow = queries[number]?.window != nil
      for session in readers(of: number) {
        let receivesAdvance = !isWindow && session.readers.count > 1 && !session.isBehind
        guard receivesAdvance || !precedesAdvance, let reader = session.readers[number], reader.through < batch.last
        else { continue }
        reset(number, of: session, reason, &actions)
      }
    }
  }

  /// Shows commits that exist although their requests were answered with an unknown outcome.
  ///
  /// A later commit would show the gap, too, but in a store without commits none follows.
  /// - Parameter state: the store's newest state; nil if it can't be read.
  mutating func foundHead(_ state: Token?, _ actions: inout [HubAction]) {
    unknownOutcomes.endSearch()
    // The state may have a commit in flight. Its author gets the deltas before the reply only if it is published.
    if let state, commits.isEmpty, state.revision > head.revision { catchUp(with: state, &actions) }
  }

  private mutating func catchUp(with state: Token, _ actions: inout [HubAction]) {
    assert(state.store == head.store, "a server has one store")
    var batch = BatchFrames(last: state.revision)
    skipUnknown(upTo: state.revision, &batch, &actions)
    head = state
    unknownOutcomes.resolve()
    for session in batch.lagging.values.inOrder() { pump(session, &actions) }
    resetReaders(of: batch.incomplete.keys, batch, &actions)
    enforceMemoryLimit(&actions)
    answerFollowers(&actions)
    sendPendingAdvances(&actions)
  }

  /// The frames of a run of commits, by query.
  private struct BatchFrames {
    /// The revision of the run's last commit.
    let last: Revision
    var frames = [UInt64: [UInt8]]()
    var order = [UInt64]()
    var lagging = [SessionID: Session]()
    /// For each query, the sessions that follow it and also another query; looked up once for the run.
    var readersOfSeveral = [UInt64: [Session]]()
    /// Queries that can't receive a commit of the run, with the reason of the first one: its delta exceeds the frame
    /// size, or its effect is unknown (key-path queries, windows, and queries whose evaluation was stopped). They
    /// receive no later commit of the run, and their readers are reset.
    var incomplete = [UInt64: String]()

    mutating func append(_ frame: [UInt8], for number: UInt64) {
      if frames[number] == nil { order.append(number) }
      frames[number, default: []] += frame
    }
  }

  /// Sends a commit's deltas to the sessions with several queries, and collects those for the others in `batch`.
  private mutating func sendDeltas(
    of record: CommitRecord, before: Revision, _ batch: inout BatchFrames, _ actions: inout [HubAction]
  ) {
    var deltas = [UInt64: [UInt8]]()
    var touched = [SessionID: (session: Session, frames: [[UInt8]])]()
    var invalidated = Set<UInt64>()
    let effects = queries.effects(of: record)
    for number in queries.unknown(to: record) + effects.stopped {
      if orders.contains(number) {
        invalidateOrder(number, through: record.revision, &invalidated, &actions)
      } else {
        invalidated.insert(number)
      }
    }
    if let summary = record.summary {
      for number in orders.numbers where queries.mayAffect(summary, to: number) {
        invalidateOrder(number, through: record.revision, &invalidated, &actions)
      }
    }
    for number in invalidated {
      if batch.incomplete[number] == nil { batch.incomplete[number] = reason(of: number, record) }
      deltas[number] = []
    }
    for (number, frame) in frames(of: effects.known, record) {
      guard frame.count <= limits.maximumFrameSize else {
        // No client could decode the frame, so all readers reload the result.
        if batch.incomplete[number] == nil { batch.incomplete[number] = Self.tooLarge }
        deltas[number] = []
        continue
      }
      deltas[number] = frame
      // The readers have missed a commit of this run and are about to reload. A client would take a delta after the
      // gap as complete.
      guard batch.incomplete[number] == nil else { continue }
      batch.append(frame, for: number)
      let several = batch.readersOfSeveral[number] ?? readers(of: number).filter { $0.readers.count > 1 }
      batch.readersOfSeveral[number] = several
      for session in several where expects(session, number, record.revision) {
        touched[session.id, default: (session, [])].frames.append(frame)
      }
    }
    let incomplete = deltas.lazy.filter(\.value.isEmpty).map(\.key)
    resetReaders(of: incomplete, precedesAdvance: true, batch, &actions)
    // A session with several queries receives all deltas of a revision together; the advance ends them.
    let advance = touched.isEmpty ? [] : advanceFrame(record.revision, record.fingerprint)
    for (id, (session, frames)) in touched.sorted(by: { $0.key < $1.key }) {
      let bytes = Array(frames.joined()) + advance
      guard sender.fits(bytes.count, for: session) else {
        session.progress = .behind(record.revision - 1)
        batch.lagging[id] = session
        continue
      }
      sender.sendFrame(bytes, to: session, &actions)
    }
    assert(record.revision == head.revision + 1, "the commits of a batch follow each other")
    ring.append(record, deltas: deltas, lastQuery: queries.lastNumber)
    head = Token(store: head.store, revision: record.revision, fingerprint: record.fingerprint)
  }

  /// The reason why a commit's record does not contain its effect on a query.
  /// - Parameter isHistory: the record was read from history, which contains only the changes of objects.
  func reason(of number: UInt64, _ record: CommitRecord, isHistory: Bool = false) -> String {
    if queries[number]?.window != nil { return Self.windowEffectsUnavailable }
    if queries[number]?.visibility != nil { return Self.visibilityUnknown }
    if queries.isEvaluatedHere(number) { return Self.tooMany }
    if isHistory { return Self.onlyInHistory }
    guard let related = record.related, number <= related.knownThrough else { return Self.madeBefore }
    return related.unknown.contains(number) ? Self.tooMany : Self.tooLarge
  }

  static let madeBefore = "a commit was in progress when the query arrived; its effect on the query is unknown"
  static let onlyInHistory = "history does not record the effect of a commit on a query with key paths"
  static let visibilityUnknown = "a commit may have changed what you see of the result"
  static let tooMany = "reading the query again costs less than computing the effect of one commit"
  static let windowEffectsUnavailable = "the effect of the commits on the window is no longer available"
  static let tooLarge = "one commit changed more than a frame can hold"

  /// The frames that a commit sends to the readers of each query and window that it touches.
  private mutating func frames(
    of effects: [(number: UInt64, changes: [LiveQueryChange])], _ record: CommitRecord
  ) -> [(number: UInt64, frame: [UInt8])] {
    var frames = [(number: UInt64, frame: [UInt8])]()
    for (number, changes) in effects {
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
    guard let entry = queries[number] else {
      assertionFailure("a query that a commit touches is registered")
      return nil
    }
    var visible = changes
    if forgetsRemovals {
      visible.removeAll { if case .removed = $0 { true } else { false } }
    }
    if let lens = entry.lens { visible = visible.compactMap { lens.downgraded($0) } }
    guard !visible.isEmpty else { return nil }
    let delta = Delta(
      query: number, commit: record,
      changes: visible.map { Delta.Change($0, wholeObjects: entry.query.wholeObjects) })
    return Frame.encode(ToClient(0, .delta(delta)))
  }

  func advanceFrame(_ revision: Revision, _ fingerprint: UInt64) -> [UInt8] {
    Frame.encode(ToClient(0, .advance(revision: revision, fingerprint: fingerprint)))
  }

  /// Whether the session is up to date and expects a delta of this revision for this query.
  private func expects(_ session: Session, _ number: UInt64, _ revision: Revision) -> Bool {
    guard session.isLive, case .current = session.progress, let reader = session.readers[number],
      case .live = reader.state
    else { return false }
    return reader.through < revision
  }

  /// The sessions that follow a query, ascending by id; none if the query has ended.
  func readers(of number: UInt64) -> [Session] {
    guard let entry = queries[number] else { return [] }
    return entry.readers.compactMap { id in
      assert(sessions[id] != nil, "a session that ends leaves its queries")
      return sessions[id]
    }
  }

  private mutating func broadcast(
    _ frames: [UInt8], of number: UInt64, before: Revision, _ actions: inout [HubAction]
  ) {
    let readers = readers(of: number)
    var receivers = [SessionID]()
    receivers.reserveCapacity(readers.count)
    var lagging = [Session]()
    for session in readers {
      if session.isBehind { lagging.append(session) }
      guard session.readers.count == 1, session.isLive, case .current = session.progress,
        let reader = session.readers[number], case .live = reader.state,
        reader.through < head.revision
      else { continue }
      // A session whose result was read in the middle of the batch, or whose backlog is full, catches up from the
      // ring.
      guard reader.through <= before, sender.fits(frames.count, for: session) else {
        session.progress = .behind(before)
        lagging.append(session)
        continue
      }
      sender.count(frames.count, for: session)
      receivers.append(session.id)
    }
    if !receivers.isEmpty { actions.append(.broadcast(frames, to: receivers)) }
    for session in lagging { pump(session, &actions) }
  }

  private mutating func reply(_ ticket: StoreRequestID, _ result: WriteResult, _ actions: inout [HubAction]) {
    // A transcript or a benchmark may publish a commit that no session requested.
    guard let origin = commits.remove(ticket) else { return }
    replicaOwners.answered(origin.session)
    // The session may have ended before its commit has.
    guard let session = sessions[origin.session] else { return }
    commits.answered(origin, ticket, of: session)
    // The rights of an ended session may have ended with it.
    guard session.isLive else { return executeHeld(of: session.user, &actions) }
    switch outcome(of: result, origin, session.visibility) {
    case .refused(let refusal): sender.refuse(origin.request, refusal, session, &actions)
    case .committed(let committed):
      var (objects, deleted, isComplete) = changedObjects(of: result.record)
      if let visibility = session.visibility, let record = result.record {
        let view = RecordVisibility(record, visibility, model: resolver.model)
        if let visible = view.storedObjects(objects) { objects = visible } else { (objects, isComplete) = ([], false) }
        deleted = deleted.filter { view.saw($0) == true }
      }
      sender.send(
        ToClient(
          origin.request, .committed(committed, objects: objects, isComplete: isComplete, deleted: deleted)),
        to: session, &actions)
    }
    executeWaiting(session, &actions)
    if isShuttingDown, session.commitsInFlight == 0 {
      end(session, Refusal(.unavailable, "the server is shutting down"), &actions)
    }
  }

  /// The outcome as the session may learn it. The store judges by the rights of the request. If the session has lost
  /// sight of objects since, conflicts keep no values and no authors, and name only objects that the session sees, or
  /// that the transaction named and the commit left alone. A refusal keeps its code.
  private func outcome(
    of result: WriteResult, _ origin: CommitsInFlight.Origin, _ visibility: Visibility?
  ) -> Outcome {
    guard let visibility, origin.visibility.map({ visibility.covers($0) }) != true else { return result.outcome }
    switch result.outcome {
    case .refused(let refusal):
      if refusal.conflicts.isEmpty, refusal.violations.isEmpty { return result.outcome }
      return .refused(Refusal(refusal.code, Self.changedDuringWrite))
    case .committed(var committed):
      if committed.conflicts.isEmpty { return result.outcome }
      let view = result.record.map { RecordVisibility($0, visibility, model: resolver.model) }
      let named = Set(origin.changes.map(\.id))
      committed.conflicts = committed.conflicts.compactMap { conflict in
        let isKnown = view?.saw(conflict.id) ?? visibility.seesUnread(conflict.id) ?? named.contains(conflict.id)
        return isKnown ? conflict.withoutContents : nil
      }
      return .committed(committed)
    }
  }

  private static let changedDuringWrite =
    "your rights were changed while this was committed, so the reasons are not shown: try again"

  /// The objects as stored, and the deleted ones, so that the author needs no second request; incomplete past the reply
  /// limit.
  private func changedObjects(
    of record: CommitRecord?
  ) -> (objects: [ObjectImage], deleted: [ObjectID], isComplete: Bool) {
    guard let record, record.summary == nil else { return ([], [], false) }
    var (objects, deleted) = ([ObjectImage](), [ObjectID]())
    var size = 0
    for image in record.changes.compactMap(\.after) {
      size += 64 + image.values.reduce(0) { $0 + $1.stringSize }
      if size > limits.replyBytes { return (objects, [], false) }
      objects.append(image)
    }
    for change in record.changes where change.after == nil {
      size += 64
      if size > limits.replyBytes { return (objects, deleted, false) }
      deleted.append(change.id)
    }
    return (objects, deleted, true)
  }

  mutating func batchProgressed(_ ticket: StoreRequestID, _ progress: BatchProgress, _ actions: inout [HubAction]) {
    guard let origin = commits[ticket] else { return assertionFailure("a batch progresses until it is answered") }
    // The session may have ended before its batch has.
    if let session = sessions[origin.session], session.isLive {
      sender.send(ToClient(origin.request, .progress(progress)), to: session, &actions)
    }
  }

  mutating func fail(_ tickets: [StoreRequestID], _ failure: StoreFailure, _ actions: inout [HubAction]) {
    unknownOutcomes.observe(failure)
    for ticket in tickets {
      reply(ticket, WriteResult(outcome: .refused(failure.refusal), record: nil), &actions)
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
