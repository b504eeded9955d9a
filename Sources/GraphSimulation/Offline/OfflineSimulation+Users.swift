import GraphModel
import GraphReplicaStore
import GraphStore
import GraphWire

/// The acts of users: of those who work offline, and of the others, who are connected to the server.
extension OfflineSimulation {
  // MARK: - Edits without the server

  /// The user of a device edits, in one of its processes.
  func edit(_ device: OfflineDevice) throws {
    let process = random.element(of: device.processes)
    guard let store = try openStore(device, process) else { return }
    if process.view.isEmpty || random.chance(60) { process.view = try Self.objects(of: store) }
    let model = model.versions[device.version]
    guard let (change, property) = changes(process.view, model, isOther: false) else { return }
    var all = [change]
    if random.chance(20), let (second, _) = changes(process.view, model, isOther: false), second.id != change.id {
      all.append(second)
    }
    let policy = random.chance(50) ? MergePolicy.error : random.element(of: MergePolicy.allCases)
    try save(all, property, policy, device, process, store)
  }

  /// The user of a device saves changes.
  /// - Parameter property: what the first change sets.
  func save(
    _ all: [Change], _ property: (entity: String, name: String)?, _ policy: MergePolicy, _ device: OfflineDevice,
    _ process: OfflineProcess, _ store: ReplicaStore
  ) throws {
    let model = model.versions[device.version]
    var edit = makeEdit(device, process, all[0], property, policy, model, isAlone: all.count == 1)
    edit.seen = all.flatMap { change in
      seen(change.edits.map(\.property), of: process.view[change.id], model)
    }
    let group = UndoGroup(scope: OfflineHistory.scope, group: history.nextEdit, name: "edit")
    lastTransaction += 1
    let transaction = Transaction(
      id: TransactionID(replica: UniqueID(high: 2, low: 2), sequence: lastTransaction), policy: policy, undo: group,
      changes: all)
    let request = WriteRequest.transaction(transaction, author: accounts.users[device.user].principal)
    guard case .committed = try store.commit([request], now: now)[0].outcome else { return }
    let number = try device.unsent.replica.number
    trace("device \(device.number), process \(process.number): edit \(history.nextEdit) is number \(number): \(all)")
    let view = try Self.objects(of: store)
    for (id, image) in process.view where !all.contains(where: { $0.id == id }) {
      guard let after = view[id], let entity = model.entity(id.entity) else { continue }
      let changed = entity.storedProperties.filter { image[$0] != after[$0] }
      edit.seen += seen(changed.map(\.number), of: image, model)
    }
    history.add(edit)
    device.open[number] = group.group
    process.view = view
    count(.edited)
    if process.isStale { count(.editedBesideRun) }
    if all.contains(where: { ProvisionalID.parts(of: $0.id) != nil }) { count(.editedNewObject) }
  }

  private func makeEdit(
    _ device: OfflineDevice, _ process: OfflineProcess, _ change: Change,
    _ property: (entity: String, name: String)?, _ policy: MergePolicy, _ model: Model, isAlone: Bool
  ) -> OfflineHistory.Edit {
    let kind: OfflineHistory.Edit.Kind =
      !isAlone ? .several : change.kind == .insert ? .insert : change.kind == .delete ? .delete : .update
    let isNew = change.kind == .insert || ProvisionalID.parts(of: change.id) != nil
    var edit = OfflineHistory.Edit(
      device: device.number, lineage: device.lineage, kind: kind, target: isNew ? nil : change.id, policy: policy,
      generation: process.generation)
    if isAlone, !isNew, let property, case .set(let value)? = change.edits.first?.action,
      let known = model.known(property.entity, property.name), let image = process.view[change.id],
      // The server has another id for it.
      image[known].objectID.flatMap({ ProvisionalID.parts(of: $0) }) == nil
    {
      edit.property = property
      (edit.saw, edit.mine) = (image[known], value)
    }
    return edit
  }

