// Tests: SynchronizerTests.swift
import GraphClient
import GraphModel
import GraphStore
import GraphWire

extension MirroredCommit {
  /// A commit of the server; nil if it does not say what has changed, so that the mirror must be loaded again: a batch
  /// with too many changes, or an object that the user no longer sees.
  init?(_ followed: GraphClient.FollowedCommit, now: Timestamp) {
    guard let entry = followed.commit else {
      self.init(unchangedUpTo: followed.token, time: now)
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
        changes.append(.present(image, edits: change.edits))
      }
    }
    self.init(
      token: followed.token, time: entry.time, author: entry.author, transaction: entry.transaction, undo: entry.undo,
      undoes: entry.undoes, changes: changes)
  }
}
