// Tests: RandomReplicaTests.swift, SynchronizerTests.swift
import GraphModel
import GraphStore

extension Intent {
  /// The save as it is sent now.
  ///
  /// Splices behind an earlier unsent edit are moved to the text that the mirror has, so it must have what was sent
  /// before.
  /// - Parameter mirror: the mirror's state; nil without a mirror, for an intent without such splices.
  package func transaction(over mirror: MirrorStore.Snapshot?) throws -> Transaction {
    let edit = try invariant(edit(usedNumbers: 0), "a save has changes")
    try invariant(mirror != nil || texts.isEmpty, "splices behind an unsent edit are sent over a mirror")
    let head: Revision = if let mirror { mirror.head } else { 0 }
    var transaction = try edit.transaction(onto: head) { id, property in
      guard let mirror, let image = try mirror.image(of: id), let property = mirror.model.property(property) else {
        return nil
      }
      if case .string(let text) = image[property] { return text }
      return ""
    }
    for index in transaction.changes.indices {
      let change = transaction.changes[index]
      if change.kind != .insert, change.base == 0, !change.id.isTemporary {
        transaction.changes[index].base = max(1, head)
      }
    }
    return transaction
  }

  /// The refusal of a save that can't be sent over a mirror of a part; nil for any other save.
  ///
  /// Its splices refer to a text of an object that has left the part. The server has another text, which only a mirror
  /// with the object would show. A mirror of everything lacks deleted objects only, which the server refuses itself.
  package func refusalOfMissingText(in mirror: MirrorStore) throws -> Refusal? {
    if texts.isEmpty || mirror.kept == nil && !mirror.isPartial { return nil }
    let isMissing = try mirror.read { mirror in try texts.keys.contains { try mirror.image(of: $0) == nil } }
    guard isMissing else { return nil }
    return Refusal(
      .conflict,
      "the object was deleted or is no longer in this computer's copy, so the text that this edit continues is not known"
    )
  }

  /// A save under the id of this one that the server never commits: it answers with the outcome of this one, or refuses
  /// it.
  package var question: Transaction {
    // No object has the random number of a replica as its key.
    let changes = texts.keys.prefix(1).map { id in
      var change = Change(.update, ObjectID(key: transaction.replica, entity: id.entity), base: 1)
      change.onlyIf = Precondition(revision: 1)
      return change
    }
    return Transaction(id: transaction, policy: .error, changes: changes)
  }

  /// The save as it is sent now over a mirror.
  package func transaction(over mirror: MirrorStore) throws -> Transaction {
    try mirror.read { try transaction(over: $0) }
  }
}

extension MirrorStore {
  /// Reads texts of the past, for intents that refer to them.
  package var pastText: Intent.PastText { { property, id, base in try self.text(property, of: id, at: base) } }
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
    let done = SyncRun.FinishedIntent(committed: self, intent: intent)
    return try Self.finish([done], in: unsent, over: mirror, at: time, form: form) > 0
  }

  /// Removes intents from the file, in one step, when the mirror has their commits.
  /// - Returns: the number of those of which edits are parked.
  /// - Parameter images: the new objects as the server has answered, which a mirror of a part may lack.
  package static func finish(
    _ finished: [SyncRun.FinishedIntent], in unsent: UnsentFile, over mirror: MirrorStore,
    images: [ObjectID: ObjectImage] = [:], at time: Timestamp, form: IntentForm
  ) throws -> Int {
    var answers = try Self.answers(finished, over: mirror, images: images, at: time)
    for index in answers.indices {
      guard var rest = answers[index].rest, case .parked(var parking) = rest.state else { continue }
      parking.texts = try rest.writtenTexts(mirror.pastText, form.model)
      rest.state = .parked(parking)
      answers[index].rest = rest
    }
    try unsent.finish(answers, form: form)
    return answers.count { $0.rest != nil }
  }

  /// Removes intents from the file, in one step, whose commits no mirror has.
  /// - Parameter images: the new objects as the server has answered, as far as it has sent them.
  /// - Returns: the number of those of which edits are parked.
  package static func release(
    _ finished: [SyncRun.FinishedIntent], in unsent: UnsentFile, images: [ObjectID: ObjectImage], at time: Timestamp,
    form: IntentForm
  ) throws -> Int {
    let answers = try finished.map { done in
      try done.committed.answer(done.intent, form.model, at: time) { images[$0] }
    }
    try unsent.finish(answers, form: form)
    return answers.count { $0.rest != nil }
  }

  /// The effects of commits on the file, when the mirror has them.
  package static func answers(
    _ finished: [SyncRun.FinishedIntent], over mirror: MirrorStore, images: [ObjectID: ObjectImage] = [:],
    at time: Timestamp
  ) throws -> [UnsentFile.Answered] {
    try mirror.read { mirror in
      try finished.map { done in
        try invariant(done.committed.revision <= mirror.head, "the mirror has the commit of an intent that is removed")
        return try done.committed.answer(done.intent, mirror.model, at: time) { id in
          try mirror.image(of: id) ?? images[id]
        }
      }
    }
  }

  private func answer(
    _ intent: Intent?, _ model: Model, at time: Timestamp, image: (ObjectID) throws -> ObjectImage?
  ) throws -> UnsentFile.Answered {
    var answer = UnsentFile.Answered(number, revision: revision)
    for (provisional, permanent) in ids {
      guard let image = try image(permanent), let entity = model.entity(permanent.entity) else { continue }
      for property in entity.assignedProperties where property.attribute?.assignment == .sequence {
        if case .integer(let number) = image[property] { answer.numbers[provisional] = number }
      }
    }
    answer.ids = ids
    answer.rest = intent.flatMap { $0.remainder(after: conflicts, made: made, revision: revision, at: time) }
    return answer
  }
}
