import GraphModel
import GraphReplica
import GraphWire

/// The random acts of users, and of the operator, who grants roles.
extension AccessSimulation {
  // MARK: - The operator

  /// The folders, present and deleted.
  private var folders: [ObjectID] {
    promises.scanner.ids.filter { model.isA($0, "Folder") }.sorted()
  }

  func changeGrants() -> Bool {
    let users = accounts.users.filter { !$0.isRemoved }
    guard let user = random.pick(users) else { return false }
    let places: [UniqueID?] = [nil] + folders.map(\.key)
    let place = random.chance(25) ? nil : random.element(of: places)
    let old = user.grants[place]
    let role = random.chance(35) ? nil : random.element(of: Role.allCases)
    guard role != old else { return false }
    trace("user \(user.number) becomes \(role?.rawValue ?? "nothing") on \(place?.description ?? "the store")")
    accounts.setRole(role, of: user.number, on: place)
    promises.record(role == nil ? .roleTaken : old == nil ? .roleGiven : .roleChanged)
    return true
  }

  /// Removes a user, or adds a new user in place of a removed one.
  func changeUser() -> Bool {
    guard let user = random.pick(accounts.users) else { return false }
    if user.isRemoved {
      accounts.add(user.number)
      promises.record(.userAdded)
      if let role = random.pick(Role.allCases) { accounts.setRole(role, of: user.number, on: nil) }
    } else if random.chance(40) {
      accounts.remove(user.number)
      promises.record(.userRemoved)
    } else {
      return false
    }
    trace("user \(user.number) is \(user.isRemoved ? "added" : "removed")")
    return true
  }

  // MARK: - The initial objects

  /// The machine's owner creates the objects, and the users get roles.
  func populate() throws {
    for place in 0..<3 {
      _ = clients[0].commit([insertion("Folder", ["rank": .integer(Int64(place))])], policy: .error)
    }
    for name in 0..<3 {
      let values: [String: Value] = ["name": .string("t\(name)"), "isOpen": .bool(name > 0)]
      _ = clients[0].commit([insertion("Tag", values)], policy: .error)
    }
    try quiesce()
    for _ in 0..<3 { _ = clients[0].commit((0..<3).map { _ in insertItem(clients[0]) }, policy: .error) }
    for user in accounts.users {
      if random.chance(40), let role = random.pick(Role.allCases) { accounts.setRole(role, of: user.number, on: nil) }
      for folder in folders where random.chance(60) {
        accounts.setRole(random.element(of: Role.allCases), of: user.number, on: folder.key)
      }
    }
    try quiesce()
  }

  // MARK: - Users

  /// Performs a random act of the client's user.
  /// - Returns: a description for the trace.
  func act(_ client: AccessClient) -> String {
    switch random.below(40) {
    case 0...20:
      let changes = edits(client)
      if changes.isEmpty { return "nothing to edit" }
      let id = client.commit(changes, policy: random.element(of: MergePolicy.allCases))
      return "transaction \(id.sequence): \(changes.map(\.kind))"
    case 21...22:
      let redo = random.chance(35)
      client.undo(redo: redo)
      return redo ? "redo" : "undo"
    case 23...24: return restore(client)
    case 25...26:
      guard let batch = batch(client) else { return "no batch" }
      client.request(AccessRequest(kind: .other, body: .batch(batch)))
      return "batch \(batch.id.sequence)"
    case 27...33:
      guard client.pending.count < 3 else { return "waits for answers" }
      let request = request(client)
      client.request(request)
      return "ask \(request.kind)"
    case 34...35:
      // A client receives presences only after it has published one.
      for other in [client] + clients.filter({ $0.user == client.user && $0 !== client }) {
        guard let id = visible(other, "Item") else { continue }
        other.publishPresence(withUnsafeBytes(of: id.key.low.littleEndian) { Array($0) })
      }
      return "presence"
    case 36: client.follow(&random)
    case 37: client.unfollow(&random)
    default: client.moveWindow(&random)
    }
    return "follow"
  }

  // MARK: - Objects

  /// An object that the client holds, or sometimes any object: the client may know its id from an earlier time.
  private func object(_ client: AccessClient, _ name: String) -> ObjectImage? {
    if random.chance(12) {
      let ids = promises.scanner.ids.filter { model.isA($0, name) }.sorted()
      guard let id = random.pick(ids) else { return nil }
      return recorder.state(recorder.revision)?.images[id] ?? ObjectImage(id: id, revision: 1, values: [])
    }
    let held = client.queries.flatMap { client.context.storedResult(of: $0.id).values }
    let ids = Dictionary(held.filter { model.isA($0.id, name) }.map { ($0.id, $0) }) { first, _ in first }
    return random.pick(ids.values.sorted { $0.id < $1.id })
  }

  /// An object that the session of the client sees.
  private func visible(_ client: AccessClient, _ name: String) -> ObjectID? {
    guard let image = object(client, name) else { return nil }
    guard let session = client.link.session, let access = sessions[session]?.access else {
      return client.user == nil ? image.id : nil
    }
    return promises.sight(of: access, recorder).ids.contains(image.id) ? image.id : nil
  }

  private func text() -> Value {
    lastWord += 1
    return .string("\(LeakScanner.word(lastWord)) \(random.element(of: ["sea", "cat", "by"]))")
  }

