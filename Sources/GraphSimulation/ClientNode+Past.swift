import GraphModel
import GraphReplica
import GraphWire

/// The user reads the graph of a past revision and restores deleted objects.
extension ClientNode {
  /// A fetch of a past revision, with its result.
  struct PastRead {
    let revision: Revision
    let entity: Entity
    let predicate: GraphPredicate
    let isByID: Bool
    var images = [ObjectImage]()
    /// Whether the revision may have been removed by a restored backup.
    var isStale = false
  }

  func readPast(_ random: inout SeededRandom) -> String {
    let revision = Revision(random.below(Int(lastRevision) + 1))
    let isByID = random.chance(35)
    guard var read = isByID ? pastByID(at: revision, &random) : pastQuery(at: revision, &random) else {
      return "nothing to read"
    }
    let requestID = newRequestID()
    read.isStale = isStale
    pastReads[requestID] = read
    let text = read.predicate == .always ? "" : read.predicate.text(in: model)
    context.handle(.request(requestID, .fetch(Fetch(entity: read.entity.number, predicate: text, at: revision))))
    return "read \(read.entity.name) \(text) as of \(revision)"
  }

  private func pastQuery(at revision: Revision, _ random: inout SeededRandom) -> PastRead? {
    guard let (name, text) = SimulationModel.randomQuery(&random), let entity = model.entity(named: name),
      let predicate = predicate(text, of: entity)
    else { return nil }
    return PastRead(revision: revision, entity: entity, predicate: predicate, isByID: false)
  }

  /// Fetches by id both existing and deleted objects.
  private func pastByID(at revision: Revision, _ random: inout SeededRandom) -> PastRead? {
    guard let entity = model.entity(named: "Thing") else { return nil }
    var ids = (objects("Thing").filter { !$0.isInserted }.map(\.id) + deletedObjects).shuffled(using: &random)
    ids = ids.filter { entity.family.contains($0.entity) }.prefix(1 + random.below(5)).sorted()
    guard !ids.isEmpty else { return nil }
    let predicate = GraphPredicate.comparison(
      GraphPredicate.Comparison(.one, GraphPredicate.Path(end: .identifier), .in, .list(ids.map { .object($0) })))
    return PastRead(revision: revision, entity: entity, predicate: predicate, isByID: true)
  }

  /// - Returns: false if the chunk belongs to another request.
  func receivePast(_ chunk: Chunk, of requestID: RequestID) -> Bool {
    guard var read = pastReads.removeValue(forKey: requestID) else { return false }
    read.images += chunk.objects
    if chunk.end == nil {
      pastReads[requestID] = read
      context.handle(.more(requestID))
    } else {
      finishedPastReads.append(read)
    }
    return true
  }

  /// - Returns: false if the refusal belongs to another request.
  func refusePast(_ refusal: Refusal, of requestID: RequestID) -> Bool {
    guard let read = pastReads.removeValue(forKey: requestID) else { return false }
    // A lost connection ends its requests.
    if refusal.code == .pruned {
      prunedReads.append(read.revision)
    } else if refusal.code != .unavailable, !(read.isStale && refusal.code == .notFound) {
      failure = failure ?? "client \(number) can't read revision \(read.revision): \(refusal.message)"
    }
    return true
  }

  // MARK: - Restoring objects

  func restore(_ random: inout SeededRandom) -> String {
    let id = context.newTransactionID()
    let request: RestoreRequest
    if let object = random.pick(deletedObjects), random.chance(75) {
      request = RestoreRequest(id, random.chance(50) ? .contents(object) : .object(object))
    } else if let object = random.pick(objects("Thing") + objects("Folder")), !object.isInserted {
      let revision = Revision(random.below(Int(lastRevision) + 1))
      request = RestoreRequest(id, .object(object.id), at: revision)
    } else {
      return "nothing to restore"
    }
    restores[id] = request
    textMerges.recordRestore(id)
    context.restore(request)
    return "restore \(request.scope), transaction \(id.sequence)"
  }
}
