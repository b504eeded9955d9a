import GraphModel
import GraphReplica

/// The random acts of a simulated user: edits of one kind, mostly saved at once. Some acts break a rule now and then,
/// so that refusals and refused edits occur as well.
extension ClientNode {
  /// Performs a random act.
  /// - Returns: a description for the trace.
  func performRandomAction(_ random: inout SeededRandom) -> String {
    defer {
      childEditor.removeDeleted()
      perform()
    }
    if outcomes.wasRefused, random.chance(60) {
      rollback()
      return "rollback after a refusal"
    }
    if outcomes.wasRefused, random.chance(30) {
      refresh()
      return "refresh after a refusal"
    }
    switch random.below(75) {
    case 0...1: return insertFolder(&random)
    case 2...5: return insertItem(&random)
    case 6...12: return updateItem(&random)
    case 13: return labelItem(&random)
    case 14...15: return delete(&random)
    case 16:
      rollback()
      return "rollback"
    case 17...18: return placeItems(&random)
    case 19: return replaceItems(&random)
    case 20...21: return arrangeLabels(&random)
    case 22...23: return describe(&random)
    case 24...25: return editThingTree(&random)
    case 26...27: return editTask(&random)
    case 28: return editCover(&random)
    case 29...30: return undo.request(&random)
    case 31...33: return batches.start(&random)
    case 34...35, 49...50: return loads.touchFaults(&random)
    case 36: return loads.prefetch(&random)
    case 37...38: return past.read(&random)
    case 39...40: return past.restore(&random)
    case 41...44: return windows.scroll(&random)
    case 45...48: return editValues(&random)
    case 51: return editNearLabels(&random)
    case 52...54: return editCrew(&random)
    case 55: return editTransient(&random)
    case 56...59: return fetches.request(&random)
    case 60...61: return undo.group(&random)
    case 62...64: return undo.performStep(&random)
    case 65...67, 71...74: return childEditor.edit(&random)
    default:
      if random.chance(50) { follow(&random) } else { unfollow(&random) }
      return "follow"
    }
  }

  /// Creates the initial objects; called for the first client only.
  func populate(_ random: inout SeededRandom) {
    for name in 0..<3 { insertInitial("Folder")["name"] = .string("f\(name)") }
    let folders = context.insertedObjects
    for _ in 0..<12 {
      let item = insertInitial("Item")
      item["folder"] = .object(random.element(of: folders).id)
      item["kind"] = .string(random.element(of: version.kinds))
      item["size"] = .integer(Int64(random.below(10)))
    }
    for name in 0..<3 { insertInitial("Label")["name"] = .string("l\(name)") }
    // Only some models have counters.
    for _ in 0..<2 { _ = insert(CounterCheck.entity) }
    _ = save(&random, "populate", policy: .error)
    perform()
  }

  // MARK: - Folders and items

  private func insertInitial(_ name: String) -> ManagedObject {
    guard let object = insert(name) else { preconditionFailure("the simulation's model has the entity \(name)") }
    return object
  }

  private func insertFolder(_ random: inout SeededRandom) -> String {
    guard let folder = insert("Folder") else { return "" }
    folder["name"] = .string("f\(random.below(12))")
    return save(&random, "insert folder")
  }

  func insertItem(_ random: inout SeededRandom) -> String {
    guard let folder = random.pick(objects("Folder")) else { return "no folder" }
    guard let item = insert("Item") else { return "" }
    item["folder"] = .object(folder.id)
    item["kind"] = .string(random.element(of: version.kinds))
    item["size"] = .integer(Int64(random.below(10)))
    item["text"] = .string(random.element(of: ["a", "b c", "", "a b"]))
    if random.chance(30) { item["memo"] = .string(random.element(of: ["A b", "É", "", "x"])) }
    if random.chance(40) {
      let others = members(of: folder, "items").filter { $0.id != item.id }
      place(item, in: folder, "items", after: random.chance(30) ? nil : random.pick(others))
    }
    return save(&random, "insert item")
  }

  private func updateItem(_ random: inout SeededRandom) -> String {
    let items = objects("Item")
    // All clients prefer the same item, so that unsaved edits conflict with other clients' commits.
    guard let item = random.chance(40) ? items.first : random.pick(items) else { return "no item" }
    if random.chance(50) { set(item, "size", .integer(Int64(random.below(100)) - 2)) }
    if random.chance(40) { set(item, "kind", .string(random.element(of: version.kinds))) }
    // All clients prefer to edit the text of the oldest item.
    if let page = random.chance(60) ? items.first : item {
      for _ in 0..<random.below(4) {
        if case .string(let text) = page["text"] { page["text"] = .string(checks.textMerges.edit(text, &random)) }
      }
    }
    if random.chance(20), let folder = random.pick(objects("Folder")) { item["folder"] = .object(folder.id) }
    if random.chance(70) { return save(&random, "update item") }
    return "edit without saving"
  }

