import GraphModel
import GraphWire

/// A request of a client. The simulation compares its answer with the graph that the user of the client sees.
struct AccessRequest {
  enum Kind {
    /// Objects or their number; with `limit`, the first ones.
    case fetch(entity: Entity, predicate: GraphPredicate, sort: [SortKey], limit: Int?)
    /// Groups of items by the title of their folder, with counts and sums.
    case groups(GraphPredicate)
    case log(LogRequest)
    case follow(FollowRequest)
    case differences(DifferenceRequest)
    case origin(ObjectID, Property)
    case export
    case status
    case revisionAt
    /// A request of which only the bytes of the answer are checked.
    case other
  }

  let kind: Kind
  let body: ToServer.Body
}

/// The parts of an answer that have arrived.
struct AccessAnswer {
  var objects = [ObjectImage]()
  var rows = [[Value]]()
  var count: UInt64?
  var at: Token?
  /// The newest revision when commits were followed.
  var head: Token?
  var entries = [CommitEntry]()
  var differences = [ObjectDifference]()
  var origin: ValueOrigin?
  var status: ServerStatus?
  var author: String?
  var exported: UInt64?
  var refusal: Refusal?

  mutating func add(_ body: ToClient.Body) {
    switch body {
    case .chunk(let chunk):
      objects += chunk.objects
      rows += chunk.rows
      if let end = chunk.end { (at, count) = (end.at, end.count) }
    case .log(let entries, _, _): self.entries += entries
    case .followed(let entries, let at, let head, _): (self.entries, self.at, self.head) = (entries, at, head)
    case .differences(let differences, _, _): self.differences += differences
    case .why(let origin): self.origin = origin
    case .status(let status): self.status = status
    case .revisionAt(let found): author = found.author
    case .exportHead(let head): exported = head.objects
    default: break
    }
  }
}

/// Compares answers with the reduced graph: the objects that the user sees.
struct AccessAnswerCheck {
  let access: NaiveAccess
  let recorder: GraphRecorder
  let model: AccessModel

  private func graph(_ revision: Revision) -> RecordedGraph? {
    recorder.state(revision).map { access.reduced($0, model) }
  }

  /// Describes the difference between an answer and the reduced graph; nil if there is none.
  func failure(of request: AccessRequest, _ answer: AccessAnswer) -> String? {
    if let refusal = answer.refusal { return failure(of: request, refusal) }
    switch request.kind {
    case .fetch(let entity, let predicate, let sort, let limit):
      guard let at = answer.at, let graph = graph(at.revision) else { return "was read at an unknown revision" }
      let all = graph.objects(of: entity, predicate)
      let name = "\(entity.name) \(predicate.text(in: model.model)) by \(sort.text(in: model.model)) at \(at.revision)"
      guard case .fetch(let fetch) = request.body, fetch.result == .objects else {
        if answer.count == UInt64(all.count) { return nil }
        return "\(name): counts \(String(describing: answer.count)), there are \(all.count)"
      }
      let sorted = SortOrder(sort, model: model.model).sorted(Array(all.values), in: graph)
      let wanted = limit.map { Array(sorted.prefix($0)) } ?? sorted
      return answer.objects == wanted ? nil : "\(name): \(Self.list(answer.objects)), there are \(Self.list(wanted))"
    case .groups(let predicate): return failure(ofGroups: predicate, answer)
    case .log(let request): return failure(ofLog: request, answer)
    case .follow(let request): return failure(ofFollowed: request, answer)
    case .differences(let request): return failure(ofDifferences: request, answer)
    case .origin(let id, let property): return failure(ofOrigin: answer.origin, of: id, property)
    case .export:
      guard let at = answer.at, let graph = graph(at.revision) else { return "was read at an unknown revision" }
      let found = Dictionary(answer.objects.map { ($0.id, $0) }) { first, _ in first }
      if found != graph.images { return "exports \(Self.list(answer.objects)) of \(graph.images.count) objects" }
      if answer.exported == UInt64(graph.images.count) { return nil }
      return "counts \(String(describing: answer.exported)) exported objects"
    case .status:
      guard let status = answer.status else { return "has no status" }
      let counts = [status.size, status.sessions, status.registrations, status.commitLogSize]
      return counts.allSatisfy { $0 == 0 } && status.counters.isEmpty ? nil : "the status counts \(counts)"
    case .revisionAt: return answer.author == "" ? nil : "names the author of any commit"
    case .other: return nil
    }
  }

