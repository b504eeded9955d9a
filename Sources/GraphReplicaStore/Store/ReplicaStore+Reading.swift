// Tests: ReplicaStoreTests.swift
import GraphModel
import GraphStore

import struct GraphModel.FetchRequest

/// Reads of the graph that the user sees, and the refusal of what only the server has.
extension ReplicaStore {
  public func answer(
    _ request: FetchRequest, seenBy visibility: Visibility?, while isWanted: () -> Bool,
    withEncodings body: (_ element: FetchElement, _ encoding: [UInt8]?) throws -> Void
  ) throws -> FetchCompletion {
    if request.at != nil { throw Self.needsServer("an earlier state") }
    return try overlay.answer(request, at: head, while: isWanted, body)
  }

  public func export(
    seenBy visibility: Visibility?, begin: (Token, Int) throws -> Void, body: (ObjectImage) throws -> Void
  ) throws -> AnswerCompletion {
    let head = head
    try overlay.export(begin: { try begin(head, $0) }, body: body)
    return AnswerCompletion(at: head)
  }

  public func revision(at time: Timestamp) throws -> RevisionAtTime {
    guard time == .max else { throw Self.needsServer("an earlier state") }
    return RevisionAtTime(revision: 0, time: 0, author: "", head: head)
  }

  /// The steps of the queue, and the newest ones that the server has committed.
  public func undoState(of author: String, scope: UniqueID?) throws -> UndoState {
    UndoState(
      undo: try undoTarget(scope).flatMap { try step(of: $0) },
      redo: try redoTarget(scope).flatMap { try step(of: $0) })
  }

  public func commits(
    after: Revision, through: Revision?, maximumChanges: Int, maximumBytes: Int
  ) throws -> [CommitRecord] {
    let head = state.withLock { $0.head }
    if after >= head { return [] }
    throw Refusal.pruned(after, oldest: head)
  }

  public func log(
    _ request: LogRequest, seenBy visibility: Visibility?, maximumChanges: Int, while isWanted: () -> Bool,
    _ body: (CommitRecord) throws -> Void
  ) throws -> AnswerCompletion {
    let records = state.withLock { $0.records }
    // A program that has just made a commit may show it.
    guard request.after >= ProvisionalRevision.base else { throw Self.needsServer("history") }
    let through = request.through == 0 ? Revision.max : request.through
    let known = records.filter { $0.revision > request.after && $0.revision <= through }
    let limit = request.limit == 0 ? known.count : Int(clamping: request.limit)
    for record in known.reversed().prefix(limit) { try body(record) }
    return AnswerCompletion(at: head)
  }

  public func follow(_ request: FollowRequest, seenBy visibility: Visibility?) throws -> CommitPage {
    // A client that comes from the server, or from an earlier instance of this store, loads everything again.
    guard try recognizes(request.since) else {
      throw Refusal(.notFound, "the token is of another store; start again with the present state")
    }
    throw Self.needsServer("history")
  }

  public func differences(
    _ request: DifferenceRequest, seenBy visibility: Visibility?, _ body: (ObjectDifference) throws -> Void
  ) throws -> AnswerCompletion {
    throw Self.needsServer("history")
  }

  public func origin(
    of property: PropertyNumber, of id: ObjectID, seenBy visibility: Visibility?
  ) throws -> ValueOrigin {
    throw Self.needsServer("the origin of a value")
  }

  public func pruning(_ policy: HistoryPolicy, now: Timestamp, through ceiling: Revision) throws -> HistoryPruning {
    throw Self.needsServer("history")
  }

  public func prune(through target: Revision) throws -> Bool { false }

  public func forgetNames(of principals: [String]) throws { throw Self.needsServer("history") }
}
