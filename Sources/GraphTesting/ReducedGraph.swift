import GraphModel

/// The naive reference of visibility: the objects of a graph that a class sees, each without references to others. An
/// answer over these objects is what the class must receive.
public struct ReducedGraph: ImageSource {
  /// The visible objects, as the class sees them.
  public let images: [ObjectID: ObjectImage]
  private let model: Model

  /// Reduces a graph to what a class sees; nil for the whole graph.
  public init(_ all: [ObjectImage], seenBy visibility: Visibility?, model: Model) {
    self.model = model
    let seen = all.filter { visibility?.sees($0) != false }
    let ids = Set(seen.map(\.id))
    var images = [ObjectID: ObjectImage]()
    for var image in seen {
      for (index, value) in image.values.enumerated() {
        switch value {
        case .object(let id) where !ids.contains(id): image.values[index] = .null
        case .objects(let members): image.values[index] = .objects(members.filter { ids.contains($0) })
        default: break
        }
      }
      images[image.id] = image
    }
    self.images = images
  }

  public func image(of id: ObjectID) -> ObjectImage? { images[id] }

  public func referrers(to id: ObjectID, through property: Property) -> [ObjectID] {
    images.values.filter { image in
      model.entity(property.owner)?.family.contains(image.id.entity) == true && image[property].objectIDs.contains(id)
    }.map(\.id).sorted()
  }

  /// The objects of an entity and its subentities that match, by id.
  public func all(_ entity: Entity, where predicate: GraphPredicate) -> [ObjectImage] {
    let evaluator = PredicateEvaluator(predicate, model: model)
    return images.values.filter { entity.family.contains($0.id.entity) && evaluator.matches($0, in: self) }
      .sorted { $0.id < $1.id }
  }
}

/// A model whose objects are visible by scope and by rules, for tests that compare an answer with `ReducedGraph`:
/// to-ones and many-to-manys across scopes, scopes over two steps, a full-text attribute, and an entity without a
/// scope.
public enum ScopedGraph {
  /// The source of the model.
  public static let source = """
    {"format": 1, "name": "Scoped", "version": 1, "entities": [
      {"name": "Board", "scope": "self", "attributes": [
        {"name": "title", "type": "string", "default": ""}, {"name": "rank", "type": "integer", "default": 0}],
       "relationships": [
        {"name": "notes", "destination": "Note", "inverse": "board", "toMany": true, "deleteRule": "cascade"}]},
      {"name": "Note", "scope": "board", "attributes": [
        {"name": "text", "type": "string", "default": "", "fullText": true},
        {"name": "x", "type": "integer", "default": 0, "indexed": true},
        {"name": "owner", "type": "string", "default": ""},
        {"name": "level", "type": "string", "default": "reader"}],
       "relationships": [
        {"name": "board", "destination": "Board", "inverse": "notes"},
        {"name": "next", "destination": "Note", "inverse": "previous"},
        {"name": "previous", "destination": "Note", "inverse": "next", "toMany": true},
        {"name": "tags", "destination": "Tag", "inverse": "notes", "toMany": true},
        {"name": "remarks", "destination": "Remark", "inverse": "note", "toMany": true, "deleteRule": "cascade"}],
       "access": {"read": "x < 8 OR owner == $user OR level == $role"}},
      {"name": "Remark", "scope": "note", "attributes": [
        {"name": "body", "type": "string", "default": ""}, {"name": "y", "type": "integer", "default": 0}],
       "relationships": [{"name": "note", "destination": "Note", "inverse": "remarks"}]},
      {"name": "Tag", "attributes": [
        {"name": "name", "type": "string", "default": ""}, {"name": "isOpen", "type": "bool", "default": true}],
       "relationships": [{"name": "notes", "destination": "Note", "inverse": "tags", "toMany": true}],
       "access": {"read": "isOpen == true OR $role == 'owner'"}}]}
    """

