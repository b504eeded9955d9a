import GraphModel
import GraphWire

/// The one path for catching up.
///
/// It serves sessions that lag or resume, and queries whose first result is some commits old. Missed commits come
/// from the ring, older ones from history, and beyond that the session gets a reset.
extension Hub {
  /// Rewinds the session to `revision` to catch up one query; its other queries receive no commit twice.
  mutating func rewind(_ session: Session, to revision: Revision, for query: UInt64) {
    let reached: Revision
    switch session.progress {
    case .current: reached = head.revision
    case .behind(let revision): reached = revision
    }
    for (number, var reader) in session.readers where number != query {
      guard case .live = reader.state else { continue }
      reader.through = max(reader.through, reached)
      session.readers[number] = reader
      session.advancedThrough = max(session.advancedThrough, reached)
    }
    session.progress = .behind(min(revision, reached))
    session.replay = []
    cancelHistory(of: session)
  }

  /// Sends the advance that makes a first result as of `revision` visible, once the session has caught up with it.
  mutating func showWhenReached(_ query: UInt64, _ session: Session, _ revision: Revision, _ actions: inout [HubAction])
  {
    if case .current = session.progress, revision >= head.revision {
      if revision == head.revision {
        sender.sendFrame(advanceFrame(head.revision, head.fingerprint), to: session, &actions)
      } else {
        session.pendingAdvance = session.pendingAdvance.map { max(revision, $0) } ?? revision
        hasPendingAdvances = true
      }
      return
    }
    rewind(session, to: revision, for: query)
    pump(session, &actions)
  }

  /// Sends the pending advance to sessions whose results were read ahead of the hub, once the hub has caught up.
  mutating func sendPendingAdvances(_ actions: inout [HubAction]) {
    if !hasPendingAdvances { return }
    hasPendingAdvances = false
    for session in sessions.values.inOrder() {
      guard let revision = session.pendingAdvance else { continue }
      guard revision <= head.revision else {
        hasPendingAdvances = true
        continue
      }
      session.pendingAdvance = nil
      if case .current = session.progress {
        sender.sendFrame(advanceFrame(head.revision, head.fingerprint), to: session, &actions)
      }
    }
  }

  /// The frames of missed commits that are not sent yet.
  private struct CatchUpFrames {
    var bytes = [UInt8]()
    /// The revision reached when the backlog fills up: a waiting first result becomes visible at that point.
    var reached: (revision: Revision, fingerprint: UInt64)?
    /// The revision named by the last advance in `bytes`.
    var advanced: Revision?
  }

  /// Sends missed commits to a session that is behind, as far as its backlog allows.
  mutating func pump(_ session: Session, _ actions: inout [HubAction]) {
    // The session is resumed when its socket has written the backlog.
    if !sender.isDrained(session) { return }
    var frames = CatchUpFrames()
    while session.isLive, case .behind(let position) = session.progress, session.historyTicket == nil {
      if position >= head.revision {
        session.progress = .current
        // This advance also makes waiting first results visible.
        if frames.advanced != head.revision { frames.bytes += advanceFrame(head.revision, head.fingerprint) }
        frames.reached = nil
        break
      }
      guard sender.hasSpace(after: frames.bytes.count, for: session),
        addCommit(after: position, for: session, to: &frames, &actions)
      else { break }
    }
    if let reached = frames.reached, reached.revision != frames.advanced, reached.revision >= session.advancedThrough {
      frames.bytes += advanceFrame(reached.revision, reached.fingerprint)
    }
    send(&frames, to: session, &actions)
  }

  /// Sends the frames and empties them.
  private mutating func send(_ frames: inout CatchUpFrames, to session: Session, _ actions: inout [HubAction]) {
    if !frames.bytes.isEmpty { sender.sendFrame(frames.bytes, to: session, &actions) }
    frames.bytes = []
  }

  /// Adds the frames of the commit after a position. A reset is sent immediately, after the frames before it.
  /// - Returns: false if the session waits for history, or was reset as a whole.
  private mutating func addCommit(
    after position: Revision, for session: Session, to frames: inout CatchUpFrames, _ actions: inout [HubAction]
  ) -> Bool {
    let next = position + 1
    let (deltas, unknown): ([[UInt8]], [UInt64])
    let read: CommitRecord
    let isHistory: Bool
    if let record = summarized(next, for: session), let summary = record.summary {
      session.progress = .behind(next)
      send(&frames, to: session, &actions)
      frames.reached = (next, record.fingerprint)
      reset(session, after: record, summary, &actions)
      return true
    }
    if let record = session.replay.first, record.revision == next {
      session.replay.removeFirst()
      (read, isHistory) = (record, true)
      (deltas, unknown) = self.deltas(of: record, cached: nil, for: session)
    } else if let entry = ring[next] {
      (read, isHistory) = (entry.record, false)
      (deltas, unknown) = self.deltas(of: read, cached: entry, for: session)
    } else {
      requestHistory(session, after: position, &actions)
      return false
    }
    session.progress = .behind(next)
    if deltas.contains(where: { $0.isEmpty || $0.count > limits.maximumFrameSize }) {
      send(&frames, to: session, &actions)
      // The reset concerns every query of the session: none waits for an advance.
      frames.reached = nil
      reset(session, Self.tooLarge, &actions)
      return false
    }
    if !unknown.isEmpty {
      send(&frames, to: session, &actions)
      for number in unknown {
        reset(number, of: session, reason(of: number, read, isHistory: isHistory), &actions)
      }
    }
    frames.reached = (next, read.fingerprint)
    if !deltas.isEmpty {
      for delta in deltas { frames.bytes += delta }
      if session.readers.count > 1, next >= session.advancedThrough {
        frames.bytes += advanceFrame(next, read.fingerprint)
        frames.advanced = next
      }
    }
    return true
  }

