import GraphModel
import GraphReplica

/// Edits a child context for a while, and then saves or discards it. Until it is saved, its edits must not be visible
/// elsewhere, not even in the parent context; a discarded child leaves nothing behind.
final class ChildContextEditor {
  /// A child context with a record of its edits.
  struct ChildContextRecord {
    let context: ObjectContext
    var edits = [AttributeEdit]()
    var made = [ManagedObject]()
    var deleted = [ObjectID]()

    /// An attribute that was set in the child context.
    struct AttributeEdit {
      let object: ManagedObject
      let property: String
      let value: Value
      /// The object's revision when the attribute was set.
      let revision: Revision
      let seen: Value?
    }

    /// Removes the records of objects that other clients have deleted.
    mutating func drop(_ ids: Set<ObjectID>) {
      edits.removeAll { ids.contains($0.object.id) }
      deleted.removeAll(where: ids.contains)
    }
  }

  private unowned let client: ClientNode
  /// The child context with unsaved edits; nil when none is open.
  private var child: ChildContextRecord?

  init(_ client: ClientNode) { self.client = client }

  /// Forgets the child context, because the process has died or the base of its edits is gone.
  func restart() { child = nil }

  /// Removes the records of objects that other clients have deleted.
  func drop(_ ids: Set<ObjectID>) { child?.drop(ids) }

  func edit(_ random: inout SeededRandom) -> String {
    guard child != nil else {
      child = ChildContextRecord(context: client.context.makeChild())
      return "open a child context"
    }
    let hadChanges = client.context.hasChanges
    let what: String
    switch random.below(17) {
    case 0...4: what = editInChild(&random)
    case 5: what = typeInChild(&random)
    case 6...7: what = insertInChild(&random)
    case 8...11: what = deleteInChild(&random)
    case 12: what = discardChild()
    default: return saveChild(&random)
    }
    if client.context.hasChanges != hadChanges {
      client.fail("client \(client.number) has gained or lost changes because of an unsaved child context")
    }
    return what
  }

  // MARK: - In the child context

  /// An object that exists on the server, in the parent context and in the child context.
  private func childObject(_ name: String, _ random: inout SeededRandom) -> (here: ManagedObject, there: ManagedObject)?
  {
    guard let here = random.pick(client.objects(name).filter { !$0.isInserted }),
      let there: ManagedObject = child?.context.object(for: here), !there.isDeleted
    else { return nil }
    return (here, there)
  }

  private func editInChild(_ random: inout SeededRandom) -> String {
    guard let (here, there) = childObject("Thing", &random), let name = random.pick(["memo", "price", "share", "done"])
    else { return "nothing for a child context" }
    let (before, old) = (here[name], there[name])
    let value =
      name == "memo" ? .string(random.element(of: ["A b", "É", "x"])) : SimulationModel.value(of: name, &random)
    there[name] = value
    if here[name] != before {
      client.fail("client \(client.number) shows \(name) of \(here.id) as \(value), which is only in a child context")
    }
    child?.edits.removeAll { $0.object === there && $0.property == name }
    child?.edits.append(
      ChildContextRecord.AttributeEdit(
        object: there, property: name, value: value, revision: there.revision, seen: !client.version.isOlder ? old : nil
      ))
    return "set \(name) of \(here.id) in a child context"
  }

  private func typeInChild(_ random: inout SeededRandom) -> String {
    guard let (here, there) = childObject("Item", &random), case .string(let text) = there["text"] else {
      return "nothing for a child context"
    }
    let before = here["text"]
    there["text"] = .string(client.checks.textMerges.edit(text, &random))
    if here["text"] != before {
      client.fail("client \(client.number) shows words in \(here.id) which are only in a child context")
    }
    return "write in \(here.id) in a child context"
  }

  private func insertInChild(_ random: inout SeededRandom) -> String {
    guard let task = client.model.entity(named: "Task").flatMap({ child?.context.insert($0) }) else { return "no task" }
    task["starts"] = .integer(Int64(random.below(4)))
    if let (item, _) = childObject("Item", &random) { task["about"] = .object(item.id) }
    if client.context.object(task.id) != nil {
      client.fail("client \(client.number) shows \(task.id), which was made in a child context")
    }
    child?.made.append(task)
    return "make \(task.id) in a child context"
  }

  private func deleteInChild(_ random: inout SeededRandom) -> String {
    guard let (here, there) = childObject("Task", &random) else { return "nothing for a child context" }
    child?.context.delete(there)
    if here.isDeleted { client.fail("client \(client.number) misses \(here.id), which was deleted in a child context") }
    child?.edits.removeAll { $0.object === there }
    child?.deleted.append(here.id)
    return "delete \(here.id) in a child context"
  }

  // MARK: - Discarding and saving

  private func discardChild() -> String {
    weak let discarded = child?.context
    child = nil
    if discarded != nil { client.fail("client \(client.number) has discarded a child context, which still exists") }
    client.events.record(.childDiscarded)
    return "discard a child context"
  }

  private func saveChild(_ random: inout SeededRandom) -> String {
    guard let child else { return "no child context" }
    if let lost = lostEdit() { client.fail(lost) }
    let edits = child.edits.filter { !$0.object.isDeleted }
    child.context.save()
    if child.context.hasChanges {
      client.fail("client \(client.number) has saved a child context, which still has changes")
    }
    for edit in edits {
      guard let object = client.context.object(edit.object.id), object[edit.property] == edit.value else {
        client.fail("client \(client.number) has saved \(edit.property) of \(edit.object.id), and lost it")
        continue
      }
      client.events.record(object.revision > edit.revision ? .childSavedOverCommits : .childSaved)
      if let number = object.entity.property(named: edit.property)?.number {
        client.checks.lostUpdates.record(object.id, number, readAt: edit.revision, value: edit.seen)
      }
      client.unsaved.set(object, edit.property, edit.value)
    }
    for object in child.made {
      if !client.context.insertedObjects.contains(where: { $0.id == object.id }) {
        client.fail("client \(client.number) has saved \(object.id), and lost it")
      }
      client.events.record(.childInserted)
    }
    for id in child.deleted {
      if client.context.object(id) != nil {
        client.fail("client \(client.number) has saved that \(id) goes, and has it")
      }
      client.events.record(.childDeleted)
    }
    self.child = nil
    return random.chance(75)
      ? client.save(&random, "save a child context") : "save a child context into its parent only"
  }

  // MARK: - Invariants

  /// Removes the records of objects that this client itself has deleted.
  func removeDeleted() {
    if var child {
      child.edits.removeAll { $0.object.isDeleted }
      child.deleted.removeAll { client.context.object($0) == nil }
      self.child = child
    }
  }

  /// Describes an attribute that was set in a child context and has changed since; nil if there is none.
  func lostEdit() -> String? {
    guard let child else { return nil }
    for edit in child.edits where !edit.object.isDeleted && edit.object[edit.property] != edit.value {
      return
        "client \(client.number) has set \(edit.property) of \(edit.object.id) to \(edit.value) in a child context, where it is "
        + "\(edit.object[edit.property])"
    }
    return nil
  }
}
