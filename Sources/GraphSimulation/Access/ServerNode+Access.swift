import GraphHub
import GraphModel
import GraphStore
import GraphWire

/// Reads of a server with accounts. Like `StoreReadRunner`, they read the part of the graph that the session sees.
extension ServerNode {
  /// Performs an action of the hub that concerns the store and its threads only.
  /// - Returns: whether it is one.
  mutating func perform(_ action: HubAction) -> Bool {
    switch action {
    case .commit(let ticket, let request): commits.append((ticket, request))
    case .keepRows(let ticket, let rows, let request): keepRows(rows, ticket, request)
    case .dropRows(let ticket): keptRows[ticket] = nil
    case .assignRows(let rows, let ticket): keptRows[ticket] = keptRows.removeValue(forKey: rows)
    case .cancelBatch(let ticket): cancelled.insert(ticket)
    case .read(let ticket, let request, let session, let number):
      jobs.append(.read(ticket, request, session, number))
    case .collect(let ticket, let fetch, let visibility, _): jobs.append(.collect(ticket, fetch, visibility))
    case .continueOrder(let ticket): inbox.append(.continueOrder(ticket))
    case .continueRead(let ticket):
      streams.modifyIfPresent(ticket) { $0.credit += 1 }
      release(ticket)
    case .cancelRead(let ticket): cancelRead(ticket)
    case .history(let ticket, let after, let through): jobs.append(.history(ticket, after, through))
    case .watch(let query, let number, let visibility): store.watch(query, number: number, seenBy: visibility)
    case .unwatch(let number): store.unwatch(number)
    case .recordReferences(let isWanted): store.recordReferences(isWanted)
    case .recognize(let ticket, let token): jobs.append(.recognize(ticket, token))
    case .statistics(let ticket): jobs.append(.statistics(ticket))
    case .findHead: jobs.append(.head)
    case .pauseReading(let id): paused.insert(id)
    case .resumeReading(let id): paused.remove(id)
    case .discard, .audit, .finished: break
    default: return false
    }
    return true
  }

  func read(_ request: ReadRequest, _ session: SessionID, _ number: UInt64, _ bug: AccessBug?) -> Stream {
    var (request, visibility) = (request, Visibility?.none)
    if case .reduced(let inner, let seen) = request { (request, visibility) = (inner, seen) }
    do {
      switch request {
      case .objects(let fetch): return try objects(fetch, visibility, session, number)
      case .message(.exportGraph, _): return try export(visibility, session, number)
      case .message(let message, let author):
        let (body, at) = try answer(message, of: author, visibility, bug)
        return Stream(session: session, frames: [Frame.encode(ToClient(number, body))], at: at)
      case .translated, .reduced: preconditionFailure("clients of a run with accounts have the server's model")
      }
    } catch {
      let refusal = error as? Refusal ?? Refusal(.unavailable, "\(error)")
      return Stream(session: session, refusal: refusal)
    }
  }

  private func objects(
    _ fetch: FetchRequest, _ visibility: Visibility?, _ session: SessionID, _ number: UInt64
  ) throws -> Stream {
    var columns = [RowColumn]()
    if case .rows(let rows) = fetch.result { columns = rows.description(in: store.model) }
    var encoder = ChunkEncoder(request: number, columns: columns, chunkSize: Self.chunkSize)
    var frames = [[UInt8]]()
    let end = try store.answer(fetch, seenBy: visibility, while: { true }) { part in
      if let frame = try encoder.append(part) { frames.append(frame) }
    }
    frames.append(encoder.finish(end))
    return Stream(session: session, frames: frames, at: end.at)
  }

  private func export(_ visibility: Visibility?, _ session: SessionID, _ number: UInt64) throws -> Stream {
    var encoder = ChunkEncoder(request: number, chunkSize: Self.chunkSize)
    var frames = [[UInt8]]()
    let end = try store.export(seenBy: visibility) { at, objects in
      frames.append(Frame.encode(ToClient(number, .exportHead(ExportHead(at: at, objects: UInt64(objects))))))
    } body: { image in
      if let frame = encoder.append(image) { frames.append(frame) }
    }
    frames.append(encoder.finish(at: end.at, damage: end.damage))
    return Stream(session: session, frames: frames, at: end.at)
  }

  /// The answer to a request with one message, and the revision at which it was read.
  private func answer(
    _ message: ToServer.Body, of author: Principal, _ visibility: Visibility?, _ bug: AccessBug?
  ) throws -> (body: ToClient.Body, at: Token) {
    switch message {
    case .log(let request):
      var entries = [CommitEntry]()
      let isPlanted = bug == .earlyHistory && visibility != nil
      let end = try store.log(
        request, seenBy: isPlanted ? nil : visibility, maximumChanges: 100_000, while: { true }
      ) { entries.append(CommitEntry($0)) }
      if isPlanted { entries = try onlyVisibleNow(entries, visibility) }
      return (.log(entries, last: true, damage: end.damage), end.at)
    case .undoState(let scope): return (.undoState(try store.undoState(of: author.id, scope: scope)), try store.head)
    case .revisionAt(let time):
      var found = try store.revision(at: time)
      if visibility != nil { found.author = "" }
      return (.revisionAt(found), found.head)
    case .why(let id, let property):
      return (.why(try store.origin(of: property, of: id, seenBy: visibility)), try store.head)
    case .changes(.follow(let request)):
      var page = try store.follow(request, seenBy: visibility)
      if bug == .endOfInvisible, visibility != nil {
        page.at = try store.follow(request, seenBy: nil).at
        page.commits.removeAll { $0.revision > page.at.revision }
      }
      return (.followed(page.commits.map { CommitEntry($0) }, at: page.at, head: page.head), page.head)
    case .changes(.differences(let request)):
      var differences = [ObjectDifference]()
      let end = try store.differences(request, seenBy: visibility) { differences.append($0) }
      return (.differences(differences, last: true, damage: end.damage), end.at)
    default: throw Refusal(.malformed, "the simulation's clients do not send this: \(message)")
    }
  }

  /// The planted bug: history has all changes of objects that the visibility class sees now.
  private func onlyVisibleNow(_ entries: [CommitEntry], _ visibility: Visibility?) throws -> [CommitEntry] {
    var visible = Set<ObjectID>()
    for entity in store.model.entities where entity.parent == nil {
      let request = FetchRequest(entity: entity.number, result: .identifiers)
      _ = try store.answer(request, seenBy: visibility, while: { true }) { part in
        if case .object(let image) = part { visible.insert(image.id) }
      }
    }
    return entries.compactMap { entry in
      var entry = entry
      entry.changes.removeAll { !visible.contains($0.id) }
      return entry.changes.isEmpty ? nil : entry
    }
  }
}
