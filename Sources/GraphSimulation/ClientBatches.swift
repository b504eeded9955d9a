import GraphModel
import GraphReplica
import GraphWire

/// A user's batches, one at a time: first the rows, if any, then the batch. After a lost connection, the batch is
/// requested again under its id, because its outcome is unknown.
final class ClientBatches {
  /// A batch that has not been answered.
  struct PendingBatch {
    let batch: SimulatedBatch
    /// The pending request for the batch; nil when there is none.
    var requestID: RequestID?
    /// Pending messages of rows.
    var rows = Set<RequestID>()
    var timesRequested = 0
    var done = 0
    /// The number of objects that the commit changes, as reported by the server.
    var changed: Int?
    /// Whether the store has the batch already when it is requested again.
    var isThere = false
  }

  private unowned let client: ClientNode
  /// All batches that this client has requested, before and after restarts.
  private var requested = [TransactionID: SimulatedBatch]()
  /// The batches that the store has committed, whether or not the client knows.
  private var committed = Set<TransactionID>()
  private(set) var pending: PendingBatch?

  init(_ client: ClientNode) { self.client = client }

  /// Forgets the pending batch, because the process has died.
  func restart() { pending = nil }

  /// The batch that this transaction commits.
  subscript(id: TransactionID) -> SimulatedBatch? { requested[id] }

  /// Records that the store has committed a batch.
  func record(committed id: TransactionID) { committed.insert(id) }

  /// Records that a restored backup contains only these transactions.
  func revert(to known: Set<TransactionID>) { committed.formIntersection(known) }

  func start(_ random: inout SeededRandom) -> String {
    guard pending == nil else { return "a batch is under way" }
    let id = client.context.newTransactionID()
    guard let batch = makeBatch(id, &random) else { return "no batch" }
    requested[id] = batch
    pending = PendingBatch(batch: batch)
    request()
    return "batch \(id.sequence), \(batch.event) of \(batch.entity.name)"
  }

  // MARK: - Operations

  private func makeBatch(_ id: TransactionID, _ random: inout SeededRandom) -> SimulatedBatch? {
    switch random.below(10) {
    case 0...3: insertion(id, &random)
    case 4...7: update(id, &random)
    default: deletion(id, &random)
    }
  }

  private func make(
    _ id: TransactionID, _ name: String, _ policy: MergePolicy = .error,
    _ operation: (Entity) throws -> SimulatedBatch.Operation?
  ) -> SimulatedBatch? {
    guard let entity = client.model.entity(named: name), let operation = try? operation(entity) else { return nil }
    return SimulatedBatch(id: id, entity: entity, policy: policy, operation: operation, model: client.model)
  }

  private func insertion(_ id: TransactionID, _ random: inout SeededRandom) -> SimulatedBatch? {
    let count = 1 + random.below(10)
    switch random.below(4) {
    case 0:
      let rows = (0..<count).map { _ in [Value.string("l\(random.below(30))")] }
      // The key is unique: two rows of the same name become one label.
      return make(id, "Label", .objectTrump) { .insert([$0.property(named: "name")].compactMap { $0 }, rows) }
    case 1:
      let rows = (0..<count).map { _ -> [Value] in
        let starts = random.below(8)
        // A few rows break the rule, which refuses the whole batch.
        let due = random.chance(4) ? starts - 1 : starts + random.below(5)
        return [.integer(Int64(starts)), .integer(Int64(due)), SimulationModel.value(of: "at", &random)]
      }
      return make(id, "Task") { entity in
        .insert(["starts", "due", "at"].compactMap { entity.property(named: $0) }, rows)
      }
    default:
      guard let folder = random.pick(client.objects("Folder").filter { !$0.isInserted }) else { return nil }
      let rows = (0..<count).map { _ -> [Value] in
        [
          .object(folder.id), .integer(Int64(random.below(20))),
          .string(random.element(of: client.version.kinds)), .string(random.element(of: ["a", "b c", ""])),
        ]
      }
      return make(id, "Item") { entity in
        .insert(["folder", "size", "kind", "text"].compactMap { entity.property(named: $0) }, rows)
      }
    }
  }

  private func update(_ id: TransactionID, _ random: inout SeededRandom) -> SimulatedBatch? {
    let name = random.element(of: ["Item", "Item", "Thing", "Task"])
    let conditions = (SimulationModel.queries + SimulationModel.values).filter { $0.entity == name }.map(\.predicate)
    let condition = random.element(of: conditions)
    let choice = random.below(7)
    let number = Int64(random.below(12))
    let folder = random.pick(client.objects("Folder").filter { !$0.isInserted })?.id
    let price = SimulationModel.value(of: "price", &random)
    return make(id, name) { entity in
      func set(_ name: String, _ becoming: SimulatedBatch.NewValue) -> (
        property: Property, to: SimulatedBatch.NewValue
      )? {
        entity.property(named: name).map { ($0, becoming) }
      }
      let assignments =
        switch (name, choice) {
        case ("Item", 0): [set("size", .plus(number - 4))]
        case ("Item", 1):
          [set("folder", .value(folder.map(Value.object) ?? .null)), set("size", .value(.integer(number)))]
        case ("Item", 2): [set("kind", .value(.string("green"))), set("memo", .value(.string("A b")))]
        case ("Task", 0...1): [set("due", .plus(number - 2))]
        // A row without a column breaks a rule.
        case (_, 3): [set("place.row", .value(.integer(number)))]
        case (_, 4): [set("at", .later((number - 6) * 7_200_000_001))]
        case (_, 5): [set("price", .value(price)), set("done", .value(.bool(number > 5)))]
        default: [set("memo", .value(number < 3 ? .null : .string("x\(number)")))]
        }
      // An older version of the model may lack a property.
      let known = assignments.compactMap { $0 }
      return known.isEmpty ? nil : client.version.predicate(condition, of: entity).map { .update($0, known) }
    }
  }

