import GraphModel
import GraphReplica
import GraphWire

/// The user reads the graph of a past revision and restores deleted objects.
final class ClientPast {
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

  private unowned let client: ClientNode
  private var pending = [RequestID: PastRead]()
  private var finished = [PastRead]()
  /// Past reads that were refused because the history that they need was pruned.
  private var pruned = [Revision]()
  /// Deleted objects, as found in the log.
  var deletedObjects = [ObjectID]()
  /// All restores that this client has requested, before and after restarts.
  private(set) var restores = [TransactionID: RestoreRequest]()

  init(_ client: ClientNode) { self.client = client }

  /// Forgets the reads, because the process has died.
  func restart() { (pending, finished) = ([:], []) }

  /// Takes the finished reads, to be checked.
  func removeFinished() -> [PastRead] {
    defer { finished = [] }
    return finished
  }

  /// Takes the revisions whose history was pruned, to be checked.
  func removePruned() -> [Revision] {
    defer { pruned = [] }
    return pruned
  }

  /// Describes a read that has not ended; nil if there is none.
  var unfinished: String? { pending.isEmpty ? nil : "client \(client.number) still reads the past" }

  func read(_ random: inout SeededRandom) -> String {
    let revision = Revision(random.below(Int(client.lastRevision) + 1))
    let isByID = random.chance(35)
    guard var read = isByID ? pastByID(at: revision, &random) : pastQuery(at: revision, &random) else {
      return "nothing to read"
    }
    let requestID = client.newRequestID()
    read.isStale = client.restores.isStale
    pending[requestID] = read
    let text = read.predicate == .always ? "" : read.predicate.text(in: client.model)
    client.context.handle(.request(requestID, .fetch(Fetch(entity: read.entity.number, predicate: text, at: revision))))
    return "read \(read.entity.name) \(text) as of \(revision)"
  }

  private func pastQuery(at revision: Revision, _ random: inout SeededRandom) -> PastRead? {
    guard let (name, text) = SimulationModel.randomQuery(&random), let entity = client.model.entity(named: name),
      let predicate = client.version.predicate(text, of: entity)
    else { return nil }
    return PastRead(revision: revision, entity: entity, predicate: predicate, isByID: false)
  }

  /// Fetches by id both existing and deleted objects.
  private func pastByID(at revision: Revision, _ random: inout SeededRandom) -> PastRead? {
    guard let entity = client.model.entity(named: "Thing") else { return nil }
    var ids = (client.objects("Thing").filter { !$0.isInserted }.map(\.id) + deletedObjects).shuffled(using: &random)
    ids = ids.filter { entity.family.contains($0.entity) }.prefix(1 + random.below(5)).sorted()
    guard !ids.isEmpty else { return nil }
    let predicate = GraphPredicate.comparison(
      GraphPredicate.Comparison(.one, GraphPredicate.Path(end: .identifier), .in, .list(ids.map { .object($0) })))
    return PastRead(revision: revision, entity: entity, predicate: predicate, isByID: true)
  }

  /// - Returns: false if the chunk belongs to another request.
  func receive(_ chunk: Chunk, of requestID: RequestID) -> Bool {
    guard var read = self.pending.removeValue(forKey: requestID) else { return false }
    read.images += chunk.objects
    if chunk.end == nil {
      pending[requestID] = read
      client.context.handle(.more(requestID))
    } else {
      finished.append(read)
    }
    return true
  }

  /// - Returns: false if the refusal belongs to another request.
  func refuse(_ refusal: Refusal, of requestID: RequestID) -> Bool {
    guard let read = self.pending.removeValue(forKey: requestID) else { return false }
    // A lost connection ends its requests.
    if refusal.code == .pruned {
      pruned.append(read.revision)
    } else if refusal.code != .unavailable, !(read.isStale && refusal.code == .notFound) {
      client.fail("client \(client.number) can't read revision \(read.revision): \(refusal.message)")
    }
    return true
  }

  // MARK: - Restoring objects

  func restore(_ random: inout SeededRandom) -> String {
    let id = client.context.newTransactionID()
    let request: RestoreRequest
    if let object = random.pick(deletedObjects), random.chance(75) {
      request = RestoreRequest(id, random.chance(50) ? .contents(object) : .object(object))
    } else if let object = random.pick(client.objects("Thing") + client.objects("Folder")), !object.isInserted {
      let revision = Revision(random.below(Int(client.lastRevision) + 1))
      request = RestoreRequest(id, .object(object.id), at: revision)
    } else {
      return "nothing to restore"
    }
    restores[id] = request
    client.checks.textMerges.recordRestore(id)
    client.context.restore(request)
    return "restore \(request.scope), transaction \(id.sequence)"
  }
}
