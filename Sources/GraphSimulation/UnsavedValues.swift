import GraphModel
import GraphReplica

/// The attributes that a user has set and that must keep their values, despite other clients' commits.
struct UnsavedValues {
  /// A value of a transient attribute, kept until the next quiet moment.
  private struct TransientEdit {
    let object: ManagedObject
    let value: Value
    /// The object's revision when the value was set.
    let revision: Revision
  }

  /// Attributes set since the last save, with their values. The entries of an object are removed when another client
  /// deletes it, and stay removed if it is revived.
  private var values = [(object: ManagedObject, property: String, value: Value)]()
  private var transientEdits = [TransientEdit]()

  mutating func set(_ object: ManagedObject, _ name: String, _ value: Value) {
    values.removeAll { $0.object === object && $0.property == name }
    values.append((object, name, value))
  }

  /// Records a value of the transient attribute `chosen`, which is never stored.
  mutating func choose(_ thing: ManagedObject, _ value: Value) {
    transientEdits.removeAll { $0.object === thing }
    transientEdits.append(TransientEdit(object: thing, value: value, revision: thing.revision))
  }

  /// Removes the attributes that were saved or rolled back.
  mutating func removeStored() { values = [] }

  /// Removes the values of objects that other clients have deleted.
  mutating func drop(_ ids: Set<ObjectID>) {
    values.removeAll { ids.contains($0.object.id) }
    transientEdits.removeAll { ids.contains($0.object.id) }
  }

  // MARK: - The invariants

  /// Describes an unsaved attribute that has changed since it was set; nil if there is none.
  func lostEdit(of client: Int) -> String? {
    for (object, property, value) in values where !object.isDeleted && object[property] != value {
      return "client \(client) has set \(property) of \(object.id) to \(value) and holds \(object[property])"
    }
    return nil
  }

  /// Describes a transient value that a save, a rollback or another client's commit has changed; nil if there is
  /// none.
  mutating func lostTransientEdit(of client: Int, _ events: inout CoverageEventCounts) -> String? {
    defer { transientEdits = [] }
    for edit in transientEdits where !edit.object.isDeleted {
      guard edit.object["chosen"] == edit.value else {
        return "client \(client) has chosen \(edit.value) of \(edit.object.id) and holds \(edit.object["chosen"])"
      }
      events.record(edit.object.revision > edit.revision ? .transientOutlivedCommits : .transientKept)
    }
    return nil
  }
}