  /// The model.
  /// - Parameter sharesTags: whether the tags belong to all boards, so that a role on one is enough to see them.
  public static func model(sharesTags: Bool = false) throws -> Model {
    let shared = source.replacing(#"{"name": "Tag","#, with: #"{"name": "Tag", "scope": "*","#)
    return try Model(parsing: sharesTags ? shared.utf8 : source.utf8)
  }

  /// The complete graph of a store, in the present or at a revision.
  public static func everything(in store: TestStore, at revision: Revision? = nil) throws -> [ObjectImage] {
    var images = [ObjectImage]()
    for entity in store.model.entities where !entity.isAbstract {
      let request = FetchRequest(entity: entity.number, at: revision)
      _ = try store.store.answer(request) { if case .object(let image) = $0 { images.append(image) } }
    }
    return images
  }

  /// Random rights of one of a few users: a role on the store, or roles on some boards, or both.
  public static func rights(_ boards: [ObjectID], _ random: inout SeededGenerator) -> Rights {
    var grants = [Grant]()
    if random.chance(35), let role = random.pick(Role.allCases) { grants.append(Grant(role)) }
    for board in boards where random.chance(40) {
      if let role = random.pick(Role.allCases) { grants.append(Grant(role, on: board.key)) }
    }
    return Rights(user: random.element(of: ["u0", "u1", "u2"]), grants: grants)
  }

  /// Commits a random transaction, which may be refused.
  /// - Returns: the commit; nil for a refusal.
  public static func step(_ store: TestStore, _ random: inout SeededGenerator) throws -> CommitRecord? {
    let boards = try store.all("Board").map(\.id)
    let notes = try store.all("Note").map(\.id)
    let tags = try store.all("Tag").map(\.id)
    var changes = [Change]()
    for _ in 0..<Int.random(in: 1...3, using: &random) {
      switch Int.random(in: 0..<14, using: &random) {
      case 0: changes.append(try store.insertion("Board", ["title": .string(word(&random))]))
      case 1...3:
        var values: [String: Value] = [
          "text": .string("\(word(&random)) \(word(&random))"), "x": .integer(.random(in: 0...9, using: &random)),
          "owner": .string(random.element(of: ["u0", "u1", "u2"])),
          "level": .string(random.element(of: Role.allCases.map(\.rawValue))),
        ]
        if let board = random.pick(boards), random.chance(85) { values["board"] = .object(board) }
        if let next = random.pick(notes), random.chance(60) { values["next"] = .object(next) }
        changes.append(try store.insertion("Note", values))
      case 4:
        changes.append(
          try store.insertion("Tag", ["name": .string(word(&random)), "isOpen": .bool(random.chance(60))]))
      case 5:
        guard let note = random.pick(notes) else { continue }
        let owner = random.chance(90) ? Value.object(note) : .null
        changes.append(try store.insertion("Remark", ["body": .string(word(&random)), "note": owner]))
      case 6, 7:
        guard let note = random.pick(notes) else { continue }
        let board = random.chance(85) ? random.pick(boards) : nil
        changes.append(try store.update(note, "Note.board", board.map { .object($0) } ?? .null))
      case 8:
        guard let note = random.pick(notes) else { continue }
        changes.append(try store.update(note, "Note.x", .integer(.random(in: 0...9, using: &random))))
      case 9:
        guard let note = random.pick(notes), let tag = random.pick(tags) else { continue }
        let action =
          random.chance(70) ? Edit.Action.members(added: [tag], removed: []) : .members(added: [], removed: [tag])
        changes.append(
          Change(.update, note, base: .max, edits: [Edit(try store.property("Note.tags").number, action)]))
      case 10:
        guard let tag = random.pick(tags) else { continue }
        changes.append(try store.update(tag, "Tag.isOpen", .bool(random.chance(50))))
      case 11:
        guard let note = random.pick(notes) else { continue }
        changes.append(try store.update(note, "Note.next", random.pick(notes).map { .object($0) } ?? .null))
      case 12:
        guard let note = random.pick(notes) else { continue }
        changes.append(try store.update(note, "Note.text", .string(word(&random))))
      default:
        let gone = random.chance(20) ? random.pick(boards) : random.pick(notes)
        guard let gone, random.chance(50) else { continue }
        changes.append(Change(.delete, gone, base: .max))
      }
    }
    return changes.isEmpty ? nil : try store.commit(changes).record
  }

  private static func word(_ random: inout SeededGenerator) -> String {
    random.element(of: ["a", "cat", "sea", "n1", "É", "by"])
  }
}