  /// The values that a user sees of properties of an object.
  private func seen(
    _ properties: [PropertyNumber], of image: ObjectImage?, _ model: Model
  ) -> [OfflineHistory.SeenValue] {
    guard let image else { return [] }
    return properties.compactMap { number in
      guard let property = model.property(number) else { return nil }
      let name = if let renamed = property.renamed { renamed } else { property.name }
      return OfflineHistory.SeenValue(object: image.id, property: name, value: image[property])
    }
  }

  /// The replica as a store in a process; nil while there is no mirror of the program's version.
  func openStore(_ device: OfflineDevice, _ process: OfflineProcess) throws -> ReplicaStore? {
    if process.store != nil, random.chance(15) { process.closeStore() }
    if let store = process.store { return store }
    do {
      let store = try ReplicaStore(folder: device.folder, model: model.versions[device.version]) { self.random.next() }
      (process.store, process.generation) = (store, device.generation)
      return store
    } catch let failure as StoreFailure where failure.isMissingMirror {
      return nil
    }
  }

  static func objects(of store: ReplicaStore) throws -> [ObjectID: ObjectImage] {
    var images = [ObjectID: ObjectImage]()
    _ = try store.export(seenBy: nil, begin: { _, _ in }, body: { images[$0.id] = $0 })
    return images
  }

  // MARK: - Edits on the server

  /// One of the other users commits on the server.
  func editAsOther() throws {
    if let (change, _) = changes(try servedObjects(), served, isOther: true) { try commitAsOther(change) }
  }

  func commitAsOther(_ change: Change) throws {
    lastTransaction += 1
    let transaction = Transaction(
      id: TransactionID(replica: others.replica.id, sequence: lastTransaction), policy: .objectTrump,
      changes: [change])
    others.handle(.save(transaction))
    // Beside a run, the commit takes its way among the messages of the run.
    if !devices.contains(where: { $0.processes.contains { $0.run != nil } }) { try settleServer() }
    while others.takeNotice() != nil {}
  }

  // MARK: - Changes

  /// A random change, and the property that it sets.
  private func changes(
    _ view: [ObjectID: ObjectImage], _ model: Model, isOther: Bool
  ) -> (Change, (entity: String, name: String)?)? {
    func images(_ entity: String) -> [ObjectImage] {
      view.values.filter { model.isA($0.id, entity) }.sorted { $0.id < $1.id }
    }
    let (items, folders) = (images("Item"), images("Folder"))
    switch random.below(20) {
    case 0...1: return (insertion("Folder", ["rank": number()], model), nil)
    case 2...4: return (insertItem(items, folders, images("Tag"), model), nil)
    case 5: return (insertion("Tag", ["name": .string("t\(random.below(8))")], model), nil)
    case 6...11:
      guard let item = random.pick(items) else { return nil }
      return change(item, items, folders, model)
    case 12...15: return random.pick(items).map { (splice($0, model, isOther: isOther), nil) }
    case 16: return random.pick(items).map { (members($0, images("Tag"), model), nil) }
    case 17:
      guard let folder = random.pick(folders) else { return nil }
      return setRank(of: folder, model)
    default:
      guard let image = random.pick(random.chance(85) ? items : folders) else { return nil }
      return (Change(.delete, image.id, base: max(1, image.revision)), nil)
    }
  }

  /// A number that probably no other edit has set.
  private func number(canHide: Bool = false) -> Value {
    let hides = canHide && random.chance(10)
    return .integer(Int64(random.below(900)) + (hides ? OfflineModel.hiddenFrom : 0))
  }

  private func insertion(_ entity: String, _ values: [String: Value], _ model: Model) -> Change {
    let edits = values.sorted { $0.key < $1.key }.compactMap { name, value in
      model.known(entity, name).map { Edit($0.number, .set(value)) }
    }
    lastTransaction += 1
    return Change(.insert, .temporary(lastTransaction, entity: model.named(entity).number), edits: edits)
  }

