import GraphClient
import GraphJSON
import GraphModel
import GraphReplica
import GraphWire

/// Prints one snapshot of several queries, and then a line for each change.
@MainActor
package final class WatchPrinter {
  let output: Output
  let model: Model
  /// Queries whose results are awaited: the first ones, or new ones after the history diverged.
  private var waiting = Set<QueryID>()
  /// Results that arrived while others are awaited, with their revisions.
  private var results = [QueryID: (images: [ObjectImage], at: Revision)]()
  /// The newest printed revision.
  var revision: Revision = 0
  /// The revision of the newest snapshot, which includes all earlier commits.
  private(set) var snapshotRevision: Revision = 0
  /// Whether the user's rights have changed since the newest snapshot, so that other objects are in the results without
  /// a commit.
  var hasOtherRights = false
  private var isShown = false
  /// The newest printed revision of a history that a restore abandoned; nil once the new history is shown.
  private var abandoned: Revision?
  /// Whether the printed state is that of this computer's copy.
  private var isOnCopy = false
  /// Whether the client has moved between the daemon and this computer's copy, or the copy was opened again, and the
  /// new results are awaited. The printed objects are known then, and only differences are printed.
  private var hasMoved = false
  private let since: Revision?
  let summary: ([ObjectImage]) -> String
  /// For a window: the number of rows without limit and offset.
  private var total: UInt64?
  private let line: (ObjectImage) -> String
  /// Formats changes for text output. JSON output contains the objects, and its reader compares them.
  var words: ChangeFormatter
  /// Queries that are followed only for the names of their objects.
  private(set) var silent = Set<QueryID>()
  /// Entity and predicate of each query, except a window's.
  private(set) var queries = [QueryID: (entity: Entity, predicate: GraphPredicate)]()
  /// Queries whose previous objects are not all known. They began at a revision that can't be read.
  var unknown = Set<QueryID>()
  let client: GraphClient

  /// Creates a printer.
  /// - Parameters:
  ///   - summary: describes the first result in text output.
  ///   - line: describes an object in text output.
  ///   - vocabulary: the verbs of the model; nil for any model.
  package init(
    _ client: GraphClient, output: Output, model: Model, since: Revision?,
    summary: @escaping ([ObjectImage]) -> String,
    line: @escaping (ObjectImage) -> String, vocabulary: (any ChangeVocabulary)? = nil
  ) {
    self.client = client
    self.output = output
    self.model = model
    self.summary = summary
    self.line = line
    self.since = since
    words = ChangeFormatter(model: model, vocabulary: vocabulary)
  }

  /// Prints changes of the queries until it is interrupted or the server refuses.
  /// - Parameter names: entities whose objects are followed for their names.
  package func follow(_ queries: [(entity: Entity, predicate: GraphPredicate)], names: [Entity] = []) async throws {
    let token = try await token()
    let names = output.json ? [] : names.map { (entity: $0, predicate: GraphPredicate.always) }
    // Binds the time, so that repeated reads use the same time.
    let queries = queries.map { (entity: $0.entity, predicate: $0.predicate.bound(now: GraphClient.now)) }
    var isKnown = true
    if let token { isKnown = await recordOldValues(queries + names, at: token.revision) }
    // One watch for all queries: a commit that inserts two objects is one event.
    try await follow { body in
      let numbers = self.client.watch(queries + names, since: token, body: body)
      precondition(numbers.count == queries.count + names.count, "a watch numbers each of its queries")
      self.silent = Set(numbers.suffix(names.count))
      if !isKnown { self.unknown = Set(numbers) }
      self.waiting = Set(numbers)
      for (number, query) in zip(numbers, queries + names) { self.queries[number] = query }
    }
  }

  /// Prints changes of a window.
  func follow(_ window: WatchedWindow) async throws {
    try await follow {
      _ = self.client.watch(
        window.entity, where: window.predicate, sort: window.sort, offset: window.offset, limit: window.limit, body: $0)
    }
  }

  /// Reads the objects at the beginning of the watch.
  /// - Returns: false if that state is no longer readable; old values are then unknown.
  private func recordOldValues(_ queries: [(entity: Entity, predicate: GraphPredicate)], at revision: Revision) async
    -> Bool
  {
    guard !output.json, revision > 0 else { return true }
    for (entity, predicate) in queries {
      do {
        let objects = client.images(of: entity, where: predicate, at: revision)
        // The first result names the damaged objects.
        objects.omitsDamage = true
        for try await chunk in objects { words.record(chunk) }
      } catch {
        return false
      }
    }
    return true
  }

  private func token() async throws -> Token? {
    guard let since else { return nil }
    guard let head = client.welcome?.head else { preconditionFailure("a watch has a connection that was welcomed") }
    return try await Self.token(of: since, head, client)
  }

  private func noticeOtherRights() { hasOtherRights = true }

  /// Handles events one after the other: requests for one event delay the next.
  private func follow(_ watch: (@escaping (GraphClient.WatchEvent) -> Void) -> Void) async throws {
    precondition(queries.isEmpty && !isShown, "a printer follows one watch")
    client.reportLostConnections(to: output)
    client.rightsDidChange = { [weak self] in self?.noticeOtherRights() }
    let (events, continuation) = AsyncStream.makeStream(of: GraphClient.WatchEvent.self)
    watch { continuation.yield($0) }
    for await event in events {
      if case .ended(let refusal) = event { throw refusal }
      try await receive(event)
    }
  }

  /// The token of a revision, with the fingerprint of its commit from the log. A revision alone does not prove a
  /// shared history. The newest revision has the head's token.
  /// - Throws: a refusal for a revision above the newest, and for a pruned one.
  static func token(of revision: Revision, _ head: Token, _ client: GraphClient) async throws -> Token {
    guard revision <= head.revision else { throw Refusal(.notFound, "there is no revision \(revision) yet") }
    if revision == head.revision { return head }
    if revision == 0 {
      let oldest = try await client.status().oldest
      guard oldest == 0 else { throw Refusal.pruned(0, oldest: oldest) }
      return Token(store: head.store, revision: 0, fingerprint: 0)
    }
    do {
      let request = LogRequest(after: revision - 1, limit: 1, through: revision, changes: 0)
      let (commits, damage) = try await client.readableLog(request)
      guard let entry = commits.first else {
        if !damage.isEmpty { return try await client.token(of: revision) }
        throw Refusal(.notFound, "the log does not hold revision \(revision)")
      }
      return Token(store: head.store, revision: revision, fingerprint: entry.fingerprint)
    } catch let refusal as Refusal where refusal.code == .pruned {
      // The commit of the oldest state was pruned; all later ones exist.
      guard try await client.status().oldest == revision else { throw refusal }
      return try await client.token(of: revision)
    }
  }

  private func receive(_ event: GraphClient.WatchEvent) async throws {
    switch event {
    case .incomplete(_, let damage):
      CommandFailure.write(IncompleteResult(damage, model).report, json: output.json)
    case .loaded(let query, let images, let at):
      waiting.remove(query)
      if isShown, abandoned == nil {
        return output.json ? try await showWhole(query, images, at.revision) : await showReload(query, images, at)
      }
      if !output.json {
        if hasMoved { showMove(of: query, to: images) }
        hold(images, of: query)
      }
      results[query] = (images, at.revision)
      revision = max(revision, at.revision)
      if waiting.isEmpty { try await showResults() }
    case .loadedWindow(_, let rows, let at):
      if isShown, abandoned == nil, !output.json { await showBatches(through: at.revision) }
      total = rows.total
      if !output.json { words.record(rows.objects) }
      revision = max(revision, at.revision)
      showSnapshot(rows.objects)
    case .resumed(let query, let since):
      revision = max(revision, since)
      waiting.remove(query)
      guard !isShown, waiting.isEmpty else { return }
      if results.isEmpty { showSince(since) } else { try await showResults() }
    case .diverged:
      if isShown { abandonShown() }
    case .changed(let update):
      // The printed or the awaited snapshot includes the commit.
      if output.json, update.revision <= snapshotRevision { return }
      if output.json, !waiting.isEmpty { return revision = max(revision, update.revision) }
      revision = update.revision
      if output.json {
        let changes = update.changes.flatMap(\.changes)
        output.print(
          ObjectJSON.commit(
            revision: update.revision, author: update.author, time: update.time, total: update.totals.values.first,
            changes, model))
      } else {
        let changes = update.changes.flatMap(\.changes)
        words.record(changes.filter { $0.kind == .inserted }.compactMap(\.object))
        for (query, changes) in update.changes where !silent.contains(query) {
          for change in changes { show(change, update) }
        }
        for (query, changes) in update.changes where silent.contains(query) {
          words.record(changes.filter { $0.kind == .updated }.compactMap(\.object))
        }
        for change in changes where change.kind == .removed { words.forget(change.id) }
        if let total = update.totals.values.first { output.print(output.dim("\(total) rows in all")) }
      }
    case .ended: break
    }
  }

  /// Makes all printed objects invalid. A line reports that when the new results have arrived.
  private func abandonShown() {
    // The store may be restored once more before that.
    abandoned = abandoned ?? revision
    hasMoved = isOnCopy || client.unsentAfter != nil
    if !hasMoved { words.forgetAll() }
    unknown = []
    (results, waiting, revision, snapshotRevision) = ([:], Set(queries.keys), 0, 0)
  }

  /// The entity and the predicate of a query other than a window's.
  func watched(_ query: QueryID) -> (entity: Entity, predicate: GraphPredicate) {
    guard let watched = queries[query] else {
      preconditionFailure("an event belongs to a query of this watch: \(query)")
    }
    return watched
  }

  /// Prints the results of all queries, which arrived one by one.
  private func showResults() async throws {
    let shown = queries.keys.filter { !silent.contains($0) }.sorted()
    let isOneState = shown.allSatisfy { results[$0]?.at == revision }
    // Text output needs only the count, JSON output a consistent state.
    let images =
      output.json && !isOneState ? try await wholeResult() : shown.compactMap { results[$0] }.flatMap(\.images)
    assert(waiting.isEmpty, "a snapshot has the results of all queries")
    results = [:]
    showSnapshot(images)
  }

  func showSnapshot(_ snapshot: [ObjectImage]) {
    isShown = true
    snapshotRevision = revision
    isOnCopy = client.unsentAfter != nil
    let restored =
      switch abandoned {
      case nil: ""
      case _? where hasMoved: ""
      case let printed? where revision < printed: "the store was restored; "
      case _?: "the store was restored or its history was pruned, and it no longer has the states above; "
      }
    defer { (abandoned, hasMoved) = (nil, false) }
    if output.json {
      var members = [JSON.Member("revision", .integer(revision))]
      if abandoned != nil { members.append(.init("reset", .bool(true))) }
      if let total { members.append(.init("total", .integer(Int64(clamping: total)))) }
      members.append(.init("snapshot", .array(snapshot.map { ObjectJSON.object($0, model) })))
      output.print(JSON.object(members))
    } else if let total {
      for image in snapshot { output.print(line(image)) }
      output.print(output.dim("\(restored)\(stateName): \(snapshot.count) of \(total) rows; changes follow"))
    } else {
      output.print(output.dim("\(restored)\(stateName): \(summary(snapshot)); changes follow"))
    }
  }

  /// The printed state in words. The revisions of a copy are its own and mean nothing elsewhere.
  var stateName: String { isOnCopy ? "this computer's copy" : "revision \(revision)" }

  private func showSince(_ since: Revision) {
    isShown = true
    let from = self.since ?? since
    if output.json {
      output.print(JSON.object([.init("revision", .integer(from)), .init("since", .integer(from))]))
    } else {
      output.print(output.dim("changes since revision \(from) follow"))
    }
  }

  private func show(_ change: Delta.Change, _ update: CommitUpdate) {
    output.print("\(when(update.time, update.author)) \(text(of: change, gone: "no longer matches"))")
  }

  func when(_ time: Timestamp, _ author: String) -> String {
    output.dim("\(Output.localTime(time)) \(TextTable.visible(author))")
  }

  /// The line of a change: a sign, the object and a description.
  /// - Parameter gone: the remark on an object that left without being deleted.
  func text(of change: Delta.Change, gone: String) -> String {
    let sign: String
    var detail = ""
    switch change.kind {
    case .inserted:
      sign = "+"
      // An object that is too large for a delta is missing.
      if let object = change.object { detail = words.owners(object) }
    case .updated:
      sign = "~"
      let what = words.words(change)
      detail = what.isEmpty ? "" : ": \(what)"
      if let object = change.object { words.record([object]) }
    case .removed:
      sign = "-"
      detail = change.deleted ? "" : "  (\(total == nil ? gone : "no longer in the window"))"
    }
    if let place = change.place { detail += "  row \(place + 1)" }
    return "\(sign) \(change.object.map(line) ?? change.id.description)\(detail)"
  }
}
