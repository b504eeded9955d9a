import GraphModel
import GraphWire

/// Checks the promises of a run with accounts, by the rights of each request, the objects that each principal has seen,
/// and the owners of replica ids.
struct AccessPromises {
  /// The traces in the messages that a principal has sent, and the objects that it has created.
  private struct Own {
    var sent = LeakScanner.Traces()
    var created = Set<ObjectID>()
  }

  let model: AccessModel
  private(set) var events = [AccessEvent: Int]()
  private(set) var scanner = LeakScanner()
  private var sights = [NaiveAccess: AccessSight]()
  /// The own traces of each principal, by its shown name.
  private var own = [String: Own]()
  /// The naive rights for each value of the server's rights.
  private var accesses = [Rights: NaiveAccess]()
  /// The requests under each transaction id.
  private var attempts = [TransactionID: [AccessSimulation.Attempt]]()
  /// The words in the edits of each transaction.
  private var requestedWords = [TransactionID: [RequestedWords]]()
  /// The names of the principals that have committed under a replica id.
  private(set) var owners = [UniqueID: String]()
  private var acknowledged = [Revision: (client: Int, id: TransactionID)]()
  /// The replica ids of all requests.
  private(set) var requested = Set<UniqueID>()

  init(model: AccessModel) { self.model = model }

  mutating func record(_ event: AccessEvent) { events[event, default: 0] += 1 }

  mutating func register(_ access: NaiveAccess, for rights: Rights) { accesses[rights] = access }

  // MARK: - Requests and commits

  mutating func record(sent frame: [UInt8], by principal: Principal) {
    own[principal.name, default: Own()].sent.formUnion(scanner.traces(in: frame))
  }

  /// Records a request that the hub passes to the writer.
  mutating func record(_ request: WriteRequest) {
    let (author, rights) = request.principal
    var (isBatch, isUndo) = (false, false)
    var restore: RestoreRequest?
    switch request {
    case .transaction(let transaction, _, _):
      requestedWords[transaction.id, default: []] += RequestedWords.of(transaction)
    case .undo: isUndo = true
    case .restore(let request, _, _): restore = request
    case .batch: isBatch = true
    }
    var access: NaiveAccess?
    if let rights {
      precondition(rights.user == author.id, "the rights of a request are those of its author")
      access = accesses[rights]
      precondition(access != nil, "the server has authenticated the user of a request")
    }
    requested.insert(request.id.replica)
    attempts[request.id, default: []].append(
      AccessSimulation.Attempt(
        author: author, access: access, isBatch: isBatch, isUndo: isUndo, restore: restore))
  }

  /// Records a commit.
  /// - Returns: a description of the promise that it breaks; nil if it breaks none.
  mutating func record(_ record: CommitRecord, _ recorder: GraphRecorder) -> String? {
    let name = "revision \(record.revision)"
    for change in record.changes {
      scanner.add(change.id)
      if change.before == nil { own[record.author, default: Own()].created.insert(change.id) }
    }
    if let owner = owners.updateValue(record.author, forKey: record.transaction.replica), owner != record.author {
      return "\(name): \(record.author) commits under the replica id of \(owner)"
    }
    guard let attempts = attempts[record.transaction]?.filter({ $0.author.name == record.author }), !attempts.isEmpty
    else { return "\(name): \(record.author) has not requested it" }
    guard let before = recorder.state(record.revision - 1), let after = recorder.state(record.revision) else {
      return "\(name): its state is not known"
    }
    count(record, attempts, before, after)
    var reason: String?
    for attempt in attempts {
      guard let access = attempt.access else { return nil }
      var refusal = refusal(of: record, for: access, before, after)
      if refusal == nil, let restore = attempt.restore {
        refusal = self.refusal(ofRestored: record, restore, for: access, recorder)
      }
      guard let refusal else { return nil }
      reason = "\(name): \(record.author) with \(access.grants) \(refusal)"
    }
    return reason
  }

  /// The reason why a user with these rights may not make a commit; nil if it is allowed.
  private func refusal(
    of record: CommitRecord, for access: NaiveAccess, _ before: RecordedGraph, _ after: RecordedGraph
  ) -> String? {
    for change in record.changes {
      if let reason = access.refusal(of: change, from: before, to: after, model) {
        return "\(reason): \(change.kind) \(change.id)"
      }
    }
    return nil
  }

  /// The reason why a user with these rights may not make a restore: a value that the user could not see in the state
  /// that is restored. Nil if it is allowed.
  private func refusal(
    ofRestored record: CommitRecord, _ request: RestoreRequest, for access: NaiveAccess, _ recorder: GraphRecorder
  ) -> String? {
    var revisions = [Revision]()
    if let revision = request.revision { revisions.append(revision) }
    switch request.scope {
    case .everything: break
    case .object(let id), .contents(let id):
      // References to a deleted object are restored as they were just before its delete.
      if let deletion = recorder.deletion(of: id, before: record.revision) { revisions.append(deletion - 1) }
    }
    let past = revisions.compactMap { recorder.state($0) }.map { access.reduced($0, model) }
    for change in record.changes {
      if let reason = access.refusal(ofRestored: change, from: past, model) {
        return "\(reason): \(change.kind) \(change.id) by a restore to \(revisions)"
      }
    }
    return nil
  }

