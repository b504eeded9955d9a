import GraphModel
import Testing

@testable import GraphSimulation

@Suite struct UndoTwinTests {
  private static let scope = UniqueID(high: 0, low: 7)

  private static func commit(
    _ revision: Revision, by author: String = "ann", group: UInt64? = nil, undoes: Revision? = nil,
    redoes: Revision? = nil, isIdle: Bool = false
  ) -> CommitRecord {
    let change = ObjectChange(kind: .inserted, id: .temporary(1, entity: 1), before: nil, after: nil)
    return CommitRecord(
      revision: revision, time: revision, author: author,
      transaction: TransactionID(replica: .zero, sequence: UInt64(revision)), fingerprint: 0,
      undo: group.map { UndoGroup(scope: scope, group: $0, name: "") }, undoes: undoes, redoes: redoes,
      changes: isIdle ? [] : [change])
  }

  @Test func stepsAreRunsOnAStackPerScope() {
    let records = [
      Self.commit(1), Self.commit(2, group: 1), Self.commit(3, by: "bob"), Self.commit(4), Self.commit(5, group: 1),
    ]
    let all = UndoStackModel(records, of: "ann", scope: nil, after: 0)
    #expect(all.undoable.map(\.commits) == [[1], [4], [2, 5]])
    #expect(UndoStackModel(records, of: "ann", scope: Self.scope, after: 0).undoable.map(\.commits) == [[2, 5]])
    #expect(UndoStackModel(records, of: "ann", scope: .zero, after: 0).undoable.map(\.commits) == [[1], [4]])
    #expect(UndoStackModel(records, of: "ann", scope: nil, after: 2).undoable.map(\.commits) == [[4], [5]])
  }

  @Test func undoneStepIsRedoableUntilNextCommit() {
    var records = [Self.commit(1), Self.commit(2, group: 1), Self.commit(3, group: 1, undoes: 2)]
    var twin = UndoStackModel(records, of: "ann", scope: nil, after: 0)
    #expect((twin.state.undo?.newest, twin.state.redo?.newest) == (1, 2))
    let redo = UndoRequest(TransactionID(replica: .zero, sequence: 4), redo: true)
    #expect(twin.failure(of: redo, Self.commit(4, group: 1, undoes: 3, redoes: 2)) == nil)
    #expect(twin.failure(of: redo, Self.commit(4, undoes: 3, redoes: 1)) != nil)
    // The undo has ended the run.
    records += [Self.commit(4, group: 1, undoes: 3, redoes: 2), Self.commit(5, group: 1)]
    twin = UndoStackModel(records, of: "ann", scope: nil, after: 0)
    #expect(twin.undoable.map(\.commits) == [[1], [2], [5]])
    #expect(twin.undone.isEmpty)
  }

  @Test func emptySaveRefersToStepOfItsGroup() {
    func undo(_ revision: Revision) -> UndoRequest {
      UndoRequest(TransactionID(replica: .zero, sequence: 9), revision: revision)
    }
    let records = [
      Self.commit(1, group: 1, isIdle: true), Self.commit(2, group: 1), Self.commit(3, group: 1, isIdle: true),
      Self.commit(4, isIdle: true),
    ]
    let twin = UndoStackModel(records, of: "ann", scope: nil, after: 0)
    #expect(twin.undoable.map(\.commits) == [[2]])
    for revision in Revision(1)...3 {
      #expect(twin.failure(of: undo(revision), Self.commit(5, group: 1, undoes: 2)) == nil)
    }
    #expect(twin.failure(of: undo(4), Self.commit(5, group: 1, undoes: 2)) != nil)
  }
}