  private func failure(of request: AccessRequest, _ refusal: Refusal) -> String? {
    // A lost connection ends its requests.
    if refusal.code == .unavailable { return nil }
    switch request.kind {
    case .origin where refusal.code == .notFound, .other: return nil
    default: return "refused: \(refusal)"
    }
  }

  private static func list(_ images: [ObjectImage]) -> String {
    images.map { "\($0.id) of \($0.revision) \($0.values)" }.joined(separator: ", ")
  }

  // MARK: - Groups

  private func failure(ofGroups predicate: GraphPredicate, _ answer: AccessAnswer) -> String? {
    guard let at = answer.at, let graph = graph(at.revision) else { return "was read at an unknown revision" }
    let items = graph.objects(of: model.entity("Item"), predicate).values
    var wanted = Set<[Value]>()
    for (title, members) in Dictionary(grouping: items, by: { graph.value("title", of: $0, through: "folder") }) {
      let sum = members.reduce(Int64(0)) { sum, item in
        if case .integer(let x) = model.value(item, "x") { sum + x } else { sum }
      }
      wanted.insert([title, .integer(Int64(members.count)), .integer(sum)])
    }
    if Set(answer.rows) == wanted, answer.rows.count == wanted.count { return nil }
    return "groups at \(at.revision): \(answer.rows), there are \(wanted)"
  }

  // MARK: - History

  /// The part of a commit that the user sees.
  private struct SeenCommit {
    let record: CommitRecord
    /// The changed objects. A state that the user does not see is nil; an object has at least one visible state.
    var changes = [ObjectID: (before: ObjectImage?, after: ObjectImage?)]()
  }

  /// The commits with a change that the user sees, oldest first.
  private func entries(
    after: Revision, through: Revision, where isIncluded: (ObjectID) -> Bool = { _ in true }
  ) -> [SeenCommit] {
    recorder.records.compactMap { record in
      guard record.revision > after, record.revision <= through, let old = graph(record.revision - 1),
        let new = graph(record.revision)
      else { return nil }
      var seen = SeenCommit(record: record)
      // The log does not list the changes of a batch in several parts.
      if record.summary != nil { return seen }
      for change in record.changes where isIncluded(change.id) {
        let states = (before: old.images[change.id], after: new.images[change.id])
        if states.before != nil || states.after != nil { seen.changes[change.id] = states }
      }
      return seen.changes.isEmpty ? nil : seen
    }
  }

  /// The commits that match a filter, oldest first.
  private func entries(_ filter: HistoryFilter, after: Revision, through: Revision) -> [SeenCommit] {
    let family = Set(filter.entities)
    var found = entries(after: after, through: through) { id in family.isEmpty || family.contains(id.entity) }
    if !family.isEmpty {
      found.removeAll { commit in commit.record.summary.map { family.isDisjoint(with: $0.entities) } == true }
    }
    return filter.authors.isEmpty ? found : found.filter { filter.authors.contains($0.record.author) }
  }

  /// A part ends at the newest revision, or at a commit that the user sees. Another end would be the revision of an
  /// invisible commit.
  private func failure(ofFollowed request: FollowRequest, _ answer: AccessAnswer) -> String? {
    guard let at = answer.at, let head = answer.head else { return "has no end" }
    let wanted = entries(request.filter, after: request.since.revision, through: at.revision)
    if let failure = failure(of: answer.entries, wanted, changes: nil) { return failure }
    let isFull = request.limit > 0 && answer.entries.count == Int(request.limit)
    let end = isFull ? answer.entries.last?.revision : head.revision
    return at.revision == end ? nil : "followed commits end at \(at.revision), not at \(String(describing: end))"
  }

