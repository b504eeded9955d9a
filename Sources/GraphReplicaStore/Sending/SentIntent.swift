// Tests: RandomReplicaTests.swift, SynchronizerTests.swift
import GraphModel
import GraphStore

extension Intent {
  /// The save as it is sent now.
  ///
  /// Splices behind an earlier unsent edit are moved to the text that the mirror has, so it must have what was sent
  /// before.
  package func transaction(over mirror: MirrorStore) throws -> Transaction {
    let edit = try invariant(edit(usedNumbers: 0), "a save has changes")
    let head = try mirror.head.revision
    var transaction = try edit.transaction(onto: head) { id, property in
      try mirror.image(of: id).flatMap { image in
        mirror.model.property(property).flatMap { image[$0].stringValue }
      }
    }
    for index in transaction.changes.indices {
      let change = transaction.changes[index]
      if change.kind != .insert, change.base == 0, !change.id.isTemporary {
        transaction.changes[index].base = max(1, head)
      }
    }
    return transaction
  }
}

/// An intent that the server has committed.
package struct CommittedIntent: Sendable {
  package let number: Int64
  package let revision: Revision
  /// The permanent ids of its objects, by the provisional one.
  package let ids: [ObjectID: ObjectID]
  private let conflicts: [Conflict]

  package init(_ number: Int64, _ result: CommitResult) {
    (self.number, revision, conflicts) = (number, result.revision, result.conflicts)
    var ids = [ObjectID: ObjectID]()
    for identity in result.identities {
      let provisional = ProvisionalID.make(
        number: number, place: identity.temporary.key.low, entity: identity.temporary.entity)
      ids[provisional] = identity.permanent
    }
    self.ids = ids
  }

  /// The permanent ids by the temporary ones of the intent.
  private var made: [ObjectID: ObjectID] {
    var made = [ObjectID: ObjectID]()
    for (provisional, permanent) in ids {
      guard let parts = ProvisionalID.parts(of: provisional) else {
        preconditionFailure("the server has made an object of a provisional id: \(provisional)")
      }
      made[.temporary(parts.place, entity: provisional.entity)] = permanent
    }
    return made
  }

  /// Removes the intent from the file, when the mirror has its commit. Edits that a merge policy has dropped stay,
  /// parked.
  /// - Parameter intent: the intent with permanent ids.
  /// - Returns: whether edits are parked.
  package func finish(
    _ intent: Intent?, in unsent: UnsentFile, over mirror: MirrorStore, at time: Timestamp, form: IntentForm
  ) throws -> Bool {
    let answer = try answer(intent, over: mirror, at: time)
    try unsent.finish([answer], form: form)
    return answer.rest != nil
  }

  /// Removes intents from the file, in one step, when the mirror has their commits.
  /// - Returns: the number of those of which edits are parked.
  package static func finish(
    _ finished: [SyncRun.FinishedIntent], in unsent: UnsentFile, over mirror: MirrorStore, at time: Timestamp,
    form: IntentForm
  ) throws -> Int {
    let answers = try finished.map { try $0.committed.answer($0.intent, over: mirror, at: time) }
    try unsent.finish(answers, form: form)
    return answers.count { $0.rest != nil }
  }

  /// The effects of the commit on the file, when the mirror has it.
  /// - Parameter intent: the intent with permanent ids.
  package func answer(
    _ intent: Intent?, over mirror: MirrorStore, at time: Timestamp
  ) throws -> UnsentFile.Answered {
    let head = try mirror.head.revision
    try invariant(revision <= head, "the mirror has the commit of an intent that is removed")
    var answer = UnsentFile.Answered(number, revision: revision)
    for (provisional, permanent) in ids {
      guard let image = try mirror.image(of: permanent), let entity = mirror.model.entity(permanent.entity) else {
        continue
      }
      for property in entity.assignedProperties where property.attribute?.assignment == .sequence {
        if case .integer(let number) = image[property] { answer.numbers[provisional] = number }
      }
    }
    answer.ids = ids
    answer.rest = intent.flatMap { $0.remainder(after: conflicts, made: made, revision: revision, at: time) }
    return answer
  }
}