  private func deletion(_ id: TransactionID, _ random: inout SeededRandom) -> SimulatedBatch? {
    let choices = [
      ("Item", "size > 30"), ("Item", "kind == \"blue\" AND size < 4"), ("Item", "folder.name BEGINSWITH \"f1\""),
      ("Task", "starts <= 4 AND due > 2"), ("Task", "about == NULL"), ("Label", "use < 1"),
      ("Label", "name BEGINSWITH \"l1\""), ("Folder", "itemCount < 2"), ("Folder", "name BEGINSWITH \"f7\""),
      ("Thing", "memo BEGINSWITH \"x\""), ("Folder", "ANY items.size > 60"),
      ("Thing", "at < now() - days(2) AND price != NULL"), ("Task", "done == TRUE AND share > 1"),
    ]
    guard let (name, condition) = random.pick(choices) else { return nil }
    return make(id, name) { client.version.predicate(condition, of: $0).map { .delete($0) } }
  }

  // MARK: - Asking and answers

  /// Requests the pending batch, starting with its rows.
  func request() {
    guard var pending, pending.requestID == nil, pending.rows.isEmpty, client.link.session != nil else { return }
    pending.timesRequested += 1
    if pending.timesRequested > 1 { client.events.record(.batchAskedAgain) }
    (pending.done, pending.changed) = (0, nil)
    pending.isThere = committed.contains(pending.batch.id)
    guard case .insert(_, let rows) = pending.batch.operation else {
      return send(pending)
    }
    let half = (rows.count + 1) / 2
    let parts = [Array(rows[..<half]), Array(rows[half...])].filter { !$0.isEmpty }
    let requestIDs = parts.map { _ in client.newRequestID() }
    pending.rows = Set(requestIDs)
    self.pending = pending
    for (requestID, part) in zip(requestIDs, parts) {
      client.context.handle(.request(requestID, .batchRows(BatchRows(id: pending.batch.id, rows: part))))
    }
  }

  /// Requests the batch, of which all rows have been sent.
  private func send(_ batch: PendingBatch) {
    var pending = batch
    let requestID = client.newRequestID()
    pending.requestID = requestID
    self.pending = pending
    client.context.handle(.request(requestID, .batch(pending.batch.request)))
  }

  /// - Returns: false if the answer belongs to another request.
  func receive(_ reply: ToClient.Body, of requestID: RequestID) -> Bool {
    guard var pending, pending.requestID == requestID || pending.rows.contains(requestID) else {
      return false
    }
    switch reply {
    case .progress where pending.rows.contains(requestID):
      pending.rows.remove(requestID)
      self.pending = pending
      if pending.rows.isEmpty { send(pending) }
    case .progress(let progress):
      client.events.record(.batchProgress)
      if progress.done < pending.done || progress.done > progress.total {
        client.fail("client \(client.number)'s batch has come to \(progress.done) of \(progress.total) objects")
      }
      (pending.done, pending.changed) = (progress.done, progress.changed)
      self.pending = pending
    case .committed where pending.changed == 0:
      client.traceLines.append("batch \(pending.batch.id.sequence) changes nothing")
      client.events.record(.batchOfNothing)
      // A batch that was requested twice may still be running, and may find objects by then.
      if pending.timesRequested == 1 { client.outcomes.refused.append(pending.batch.id) }
      self.pending = nil
    case .committed(let committed, _, _, _):
      client.outcomes.acknowledged.append((pending.batch.id, committed.revision))
      client.restores.countResent(pending.batch.id)
      client.countThroughLens(.batchThroughLens)
      client.traceLines.append("batch \(pending.batch.id.sequence) is revision \(committed.revision)")
      if pending.isThere { client.events.record(.batchAnsweredAgain) }
      self.pending = nil
    default: break
    }
    return true
  }

  /// - Returns: false if the refusal belongs to another request.
  func refuse(_ refusal: Refusal, of requestID: RequestID) -> Bool {
    guard var pending, pending.requestID == requestID || pending.rows.contains(requestID) else {
      return false
    }
    client.traceLines.append("batch \(pending.batch.id.sequence) was refused: \(refusal.message)")
    pending.requestID = nil
    pending.rows.remove(requestID)
    self.pending = pending
    switch refusal.code {
    // After a lost connection, the outcome is unknown. A cancelled batch is requested again.
    case .unavailable, .cancelled: break
    case .malformed, .notAllowed, .limit:
      client.fail("client \(client.number)'s batch was refused as \(refusal)")
    case .pruned:
      client.outcomes.pruned.append(pending.batch.id)
      self.pending = nil
    default:
      client.events.record(.batchRefused)
      // A batch that was requested twice may still be running on a connection that the server has not closed yet.
      if pending.timesRequested == 1 { client.outcomes.refused.append(pending.batch.id) }
      self.pending = nil
    }
    return true
  }
}