  private func insertItem(
    _ items: [ObjectImage], _ folders: [ObjectImage], _ tags: [ObjectImage], _ model: Model
  ) -> Change {
    lastWord += 1
    var values: [String: Value] = ["x": number(), "text": .string("w\(lastWord)")]
    if let folder = random.pick(folders), random.chance(90) { values["folder"] = .object(folder.id) }
    if let next = random.pick(items), random.chance(30) { values["next"] = .object(next.id) }
    if let tag = random.pick(tags), random.chance(30) { values["tags"] = .objects([tag.id]) }
    if random.chance(30) { values["code"] = .string("c\(random.below(8))") }
    if random.chance(20) { values["remark"] = .string("r\(lastWord)") }
    return insertion("Item", values, model)
  }

  private func set(
    _ image: ObjectImage, _ entity: String, _ name: String, _ value: Value, _ model: Model
  ) -> (Change, (entity: String, name: String)?)? {
    guard let property = model.known(entity, name), image[property] != value else { return nil }
    let change = Change(
      .update, image.id, base: max(1, image.revision), edits: [Edit(property.number, .set(value))])
    return (change, (entity, name))
  }

  func setRank(of folder: ObjectImage, _ model: Model) -> (Change, (entity: String, name: String)?)? {
    set(folder, "Folder", "rank", number(), model)
  }

  private func change(
    _ item: ObjectImage, _ items: [ObjectImage], _ folders: [ObjectImage], _ model: Model
  ) -> (Change, (entity: String, name: String)?)? {
    switch random.below(10) {
    case 0...3:
      let value = number(canHide: true)
      guard let (first, place) = set(item, "Item", "x", value, model) else { return nil }
      var change = first
      // A policy may decide one property by a conflict about another one.
      if random.chance(25), let (other, _) = set(item, "Item", "code", .string("c\(random.below(8))"), model) {
        change.edits += other.edits
      }
      return (change, place)
    case 4: return set(item, "Item", "code", .string("c\(random.below(8))"), model)
    case 5: return set(item, "Item", "remark", .string("r\(random.below(8))"), model)
    case 6...7: return set(item, "Item", "folder", random.pick(folders).map { Value.object($0.id) } ?? .null, model)
    case 8: return set(item, "Item", "next", random.pick(items).map { Value.object($0.id) } ?? .null, model)
    default:
      lastWord += 1
      return set(item, "Item", "text", .string("w\(lastWord)"), model)
    }
  }

  /// Writes a word at the beginning of the text, or at its end.
  private func splice(_ item: ObjectImage, _ model: Model, isOther: Bool) -> Change {
    lastWord += 1
    let property = model.named("Item", "text")
    let length = if let text = item[property].stringValue { text.utf8.count } else { 0 }
    let splice =
      isOther
      ? TextSplice(offset: 0, length: 0, insertion: "w\(lastWord) ")
      : TextSplice(offset: length, length: 0, insertion: " w\(lastWord)")
    return Change(
      .update, item.id, base: max(1, item.revision), edits: [Edit(property.number, .splice([splice]))])
  }

  private func members(_ item: ObjectImage, _ tags: [ObjectImage], _ model: Model) -> Change {
    let tags = random.pick(tags).map { [$0.id] } ?? []
    let isAdded = random.chance(70)
    let action = Edit.Action.members(added: isAdded ? tags : [], removed: isAdded ? [] : tags)
    return Change(
      .update, item.id, base: max(1, item.revision), edits: [Edit(model.named("Item", "tags").number, action)])
  }

  // MARK: - The list of conflicts

