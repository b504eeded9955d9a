import GraphModel
import GraphReplica
import StickiesKit

/// Helpers of the generic commands. They find objects that a user names in a model unknown to this program.
extension CommandContext {
  /// The entity with a name.
  /// - Throws: a refusal that suggests the nearest name.
  func known(_ name: String) throws -> Entity {
    if let entity = model.entity(named: name) { return entity }
    let names = model.entities.map(\.name)
    let more = Suggestion.sentence(for: name, among: names) ?? "; there are \(names.joined(separator: ", "))"
    throw Refusal(.malformed, "the model \(model.name) has no entity \"\(name)\"\(more)")
  }

  func predicate(_ text: String?, on entity: Entity) throws -> GraphPredicate {
    guard let text else { return .always }
    return try GraphPredicate(parsing: text, entity: entity, model: model)
  }

  /// The one object whose id has a prefix, of one entity or of any. For a deleted object, the refusal names the
  /// author of the delete.
  func object(_ prefix: String, of entity: Entity? = nil) async throws -> ObjectImage {
    guard !prefix.isEmpty, UniqueID.range(ofPrefix: prefix) != nil else {
      throw Refusal(.malformed, "\"\(prefix)\" is not the beginning of an id")
    }
    let entities = entity.map { [$0.name] } ?? model.entities.filter { $0.parent == nil }.map(\.name)
    do {
      return try await object(prefix, of: entities, called: entity?.name ?? "object")
    } catch let refusal as Refusal where refusal.code == .notFound && revision == nil {
      throw await refusalOfDeleted(prefix, of: entity) ?? refusal
    }
  }

  /// The objects with these ids, in slices; deleted ones are missing from the result.
  func images(_ ids: [ObjectID], of entity: Entity) async throws -> [ObjectImage] {
    var images = [ObjectImage]()
    for start in stride(from: 0, to: ids.count, by: Self.idsInOneRequest) {
      let part = ids[start..<min(start + Self.idsInOneRequest, ids.count)]
      images += try await self.images(entity.name, where: .identifiers(Array(part)))
    }
    // The members of an ordered to-many relationship are not in the order of their ids.
    let byID = Dictionary(images.map { ($0.id, $0) }, uniquingKeysWith: { $1 })
    return ids.compactMap { byID[$0] }
  }

  /// The members of a to-many relationship that is stored at its other end. They are read by the inverse, for a
  /// thousand owners at a time. Sorted if the relationship is ordered.
  func members(of property: Property, owners: [ObjectID]) async throws -> [ObjectID: [ObjectID]] {
    guard let relationship = property.relationship, let inverse = model.property(relationship.inverse),
      let entity = model.entity(relationship.destination)
    else { return [:] }
    let position = relationship.position.flatMap { model.property($0) }
    var members = [ObjectID: [OrderedMemberKey]]()
    for start in stride(from: 0, to: owners.count, by: Self.idsInOneRequest) {
      let part = Array(owners[start..<min(start + Self.idsInOneRequest, owners.count)])
      let predicate: GraphPredicate
      if inverse.relationship?.isToMany == true {
        let path = GraphPredicate.Path(hops: [inverse.number], end: .identifier)
        predicate = .comparison(.init(.any, path, .in, .list(part.map(Value.object))))
      } else {
        predicate = .in(inverse, part.map(Value.object))
      }
      let asked = Set(part)
      for try await chunk in client.images(of: entity, where: predicate, at: revision) {
        for image in chunk {
          var place = OrderedMemberKey(position: 0, id: image.id)
          if let position, case .integer(let number) = image[position] { place.position = number }
          for owner in image[inverse].objectIDs where asked.contains(owner) {
            members[owner, default: []].append(place)
          }
        }
      }
    }
    return members.mapValues { $0.sorted().map(\.id) }
  }

  static let idsInOneRequest = 1_000

  /// As in `Person b6yvgbpa Ann`.
  func reference(_ image: ObjectImage) -> String {
    "\(model.entity(image.id.entity)?.name ?? "object") \(image.id.description.prefix(8)) \(title(image))"
  }

  // MARK: - Input

  /// Turns inputs into the edits of a new object.
  func edits(_ inputs: [PropertyInput]) async throws -> [Edit] {
    try Self.edits(inputs, try await ids(of: inputs), of: nil)
  }

  /// The ids of all named objects, each looked up once.
  func ids(of inputs: [PropertyInput]) async throws -> [ObjectSpecifier: ObjectID] {
    var ids = [ObjectSpecifier: ObjectID]()
    for input in inputs {
      for name in input.names where ids[name] == nil { ids[name] = try await id(name, for: input.property) }
    }
    return ids
  }

  /// The edits of an object that was read, or of a new one if `image` is nil.
  static func edits(
    _ inputs: [PropertyInput], _ ids: [ObjectSpecifier: ObjectID], of image: ObjectImage?
  ) throws -> [Edit] {
    do {
      return try inputs.map { input throws(InvalidInputError) in
        try input.edit(of: image) { name throws(InvalidInputError) in
          guard let id = ids[name] else { throw InvalidInputError("\(name) was not looked up") }
          return id
        }
      }
    } catch {
      throw Refusal(.malformed, "\(error)")
    }
  }

