import GraphModel
import GraphReplica
import GraphWire

/// Undo and redo of the next step, of a step in a separate undo stack, or of a named commit.
///
/// A step is one save or a named group of several.
extension ClientNode {
  /// Undoes or redoes a step of the user.
  ///
  /// The step may be from before a restart, and other clients may have changed its objects since.
  func undo(_ random: inout SeededRandom) -> String {
    var request = UndoRequest(context.newTransactionID(), redo: random.chance(35))
    switch random.below(10) {
    case 0...3: break
    case 4...6: request.scope = context.undoScope?.id ?? .zero
    default:
      // Possibly from the middle of the stack.
      request.revision =
        request.redo ? nil : random.pick(acknowledged.suffix(12).filter { undos[$0.id] == nil })?.revision
    }
    context.undo(request)
    return "\(request.redo ? "redo" : "undo"), transaction \(request.id.sequence)"
  }

  /// Takes or leaves a separate undo stack, or begins or ends a group, whose saves form one step.
  func group(_ random: inout SeededRandom) -> String {
    guard let scope = context.undoScope else {
      scopesMade += 1
      // One of two stacks, which exist again after a restart; group numbers are never reused.
      let id = UniqueID(high: UInt64(number) + 1, low: 0x5C0 + UInt64(random.below(2)))
      context.undoScope = UndoScope(id: id, after: scopesMade << 20)
      return "take a stack"
    }
    if scope.isGrouping {
      scope.endGroup()
      return "end a group"
    }
    if random.chance(20) {
      context.undoScope = nil
      return "leave the stack"
    }
    scope.beginGroup(named: "group \(random.below(100))")
    return "begin a group"
  }

  /// Performs a step of several saves, sometimes followed by its undo.
  func performStep(_ random: inout SeededRandom) -> String {
    if context.undoScope == nil { _ = group(&random) }
    guard let scope = context.undoScope else { return "no stack" }
    scope.beginGroup(named: "step \(random.below(100))")
    var said = [String]()
    for _ in 0..<(2 + random.below(2)) {
      switch random.below(4) {
      case 0: said.append(describe(&random))
      case 1: said.append(placeItems(&random))
      case 2: said.append(arrangeLabels(&random))
      default: said.append(insertItem(&random))
      }
    }
    scope.endGroup()
    if !scope.isGrouping, random.chance(50) {
      context.undo(UndoRequest(context.newTransactionID(), scope: scope.id))
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
  func requestUndoState(_ random: inout SeededRandom) {
    let requestID = newRequestID()
    undoStates[requestID] = ReportedUndoState(scope: random.chance(50) ? nil : context.undoScope?.id ?? .zero)
    context.handle(.request(requestID, .undoState(scope: undoStates[requestID]?.scope)))
    perform()
  }

  /// - Returns: false if the answer belongs to another request.
  func receiveUndoState(_ reply: ToClient.Body, of requestID: RequestID) -> Bool {
    guard var reported = undoStates[requestID], case .undoState(let state) = reply else { return false }
    reported.state = state
    undoStates[requestID] = reported
    return true
  }
}

extension Simulation {
  /// Checks that a committed undo took the step that its user meant, and describes a difference.
  func failure(ofUndo record: CommitRecord, of client: ClientNode) -> String? {
    guard record.undoes != nil, let request = client.undos[record.transaction],
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
    events.note(request.redo ? .redone : .undone)
    if request.scope != nil { events.note(.undoneInScope) }
    if step?.commits.count ?? 0 > 1 { events.note(.undoneGroup) }
    if request.revision != nil {
      events.note(step?.newest == stack.last?.newest ? .undoneByRevision : .undoneInMiddle)
    }
    return nil
  }

  /// Compares the undo states that clients received, at a quiet moment.
  func checkUndoStates() throws {
    guard let floor = try server?.store.oldestRevision else { return }
    for client in clients {
      for (_, told) in client.undoStates.sorted(by: { $0.key < $1.key }) {
        // A lost connection ends its requests.
        guard let state = told.state else { continue }
        let twin = UndoStackModel(recorder.records, of: "client \(client.number)", scope: told.scope, after: floor)
        if state != twin.state {
          try check(
            "client \(client.number) has received undo \(state.undo?.newest ?? 0) and redo "
              + "\(state.redo?.newest ?? 0), it is \(twin.state.undo?.newest ?? 0) and \(twin.state.redo?.newest ?? 0)")
        }
        events.note(.undoStateTold)
      }
      client.undoStates = [:]
    }
  }
}
