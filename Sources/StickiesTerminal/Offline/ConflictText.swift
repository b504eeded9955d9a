import CommandLineIO
import GraphModel
import GraphOffline
import StickiesKit

/// An edit in conflict, in words: what it changes, and both values.
struct ConflictText {
  private let edit: OfflineReplica.ParkedEdit
  private let model: Model
  private let named: (ObjectID) -> String?

  /// - Parameter named: returns what an object is called on the board; nil if it is not there.
  init(_ edit: OfflineReplica.ParkedEdit, _ model: Model, named: @escaping (ObjectID) -> String? = { _ in nil }) {
    (self.edit, self.model, self.named) = (edit, model, named)
  }

  /// The edit for a list of conflicts.
  var shown: ConflictsView.Edit {
    let time = if let made = edit.made { LocalTime.text(made) } else { "" }
    return ConflictsView.Edit(
      number: edit.number, title: title + objects, author: edit.author, time: time, reason: edit.message, values: values
    )
  }

  /// The changed properties, such as `Note.color`.
  private var title: String {
    var names = [String]()
    for change in edit.changes {
      let entity = name(of: change.id)
      switch change.kind {
      case .insert: names.append("new \(entity)")
      case .delete: names.append("\(entity) deleted")
      default: names += change.edits.map { self.name($0.property, of: change.id) }
      }
    }
    var seen = Set<String>()
    let unique = names.filter { seen.insert($0).inserted }
    return unique.isEmpty ? "edit" : unique.joined(separator: ", ")
  }

  /// The changed objects, such as ` of “buy milk” and 2 more`; empty if the board has none of them.
  private var objects: String {
    let changed = Set(edit.changes.filter { $0.kind != .insert }.map(\.id))
    let names = edit.changes.lazy.filter { $0.kind != .insert }.compactMap { named($0.id) }
    guard let name = names.first else { return "" }
    return " of “\(name)”" + (changed.count > 1 ? " and \(changed.count - 1) more" : "")
  }

  private func name(of id: ObjectID) -> String {
    if let entity = model.entity(id.entity) { entity.name } else { "object" }
  }

  private func name(_ property: PropertyNumber, of id: ObjectID) -> String {
    guard let name = model.property(property)?.name else { return self.name(of: id) }
    return "\(self.name(of: id)).\(name)"
  }

  /// Both values of each conflict, then what else the edit sets.
  private var values: [ConflictsView.Values] {
    var values = edit.conflicts.map { conflict in
      let who = [conflict.author, conflict.revision > 0 ? "revision \(conflict.revision)" : ""]
        .filter { !$0.isEmpty }.joined(separator: ", ")
      let mine = if let side = edit.mine(conflict) { text(side, conflict.property) } else { "" }
      return ConflictsView.Values(
        name: name(conflict.property, of: conflict.id), mine: mine,
        theirs: text(OfflineReplica.ParkedEdit.theirs(conflict), conflict.property), author: who)
    }
    for (id, item) in edit.undisputed {
      guard let mine = text(item) else { continue }
      values.append(ConflictsView.Values(name: name(item.property, of: id), mine: mine))
    }
    for id in edit.undisputedDeletes { values.append(ConflictsView.Values(name: name(of: id), mine: "deleted")) }
    for violation in edit.violations where violation.message != edit.message {
      values.append(ConflictsView.Values(name: name(violation.property, of: violation.id), theirs: violation.message))
    }
    return values
  }

  private func text(_ side: OfflineReplica.ConflictSide, _ property: PropertyNumber) -> String {
    switch side {
    case .value(let value): text(value, property)
    case .deleted: "deleted"
    case .changed: "changed"
    }
  }

  private func text(_ value: Value, _ property: PropertyNumber) -> String {
    if let string = value.stringValue { return string }
    return value.isNull ? "none" : value.json(kind: model.property(property)?.attribute?.kind).text
  }

  /// The value that an edit sets; nil for a change without one, such as the order of members.
  private func text(_ item: Edit) -> String? {
    switch item.action {
    case .set(let value): text(value, item.property)
    case .splice(let splices): splices.map(\.insertion).joined(separator: " … ")
    case .members, .place: nil
    }
  }

  /// The user's own texts, for the clipboard; without any, the values by name, or the JSON form of an edit that has no
  /// values, such as an undo.
  var copied: String {
    let texts =
      edit.conflicts.compactMap(\.mine.stringValue)
      + edit.changes.flatMap(\.edits).compactMap { item -> String? in
        if case .set(.string(let text)) = item.action { text } else { nil }
      }
    var seen = Set<String>()
    let unique = texts.filter { !$0.isEmpty && seen.insert($0).inserted }
    if !unique.isEmpty { return unique.joined(separator: "\n") }
    let values = values.filter { !$0.mine.isEmpty }
    return values.isEmpty ? edit.form : values.map { "\($0.name) \($0.mine)" }.joined(separator: "\n")
  }
}