  /// Moves items, mostly to the place after the first item of the oldest folder, so that the positions there run out.
  func placeItems(_ random: inout SeededRandom) -> String {
    let folders = objects("Folder")
    guard let folder = random.chance(80) ? folders.first : random.pick(folders) else { return "no folder" }
    let items = members(of: folder, "items")
    let anchor = random.chance(75) ? items.first : random.chance(20) ? nil : random.pick(items)
    for _ in 0..<(1 + random.below(8)) {
      let guest = random.chance(20) ? random.pick(objects("Item")) : nil
      guard let item = guest ?? random.pick(items), item.id != anchor?.id else { continue }
      place(item, in: folder, "items", after: anchor)
    }
    return random.chance(85) ? save(&random, "place items") : "place items without saving"
  }

  /// Replaces the complete list of a folder's items, with one more or one less.
  private func replaceItems(_ random: inout SeededRandom) -> String {
    guard let folder = random.pick(objects("Folder")) else { return "no folder" }
    var items = members(of: folder, "items").map(\.id)
    if random.chance(40), let guest = random.pick(objects("Item")), !items.contains(guest.id) { items.append(guest.id) }
    // An item without a folder is refused: the commit succeeds only if another client has moved the item meanwhile.
    if random.chance(10), !items.isEmpty { items.remove(at: random.below(items.count)) }
    items.shuffle(using: &random)
    folder["items"] = .objects(items)
    return save(&random, "replace items")
  }

  // MARK: - Labels

  private func labelItem(_ random: inout SeededRandom) -> String {
    guard let label = insert("Label") else { return "" }
    label["name"] = .string("l\(random.below(20))")
    if let item = random.pick(objects("Item")), let labels = item.entity.property(named: "labels") {
      item.add(label, to: labels.number)
    }
    return save(&random, "label", policy: .objectTrump)
  }

  func arrangeLabels(_ random: inout SeededRandom) -> String {
    let items = objects("Item")
    guard let item = random.chance(50) ? items.first : random.pick(items) else { return "no item" }
    let labels = members(of: item, "labels")
    switch random.below(4) {
    case 0:
      if let label = random.pick(labels), let property = item.entity.property(named: "labels") {
        item.remove(label, from: property.number)
      }
    case 1: item["labels"] = .objects(Array(labels.map(\.id).shuffled(using: &random).prefix(5)))
    default:
      guard let label = random.pick(objects("Label")) else { return "no label" }
      let others = labels.filter { $0.id != label.id }
      place(label, in: item, "labels", after: random.chance(30) ? nil : random.pick(others))
    }
    return save(&random, "arrange labels")
  }

  /// Sets or clears an item's cover, a one-to-one relationship: a label is taken away from its previous item.
  private func editCover(_ random: inout SeededRandom) -> String {
    guard let item = random.pick(objects("Item")), let label = random.pick(objects("Label")) else { return "no label" }
    switch random.below(3) {
    case 0: item["cover"] = .null
    case 1: item["cover"] = .object(label.id)
    default: label["coverOf"] = .object(item.id)
    }
    return save(&random, "cover")
  }

  // MARK: - Things

  /// Edits inherited properties: texts that may be null, a composite, and a rule over its members.
  func describe(_ random: inout SeededRandom) -> String {
    guard let thing = random.pick(objects("Thing")) else { return "no thing" }
    if random.chance(40) {
      set(thing, "memo", random.element(of: [.null, .string("A b"), .string("É"), .string("")]))
    }
    if random.chance(50) {
      guard let name = version.inClientVersion("remark") else {
        preconditionFailure("both versions of the model have the text of a thing")
      }
      let words = thing[name].stringValue ?? ""
      let more = random.element(of: ["a", " b", "漢", "a"])
      thing[name] = random.chance(25) ? .null : .string(random.chance(50) ? more + words.prefix(20) : words + more)
    }
    if random.chance(60) {
      set(thing, "place.row", random.chance(20) ? .null : .integer(Int64(random.below(6))))
      // Sometimes this breaks the rule, and sometimes it leaves the column to another client.
      if random.chance(80) {
        set(thing, "place.column", random.chance(15) ? .null : .string(random.element(of: ["a", "b", "c"])))
      }
    }
    if random.chance(75) { return save(&random, "describe") }
    return "describe without saving"
  }

  private func editThingTree(_ random: inout SeededRandom) -> String {
    guard let thing = random.pick(objects("Thing")) else { return "no thing" }
    if random.chance(45) {
      thing["parent"] = .null
    } else if random.chance(30), let children = thing.entity.property(named: "children") {
      for _ in 0..<2 { if let child = random.pick(objects("Thing")) { thing.add(child, to: children.number) } }
    } else if let parent = random.pick(objects("Thing")) {
      // May be the thing itself: a cycle of one.
      thing["parent"] = .object(parent.id)
    }
    return save(&random, "hang")
  }