  /// The id of an object that a relationship refers to.
  func id(_ name: ObjectSpecifier, for property: Property) async throws -> ObjectID {
    guard case .text(let prefix) = name else {
      throw Refusal(.malformed, "labels are for lines of standard input: \(property.name) takes an id here")
    }
    let destination = property.relationship.flatMap { model.entity($0.destination) }
    // A complete id needs no search; the daemon checks whether the object exists.
    if let key = UniqueID(prefix), let destination { return ObjectID(key: key, entity: destination.number) }
    return try await object(prefix, of: destination).id
  }

  /// Parses the arguments of a command as property inputs.
  func inputs(_ words: [String], values: String?, entity: Entity) throws -> [PropertyInput] {
    do {
      var inputs = try PropertyInput.all(words) { word throws(InvalidInputError) in
        try PropertyInput(parsing: word, entity: entity)
      }
      if let values {
        let json: JSON
        do {
          json = try JSON(parsing: values)
        } catch {
          throw InvalidInputError("--values takes a JSON object: \(error)")
        }
        inputs += try PropertyInput.inputs(json, entity: entity)
      }
      var seen = Set<PropertyNumber>()
      for input in inputs where !seen.insert(input.property.number).inserted {
        throw InvalidInputError("\(input.property.name) is given twice")
      }
      return inputs
    } catch {
      throw Refusal(.malformed, "\(error)")
    }
  }

  /// Checks that a base revision exists.
  /// - Throws: `Refusal` for a revision above the newest.
  func checkBase(_ base: Revision?) async throws {
    guard let base, let welcomed = client.welcome?.head.revision, base > welcomed else { return }
    // A read can contain a commit just before the server reports it as its newest.
    let newest = try await client.revision(at: .max).head.revision
    guard base > newest else { return }
    throw Refusal(.notFound, "there is no revision \(base) yet: the newest is \(newest)")
  }

  /// A base revision that covers what was just read. An edit may also affect related objects, which were read at the
  /// same time.
  func base(of image: ObjectImage) -> Revision { max(image.revision, client.welcome?.head.revision ?? 0) }

  /// Reports inserts that were merged into existing objects with the same unique key but other values.
  func reportExistingObjects(_ saved: SaveResult) {
    let met = saved.committed.conflicts.filter { $0.kind == .unique }
    for conflict in met.prefix(Self.maximumMetLines) {
      let what = model.property(conflict.property)?.name ?? "the object"
      let id = conflict.id.description.prefix(8)
      let name = model.entity(conflict.id.entity)?.nameWithArticle ?? "an object"
      let verb = conflict.mineWon ? "overwritten" : "not changed"
      StandardError.write("stickies: \(verb): \(what) of \(id), \(name) that has this key already")
    }
    if met.count > Self.maximumMetLines {
      StandardError.write(
        "stickies: and \(met.count - Self.maximumMetLines) more values of objects that existed already")
    }
  }

  private static let maximumMetLines = 10

  /// Reports references that were dropped because other clients deleted their destinations.
  /// - Throws: a refusal if the commit inserted nothing; otherwise the rest of the commit counts as success.
  func reportDroppedReferences(_ saved: SaveResult, _ changes: [Change]) throws {
    let changed = Set(changes.map(\.id))
    let gone = saved.committed.conflicts.filter { $0.kind == .deleted && !changed.contains($0.id) }
    guard let first = gone.first else { return }
    if saved.committed.identities.isEmpty {
      let who = first.author.isEmpty ? "someone" : first.author
      let what = model.entity(first.id.entity)?.name ?? "object"
      throw Refusal(.conflict, "\(who) has deleted this \(what)", conflicts: gone)
    }
    reportDeleted(gone)
  }

  private func reportDeleted(_ conflicts: [Conflict]) {
    for conflict in conflicts {
      let who = TextTable.visible(conflict.author.isEmpty ? "someone else" : conflict.author)
      let id = conflict.id.description.prefix(8)
      StandardError.write("stickies: not changed: \(who) has deleted \(id) (revision \(conflict.revision))")
    }
  }

  /// Reports edits that lost a conflict and those that replaced edits of others; the commit succeeded.
  func reportOverwritten(_ saved: SaveResult) {
    reportDeleted(saved.committed.conflicts.filter { $0.kind == .deleted })
    for conflict in saved.committed.conflicts where conflict.kind == .changed {
      let who = TextTable.visible(conflict.author.isEmpty ? "someone else" : conflict.author)
      let what = model.property(conflict.property)?.name ?? "the object"
      let id = conflict.id.description.prefix(8)
      let text =
        switch (conflict.mineWon, conflict.isCollateral) {
        case (false, true): "not changed: \(what) of \(id); \(who) has changed another property of it since"
        case (false, false): "not changed: \(who) has changed \(what) of \(id) since"
        case (true, _): "overwritten: \(what) of \(id), which \(who) had changed since"
        }
      StandardError.write("stickies: \(text)")
    }
  }
}
