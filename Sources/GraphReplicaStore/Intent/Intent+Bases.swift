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
    var raised = [Change]()
    for var change in changes {
      if change.base > 0 {
        var splices = Change(.update, change.id, base: change.base)
        splices.edits = change.edits.filter { needsBase($0, of: change.id) }
        if !splices.edits.isEmpty { raised.append(splices) }
        change.edits.removeAll { needsBase($0, of: change.id) }
        change.base = max(change.base, base)
        if var condition = change.onlyIf {
          condition.revision = max(condition.revision, base)
          change.onlyIf = condition
        }
        if !splices.edits.isEmpty, change.edits.isEmpty, change.onlyIf == nil { continue }
      }
      raised.append(change)
    }
    content = .changes(raised)
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