  private func editTask(_ random: inout SeededRandom) -> String {
    let isNew = random.chance(60)
    guard let task = isNew ? insert("Task") : random.pick(objects("Task")) else { return "no task" }
    if isNew || random.chance(50) {
      let codes: [Value] = [.null, .string("A-1"), .string("AB-2"), .string("C-3"), .string("AA-7")]
      write(random.element(of: codes), "code", task)
      if random.chance(10) { write(.string(random.element(of: ["a-1", "A-", "ABC-1", "A-1\n"])), "code", task) }
    }
    if isNew || random.chance(60) {
      write(random.chance(30) ? .null : .integer(Int64(random.below(8))), "starts", task)
    }
    if isNew || random.chance(60) {
      write(random.chance(30) ? .null : .integer(Int64(2 + random.below(8))), "due", task)
    }
    if random.chance(40) {
      task["about"] = random.chance(30) ? .null : (random.pick(objects("Item"))?.id).map(Value.object) ?? .null
    }
    return save(&random, "work")
  }

  /// Deletes an object, sometimes with its children, because objects that deny the delete may go in the same
  /// transaction.
  private func delete(_ random: inout SeededRandom) -> String {
    let name = random.element(of: ["Item", "Item", "Item", "Item", "Task", "Task", "Folder", "Label"])
    guard let object = random.pick(objects(name)) else { return "nothing to delete" }
    if object.entity.property(named: "children") != nil, random.chance(40) {
      for child in members(of: object, "children") { context.delete(child) }
    }
    context.delete(object)
    return save(&random, "delete")
  }

  // MARK: - Helpers

  private func insert(_ name: String) -> ManagedObject? { model.entity(named: name).flatMap { context.insert($0) } }

  private func place(
    _ object: ManagedObject, in owner: ManagedObject, _ name: String, after anchor: ManagedObject?
  ) {
    if let property = owner.entity.property(named: name) {
      owner.insert(object, into: property.number, after: anchor)
    }
  }

  func members(of object: ManagedObject, _ name: String) -> [ManagedObject] {
    guard let property = object.entity.property(named: name) else { return [] }
    return object.objects(property.number, ManagedObject.self).filter { !$0.isDeleted }
  }

  func save(_ random: inout SeededRandom, _ what: String, policy: MergePolicy? = nil) -> String {
    let policy = policy ?? random.element(of: MergePolicy.allCases)
    guard let id = commit(policy) else { return what + " (nothing)" }
    return "\(what), transaction \(id.sequence), \(policy)"
  }

  /// Saves all changes; nil if there are none.
  func commit(_ policy: MergePolicy, requiring requirements: [SaveRequirement] = []) -> TransactionID? {
    guard let id = context.save(policy: policy, requiring: requirements) else { return nil }
    checks.lostUpdates.record(save: id)
    unsaved.removeStored()
    return id
  }

  func rollback() {
    context.rollback()
    checks.lostUpdates.drop()
    unsaved.removeStored()
    outcomes.wasRefused = false
  }

  /// Accepts other clients' values of the objects of a refused transaction, and keeps the user's own edits.
  private func refresh() {
    for object in checks.lostUpdates.returnedObjects.compactMap({ context.object($0) }) {
      context.acceptStoredState(of: object)
      checks.lostUpdates.record(lookAt: object.id, revision: object.revision)
    }
    outcomes.wasRefused = false
  }

  /// Sets an attribute that must keep its value until the next save, despite other clients' commits.
  func set(_ object: ManagedObject, _ name: String, _ value: Value) {
    // An older version of the model may lack the property.
    if object.entity.property(named: name) != nil {
      write(value, name, object)
      unsaved.set(object, name, value)
    }
  }

  /// Sets an attribute and records the values on which the user based the edit.
  func write(_ value: Value, _ name: String, _ object: ManagedObject) {
    if let number = object.entity.property(named: name)?.number {
      checks.lostUpdates.record(
        object.id, number, readAt: object.revision, value: !version.isOlder ? object[name] : nil)
    }
    object[name] = value
  }

  /// The objects of an entity and its subentities in the client's live queries, without duplicates.
  func objects(_ name: String) -> [ManagedObject] {
    guard let wanted = model.entity(named: name) else { return [] }
    var found = [ManagedObject]()
    for query in queries where query.entity.isKind(of: wanted) || wanted.isKind(of: query.entity) {
      found += context.result(of: query.id).filter { !$0.isDeleted && $0.entity.isKind(of: wanted) }
    }
    found.sort { $0.id < $1.id }
    return found.indices.filter { $0 == 0 || found[$0].id != found[$0 - 1].id }.map { found[$0] }
  }
}
