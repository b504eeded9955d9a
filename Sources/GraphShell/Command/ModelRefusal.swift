import GraphJSON
import GraphModel

/// A kind of request whose refusal has words of its own for conflicts.
package enum RefusedOperation: String, Sendable {
  case commit, restore, undo, redo
}

/// A refusal described in the terms of the model: object, property, rule and value.
package struct ModelRefusal: ReportedError {
  let refusal: Refusal
  let model: Model
  /// Descriptions of the objects in the refusal.
  var titles = [ObjectID: String]()
  /// The lines of standard input for the objects to insert.
  var lines = [ObjectID: Int]()
  /// The refused request, which decides the words for its conflicts.
  var operation = RefusedOperation.commit
  /// The deletes of objects that the conflicts name.
  var deletions = [ObjectID: Deletion]()
  /// A clause about the parts that are already committed, if a later part was refused.
  package var done = ""

  package var report: CommandFailure.Report {
    // One object may block many others; repeated lines are dropped.
    var seen = Set<ByteKey>()
    let details = (refusal.code == .denied ? denials : violations + conflicts).filter { seen.insert($0).inserted }
    let text = Self.brief(details, of: refusal) + (done.isEmpty ? "" : "\n\(done)")
    var members = CommandFailure.outcome(of: refusal)
    members += RefusalJSON(
      model: model, lines: lines,
      deletions: deletions.mapValues { deletion -> RefusalJSON.Deletion in
        if let revival = deletion.revival {
          return .init(author: revival.author, time: revival.time, revision: revival.revision)
        }
        return .init(author: deletion.author, time: deletion.time, revision: deletion.revision)
      }
    ).members(of: refusal)
    return CommandFailure.Report(
      code: refusal.code.rawValue, message: refusal.message + text, exit: CommandFailure.exitCode(of: refusal.code),
      members: members)
  }

  // MARK: - Text

  /// Maximum number of detail lines in text output; JSON has all.
  static let shownDetails = 10

  /// The first details, a line each, and the number of the others.
  static func brief(_ details: [String], of refusal: Refusal) -> String {
    let lines = details.prefix(shownDetails).map { "\n  \($0)" }.joined()
    guard details.count > shownDetails else { return lines }
    // A refusal lists only the first objects of one relationship.
    let isCapped = refusal.code == .denied && refusal.violations.count >= Violation.maximumDenials
    return lines + "\n  and \(isCapped ? "at least " : "")\(details.count - shownDetails) more"
  }

  private func name(_ id: ObjectID) -> String {
    if let line = lines[id] { return "line \(line)" }
    if let title = titles[id] { return title }
    let entity = model.entityName(id.entity)
    return id.isTemporary ? "the new \(entity)" : "\(entity) \(id.description.prefix(8))"
  }

  private var violations: [String] {
    refusal.violations.map { violation in
      let property = model.property(violation.property)
      let value = violation.value.isNull ? "" : ", \(values(violation, property))"
      return "\(name(violation.id)): \(violation.message) (\(violation.rule)\(value))"
    }
  }

  /// The violating value; for a unique key over several properties, each value with its name.
  private func values(_ violation: Violation, _ property: Property?) -> String {
    guard !violation.others.isEmpty else { return "value \(brief(violation.value, property))" }
    let parts = [Violation.KeyPart(violation.property, violation.value)] + violation.others
    return parts.map { part in
      let property = model.property(part.property)
      return "\(property?.name ?? "value") \(brief(part.value, property))"
    }.joined(separator: ", ")
  }

  /// The objects that prevent others from being deleted.
  private var denials: [String] {
    refusal.violations.map { violation in
      let others = violation.value.objectIDs.map(name).joined(separator: ", ")
      return "\(name(violation.id)): \(model.propertyName(violation.property)) has \(others)"
    }
  }

  /// Two new objects with the same key are omitted, because the violations describe them.
  private var conflicts: [String] {
    refusal.conflicts.filter { $0.kind != .unique || !$0.id.isTemporary }.map { conflict in
      let property = model.property(conflict.property)
      let who = conflict.otherAuthor
      switch operation {
      case .restore: return unrestored(conflict, property, who)
      case .undo, .redo:
        if let words = unreverted(conflict, property, who) { return words }
      case .commit: break
      }
      switch conflict.kind {
      case .unique: return "\(name(conflict.id)) is in the way"
      case .deleted:
        // History may no longer have the delete.
        guard let deletion = deletions[conflict.id] else {
          return "\(name(conflict.id)): deleted by \(who)\(conflict.atRevision)"
        }
        return "\(name(conflict.id)): \(deletion.words)"
      case .changed where conflict.property == 0:
        return "\(name(conflict.id)): changed by \(who)\(conflict.atRevision)"
      case .changed:
        // Null also stands for a precondition on a property that the change does not set.
        let mine = conflict.mine.isNull ? "" : ", you set it to \(brief(conflict.mine, property))"
        let theirs = brief(conflict.theirs, property)
        return "\(name(conflict.id)): \(who) set \(conflict.subject(in: model)) to \(theirs)\(conflict.atRevision)"
          + mine
      }
    }
  }

  /// Describes the value that an undo or redo would set, and the change that prevents it; nil for a conflict with the
  /// same words as for a commit.
  private func unreverted(_ conflict: Conflict, _ property: Property?, _ who: String) -> String? {
    let name = name(conflict.id)
    let (subject, verb) = (conflict.subject(in: model), operation.rawValue)
    switch conflict.kind {
    case .deleted where conflict.property != 0:
      return "\(name): \(verb) would set \(subject) to \(brief(conflict.mine, property)), but \(who) deleted that"
        + conflict.atRevision
    case .changed where conflict.property != 0 && conflict.mine.isNull && conflict.theirs.isNull:
      return "\(name): \(verb) would delete it, but \(who) changed its \(subject)\(conflict.atRevision)"
    case .changed where conflict.property != 0:
      // A text has no value if its edits cannot be reverted alone.
      let isText = conflict.mine.isNull && conflict.theirs.stringValue != nil
      let would = isText ? "change \(subject)" : "set \(subject) to \(brief(conflict.mine, property))"
      return "\(name): \(verb) would \(would), but \(who) set it to \(brief(conflict.theirs, property))"
        + conflict.atRevision
    case .unique, .deleted, .changed: return nil
    }
  }

  /// Describes the requirements of a restored object, and the object that blocks it.
  private func unrestored(_ conflict: Conflict, _ property: Property?, _ who: String) -> String {
    switch conflict.kind {
    case .unique: return "\(name(conflict.id)) is in the way"
    case .deleted:
      return
        "\(name(conflict.id)): its \(property?.name ?? "object"), \(brief(conflict.mine, property)), was deleted by "
        + "\(who)\(conflict.atRevision)"
    case .changed:
      return "\(name(conflict.id)): \(brief(conflict.theirs, property)) is in the way, by \(who)\(conflict.atRevision)"
    }
  }

  private func brief(_ value: Value, _ property: Property?) -> String {
    if case .object(let id) = value { return name(id) }
    if case .objects(let ids) = value {
      if ids.isEmpty { return "empty" }
      let more = ids.count > 3 ? " and \(ids.count - 3) more" : ""
      return ids.prefix(3).map(name).joined(separator: ", ") + more
    }
    return value.json(kind: property?.attribute?.kind).text.excerpt
  }
}
