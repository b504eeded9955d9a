import GraphModel
import GraphStore

/// The planted bugs of the store.
extension PlantedBug {
  /// The hooks of a store that has this bug; none for a bug of another part.
  var storeHooks: StoreHooks {
    var hooks = StoreHooks()
    switch self {
    case .notSynchronous: hooks.didOpenWriter = { execute in try execute("PRAGMA synchronous = OFF") }
    case .replyBeforeCommit:
      hooks.willBegin = { isInTransaction, execute in if isInTransaction { try execute("COMMIT") } }
      hooks.commit = { _ in }
    case .forgottenTransactionID: hooks.earlierOutcome = { _ in nil }
    case .forgottenPrunedID:
      hooks.earlierOutcome = { outcome in
        if case .refused(let refusal)? = outcome, refusal.code == .pruned { nil } else { outcome }
      }
    case .unspreadPlaces:
      hooks.alterPlan = { plan, _ in plan.removeUpdates { change, edit in change.spacing.contains(edit.property) } }
    case .lostCounts:
      hooks.alterPlan = { plan, model in
        plan.removeUpdates { _, edit in model.property(edit.property)?.attribute?.derivation?.counted != nil }
      }
    case .forgottenFloor: hooks.past = { past in past.filter { !$0.isPruned } }
    case .earlyRelease: hooks.skipsSync = true
    case .hiddenCommits: hooks.hidesGathered = true
    default: break
    }
    return hooks
  }
}

extension TransactionPlan {
  /// Removes the updates of which every edit matches.
  fileprivate mutating func removeUpdates(where matches: (ObjectChange, Edit) -> Bool) {
    changes.removeAll { change in
      change.kind == .updated && !change.edits.isEmpty && change.edits.allSatisfy { matches(change, $0) }
    }
  }
}
