import GraphModel
import GraphReplica
import GraphTesting
import GraphWire
import Testing

/// The groups of a client's saves, and the order of its undos.
@Suite struct UndoScopeTests {
  private let stack = UniqueID(high: 8, low: 1)

  @Test func savesOutsideGroupsAreSingleGroups() {
    let scope = UndoScope(id: stack, after: 6)
    #expect(scope.group() == UndoGroup(scope: stack, group: 7, name: ""))
    #expect(scope.group(named: "Move") == UndoGroup(scope: stack, group: 8, name: "Move"))
    #expect(!scope.isGrouping)
  }

  @Test func outermostGroupCounts() {
    let scope = UndoScope(id: stack, after: 0)
    scope.endGroup()
    scope.beginGroup(named: "Paste")
    #expect(scope.group() == UndoGroup(scope: stack, group: 1, name: "Paste"))
    scope.beginGroup(named: "Move")
    #expect(scope.group(named: "Color") == UndoGroup(scope: stack, group: 1, name: "Paste"))
    scope.endGroup()
    #expect(scope.isGrouping)
    scope.endGroup()
    #expect(scope.group() == UndoGroup(scope: stack, group: 2, name: ""))
  }

  @Test func endedGroupContinuesUnlessInterrupted() {
    let scope = UndoScope(id: stack, after: 0)
    scope.beginGroup(named: "Move")
    scope.endGroup()
    let group = scope.lastGroup
    scope.beginGroup(named: "Move", continuing: group)
    #expect(scope.group() == UndoGroup(scope: stack, group: 1, name: "Move"))
    scope.endGroup()
    #expect(scope.group() == UndoGroup(scope: stack, group: 2, name: ""))
    scope.beginGroup(named: "Move", continuing: group)
    #expect(scope.group() == UndoGroup(scope: stack, group: 3, name: "Move"))
  }

  @Test func separateSaveIsOutsideOpenGroup() {
    let scope = UndoScope(id: stack, after: 0)
    scope.beginGroup(named: "Typing")
    #expect(scope.group() == UndoGroup(scope: stack, group: 1, name: "Typing"))
    var apart = [UndoGroup]()
    scope.apart(named: "Move") { apart.append(scope.group()) }
    // No text was typed, so the group continues.
    scope.apart(named: "Move", continuing: scope.lastGroup) { apart.append(scope.group()) }
    #expect(apart == Array(repeating: UndoGroup(scope: stack, group: 2, name: "Move"), count: 2))
    let moved = scope.lastGroup
    #expect(scope.group() == UndoGroup(scope: stack, group: 3, name: "Typing"))
    #expect(scope.group() == UndoGroup(scope: stack, group: 3, name: "Typing"))
    scope.apart(named: "Move", continuing: moved) { apart.append(scope.group()) }
    #expect(apart.last == UndoGroup(scope: stack, group: 4, name: "Move"))
    scope.endGroup()
    #expect(!scope.isGrouping)
    #expect(scope.group() == UndoGroup(scope: stack, group: 5, name: ""))
    // Without an open group it is a step like others.
    scope.apart(named: "Tag") { apart.append(scope.group()) }
    #expect(apart.last == UndoGroup(scope: stack, group: 6, name: "Tag"))
    #expect(scope.group() == UndoGroup(scope: stack, group: 7, name: ""))
  }

  @Test func contextSavesInItsScope() throws {
    let script = try ReplicaTranscript()
    _ = script.connect()
    _ = script.context.insert(script.note)
    _ = script.context.save()
    #expect(sent(script) == [nil])
    script.context.undoScope = UndoScope(id: stack, after: 4)
    _ = script.receive(script.committed(1), 2)
    _ = script.context.insert(script.note)
    _ = script.context.save()
    #expect(sent(script) == [UndoGroup(scope: stack, group: 5, name: "")])
    _ = script.receive(script.committed(2), 3)
    _ = script.context.insert(script.note)
    let own = UndoGroup(scope: .zero, group: 1, name: "own")
    _ = script.context.save(undo: own)
    #expect(sent(script) == [own])
  }

  private func sent(_ script: ReplicaTranscript) -> [UndoGroup?] {
    script.context.takeActions().compactMap { action -> UndoGroup?? in
      guard case .send(let message) = action, case .commit(let transaction) = message.body else { return nil }
      return .some(transaction.undo)
    }
  }

  @Test func undoWaitsForPrecedingSaves() throws {
    let script = try ReplicaTranscript()
    _ = script.connect()
    _ = script.context.insert(script.note)
    _ = script.context.save()
    #expect(script.lines() == ["> commit 1: insert"])
    let request = UndoRequest(TransactionID(replica: UniqueID(high: 1, low: 1), sequence: 1 << 32), scope: stack)
    script.context.undo(request)
    #expect(script.lines() == [])
    #expect(script.receive(script.committed(1), 2) == ["> undo", "saved 1 as 1"])
    // It survives a reconnect, as a save does.
    #expect(script.handle(.disconnected) == [])
    #expect(script.connect(head: 1) == ["welcomed", "> undo"])
    #expect(script.receive(script.committed(2), 2) == ["saved \(UInt64(1) << 32) as 2"])
  }

  @Test func undoStateIsReturned() throws {
    let script = try ReplicaTranscript()
    _ = script.connect()
    #expect(script.handle(.request(1, .undoState(scope: stack))) == ["> undo state"])
    let state = UndoState(undo: UndoStep(group: nil, oldest: 3, newest: 3, count: 1))
    script.context.handle(.received(ToClient(2, .undoState(state))))
    guard case .reply(1, .undoState(let answer), isLast: true)? = script.context.takeActions().first else {
      Issue.record("there is no answer")
      return
    }
    #expect(answer == state)
  }
}