  private mutating func count(
    _ record: CommitRecord, _ attempts: [AccessSimulation.Attempt], _ before: RecordedGraph, _ after: RecordedGraph
  ) {
    let folder = model.property("Item", "folder")
    let hasMoved = record.changes.contains { change in
      guard let old = change.before, let new = change.after, model.isA(change.id, "Item") else { return false }
      return old[folder] != new[folder]
    }
    guard let attempt = attempts.last else { preconditionFailure("a commit was requested") }
    if hasMoved {
      let isReversed = attempt.isUndo || attempt.restore != nil
      self.record(attempt.isBatch ? .movedByBatch : isReversed ? .movedByUndo : .movedByEdit)
    }
    for access in Set(accesses.values) {
      for change in record.changes {
        let saw = change.before.map { access.sees($0, in: before, model) } == true
        let sees = change.after.map { access.sees($0, in: after, model) } == true
        if change.before != nil, sees, !saw { self.record(.cameIntoSight) }
        if change.after != nil, saw, !sees { self.record(.wentOutOfSight) }
      }
    }
    if attempt.access == nil { return }
    self.record(.restrictedCommit)
    if attempt.isBatch { self.record(.restrictedBatch) }
    if attempt.isUndo { self.record(.restrictedUndo) }
    if attempt.restore != nil { self.record(.restrictedRestore) }
  }

  /// Describes a violation: an acknowledgement of another principal's commit, or of the commit of another transaction.
  mutating func failure(
    ofAcknowledged id: TransactionID, _ revision: Revision, client: Int, name: String, _ recorder: GraphRecorder
  ) -> String? {
    guard let record = recorder.records.first(where: { $0.revision == revision }) else {
      return "client \(client): transaction \(id) was acknowledged as \(revision), which does not exist"
    }
    if record.author != name { return "client \(client) learns the outcome of \(record.author)'s revision \(revision)" }
    if let other = acknowledged.updateValue((client, id), forKey: revision), other != (client, id) {
      return "revision \(revision) was acknowledged as \(other) and as \((client, id))"
    }
    return nil
  }

  // MARK: - What is received

  /// The traces that a user with these rights may receive.
  mutating func sight(of access: NaiveAccess, _ recorder: GraphRecorder) -> LeakScanner.Traces {
    var sight = sights[access, default: AccessSight()]
    sight.catchUp(recorder, access, model, requested: requestedWords)
    sights[access] = sight
    return sight.traces
  }

  /// Describes content of a frame that the principal must not receive; nil if there is none.
  mutating func failure(
    of frame: [UInt8], _ messages: [ToClient], for access: NaiveAccess, _ principal: Principal,
    _ recorder: GraphRecorder
  ) -> String? {
    count(messages, for: access, recorder)
    let found = scanner.traces(in: frame)
    var refusals = [Refusal]()
    for case .refused(let refusal) in messages.map(\.body) { refusals.append(refusal) }
    if found.ids.isEmpty, found.words.isEmpty, refusals.isEmpty { return nil }
    let seen = sight(of: access, recorder)
    let mine = own[principal.name, default: Own()]
    // The ids that the server has assigned to the principal's inserts. They can be those of existing objects that it
    // saw at that time.
    var assigned = Set<ObjectID>()
    // The objects of conflicts without contents: the server sends those to sessions that have lost sight since the
    // request, and repeats ids of the request.
    var bare = Set<ObjectID>()
    for case .committed(let result, _, _, _) in messages.map(\.body) {
      assigned.formUnion(result.identities.map(\.permanent))
      for conflict in result.conflicts
      where conflict.mine.isNull && conflict.theirs.isNull && conflict.author.isEmpty && conflict.revision == 0 {
        bare.insert(conflict.id)
      }
    }
    // A refusal repeats the ids of the request, and a presence those that another client of the user has sent.
    let isRepeated =
      !refusals.isEmpty
      || messages.contains { if case .presence(_, principal.name, _, _) = $0.body { true } else { false } }
    let isKnown = { (id: ObjectID) in
      seen.ids.contains(id) || mine.created.contains(id) || assigned.contains(id)
        || (isRepeated || bare.contains(id)) && mine.sent.ids.contains(id)
    }
    let name = "\(principal.name) with \(access.grants)"
    if let id = found.ids.filter({ !isKnown($0) }).min() {
      return "\(name) receives the id \(id), which it never saw: \(messages)"
    }
    if let word = found.words.subtracting(seen.words).subtracting(mine.sent.words).min() {
      return "\(name) receives the text \(LeakScanner.word(word)), which it never saw: \(messages)"
    }
    for refusal in refusals {
      let texts = [refusal.message] + refusal.violations.map(\.message)
      for id in scanner.ids where !isKnown(id) && texts.contains(where: { $0.contains(id.description) }) {
        return "\(name) is refused in the name of \(id), which it never saw: \(refusal)"
      }
    }
    return nil
  }

  private mutating func count(_ messages: [ToClient], for access: NaiveAccess, _ recorder: GraphRecorder) {
    for message in messages {
      switch message.body {
      case .presence: record(.presenceReceived)
      case .subscribed(_, resumed: true, _): record(.queryResumed)
      case .subscribed(_, resumed: false, known: true): record(.queryReloaded)
      case .refused(let refusal) where refusal.code == .notAllowed: record(.refusedForRight)
      case .refused(let refusal) where refusal.code == .unique:
        guard let graph = recorder.state(recorder.revision) else { continue }
        let isHidden = refusal.violations.contains { violation in
          graph.images.values.contains { image in
            guard let property = model.model.entity(image.id.entity)?.property(violation.property) else { return false }
            return image[property] == violation.value && !access.sees(image, in: graph, model)
          }
        }
        if isHidden { record(.keyOfInvisible) }
      default: break
      }
    }
  }
}