  /// The user tries a parked edit again, or discards an edit.
  func settleParked(_ device: OfflineDevice) throws {
    let file = device.unsent
    let form = IntentForm(model.versions[device.version])
    let entries = try file.entries(form)
    guard let entry = random.pick(entries), entry.intent?.hasLeft != true || entry.isParked else { return }
    if entry.isParked, entry.intent != nil, random.chance(70) {
      guard let base = try mirrorRevision(of: device) else { return }
      let policy = random.chance(60) ? random.element(of: MergePolicy.allCases) : nil
      let numbers: [Int64]
      do { numbers = try file.retry(entry.number, policy: policy, base: base, form: form) } catch is Refusal {
        // It has no meaning without a state that the server has lost.
        return
      }
      trace("device \(device.number): numbers \(numbers) are tried again")
      for number in numbers { if let edit = device.open[number] { history.recordRetry(edit) } }
      return count(.retried)
    }
    do {
      let numbers = try file.dependents(of: entry.number, form: form)
      _ = try file.discard(entry.number, form: form)
      trace("device \(device.number): numbers \(numbers) are discarded")
      for number in numbers { remove(number, from: device) }
      count(.discarded)
    } catch is Refusal {
      // One that depends on it is on its way.
    }
  }

  /// Records that the user has removed an edit from the queue.
  private func remove(_ number: Int64, from device: OfflineDevice) {
    if let edit = device.open.removeValue(forKey: number) { history.recordRemoval(of: edit) }
  }

  private func mirrorRevision(of device: OfflineDevice) throws -> Revision? {
    do {
      let mirror = try MirrorStore(path: device.mirrorPath, model: model.versions[device.version])
      defer { mirror.close() }
      return try mirror.head.revision
    } catch let failure as StoreFailure where failure.isMissingMirror {
      return nil
    }
  }

  /// The user undoes the newest edit, which is removed if it has not left. If it has, its undo is queued.
  func undo(_ device: OfflineDevice) throws {
    let process = random.element(of: device.processes)
    guard let store = try openStore(device, process) else { return }
    let file = device.unsent
    let form = IntentForm(model.versions[device.version])
    lastTransaction += 1
    let request = UndoRequest(TransactionID(replica: UniqueID(high: 2, low: 2), sequence: lastTransaction))
    let author = accounts.users[device.user].principal
    let before = try numbers(in: file, device)
    let outcome = try store.commit([.undo(request, author: author)], now: now)[0].outcome
    let after = try numbers(in: file, device)
    let (gone, new) = (before.subtracting(after), after.subtracting(before))
    guard case .committed = outcome else {
      return try check(gone.isEmpty && new.isEmpty ? nil : "an undo that was refused has changed the queue")
    }
    trace("device \(device.number): numbers \(gone.sorted()) are undone, \(new.sorted()) are queued")
    for number in gone { remove(number, from: device) }
    for number in new {
      guard let group = try file.entry(number, form: form)?.intent?.undo else {
        try check("the undo \(number) is not that of an edit of a user")
        continue
      }
      var edit = OfflineHistory.Edit(
        device: device.number, lineage: device.lineage, kind: .undo, target: nil, policy: .overwrite,
        generation: process.generation)
      edit.undone = group.group
      device.open[number] = history.nextEdit
      history.add(edit)
      count(.queuedUndo)
    }
    process.view = try Self.objects(of: store)
    count(.undone)
  }

  func numbers(in file: UnsentFile, _ device: OfflineDevice) throws -> Set<Int64> {
    Set(try file.entries(IntentForm(model.versions[device.version])).map(\.number))
  }

  /// The user turns sync off or on, or lets the copy be loaded again.
  func changeState(_ device: OfflineDevice) throws {
    let file = device.unsent
    let isSynchronizing = device.processes.contains { $0.run != nil }
    if isSynchronizing { return }
    switch try file.replica.state {
    case .off: try file.setState(.on)
    case .on where random.chance(60):
      try file.setState(.off)
      count(.turnedOff)
    case .on:
      try file.setState(.discarding(step: 2))
      count(.reset)
    case .discarding, .deleting: break
    }
  }
}
