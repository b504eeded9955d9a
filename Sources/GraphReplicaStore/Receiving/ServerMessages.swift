// Tests: SynchronizerTests.swift
import GraphModel
import GraphStore
import GraphWire

extension MirroredCommit {
  /// A commit of the server; nil if it does not say what has changed, so that the mirror must be loaded again: a batch
  /// with too many changes, or an object that the user no longer sees.
  /// - Parameters:
  ///   - entry: nil if nothing that the user sees has changed up to the token.
  ///   - now: the time of a state without a commit.
  package init?(_ entry: CommitEntry?, at token: Token, now: Timestamp) {
    guard let entry else {
      self.init(unchangedUpTo: token, time: now)
      return
    }
    guard entry.unlisted == 0, entry.more == 0 else { return nil }
    var changes = [Change]()
    for change in entry.changes {
      switch change.kind {
      case .removed:
        guard change.deleted else { return nil }
        changes.append(.deleted(change.id))
      case .inserted, .updated:
        guard let image = change.object else { return nil }
        changes.append(change.kind == .inserted ? .inserted(image) : .updated(image, edits: change.edits))
      }
    }
    self.init(
      token: token, time: entry.time, author: entry.author, transaction: entry.transaction, undo: entry.undo,
      undoes: entry.undoes, changes: changes)
  }
}

extension SyncRun.Server {
  package init(_ welcome: Welcome, _ model: Model) {
    self.init(
      store: welcome.head.store, principal: welcome.principal, author: welcome.author,
      lastSequence: welcome.lastSequence, seesAll: Self.seesAll(welcome.grants, model))
  }

  /// Whether a user of these roles sees all objects. The strongest role may be that of one scope, and a rule for
  /// reading may hide objects from an owner, too.
  private static func seesAll(_ grants: [Welcome.GrantEntry], _ model: Model) -> Bool {
    if grants.isEmpty { return true }
    return model.entitiesWithReadRules.isEmpty
      && grants.contains { $0.scope == nil && $0.role == Role.owner.rawValue }
  }
}

extension SyncRun {
  /// Ends a run in which the roles of the user have changed: the next one loads what the user sees now.
  package static let changedRights = Refusal(
    .unavailable, "your roles were changed while this replica was synchronized: synchronize it again")
}