  /// The record of a revision, if it only has a summary of its changes; removes it from the session's replay queue.
  private func summarized(_ revision: Revision, for session: Session) -> CommitRecord? {
    if let record = session.replay.first, record.revision == revision {
      if record.summary != nil { session.replay.removeFirst() }
      return record.summary == nil ? nil : record
    }
    return ring[revision].flatMap { $0.record.summary == nil ? nil : $0.record }
  }

  /// The session's frames for one commit; an empty frame stands for a delta that exceeds the frame size.
  ///
  /// `unknown` lists the key-path queries and windows on which the effect of the commit is not recorded.
  private func deltas(
    of record: CommitRecord, cached: CommitRing.Entry?, for session: Session
  ) -> (frames: [[UInt8]], unknown: [UInt64]) {
    var frames = [[UInt8]]()
    var unknown = [UInt64]()
    for (number, reader) in session.readers.sorted(by: { $0.key < $1.key }) {
      guard case .live = reader.state, reader.through < record.revision else { continue }
      if let cached, number <= cached.lastQuery {
        guard let frame = cached.deltas[number] else { continue }
        if !frame.isEmpty {
          frames.append(frame)
          continue
        }
        if queries.hasUnrecordedEffects(number) {
          unknown.append(number)
          continue
        }
        // The frame was too large, or the evaluation was stopped.
      }
      guard let changes = queries.effects(of: record, on: number) else {
        unknown.append(number)
        continue
      }
      if let frame = frame(of: changes, record, number) { frames.append(frame) }
    }
    return (frames, unknown)
  }

  private mutating func requestHistory(_ session: Session, after: Revision, _ actions: inout [HubAction]) {
    assert(session.historyTicket == nil, "a session waits for one part of history at a time")
    let ticket = requests.issue(for: .history(session))
    session.historyTicket = ticket
    // The ring covers the later commits. If it evicts some of them meanwhile, the next request reads those.
    let through = ring.first.map { $0 - 1 } ?? head.revision
    actions.append(.history(ticket, after: after, through: max(through, after + 1)))
  }

  mutating func replayHistory(
    _ ticket: StoreRequestID, _ session: Session, _ result: Result<[CommitRecord], Refusal>,
    _ actions: inout [HubAction]
  ) {
    assert(session.historyTicket == ticket, "a session waits for one part of history at a time")
    session.historyTicket = nil
    switch result {
    case .success(let records):
      session.replay.append(contentsOf: records)
      pump(session, &actions)
      // Records that did not fit into the backlog are read again later, so that lagging sessions hold no memory.
      session.replay = []
    case .failure(let refusal): reset(session, refusal.message, &actions)
    }
  }

  /// Ignores the part of history that the session waits for.
  mutating func cancelHistory(of session: Session) {
    if let ticket = session.historyTicket { requests.remove(ticket) }
    session.historyTicket = nil
  }

  /// Reloads every query of a session that is too far behind.
  private mutating func reset(_ session: Session, _ reason: String, _ actions: inout [HubAction]) {
    session.progress = .current
    session.replay = []
    for number in session.readers.keys.sorted() { reset(number, of: session, reason, &actions) }
  }

  mutating func reset(_ number: UInt64, of session: Session, _ reason: String, _ actions: inout [HubAction]) {
    // A query that is dropped meanwhile, or that is being loaded, needs no reset.
    if let reader = session.readers[number], case .live = reader.state {
      sender.send(ToClient(0, .reset(query: number, reason: reason)), to: session, &actions)
      load(number, session, reader.request, &actions)
    }
  }

  /// Resets every live query that the commit could have touched, when the commit has too many changes to send.
  mutating func reset(
    _ session: Session, after record: CommitRecord, _ summary: ChangeSummary, _ actions: inout [HubAction]
  ) {
    for (number, reader) in session.readers.sorted(by: { $0.key < $1.key }) {
      guard case .live = reader.state, reader.through < record.revision, queries.mayAffect(summary, to: number) else {
        continue
      }
      // The number of objects that a class does not see must not become known.
      let reason =
        session.visibility == nil
        ? "one commit changed \(summary.count) objects, too many to send one by one" : Self.visibilityUnknown
      reset(number, of: session, reason, &actions)
    }
  }
}
