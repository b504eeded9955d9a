import GraphModel
import GraphWire

/// The random requests of clients.
extension AccessSimulation {
  func request(_ client: AccessClient) -> AccessRequest {
    switch random.below(20) {
    case 0...5: fetch(at: random.chance(40) ? revision() : nil)
    case 6: groups()
    case 7...10: log()
    case 11: follow()
    case 12...13: differences()
    case 14...16: origin(client)
    case 17: AccessRequest(kind: .export, body: .exportGraph)
    case 18: AccessRequest(kind: .status, body: .status)
    default:
      random.chance(50)
        ? AccessRequest(kind: .revisionAt, body: .revisionAt(milliseconds * 1_000))
        : AccessRequest(kind: .other, body: .undoState(scope: nil))
    }
  }

  /// A random existing revision.
  private func revision() -> Revision { Revision(random.below(Int(recorder.revision) + 1)) }

  private func fetch(at revision: Revision?) -> AccessRequest {
    let choice = random.element(of: AccessModel.sorts)
    let text = random.element(of: AccessModel.queries.filter { $0.entity == choice.entity }).predicate
    let entity = model.entity(choice.entity)
    let limit = random.chance(40) ? 1 + random.below(5) : 0
    let isCount = random.chance(25)
    let fetch = Fetch(
      entity: entity.number, predicate: text, sort: isCount ? "" : choice.sort, limit: isCount ? 0 : UInt64(limit),
      result: isCount ? .count : .objects, at: revision)
    return AccessRequest(
      kind: .fetch(
        entity: entity, predicate: model.predicate(text, of: entity),
        sort: isCount ? [] : model.sort(choice.sort, of: entity), limit: limit == 0 || isCount ? nil : limit),
      body: .fetch(fetch))
  }

  private func groups() -> AccessRequest {
    let text = random.element(of: AccessModel.queries.filter { $0.entity == "Item" }).predicate
    let entity = model.entity("Item")
    let fetch = Fetch(
      entity: entity.number, predicate: text, result: .rows, properties: "folder.title, @count, @sum.x",
      groupBy: "folder.title")
    return AccessRequest(kind: .groups(model.predicate(text, of: entity)), body: .fetch(fetch))
  }

  private func log() -> AccessRequest {
    let after = revision()
    var log = LogRequest(
      after: after, limit: random.chance(50) ? UInt64(1 + random.below(5)) : 1_000, through: recorder.revision,
      oldestFirst: random.chance(30))
    if random.chance(25) { log.filter.entities = [entityOfHistory()] }
    if random.chance(25), let record = random.pick(recorder.records) { log.filter.authors = [record.author] }
    if random.chance(25) { log.changes = UInt64(random.below(3)) }
    return AccessRequest(kind: .log(log), body: .log(log))
  }

  private func entityOfHistory() -> EntityNumber {
    model.entity(random.element(of: ["Item", "Folder", "Tag"])).number
  }

  private func follow() -> AccessRequest {
    guard let record = random.pick(recorder.records), let store = server?.store.storeID else { return log() }
    let token = Token(store: store, revision: record.revision, fingerprint: record.fingerprint)
    var follow = FollowRequest(since: token, limit: random.chance(50) ? UInt64(1 + random.below(4)) : 0)
    if random.chance(25) { follow.filter.entities = [entityOfHistory()] }
    if random.chance(25) { follow.filter.authors = [record.author] }
    return AccessRequest(kind: .follow(follow), body: .changes(.follow(follow)))
  }

  private func differences() -> AccessRequest {
    // In a request, the revision 0 means the newest one.
    let request = DifferenceRequest(from: revision(), to: max(1, revision()))
    return AccessRequest(kind: .differences(request), body: .changes(.differences(request)))
  }

  private func origin(_ client: AccessClient) -> AccessRequest {
    let ids = promises.scanner.ids.sorted()
    guard let id = random.pick(ids), let entity = model.model.entity(id.entity),
      let property = random.pick(entity.storedProperties.filter { !$0.name.hasPrefix("_") })
    else { return log() }
    return AccessRequest(kind: .origin(id, property), body: .why(id, property.number))
  }
}
