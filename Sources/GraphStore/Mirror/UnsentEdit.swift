// Tests: MirrorOverlayTests.swift
import GraphModel

/// A save that the server has not answered, in the numbers of the present model.
package struct UnsentEdit: Sendable {
  /// The number in the replica's queue, from 1.
  package var number: Int64
  /// The save. Objects that it inserts have temporary ids; those of earlier edits have provisional ones.
  package var transaction: Transaction
  /// The shown name of its user, as in the mirror's commits.
  package var author: String
  /// The id of a user with an account, which the server sets as the author; nil for a user whose id is the name.
  package var principal: String?
  /// The time at which the edit was made, by the client's clock.
  package var time: Timestamp
  /// The provisional numbers that earlier edits have used up.
  package var usedNumbers: Int64
  /// The texts to which splices refer that an earlier unsent edit has changed, too.
  package var texts: [ObjectID: [PropertyNumber: String]]
  /// The committed step that the edit undoes or redoes, in place of a save.
  package var step: CommittedStep?

  package struct CommittedStep: Sendable {
    /// The server's revision.
    package var revision: Revision
    package var redo: Bool

    package init(revision: Revision, redo: Bool) { (self.revision, self.redo) = (revision, redo) }
  }

  package init(
    number: Int64, transaction: Transaction, author: String, time: Timestamp, usedNumbers: Int64 = 0,
    texts: [ObjectID: [PropertyNumber: String]] = [:]
  ) {
    (self.number, self.transaction, self.author, self.time) = (number, transaction, author, time)
    (self.usedNumbers, self.texts) = (usedNumbers, texts)
  }

  /// The author in the values that the rules assign.
  var planningAuthor: String { if let principal { principal } else { author } }

  /// The id that an inserted object has in the replica until the server has made it.
  package func provisionalID(of temporary: ObjectID) -> ObjectID {
    ProvisionalID.make(number: number, place: temporary.key.low, entity: temporary.entity)
  }

  /// The save, with the splices that follow another unsent edit moved to the text as it is now.
  ///
  /// Their offsets refer to a text that the server never had if others have edited it meanwhile. They become changes of
  /// their own with the present as their base; the other edits keep theirs, so that conflicts are still found.
  /// - Parameters:
  ///   - base: the present revision.
  ///   - text: the present text of an object's property.
  package func transaction(
    onto base: Revision, text: (ObjectID, PropertyNumber) throws -> String?
  ) rethrows -> Transaction {
    if texts.isEmpty { return transaction }
    var moved = transaction
    moved.changes = []
    for var change in transaction.changes {
      guard change.kind == .update, let known = texts[change.id] else {
        moved.changes.append(change)
        continue
      }
      var late = Change(.update, change.id, base: base)
      var remaining = [Edit]()
      for edit in change.edits {
        if case .splice(let splices) = edit.action, let before = known[edit.property],
          let now = try text(change.id, edit.property)
        {
          let others = TextSplice.differences(from: before, to: now)
          late.edits.append(Edit(edit.property, .splice(TextSplice.rebase(splices, over: others))))
        } else {
          remaining.append(edit)
        }
      }
      change.edits = remaining
      if !remaining.isEmpty || change.onlyIf != nil { moved.changes.append(change) }
      if !late.edits.isEmpty { moved.changes.append(late) }
    }
    return moved
  }
}

extension Change {
  /// The object, and the objects that its edits name.
  package var namedObjects: [ObjectID] { [id] + edits.flatMap(\.namedObjects) }
}

extension Edit {
  /// The objects that the edit names.
  package var namedObjects: [ObjectID] {
    switch action {
    case .set(let value): value.objectIDs
    case .splice: []
    case .members(let added, let removed): added + removed
    case .place(let objects, let anchor): if let anchor { objects + [anchor] } else { objects }
    }
  }
}

/// The effect of an unsent edit on the graph that its author sees.
package struct PlannedEdit: Sendable {
  package var number: Int64
  /// The revision that its objects have here, above all that the mirror has.
  package var revision: Revision
  /// The plan, or the reason why the rules do not allow the edit on the mirror's present state. The server decides in
  /// any case.
  package var result: Result<TransactionPlan, Refusal>
}
