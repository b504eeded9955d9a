// Tests: WriteAccessTests.swift
import GraphModel

/// The access judges of requests, and the values that they remove from the answers. An undo and a restore are planned
/// from history, with objects and conflicts that the principal may not see; the planner judges the resulting
/// transaction like any other.
extension StoreWriter {
  /// The judge of a request; nil without rights.
  func judge(for rights: Rights?) -> AccessJudge? {
    guard let rights else { return nil }
    if let known = judges[rights] { return known }
    // Rights change with grants, and old ones never return.
    if judges.count >= Self.maximumJudges { judges.removeAll() }
    let judge = AccessJudge(rights, model: layout.model)
    judges[rights] = judge
    return judge
  }

  private static let maximumJudges = 1_024

  /// Returns the outcome of a request that was committed before, as its principal may know it now; nil for a new one.
  func knownOutcome(of request: WriteRequest) throws -> Outcome? {
    let known = try earlierOutcome(of: request.id)
    let (author, rights) = request.principal
    guard let rights, case .committed(var committed)? = known else { return known }
    if let stamp = try CommitAuthors(connection).stamp(of: committed.revision),
      !UTF8Comparison.equal(stamp.author, author.id)
    {
      return .refused(
        Refusal(.notAllowed, "the transaction id belongs to another user; connect with a new random replica id"))
    }
    // The grants may have changed since.
    committed.conflicts = try visible(committed.conflicts, of: committed.revision, to: judge(for: rights))
    return .committed(committed)
  }

  /// The conflicts without values that the principal can't see.
  /// - Parameter commit: the commit whose conflicts these are; nil if it does not exist yet.
  func visible(_ conflicts: [Conflict], of commit: Revision? = nil, to judge: AccessJudge?) throws -> [Conflict] {
    guard let judge else { return conflicts }
    return try judge.withoutInvisible(conflicts, of: commit, reader: PlanReader(writer: self))
  }

  /// Runs a planner, whose refusals list only conflicts that the principal sees.
  func visible<Plan>(to judge: AccessJudge?, _ plan: () throws -> Plan) throws -> Plan {
    do {
      return try plan()
    } catch var refusal as Refusal where !refusal.conflicts.isEmpty {
      refusal.conflicts = try visible(refusal.conflicts, to: judge)
      throw refusal
    }
  }

  /// Refuses to restore an object that the principal can't see, with the message for an object that never existed.
  func refuseInvisible(_ request: RestoreRequest, _ judge: AccessJudge?) throws {
    switch request.scope {
    case .everything: break
    case .object(let id), .contents(let id):
      let known = try history.located(id).id
      if let judge, try judge.isInvisible(known, reader: PlanReader(writer: self)) {
        throw HistoryReader.neverExisted(id)
      }
    }
  }
}
