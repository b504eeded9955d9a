// Tests: LiveConflictsTests.swift, OfflineClientTests.swift
import GraphModel
import GraphReplicaStore

extension OfflineReplica {
  /// An edit that the server has refused, with both values of each conflict.
  public struct ParkedEdit: Sendable, Equatable {
    /// The number of the edit, for `retry` and `discard`.
    public var number: Int64
    /// The user who made it; empty if the edit has no meaning in this version of the model.
    public var author: String
    /// When it was made, by the clock of that computer; nil if the edit has no meaning in this version of the model.
    public var made: Timestamp?
    /// The reason, for people.
    public var message: String
    /// The changes, with what the user has set. A change of a text is the whole text that the user wrote, where this
    /// computer's copy had the text before; otherwise it is what was inserted and removed.
    public var changes = [Change]()
    /// The conflicts, with the other values, their authors and revisions.
    public var conflicts = [Conflict]()
    /// The rules that the edit breaks.
    public var violations = [Violation]()
    /// The parked edit that makes an object which this one changes; nil for none.
    public var waitsFor: Int64?
    /// The JSON form (docs/guides/offline.md).
    public var form: String

    package init(_ entry: UnsentFile.Entry) {
      (number, form) = (entry.number, entry.form)
      guard let intent = entry.intent, case .parked(let parking) = intent.state else {
        (author, made) = ("", nil)
        message = if let failure = entry.failure { failure.message } else { "the edit is parked" }
        return
      }
      (author, made, message) = (intent.author, intent.made, parking.message)
      (conflicts, violations) = (parking.conflicts, parking.violations)
      changes = intent.changes.map { change in
        var change = change
        for index in change.edits.indices {
          guard case .splice = change.edits[index].action,
            let text = parking.texts[change.id]?[change.edits[index].property]
          else { continue }
          change.edits[index].action = .set(.string(text))
        }
        return change
      }
      waitsFor = parking.waitsFor
    }
  }

  /// The action of one side of a conflict.
  package enum ConflictSide: Equatable {
    case value(Value)
    /// It has deleted the object.
    case deleted
    /// It has changed the object, not a property that the other side has changed, too.
    case changed
  }

  /// The edits that the server has refused, oldest first.
  /// - Throws: `Refusal(.notFound)` without a replica, `StoreFailure` if its file can't be read.
  public func conflicts(of model: Model) throws -> [ParkedEdit] {
    let unsent = try openUnsent()
    defer { unsent.close() }
    let parked = try unsent.overview(IntentForm(model)).map(\.parked)
    return try invariant(parked, "an overview that is not compared is read").map(ParkedEdit.init)
  }
}

extension OfflineReplica.ParkedEdit {
  /// The side of the edit's author; nil if the conflict is about the object as a whole and the author has changed it.
  package func mine(_ conflict: Conflict) -> OfflineReplica.ConflictSide? {
    if conflict.property == 0 {
      return changes.contains { $0.kind == .delete && $0.id == conflict.id } ? .deleted : nil
    }
    return conflict.kind == .deleted && conflict.mine.isNull ? nil : .value(conflict.mine)
  }

  /// The edits of the author about which there is no conflict, each with its object. Without any conflict, for example
  /// after a restore of the server, these are all.
  package var undisputed: [(id: ObjectID, edit: Edit)] {
    let decided = Dictionary(grouping: conflicts, by: \.id).mapValues { Set($0.map(\.property)) }
    return changes.filter { $0.kind != .delete }.flatMap { change in
      change.edits.filter { decided[change.id]?.contains($0.property) != true }.map { (change.id, $0) }
    }
  }

  /// The objects that the author has deleted and about which there is no conflict.
  package var undisputedDeletes: [ObjectID] {
    changes.filter { change in change.kind == .delete && !conflicts.contains { $0.id == change.id } }.map(\.id)
  }

  /// The other side.
  package static func theirs(_ conflict: Conflict) -> OfflineReplica.ConflictSide {
    if conflict.kind == .deleted { return .deleted }
    return conflict.property == 0 ? .changed : .value(conflict.theirs)
  }
}