  private func insertion(_ name: String, _ values: [String: Value]) -> Change {
    lastTemporary += 1
    var edits = values.sorted { $0.key < $1.key }.map { Edit(model.property(name, $0.key).number, .set($0.value)) }
    for text in ["title", "text", "body"] {
      guard let property = model.entity(name).property(named: text) else { continue }
      edits.append(Edit(property.number, .set(self.text())))
    }
    return Change(.insert, .temporary(lastTemporary, entity: model.entity(name).number), edits: edits)
  }

  private func insertItem(_ client: AccessClient) -> Change {
    var values: [String: Value] = ["x": .integer(Int64(random.below(10)))]
    if let folder = object(client, "Folder")?.id, random.chance(90) { values["folder"] = .object(folder) }
    if let next = object(client, "Item")?.id, random.chance(50) { values["next"] = .object(next) }
    if let tag = object(client, "Tag")?.id, random.chance(40) { values["tags"] = .objects([tag]) }
    if random.chance(30) { values["code"] = .string("c\(random.below(6))") }
    return insertion("Item", values)
  }

  private func update(_ image: ObjectImage, _ entity: String, _ name: String, _ action: Edit.Action) -> Change {
    Change(
      .update, image.id, base: random.chance(20) ? .max : max(1, image.revision),
      edits: [Edit(model.property(entity, name).number, action)])
  }

  /// The changes of one transaction.
  private func edits(_ client: AccessClient) -> [Change] {
    var changes = [Change]()
    var ids = Set<ObjectID>()
    for _ in 0..<(random.chance(70) ? 1 : 2) {
      // A transaction has one change for each object.
      if let change = edit(client), ids.insert(change.id).inserted { changes.append(change) }
    }
    return changes
  }

  private func edit(_ client: AccessClient) -> Change? {
    let number = Value.integer(Int64(random.below(10)))
    switch random.below(22) {
    case 0: return insertion("Folder", ["rank": number])
    case 1...4: return insertItem(client)
    case 5:
      return insertion("Tag", ["name": .string("t\(random.below(10))"), "isOpen": .bool(random.chance(60))])
    case 6...7:
      guard let item = object(client, "Item") else { return nil }
      return insertion("Remark", ["item": .object(item.id), "y": number])
    case 8...11:
      guard let item = object(client, "Item") else { return nil }
      let folder = random.chance(90) ? object(client, "Folder")?.id : nil
      return update(item, "Item", "folder", .set(folder.map { .object($0) } ?? .null))
    case 12...13: return object(client, "Item").map { update($0, "Item", "x", .set(number)) }
    case 14: return object(client, "Item").map { update($0, "Item", "text", .set(text())) }
    case 15: return object(client, "Item").map { update($0, "Item", "code", .set(.string("c\(random.below(6))"))) }
    case 16:
      guard let item = object(client, "Item") else { return nil }
      let next = random.chance(80) ? object(client, "Item")?.id : nil
      return update(item, "Item", "next", .set(next.map { .object($0) } ?? .null))
    case 17:
      guard let item = object(client, "Item"), let tag = object(client, "Tag")?.id else { return nil }
      let isAdded = random.chance(70)
      return update(
        item, "Item", "tags", .members(added: isAdded ? [tag] : [], removed: isAdded ? [] : [tag]))
    case 18: return object(client, "Tag").map { update($0, "Tag", "isOpen", .set(.bool(random.chance(50)))) }
    case 19:
      guard let remark = object(client, "Remark"), let item = object(client, "Item")?.id else { return nil }
      return update(remark, "Remark", "item", .set(.object(item)))
    default:
      let name = random.element(of: ["Item", "Item", "Remark", "Tag", "Folder"])
      guard let image = object(client, name) else { return nil }
      return Change(.delete, image.id, base: max(1, image.revision))
    }
  }

  private func restore(_ client: AccessClient) -> String {
    let name = random.element(of: ["Item", "Item", "Remark", "Folder"])
    guard let image = object(client, name), recorder.revision > 0 else { return "nothing to restore" }
    let isPresent = recorder.state(recorder.revision)?.images[image.id] != nil
    let revision = isPresent || random.chance(30) ? Revision(1 + random.below(Int(recorder.revision))) : nil
    client.restore(random.chance(70) ? .object(image.id) : .contents(image.id), at: revision)
    return "restore \(name) at \(String(describing: revision))"
  }

  private func batch(_ client: AccessClient) -> BatchRequest? {
    let id = client.context.newTransactionID()
    let item = model.entity("Item").number
    let condition = random.element(of: ["x > 6", "x < 2", "code == NULL AND x > 3", "x == 4", "text SEARCH \"cat\""])
    switch random.below(4) {
    case 0: return BatchRequest(id: id, entity: item, operation: .delete(predicate: condition))
    case 1:
      let x = BatchRequest.Assignment(model.property("Item", "x").number, .expression("x + 1"))
      return BatchRequest(id: id, entity: item, operation: .update(predicate: condition, [x]))
    default:
      guard let folder = object(client, "Folder")?.id else { return nil }
      let move = BatchRequest.Assignment(model.property("Item", "folder").number, .value(.object(folder)))
      return BatchRequest(id: id, entity: item, operation: .update(predicate: condition, [move]))
    }
  }
}