  private func failure(ofLog request: LogRequest, _ answer: AccessAnswer) -> String? {
    var wanted = entries(request.filter, after: request.after, through: request.through)
    if !request.oldestFirst { wanted.reverse() }
    if request.limit > 0 { wanted = Array(wanted.prefix(Int(request.limit))) }
    return failure(of: answer.entries, wanted, changes: request.changes)
  }

  private func failure(of entries: [CommitEntry], _ wanted: [SeenCommit], changes limit: UInt64?) -> String? {
    guard entries.map(\.revision) == wanted.map(\.record.revision) else {
      return "history has \(entries.map(\.revision)), the user sees \(wanted.map(\.record.revision))"
    }
    for (entry, commit) in zip(entries, wanted) {
      let name = "history, revision \(entry.revision)"
      let total = UInt64(commit.changes.count)
      let listed = limit.map { min($0, total) } ?? total
      if entry.unlisted != 0 { return "\(name): counts \(entry.unlisted) changes of a batch" }
      guard UInt64(entry.changes.count) == listed, entry.more == total - listed else {
        return "\(name): lists \(entry.changes.map(\.id)) and \(entry.more) more of \(commit.changes.keys.sorted())"
      }
      for change in entry.changes {
        guard let states = commit.changes[change.id] else { return "\(name): the user does not see \(change.id)" }
        let kind: Delta.Change.Kind =
          states.before == nil ? .inserted : states.after == nil ? .removed : .updated
        guard change.kind == kind, change.object == states.after ?? states.before else {
          return "\(name): \(change.id) is \(change.kind) as \(String(describing: change.object)), the user sees "
            + "\(kind) from \(String(describing: states.before)) to \(String(describing: states.after))"
        }
        if let reason = failure(of: change.edits, from: states.before, to: states.after) {
          return "\(name): \(change.id) \(reason)"
        }
      }
    }
    return nil
  }

  /// Edits of an update lead from the visible state before it to the one after it.
  private func failure(of edits: [Edit], from before: ObjectImage?, to after: ObjectImage?) -> String? {
    guard let before, let after else { return edits.isEmpty ? nil : "has edits and becomes visible or invisible" }
    for edit in edits {
      guard let property = model.model.property(edit.property), property.slot != nil else { continue }
      if edit.applied(to: before[property]) != after[property] {
        return "has an edit of \(property.name) from \(before[property]) to \(after[property]): \(edit.action)"
      }
    }
    return nil
  }

  private func failure(ofDifferences request: DifferenceRequest, _ answer: AccessAnswer) -> String? {
    let (low, high) = (min(request.from, request.to), max(request.from, request.to))
    guard let old = graph(request.from), let new = graph(request.to) else { return nil }
    var wanted = [ObjectID: ObjectDifference]()
    let touched = recorder.records.filter { $0.revision > low && $0.revision <= high }.flatMap(\.changes).map(\.id)
    for id in Set(touched) {
      wanted[id] = ObjectDifference(from: old.images[id], to: new.images[id], model: model.model)
    }
    let found = Dictionary(answer.differences.map { ($0.object.id, $0) }) { first, _ in first }
    if found == wanted, answer.differences.count == wanted.count { return nil }
    return "differences from \(request.from) to \(request.to): \(found), the user sees \(wanted)"
  }

  private func failure(ofOrigin origin: ValueOrigin?, of id: ObjectID, _ property: Property) -> String? {
    guard let origin else { return "has no origin" }
    guard let after = graph(origin.revision)?.images[id] else {
      return "the origin of \(property.name) of \(id) is revision \(origin.revision), where the user does not see it"
    }
    let before = graph(origin.revision - 1)?.images[id]
    // References of the value are those that are visible now.
    if property.relationship == nil, after[property] != origin.value {
      return "the origin of \(property.name) has \(origin.value), revision \(origin.revision) \(after[property])"
    }
    // An undone delete replaces the value from before the delete, and the object did not exist in between.
    if origin.kind == .updated || origin.kind == .inserted {
      let wanted = origin.kind == .inserted ? Value.null : before.map { $0[property] } ?? .null
      if origin.replaced != wanted { return "\(property.name) has replaced \(origin.replaced), the user saw \(wanted)" }
    }
    return nil
  }
}
