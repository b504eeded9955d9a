// Tests: IntentFormTests.swift
import GraphModel
import GraphStore

/// A save that the server has not answered, as it waits in the queue of a replica (docs/guides/offline.md).
///
/// In memory it has the numbers of the present model. Its form in the file has names, which later versions of the model
/// understand.
package struct Intent: Sendable, Equatable {
  /// The user's action.
  package enum Content: Sendable, Equatable {
    /// The changes of a save. Inserted objects have temporary ids, objects of earlier intents provisional ones.
    case changes([Change])
    /// The undo or redo of a step that the server has committed.
    case undo(revision: Revision, redo: Bool)
    /// The undo of an earlier intent that is on its way. With its answer it becomes the undo of a revision.
    case undoEdit(Int64)
  }

  /// How far the intent has come. Answered ones are removed.
  package enum State: Sendable, Equatable {
    case queued
    /// It may have reached the server since this time.
    case left(Timestamp)
    case parked(Parking)
  }

  /// The number in the queue, from 1, never used again.
  package var number: Int64
  /// The id under which it is sent.
  package var transaction: TransactionID
  /// The version of the model in whose names it was written.
  package var model: IntentModel
  /// The shown name of the user.
  package var author: String
  /// When the user made it, by the client's clock.
  package var made: Timestamp
  package var policy: MergePolicy
  package var undo: UndoGroup?
  package var content: Content
  /// The texts to which splices refer that an earlier intent edits, too.
  package var texts = [ObjectID: [PropertyNumber: String]]()
  package var state = State.queued

  package init(
    number: Int64, transaction: TransactionID, model: Model, author: String, made: Timestamp,
    policy: MergePolicy = .error, undo: UndoGroup? = nil, content: Content
  ) {
    (self.number, self.transaction, self.author, self.made) = (number, transaction, author, made)
    (self.policy, self.undo, self.content) = (policy, undo, content)
    self.model = IntentModel(model)
  }

  /// The changes; none for an undo.
  package var changes: [Change] { if case .changes(let changes) = content { changes } else { [] } }

  package var isParked: Bool { if case .parked = state { true } else { false } }

  /// Whether it may have reached the server.
  package var hasLeft: Bool {
    switch state {
    case .queued: false
    case .left: true
    case .parked(let parking): parking.left != nil
    }
  }

  /// The edit over a mirror; nil for the undo of an intent, because neither of the two is shown.
  /// - Parameter account: the user's account; nil without one.
  package func edit(usedNumbers: Int64, of account: Principal? = nil) -> UnsentEdit? {
    var edit = UnsentEdit(
      number: number,
      transaction: Transaction(id: transaction, policy: policy, undo: undo, changes: changes), author: author,
      time: made, usedNumbers: usedNumbers, texts: texts)
    edit.principal = account?.id
    switch content {
    case .changes: break
    case .undo(let revision, let redo): edit.step = UnsentEdit.CommittedStep(revision: revision, redo: redo)
    case .undoEdit: return nil
    }
    return edit
  }

  /// The numbers of the earlier intents that insert objects which this one names, or that it undoes.
  package var prerequisites: Set<Int64> {
    var numbers = Set<Int64>()
    if case .undoEdit(let number) = content { numbers.insert(number) }
    for id in changes.flatMap(\.namedObjects) {
      if let parts = ProvisionalID.parts(of: id), parts.number != number { numbers.insert(parts.number) }
    }
    return numbers
  }

  /// When it left; nil if it has not.
  package var leftTime: Timestamp? {
    switch state {
    case .queued: nil
    case .left(let time): time
    case .parked(let parking): parking.left
    }
  }

  /// Replaces ids of objects, after the server has made them.
  /// - Parameter revisions: the revisions at which it has made them, by the old id: the base of what the user has seen.
  package mutating func rename(_ ids: [ObjectID: ObjectID], madeAt revisions: [ObjectID: Revision] = [:]) {
    if ids.isEmpty { return }
    if case .changes(var changes) = content {
      for index in changes.indices where changes[index].base == 0 {
        if let revision = revisions[changes[index].id] { changes[index].base = revision }
      }
      content = .changes(Transaction(id: transaction, changes: changes).renaming(ids).changes)
    }
    for old in Array(texts.keys) {
      if let new = ids[old], let known = texts.removeValue(forKey: old) { texts[new] = known }
    }
  }

  /// The intent with other ids for some objects.
  package func renamed(_ ids: [ObjectID: ObjectID], madeAt revisions: [ObjectID: Revision] = [:]) -> Intent {
    var intent = self
    intent.rename(ids, madeAt: revisions)
    return intent
  }
}

/// The version of the model in whose names an intent is written.
package struct IntentModel: Sendable, Hashable {
  package var name: String
  package var version: Int64
  /// 32 hexadecimal digits.
  package var hash: String

  package init(name: String, version: Int64, hash: String) {
    (self.name, self.version, self.hash) = (name, version, hash)
  }

  package init(_ model: Model) {
    self.init(name: model.name, version: Int64(model.version), hash: model.hash.description)
  }
}

/// Why an intent waits for its user.
package struct Parking: Sendable, Equatable {
  /// The code of the server's refusal, or `model` or `waits`.
  package var code: String
  package var message: String
  /// By the client's clock.
  package var at: Timestamp
  /// When it left, if it did.
  package var left: Timestamp?
  package var conflicts = [Conflict]()
  package var violations = [Violation]()
  /// The whole texts that the user wrote, where the copy knew the texts before the intent's splices.
  package var texts = [ObjectID: [PropertyNumber: String]]()
  /// The parked intent whose objects it names.
  package var waitsFor: Int64?

  package init(code: String, message: String, at: Timestamp, left: Timestamp? = nil, waitsFor: Int64? = nil) {
    (self.code, self.message, self.at, self.left, self.waitsFor) = (code, message, at, left, waitsFor)
  }

  package init(_ refusal: Refusal, at: Timestamp, left: Timestamp?) {
    self.init(code: refusal.code.rawValue, message: refusal.message, at: at, left: left)
    (conflicts, violations) = (refusal.conflicts, refusal.violations)
  }

  /// The code of an intent that has no meaning in the present version of the model.
  package static let model = "model"
  /// The code of an intent that names an object which a parked one inserts.
  package static let waits = "waits"
}
