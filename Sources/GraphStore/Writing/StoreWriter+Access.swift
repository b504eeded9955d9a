// Tests: WriteAccessTests.swift
import GraphModel

/// The judges of requests, and what they keep out of the answers. An undo and a restore are planned from history, with
/// objects and conflicts that the principal may not see; the planner judges the resulting transaction like any other.
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

  /// The conflicts without what the principal can't see.
  func visible(_ conflicts: [Conflict], to judge: AccessJudge?) throws -> [Conflict] {
    guard let judge else { return conflicts }
    return try judge.withoutInvisible(conflicts, reader: PlanReader(writer: self))
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

  /// Refuses to restore an object that the principal can't see, in the words for one that never existed.
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
