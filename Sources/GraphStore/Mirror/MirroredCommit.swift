// Tests: MirrorStoreTests.swift
import GraphModel

/// A commit of a server as its replica receives it.
package struct MirroredCommit: Sendable {
  /// A change of one object.
  package enum Change: Sendable {
    /// The object was made or revived.
    case inserted(ObjectImage)
    /// The object after the commit, with the edits that led to it.
    case updated(ObjectImage, edits: [Edit])
    /// The object was deleted.
    case deleted(ObjectID)

    /// The object.
    package var id: ObjectID {
      switch self {
      case .inserted(let image), .updated(let image, _): image.id
      case .deleted(let id): id
      }
    }
  }

  /// The state after the commit.
  package var token: Token
  package var time: Timestamp
  /// The shown name of the author.
  package var author: String
  package var transaction: TransactionID
  package var undo: UndoGroup?
  package var undoes: Revision?
  package var changes: [Change]

  package init(
    token: Token, time: Timestamp, author: String, transaction: TransactionID, undo: UndoGroup? = nil,
    undoes: Revision? = nil, changes: [Change]
  ) {
    (self.token, self.time, self.author, self.transaction) = (token, time, author, transaction)
    (self.undo, self.undoes, self.changes) = (undo, undoes, changes)
  }

  /// A newer state of the server without a difference that the replica sees.
  package init(unchangedUpTo token: Token, time: Timestamp) {
    self.init(
      token: token, time: time, author: "",
      transaction: TransactionID(replica: .zero, sequence: UInt64(max(0, token.revision))), changes: [])
  }
}
