// Tests: IntentBasesTests.swift
import GraphModel
import GraphStore

/// The states of the server that an intent refers to.
///
/// A base says which state the user saw. A value with a later base is sent as a decision for it, without a comparison.
/// The offsets of splices have a meaning in the text at their base only, unless the intent has that text.
extension Intent {
  /// The text of an object at a revision of the server; nil if it is unknown.
  package typealias PastText = (Property, ObjectID, Revision) throws -> String?

  /// Whether the intent has no meaning without the state that its user saw: the undo of a revision, or splices without
  /// the text that they refer to.
  package var needsItsBase: Bool {
    switch content {
    case .undo: true
    case .undoEdit: false
    case .changes(let changes): changes.contains { change in change.edits.contains { needsBase($0, of: change.id) } }
    }
  }

  private func needsBase(_ edit: Edit, of id: ObjectID) -> Bool {
    guard case .splice = edit.action else { return false }
    return texts[id]?[edit.property] == nil
  }

  /// Bases the intent on a revision whose values the user has seen by now.
  ///
  /// Splices without their text keep their base, as a change of their own: the server moves them over the commits since
  /// then.
  package mutating func raiseBases(to base: Revision) {
    guard case .changes(let changes) = content else { return }
    content = .changes(
      changes.flatMap { change in
        change.base > 0 ? rebased(change, to: max(change.base, base), condition: { max($0, base) }) : [change]
      })
  }

  /// Bases changes of objects on earlier revisions, by object.
  ///
  /// Splices without their text keep their base: their offsets are those of the text that the user saw.
  mutating func lowerBases(to bases: [ObjectID: Revision]) {
    let lowered = changes.flatMap { change in
      guard let base = bases[change.id], base < change.base else { return [change] }
      return rebased(change, to: base) { min($0, base) }
    }
    if case .changes = content { content = .changes(lowered) }
  }

  /// A change with another base; splices without their text are a change of their own, with the former one.
  private func rebased(_ change: Change, to base: Revision, condition: (Revision) -> Revision) -> [Change] {
    var rest = change
    var splices = Change(.update, change.id, base: change.base)
    splices.edits = change.edits.filter { needsBase($0, of: change.id) }
    rest.edits.removeAll { needsBase($0, of: change.id) }
    rest.base = base
    if let precondition = change.onlyIf {
      rest.onlyIf = Precondition(revision: condition(precondition.revision), properties: precondition.properties)
    }
    if splices.edits.isEmpty { return [rest] }
    return rest.edits.isEmpty && rest.onlyIf == nil ? [splices] : [splices, rest]
  }

  /// The effect of a restore of the server on an intent.
  enum RestoreEffect {
    /// It refers to no lost state.
    case none
    /// It referred to lost states, and has lower bases now.
    case lowered
    /// It has no meaning without a lost state.
    case lost
  }

  /// Bases the intent on no state after a revision, which the server has lost. Splices in later states keep the text
  /// that they refer to, if it is known.
  mutating func lowerBases(to revision: Revision, _ text: PastText?, _ model: Model) throws -> RestoreEffect {
    if case .undo(let undone, _) = content { return undone > revision ? .lost : .none }
    guard case .changes(var changes) = content else { return .none }
    // The empty graph is no base.
    let base = max(1, revision)
    var effect = RestoreEffect.none
    for index in changes.indices {
      if changes[index].base > base {
        if let text { try keepTexts(of: changes[index], text, model) }
        if changes[index].edits.contains(where: { needsBase($0, of: changes[index].id) }) { return .lost }
        changes[index].base = base
        effect = .lowered
      }
      if var condition = changes[index].onlyIf, condition.revision > base {
        condition.revision = base
        changes[index].onlyIf = condition
        effect = .lowered
      }
    }
    content = .changes(changes)
    return effect
  }

  /// The texts that the intent's splices make of the texts that its user saw, where these are known.
  func writtenTexts(_ text: PastText, _ model: Model) throws -> [ObjectID: [PropertyNumber: String]] {
    var written = [ObjectID: [PropertyNumber: String]]()
    for change in changes where change.base > 0 || texts[change.id] != nil {
      for edit in change.edits {
        guard case .splice = edit.action, let property = model.property(edit.property) else { continue }
        let known = texts[change.id]?[edit.property]
        let before = if let known { known } else { try text(property, change.id, change.base) }
        if let before, let after = edit.applied(to: .string(before))?.stringValue {
          written[change.id, default: [:]][edit.property] = after
        }
      }
    }
    return written
  }

  /// Keeps the texts that splices refer to, so that they can be moved without the server's history.
  mutating func keepTexts(_ text: PastText, _ model: Model) throws {
    for change in changes where change.base > 0 { try keepTexts(of: change, text, model) }
  }

  private mutating func keepTexts(of change: Change, _ text: PastText, _ model: Model) throws {
    for edit in change.edits where needsBase(edit, of: change.id) {
      guard let property = model.property(edit.property), let known = try text(property, change.id, change.base) else {
        continue
      }
      texts[change.id, default: [:]][edit.property] = known
    }
  }
}
