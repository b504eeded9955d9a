import GraphModel
import GraphReplica
import GraphWire

/// Undo and redo of the next step, of a step in a separate undo stack, or of a named commit.
///
/// A step is one save or a named group of several.
final class ClientUndo {
  private unowned let client: ClientNode
  /// All undos and redos that this client has sent, before and after restarts.
  private(set) var requests = [TransactionID: UndoRequest]()
  /// The number of undo stacks that this client has taken, before and after restarts.
  private var scopesMade: UInt64 = 0
  /// The undo states that this client has requested.
  private var states = [RequestID: ReportedUndoState]()

  init(_ client: ClientNode) { self.client = client }

  /// Forgets the requested undo states, because the process has died.
  func restart() { states = [:] }

  /// Records that an undo was sent.
  func record(sent request: UndoRequest) { requests[request.id] = request }

  /// Undoes or redoes a step of the user.
  ///
  /// The step may be from before a restart, and other clients may have changed its objects since.
  func request(_ random: inout SeededRandom) -> String {
    var request = UndoRequest(client.context.newTransactionID(), redo: random.chance(35))
    switch random.below(10) {
    case 0...3: break
    case 4...6: request.scope = client.context.undoScope?.id ?? .zero
    default:
      // Possibly from the middle of the stack.
      request.revision =
        request.redo
        ? nil : random.pick(client.outcomes.acknowledged.suffix(12).filter { requests[$0.id] == nil })?.revision
    }
    client.context.undo(request)
    return "\(request.redo ? "redo" : "undo"), transaction \(request.id.sequence)"
  }

  /// Takes or leaves a separate undo stack, or begins or ends a group, whose saves form one step.
  func group(_ random: inout SeededRandom) -> String {
    guard let scope = client.context.undoScope else {
      scopesMade += 1
      // One of two stacks, which exist again after a restart; group numbers are never reused.
      let id = UniqueID(high: UInt64(client.number) + 1, low: 0x5C0 + UInt64(random.below(2)))
      client.context.undoScope = UndoScope(id: id, after: scopesMade << 20)
      return "take a stack"
    }
    if scope.isGrouping {
      scope.endGroup()
      return "end a group"
    }
    if random.chance(20) {
      client.context.undoScope = nil
      return "leave the stack"
    }
    scope.beginGroup(named: "group \(random.below(100))")
    return "begin a group"
  }

  /// Performs a step of several saves, sometimes followed by its undo.
  func performStep(_ random: inout SeededRandom) -> String {
    if client.context.undoScope == nil { _ = group(&random) }
    guard let scope = client.context.undoScope else { return "no stack" }
    scope.beginGroup(named: "step \(random.below(100))")
    var said = [String]()
    for _ in 0..<(2 + random.below(2)) {
      switch random.below(4) {
      case 0: said.append(client.describe(&random))
      case 1: said.append(client.placeItems(&random))
      case 2: said.append(client.arrangeLabels(&random))
      default: said.append(client.insertItem(&random))
      }
    }
    scope.endGroup()
    if !scope.isGrouping, random.chance(50) {
      client.context.undo(UndoRequest(client.context.newTransactionID(), scope: scope.id))
      said.append("undo")
    }
    return "step: " + said.joined(separator: "; ")
  }

  // MARK: - Undo state

  /// The steps that the server reports for the next undo and redo.
  struct ReportedUndoState {
    let scope: UniqueID?
    var state: UndoState?
  }

  /// Requests the undo state at a quiet moment, so that the answer belongs to the recorded state.
  func requestState(_ random: inout SeededRandom) {
    let requestID = client.newRequestID()
    states[requestID] = ReportedUndoState(scope: random.chance(50) ? nil : client.context.undoScope?.id ?? .zero)
    client.context.handle(.request(requestID, .undoState(scope: states[requestID]?.scope)))
    client.perform()
  }

  /// - Returns: false if the answer belongs to another request.
  func receive(_ reply: ToClient.Body, of requestID: RequestID) -> Bool {
    guard var reported = states[requestID], case .undoState(let state) = reply else { return false }
    reported.state = state
    states[requestID] = reported
    return true
  }

  /// Takes the reported states, to be checked.
  fileprivate func removeStates() -> [ReportedUndoState] {
    defer { states = [:] }
    return states.sorted { $0.key < $1.key }.map(\.value)
  }
}

extension Simulation {
  /// Checks that a committed undo took the step that its user meant, and describes a difference.
  func failure(ofUndo record: CommitRecord, of client: ClientNode) -> String? {
    guard record.undoes != nil, let request = client.undo.requests[record.transaction],
      let floor = try? server?.store.oldestRevision
    else { return nil }
    let before = recorder.records.prefix { $0.revision < record.revision }
    let twin = UndoStackModel(before, of: record.author, scope: request.scope, after: floor)
    if let reason = twin.failure(of: request, record) { return "client \(client.number): \(reason)" }
    let stack = request.redo ? twin.undone : twin.undoable
    let step = stack.last { $0.newest == record.redoes ?? record.undoes }
    let whole = UndoStackModel(before, of: record.author, scope: request.scope, after: 0)
    if !(whole.undoable + whole.undone).contains(where: { $0.commits == step?.commits }) {
      undoneInPart.insert(record.transaction)
    }
    events.record(request.redo ? .redone : .undone)
    if request.scope != nil { events.record(.undoneInScope) }
    if let step, step.commits.count > 1 { events.record(.undoneGroup) }
    if request.revision != nil {
      events.record(step?.newest == stack.last?.newest ? .undoneByRevision : .undoneInMiddle)
    }
    return nil
  }

  /// Compares the undo states that clients received, at a quiet moment.
  func checkUndoStates() throws {
    let floor = try runningServer.store.oldestRevision
    func name(_ step: UndoStep?) -> String { if let step { "\(step.newest)" } else { "none" } }
    for client in clients {
      for reported in client.undo.removeStates() {
        // A lost connection ends its requests.
        guard let state = reported.state else { continue }
        let twin = UndoStackModel(recorder.records, of: "client \(client.number)", scope: reported.scope, after: floor)
        if state != twin.state {
          try check(
            "client \(client.number) has received undo \(name(state.undo)) and redo \(name(state.redo)), it is "
              + "\(name(twin.state.undo)) and \(name(twin.state.redo))")
        }
        events.record(.undoStateReported)
      }
    }
  }
}
